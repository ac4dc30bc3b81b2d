// The project's records. The index is there from the start; the details of tables come in parts: from a
// disk each is a script of its own, because such a page may fetch nothing; over a server they are fetched.
"use strict";

(() => {
  const waiting = new Map();
  const loaded = new Map();
  let index = null;
  let source = null;
  let byName = new Map();
  let readers = [];

  // Called by the files in `data`. The document is a text: nothing in it can act.
  window.rockyData = (name, text) => {
    const document = JSON.parse(text);
    if (name === "index") open(document);
    else waiting.get(name)?.(name.startsWith("overlay-") ? document : new Map(Object.entries(document)));
  };

  function open(document) {
    index = document;
    index.tables.forEach((table, place) => {
      table.place = place;
      table.reads ||= [];
      table.tests ||= [];
    });
    // A name wins over a target that is called the same.
    byName = new Map(index.tables.filter((table) => table.target).map((table) => [table.target.toLowerCase(), table]));
    for (const table of index.tables) byName.set(table.name.toLowerCase(), table);
    readers = index.tables.map(() => []);
    for (const table of index.tables) for (const read of table.reads) readers[read].push(table.place);
  }

  // A page over a server brings the source of its own: `part` and `overlay` are asked by number and name.
  function use(given) {
    source = given;
  }

  function forget() {
    loaded.clear();
  }

  function part(number) {
    const name = `part-${number}`;
    if (!loaded.has(name)) {
      const made = (source ? source.part(number) : byScript(name)).catch((failure) => {
        loaded.delete(name);
        throw failure;
      });
      loaded.set(name, made);
    }
    return loaded.get(name);
  }

  function byScript(name) {
    return new Promise((resolve, reject) => {
      waiting.set(name, resolve);
      const script = Rocky.h("script", { src: `data/${name}.js` });
      script.addEventListener("error", () => reject(new Error(`data/${name}.js could not be loaded`)));
      document.head.append(script);
    });
  }

  // What an overlay says, or null where the page has none.
  function overlay(name) {
    if (source) return source.overlay(name);
    if (!index.overlays?.includes(name)) return Promise.resolve(null);
    if (!loaded.has(name)) loaded.set(name, byScript(`overlay-${name}`));
    return loaded.get(name);
  }

  // The details of a table, by its place.
  async function details(place) {
    return (await part(index.tables[place].part)).get(String(place));
  }

  function columnOf(found, name) {
    const key = name.toLowerCase();
    return found.columns.find((column) => column.name.toLowerCase() === key);
  }

  // All tables within some steps of one, upstream and downstream or only one of both; and whether there are more.
  function around(place, depth, only) {
    const reached = new Map([[place, 0]]);
    let more = false;
    const ways = { upstream: (at) => index.tables[at].reads, downstream: (at) => readers[at] };
    for (const next of only ? [ways[only]] : Object.values(ways)) {
      let front = [place];
      for (let step = 1; front.length; step += 1) {
        const found = [];
        for (const at of front) for (const to of next(at)) if (!reached.has(to)) found.push(to);
        if (step > depth) {
          more ||= found.length > 0;
          break;
        }
        for (const to of found) reached.set(to, step);
        front = [...new Set(found)];
      }
    }
    return { places: [...reached.keys()].sort((a, b) => a - b), more };
  }

  const tableLink = (table) => `#/table/${encodeURIComponent(table.name)}`;
  const columnLink = (table, column) => `${tableLink(table)}/${encodeURIComponent(column)}`;

  Rocky.store = {
    get index() { return index; },
    get isLive() { return source !== null; },
    named: (name) => byName.get(name.toLowerCase()),
    readers: (place) => readers[place],
    details, columnOf, around, tableLink, columnLink, open, use, forget, overlay,
  };
})();
