// What a graph shows: tables and what they read, or folders of tables, as boxes and lines between them.
"use strict";

(() => {
  const { h } = Rocky;
  const MOST_FOLDERS = 150;
  const FEW_TABLES = 9;
  const FEW_COLUMNS = 70;

  // The tests of a table and how they last went, where it has any.
  function testWords(table) {
    if (!table.tests.length) return "";
    if (table.tests_failed) return `${Rocky.count(table.tests_failed)} of ${Rocky.counted(table.tests.length, "test")} failed`;
    if (table.tests_warned) return `${Rocky.count(table.tests_warned)} of ${Rocky.counted(table.tests.length, "test")} warned`;
    return table.tests_passed === table.tests.length ? `${Rocky.counted(table.tests.length, "test")} passed` : Rocky.counted(table.tests.length, "test");
  }

  // What it is and which pipeline writes it, where that is not the only one.
  function kindWords(table) {
    if (!table.pipeline || (table.kind === "model" && Rocky.store.index.pipelines.length < 2)) return table.kind;
    return table.kind === "table" ? `by ${table.pipeline}` : `${table.kind} by ${table.pipeline}`;
  }

  const nodeOf = (table) => ({
    name: table.name, kind: table.kind,
    words: [kindWords(table), Rocky.counted(table.columns.length, "column"), testWords(table)].filter(Boolean).join(" · "),
    link: Rocky.store.tableLink(table), bad: Boolean(table.errors) || table.outcome === "failed" || Boolean(table.tests_failed),
  });

  // The graph of some tables, by their places.
  function tableGraph({ places, focus, parts, opens = true, ...rest }) {
    const { tables } = Rocky.store.index;
    const at = new Map(places.map((place, number) => [place, number]));
    const edges = places.flatMap((place, to) =>
      tables[place].reads.filter((read) => at.has(read)).map((read) => [at.get(read), to]));
    const made = Rocky.withParts({ nodes: places.map((place) => nodeOf(tables[place])), edges, held: places.map((place) => [place]) }, parts);
    const view = new Rocky.GraphView({ nodes: made.nodes, edges: made.edges, focus: at.has(focus) ? at.get(focus) : -1, ...rest });
    view.places = made.held;
    // What one looks at is near: its columns are there from the start, where there is room for them.
    const rows = places.reduce((sum, place) => sum + tables[place].columns.length, 0);
    if (opens && at.has(focus) && places.length <= FEW_TABLES && rows <= FEW_COLUMNS) view.columns.open();
    view.opener.hidden = !view.columns.isPossible;
    return view;
  }

  // The graph of folders: a box for all tables of one, but those of the folder that is `open`.
  function folderGraph({ open, parts, ...rest }) {
    const { tables } = Rocky.store.index;
    const link = (name) => `#/graph?folder=${encodeURIComponent(name)}`;
    const { nodes, edges, held } = grouped(tables.map((table) => table.place), (name) => name !== open, link);
    const shown = near(nodes, edges, open);
    const numberAt = new Map(nodes.map((node, number) => [node, number]));
    const made = Rocky.withParts({ ...shown, held: shown.nodes.map((node) => held[numberAt.get(node)]) }, parts);
    const view = new Rocky.GraphView({ nodes: made.nodes, edges: made.edges, ...rest });
    view.places = made.held;
    return view;
  }

  // The graph of some tables, those of the folders that are `closed` as one box each; `link` leads on from such a box.
  function collapsedGraph({ places, focus, closed, link, ...rest }) {
    const { nodes, edges, held } = grouped(places, (name) => closed.has(name), link);
    const view = new Rocky.GraphView({ nodes, edges, focus: held.findIndex((each) => each.includes(focus)), ...rest });
    view.places = held;
    view.opener.hidden = !view.columns.isPossible;
    return view;
  }

  // Boxes of tables and of closed folders, the lines between them, and the places that each box holds.
  function grouped(places, isClosed, link) {
    const { tables } = Rocky.store.index;
    const folders = foldersOf(tables);
    const [held, nodes, numbers] = [[], [], new Map()];
    const numberOf = new Map(places.map((place) => {
      const table = tables[place];
      const name = folders[place];
      const key = isClosed(name) ? name : table;
      if (!numbers.has(key)) {
        numbers.set(key, nodes.length);
        held.push([]);
        nodes.push(key === table ? nodeOf(table) : { name, kind: table.kind, size: 0, many: true, bad: false, link: link(name) });
      }
      const node = nodes[numbers.get(key)];
      held[numbers.get(key)].push(place);
      if (node.many) {
        node.size += 1;
        node.bad ||= Boolean(table.errors) || table.outcome === "failed";
        node.words = Rocky.counted(node.size, table.kind);
      }
      return [place, numbers.get(key)];
    }));
    // Tables of two folders may read each other's often: one line says so.
    const edges = new Map();
    for (const place of places) {
      for (const read of tables[place].reads) {
        const [from, to] = [numberOf.get(read), numberOf.get(place)];
        if (from !== undefined && from !== to) edges.set(`${from} ${to}`, [from, to]);
      }
    }
    return { nodes, edges: [...edges.values()], held };
  }

  // With a folder open, only what touches it.
  function near(nodes, edges, open) {
    if (!open) return { nodes, edges };
    const own = (number) => !nodes[number].many;
    const kept = edges.filter(([from, to]) => own(from) || own(to));
    const there = new Set([...nodes.keys()].filter(own));
    for (const [from, to] of kept) there.add(from).add(to);
    const moved = new Map([...there].map((number, at) => [number, at]));
    return { nodes: [...there].map((number) => nodes[number]), edges: kept.map(([from, to]) => [moved.get(from), moved.get(to)]) };
  }

  // The folder of each table, cut short until there are few enough to draw.
  function foldersOf(tables) {
    const paths = tables.map((table) => (table.kind === "model" ? table.path.split("/").slice(0, -1) : [`${table.kind}s`]));
    for (let depth = Math.max(0, ...paths.map((each) => each.length)); ; depth -= 1) {
      const names = paths.map((each) => each.slice(0, depth).join("/") || ".");
      if (depth <= 1 || new Set(names).size <= MOST_FOLDERS) return names;
    }
  }

  const KINDS = ["source", "table", "seed", "model", "import", "test", "pipeline"];

  function legend(places, parts) {
    const { tables } = Rocky.store.index;
    const there = new Set(places.map((place) => tables[place].kind));
    for (const [name, , kind] of Rocky.PARTS) if (parts?.has(name)) there.add(kind);
    return h("ul", { class: "legend", "aria-label": "Colours" },
      KINDS.filter((kind) => there.has(kind)).map((kind) =>
        h("li", {}, h("span", { class: `dot kind-${kind}` }), kind)));
  }

  Object.assign(Rocky, { tableGraph, folderGraph, collapsedGraph, foldersOf, legend });
})();
