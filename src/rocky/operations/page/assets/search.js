// Search over names and descriptions of tables, columns and tests: a field with a list below it.
"use strict";

(() => {
  const { h, icon } = Rocky;
  const MOST = 40;
  let entries = null;
  let searched = null;

  // Every text that can be found: made when somebody first searches, and again when the records are others.
  function collect() {
    const found = [];
    const push = (kind, name, table, link, said) =>
      found.push({ kind, name, key: name.toLowerCase(), table, link, said, about: said ? said.toLowerCase() : "" });
    for (const table of Rocky.store.index.tables) {
      const labels = Object.entries(table.tags || {}).map(([tag, value]) => (value === "true" ? tag : `${tag}=${value}`));
      push(table.kind, table.name, table, Rocky.store.tableLink(table),
        [table.description, table.owner, ...labels].filter(Boolean).join(" · "));
      const said = new Map(Object.entries(table.column_descriptions || {}));
      for (const column of table.columns) {
        push("column", column, table, Rocky.store.columnLink(table, column), said.get(column.toLowerCase()));
      }
      for (const test of table.tests) push("test", test, table, `${Rocky.store.tableLink(table)}?tests`, null);
    }
    return found;
  }

  const RANK = { model: 0, source: 1, seed: 1, import: 1, table: 1, column: 4, test: 6 };

  function score(entry, words) {
    let total = RANK[entry.kind];
    for (const word of words) {
      const at = entry.key.indexOf(word);
      if (entry.key === word) total += 0;
      else if (at === 0) total += 10;
      else if (at > 0) total += /[\w]/.test(entry.key[at - 1]) && entry.key[at - 1] !== "_" ? 30 : 20;
      else if (entry.kind !== "model" && entry.table.name.toLowerCase().includes(word)) total += 45;
      else if (entry.about.includes(word)) total += 60;
      else return Infinity;
    }
    return total + entry.key.length / 100;
  }

  function search(text) {
    if (searched !== Rocky.store.index) entries = collect();
    searched = Rocky.store.index;
    const words = text.toLowerCase().split(/[\s.]+/).filter(Boolean);
    if (!words.length) return [];
    const whole = text.trim().toLowerCase();
    const found = [];
    for (const entry of entries) {
      // `raw.orders` is a name with a dot, and also a column of a table.
      const value = entry.key === whole ? RANK[entry.kind] : score(entry, words);
      if (value < Infinity) found.push([value, entry]);
    }
    found.sort((a, b) => a[0] - b[0]);
    return found.slice(0, MOST).map((each) => each[1]);
  }

  function marked(text, words) {
    const key = text.toLowerCase();
    const hit = words.map((word) => [key.indexOf(word), word.length]).filter((each) => each[0] >= 0)[0];
    if (!hit || key.length !== text.length) return [text];
    const [at, size] = hit;
    return [text.slice(0, at), h("mark", {}, text.slice(at, at + size)), text.slice(at + size)];
  }

  function field() {
    const input = h("input", {
      type: "search", id: "search", placeholder: "Search models, columns, tests", autocomplete: "off", spellcheck: "false",
      role: "combobox", "aria-label": "Search", "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list",
    });
    const list = h("ul", { id: "found", role: "listbox", "aria-label": "Found", hidden: true });
    const said = h("p", { class: "unseen", role: "status" });
    const box = h("div", { class: "search" }, icon("search"), input, h("kbd", { "aria-hidden": "true" }, "/"), list, said);
    let shown = [];
    let chosen = -1;
    let waits = 0;

    function close() {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
      chosen = -1;
    }

    function choose(number) {
      chosen = number;
      [...list.children].forEach((each, at) => each.setAttribute("aria-selected", String(at === chosen)));
      if (chosen < 0) return;
      input.setAttribute("aria-activedescendant", `found-${chosen}`);
      list.children[chosen].scrollIntoView({ block: "nearest" });
    }

    function open(entry) {
      input.value = "";
      close();
      input.blur();
      location.hash = entry.link.slice(1);
    }

    function show() {
      clearTimeout(waits);
      waits = 0;
      const text = input.value.trim();
      if (!text) return close();
      const words = text.toLowerCase().split(/[\s.]+/).filter(Boolean);
      shown = search(text);
      list.replaceChildren(...shown.map((entry, number) =>
        h("li", { role: "option", id: `found-${number}`, "aria-selected": "false", mousedown: (event) => { event.preventDefault(); open(entry); } },
          h("span", { class: `badge kind-${entry.kind}` }, entry.kind), " ",
          h("span", { class: "found-name" }, marked(entry.name, words)), " ",
          h("span", { class: "found-said" }, entry.kind === "column" || entry.kind === "test"
            ? [`in ${entry.table.name}`, entry.said ? ` · ${entry.said}` : ""] : entry.said || entry.table.path))));
      if (!shown.length) list.replaceChildren(h("li", { class: "found-none" }, "Nothing has this name or description"));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      said.textContent = shown.length === MOST ? `The first ${MOST} are shown` : `${shown.length} found`;
      if (shown.length) choose(0);
    }

    input.addEventListener("input", () => {
      clearTimeout(waits);
      waits = setTimeout(show, 60);
    });
    input.addEventListener("focus", show);
    input.addEventListener("blur", close);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        input.value = "";
        close();
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        if (shown.length && !list.hidden) choose((chosen + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % shown.length);
      } else if (event.key === "Enter") {
        // Typed and entered at once: what is shown may be of the text before.
        if (waits) show();
        if (shown[Math.max(0, chosen)]) open(shown[Math.max(0, chosen)]);
      } else return;
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "");
      const asked = (event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey));
      if (!asked) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
    return box;
  }

  Rocky.search = { field, find: search };
})();
