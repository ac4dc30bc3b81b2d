// What a server adds to the page of a model: rows, executions over time, and why it would be built.
"use strict";

(() => {
  const { h, count, counted, duration, bytes, money, when } = Rocky;
  const { ask, later, number } = Rocky.live;
  const known = (value) => value !== null && value !== undefined;

  function rows(table) {
    const box = h("div", {});
    const load = () => box.replaceChildren(later(ask("rows", { table: table.target || table.name, limit: 20 }), sample));
    box.append(h("button", { type: "button", class: "button", click: load }, "Show 20 rows"));
    return box;
  }

  function sample(found) {
    const hidden = found.columns.filter((column) => column.hidden);
    const cell = (value) => (value === null ? h("span", { class: "quiet" }, "null") : typeof value === "object" ? JSON.stringify(value) : String(value));
    return [
      h("p", { class: "hint" }, known(found.table_version) ? `Version ${found.table_version}, ${counted(found.row_count, "row")} in ${counted(found.file_count, "file")}, ${bytes(found.bytes)}. ` : "",
        hidden.length ? `Hidden from you: ${hidden.map((column) => `${column.name} (${column.hidden})`).join(", ")}.` : ""),
      found.rows.length ? Rocky.grid("Rows", found.columns.map((column) => column.name), found.rows.map((row) => found.columns.map((column) => cell(row[column.name]))))
        : Rocky.empty("The table has no rows."),
    ];
  }

  function executions(table) {
    return later(ask("history", { model: table.name, limit: 30 }), (found) => {
      if (!found.executions.length) return Rocky.empty("No run of it is recorded yet.");
      const built = found.executions.filter((each) => known(each.rows_affected)).slice().reverse();
      return [
        built.length > 1 ? h("div", { class: "charts" }, chart("Rows", built, (each) => each.rows_affected, count),
          chart("Took", built, (each) => each.duration_ms, duration),
          built.some((each) => known(each.cost_usd)) ? chart("Cost", built, (each) => each.cost_usd || 0, money) : null) : null,
        Rocky.grid("Executions", ["Run", "Ended", "Began", number("Took"), number("Rows"), number("Version"), "Why"], found.executions.map((each) => [
          h("a", { href: `#/run/${each.run_id}` }, h("code", {}, each.run_id)), Rocky.status(each.outcome), when(each.started_at),
          duration(each.duration_ms), known(each.rows_affected) ? count(each.rows_affected) : "", known(each.commit_version) ? each.commit_version : "",
          each.reason || each.action || ""])),
      ];
    });
  }

  function chart(title, found, value, words) {
    const most = Math.max(...found.map(value), 0);
    return h("figure", {}, h("figcaption", {}, title, " ", h("b", {}, words(value(found[found.length - 1])))),
      h("div", { class: "columns", role: "img", "aria-label": `${title}, oldest first: ${found.map((each) => words(value(each))).join(", ")}` }, found.map((each) => {
        const bar = h("span", { class: "tone-good", title: `${each.run_id}: ${words(value(each))}` });
        bar.style.height = `${most ? Math.max(4, (100 * value(each)) / most) : 4}%`;
        return bar;
      })));
  }

  function why(table) {
    return later(ask("why", { model: table.name }), (found) => [
      h("p", {}, h("b", {}, `${found.outlook}: `), found.reason, found.certain ? "" : ". Only Spark can say for sure."),
      found.waits_for?.length ? h("p", { class: "hint" }, "First a run builds ", found.waits_for.map((name, at) => [at ? ", " : "", Rocky.live.named(name)]), ".") : null,
      found.last_run ? h("p", { class: "hint" }, "Last ", found.last_outcome, " in ", h("a", { href: `#/run/${found.last_run}` }, h("code", {}, found.last_run)), found.last_reason ? `: ${found.last_reason}` : "") : null,
    ]);
  }

  function tests(table) {
    return later(ask("history", { limit: 50 }), (found) => {
      const mine = new Set([table.name, table.target].filter(Boolean).map((name) => name.toLowerCase()));
      const runs = found.runs.filter((run) => (run.check_outcomes || []).some((each) => mine.has(each.table.toLowerCase()))).slice().reverse();
      if (!runs.length) return Rocky.empty("No run has tested it yet: `rocky test` and `rocky build` do.");
      const names = [...new Set(runs.flatMap((run) => run.check_outcomes.filter((each) => mine.has(each.table.toLowerCase())).map((each) => each.name)))];
      return Rocky.grid("Tests over time", ["Test", "Results, oldest first", "Last"], names.map((name) => {
        const results = runs.flatMap((run) => run.check_outcomes.filter((each) => each.name === name && mine.has(each.table.toLowerCase())).map((each) => [run, each]));
        const [, last] = results[results.length - 1];
        return [h("b", {}, name), h("span", { class: "strip", role: "img", "aria-label": results.map(([, each]) => (each.passed ? "passed" : "failed")).join(", ") },
          results.map(([run, each]) => h("i", { class: each.passed ? "tone-good" : "tone-bad", title: `${run.run_id}: ${each.passed ? "passed" : "failed"}` }))),
        [Rocky.status(last.passed ? "success" : "failed"), known(last.failing_rows) && last.failing_rows ? ` ${counted(last.failing_rows, "row")}` : ""]];
      }));
    });
  }

  const stored = (table) => Rocky.live.endpoints.has("rows") && (table.kind === "model" || table.kind === "seed" || table.kind === "table");
  Rocky.tableExtras = (table) => [
    stored(table) ? ["Rows", rows(table)] : null,
    table.kind === "model" ? ["If it ran now", why(table)] : null,
    table.tests.length ? ["Tests over time", tests(table)] : null,
    table.kind === "model" || table.kind === "seed" ? ["Over time", executions(table)] : null,
  ].filter(Boolean);
})();
