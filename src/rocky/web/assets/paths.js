// Paths between two columns, what a change of one would reach, and what of it would not compile.
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

  // What may become of a column: one of these words, or any type of Spark's.
  const FATES = ["dropped", "nullable", "string", "bigint", "double", "decimal(18,2)", "boolean", "date", "timestamp"];
  const supposed = (column, becomes) => (["dropped", "nullable"].includes(becomes) ? { column, [becomes]: true } : { column, type: becomes });

  const place = (each) => (each.span ? [each.span.file, each.span.line].filter(Boolean).join(":") : "");
  const said = (each) => h("li", {}, h("span", {}, h("b", {}, each.code), " ", Rocky.words(each.message)), h("span", { class: "quiet" }, place(each)));
  const fact = (column) => (column ? `${column.data_type}${column.nullable ? "" : " not null"}` : "absent");

  // Those that would not compile first, then what else would be other than it is.
  function broken(found) {
    const models = (rows) => h("ul", { class: "links columns-list" }, rows.map((each) => h("li", {}, Rocky.live.named(each.model), h("ul", { class: "links" }, each.errors.map(said)))));
    const names = (rows) => rows.map((each, at) => [at ? ", " : "", Rocky.live.named(each.model || each)]);
    const { before, after } = found.supposed;
    const counts = [found.broken.length ? counted(found.broken.length, "model") : "", found.contracts.length ? counted(found.contracts.length, "contract") : ""].filter(Boolean);
    return [
      h("p", { class: "verdict" }, counts.length || found.errors.length ? `${counts.join(" and ") || counted(found.errors.length, "check")} would break` : "Everything would compile as it does now",
        ` with ${found.supposed.column} ${after ? `${fact(after)} in place of ${fact(before)}` : "gone"}.`),
      found.broken.length ? [h("h3", {}, "Would not compile"), models(found.broken)] : null,
      found.contracts.length ? [h("h3", {}, "Contracts that would not hold"), models(found.contracts)] : null,
      found.errors.length ? [h("h3", {}, "Also wrong"), h("ul", { class: "links" }, found.errors.map(said))] : null,
      found.untold.length ? h("p", {}, "To be judged when these are mended: ", names(found.untold), ".") : null,
      found.retyped.length ? [h("h3", {}, "Would have other columns"), Rocky.grid("Columns that would be others", ["Table", "Column", "Now", "Then"],
        found.retyped.flatMap((model) => model.columns.map((each) => [Rocky.live.named(model.model), each.column, fact(each.before), fact(each.after)])))] : null,
      found.warnings.length ? [h("h3", {}, "New warnings"), h("ul", { class: "links" }, found.warnings.map(said))] : null,
      found.reached.length ? h("p", { class: "hint" }, "Also reached, without a difference to the compiler: ", names(found.reached), ".") : null,
      found.errors_now ? h("p", { class: "hint" }, `The project has ${counted(found.errors_now, "error")} now, which may hide others.`) : null,
    ];
  }

  async function reach(choices) {
    const [from, to, becomes] = ["from", "to", "becomes"].map((name) => choices.get(name) || "");
    const first = h("input", { type: "text", list: "all-columns", value: from, required: true, placeholder: "table.column", "aria-label": "From a column", spellcheck: "false" });
    const second = h("input", { type: "text", list: "all-columns", value: to, placeholder: "anywhere", "aria-label": "To a column", spellcheck: "false" });
    const third = h("input", { type: "text", list: "all-fates", value: becomes, placeholder: "string", "aria-label": "If it becomes: a type, nullable or dropped", spellcheck: "false" });
    const form = h("form", { class: "choices", submit: (event) => {
      event.preventDefault();
      const next = new URLSearchParams({ from: first.value });
      if (second.value) next.set("to", second.value);
      if (third.value) next.set("becomes", third.value);
      location.hash = `#/reach?${next}`;
    } }, h("label", {}, h("span", {}, "From"), first), h("label", {}, h("span", {}, "to"), second), h("label", {}, h("span", {}, "if it becomes"), third), h("button", { type: "submit", class: "button" }, "Show"), columns(),
    h("datalist", { id: "all-fates" }, FATES.map((value) => h("option", { value }))));
    return [
      head(null, "Reach", "What a change of a column gets to and would break, and the way between two columns"), form,
      from && becomes ? Rocky.section("Would break", later(ask("suppose", supposed(from, becomes)), broken)) : null,
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
