// Paths between two columns, and what a change of one would reach.
"use strict";

(() => {
  const { h, counted } = Rocky;
  const { ask, later, head } = Rocky.live;

  function columns() {
    const list = h("datalist", { id: "all-columns" });
    let many = 0;
    for (const table of Rocky.store.index.tables) {
      for (const column of table.columns) {
        if (many > 20000) return list;
        many += 1;
        list.append(h("option", { value: `${table.name}.${column}` }));
      }
    }
    return list;
  }

  // A column as people write it: the table may have dots in its name.
  function parse(text) {
    const at = text.lastIndexOf(".");
    return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : [text, ""];
  }

  async function reach(choices) {
    const [from, to] = [choices.get("from") || "", choices.get("to") || ""];
    const first = h("input", { type: "text", list: "all-columns", value: from, required: true, placeholder: "table.column", "aria-label": "From a column", spellcheck: "false" });
    const second = h("input", { type: "text", list: "all-columns", value: to, placeholder: "anywhere", "aria-label": "To a column", spellcheck: "false" });
    const form = h("form", { class: "choices", submit: (event) => {
      event.preventDefault();
      const next = new URLSearchParams({ from: first.value });
      if (second.value) next.set("to", second.value);
      location.hash = `#/reach?${next}`;
    } }, h("label", {}, h("span", {}, "From"), first), h("label", {}, h("span", {}, "to"), second), h("button", { type: "submit", class: "button" }, "Show"), columns());
    return [
      head(null, "Reach", "What a change of a column gets to, and the way between two columns"), form,
      from ? later(ask("path", { from, to }), (found) => shown(found, from, to)) : Rocky.empty("Choose a column: with a second one, the way between them is shown."),
    ];
  }

  function shown(found, from, to) {
    const nodes = found.columns.map(([table, column]) => {
      const at = Rocky.store.named(table);
      return { name: column, words: table, kind: at ? at.kind : "column", link: at ? Rocky.store.columnLink(at, column) : "#/reach", bad: false };
    });
    if (!found.edges.length) return Rocky.empty(to ? `No value of ${from} gets to ${to}.` : `Nothing is made from ${from}.`);
    const view = new Rocky.GraphView({ nodes, edges: found.edges.map(([a, b]) => [a, b]), focus: 0, whole: true, label: to ? `The way from ${from} to ${to}` : `What ${from} reaches` });
    view.element.rockyView = view;
    const tables = [...new Set(found.columns.slice(1).map(([table]) => table))];
    const list = h("ul", { class: "links columns-list" }, tables.map((name) => h("li", {}, Rocky.live.named(name), h("span", { class: "quiet" },
      found.columns.slice(1).filter(([table]) => table === name).map(([, column]) => column).join(", ")))));
    return [h("p", {}, to ? counted(found.columns.length, "column") : `${counted(found.columns.length - 1, "column")} of ${counted(tables.length, "table")}`, to ? " on the way." : " would be reached."), view.element, Rocky.section("In words", list,
      found.rows?.length ? h("p", { class: "hint" }, "It also decides which rows these have: ", found.rows.map((name, at) => [at ? ", " : "", Rocky.live.named(name)])) : null)];
  }

  Rocky.addView("reach", "Reach", reach);
})();
