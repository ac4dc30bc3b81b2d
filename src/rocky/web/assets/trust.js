// Governance, and the state that is kept between runs.
"use strict";

(() => {
  const { h, count, counted, when } = Rocky;
  const { ask, later, facts, head, number, named } = Rocky.live;
  const known = (value) => value !== null && value !== undefined;

  // ---------------------------------------------------------------- governance

  async function governance() {
    const found = await ask("compliance");
    const { summary } = found;
    const stat = (value, noun, tone) => h("li", { class: tone && value ? `stat stat-${tone}` : "stat" }, h("div", {}, h("strong", {}, count(value)), " ", h("span", {}, noun)));
    const tags = [...new Set(found.per_column.map((each) => each.classification))].sort();
    return [
      head(null, "Governance", ["Where classified values go, and how each is masked. ", h("a", { href: "#/graph?overlay=governance" }, "On the graph")]),
      h("ul", { class: "stats stats-still", "aria-label": "Counts" }, stat(summary.total_classified, "classified columns"), stat(summary.total_masked, "masked"), stat(summary.total_exceptions, "exposed", "bad"),
        stat(summary.total_clear_by_decision, "clear by decision"), stat(summary.total_allowed, "allowed")),
      found.exceptions.length ? Rocky.section("Exposed", Rocky.grid("Exceptions", ["Column", "Tag", "Environment", "Why"], found.exceptions.map((each) => [
        column(each.model, each.column), each.classification, each.env, Rocky.words(each.reason)]))) : null,
      Rocky.section("Where it flows", tags.length ? tags.map((tag) => [h("h3", {}, tag), flow(found.per_column.filter((each) => each.classification === tag))])
        : Rocky.empty("Nothing is classified: `[classification]` in a source or a model tags a column.")),
      Rocky.section("Who may read", later(ask("readers"), readers)),
      found.declassified.length ? Rocky.section("Declassified", Rocky.grid("Declassified", ["Column", "Tag", "Reason", "Approved by"], found.declassified.map((each) => [
        column(each.model, each.column), each.classification, each.reason, each.approved_by]))) : null,
    ];
  }

  // By what is declared: tables that the same may read stand together.
  function readers(found) {
    if (!found.catalogue) return Rocky.empty("No catalogue is governed here: who can read the files of a table can read it. `[governance.catalog]` and `[[grant]]` say who may.");
    const groups = new Map();
    for (const each of found.tables) {
      const key = JSON.stringify((each.readers || []).map((one) => [one.principal, one.why]));
      if (!groups.has(key)) groups.set(key, { readers: each.readers || [], tables: [] });
      groups.get(key).tables.push(each.table);
    }
    const member = (name) => (found.roles?.[name]?.length ? h("small", {}, ` (${found.roles[name].join(", ")})`) : null);
    return [Rocky.grid("Who may read", ["Tables", "May read", "Because of"], [...groups.values()].sort((a, b) => b.readers.length - a.readers.length).map((group) => [
      some(group.tables, named), group.readers.length ? h("ul", { class: "hops" }, group.readers.map((one) => h("li", {}, h("b", {}, one.principal), member(one.principal)))) : h("span", { class: "quiet" }, "nobody is declared"),
      h("ul", { class: "hops" }, [...new Set(group.readers.flatMap((one) => one.why || []))].map((why) => h("li", {}, h("small", {}, Rocky.words(why)))))])),
    h("p", { class: "hint" }, `As it is declared for the ${found.catalogue} catalogue, which is not asked here: `, h("code", {}, "rocky governance who TABLE"), " asks it, and names rights that nobody declared.")];
  }

  // The first of many, and how many more there are.
  function some(all, render) {
    const rest = all.slice(8);
    return h("ul", { class: "hops" }, all.slice(0, 8).map((each) => h("li", {}, render(each))), rest.length ? h("li", { class: "quiet" }, `and ${count(rest.length)} more`) : null);
  }

  function column(model, name) {
    const table = Rocky.store.named(model);
    return table ? h("a", { href: Rocky.store.columnLink(table, name) }, h("span", { class: "of" }, `${model}.`), name) : `${model}.${name}`;
  }

  const STATES = { masked: "good", not_stored: "good", clear_by_decision: "notice", allowed: "notice", exposed: "bad" };

  function flow(columns) {
    return Rocky.grid("Classified columns", ["Column", "Came by", "Protection"], columns.map((each) => [
      column(each.model, each.column), each.declared ? h("span", { class: "quiet" }, "declared here") : each.path.join(" → "),
      h("ul", { class: "hops" }, each.envs.map((env) => h("li", {}, h("span", { class: `dot tone-${STATES[env.state]}` }), ` ${env.env}: ${env.state.replaceAll("_", " ")}`,
        env.masking_strategy ? h("small", {}, ` by ${env.masking_strategy}`) : "")))]));
  }

  // ---------------------------------------------------------------- state

  async function state() {
    const found = await ask("state");
    const table = (title, label, heads, rows, none) => Rocky.section(title, rows.length ? Rocky.grid(label, heads, rows) : Rocky.empty(none));
    return [
      head(null, "State", "What is kept between runs"),
      facts([["File", h("code", {}, found.path)], ["Runs", count(found.runs)], ["Executions", count(found.executions)], ["Files", count(found.artifacts)],
        ["Kept", found.backend && found.backend !== "local" ? [`in ${found.backend} `, found.backend_problem ? Rocky.status("failed") : Rocky.status("success"), " ",
          h("small", {}, found.backend_problem || "it answers")] : "on this machine"],
        found.runs_elsewhere?.length ? ["Running elsewhere", some(found.runs_elsewhere, (each) => h("code", {}, each))] : null,
        ["Schema", known(found.schema_version_on_disk) ? `${found.schema_version_on_disk} of ${found.schema_version_supported}` : "no file yet"]].filter(Boolean)),
      table("Watermarks", "Watermarks", ["Table", "Until", "Moved"], found.watermarks.map((each) => [named(each.table), each.last_value, when(each.updated_at)]),
        "No table is loaded bit by bit."),
      table("Columns on notice", "Grace periods", ["Table", "Column", "Change", "Seen first", "Stays until"], found.grace_periods.map((each) => [
        named(each.table), h("b", {}, each.column), [each.change, each.type ? ` to ${each.type}` : ""], when(each.first_seen_at), when(each.expires_at)]), "No column is kept on notice."),
      table("Claims", "Claims", ["Run", "Since", "By", "Tables it alone may write"], (found.claims || []).map((each) => [
        h("a", { href: `#/run/${each.run_id}` }, h("code", {}, each.run_id)), when(each.since), `process ${each.process} on ${each.hostname}`, some(each.targets || [], named)]), "No run of this machine holds a table now."),
      table("Runs in flight", "Keys", ["Key", "Run", "State", "Since"], found.keys_in_flight.map((each) => [each.key, each.run_id || "", each.state, when(each.since)]), "No run is going on under a key."),
      found.partitions.length ? table("Intervals", "Partitions", ["Model", "Interval", "Status"], found.partitions.slice(0, 200).map((each) => [named(each.model_name), each.partition_key, each.status]), "") : null,
      found.loaded_files.length ? table("Loaded files", "Loaded files", ["Table", number("Files")], found.loaded_files.map((each) => [named(each.table), count(each.files)]), "") : null,
    ];
  }

  Rocky.addView("governance", "Governance", governance);
  Rocky.addView("state", "State", state);
})();
