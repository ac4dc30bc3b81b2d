// What a server adds to the page of a model: rows, executions over time, and why it would be built.
"use strict";

(() => {
  const { h, count, counted, duration, bytes, money, when } = Rocky;
  const { ask, later, number, copyable, linked, runLink, chart } = Rocky.live;
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
      const over = (title, value, words) => chart(title, built.map(value), words, (at) => built[at].run_id);
      return [
        built.length > 1 ? h("div", { class: "charts" }, over("Rows written", (each) => each.rows_affected, count), over("Took", (each) => each.duration_ms, duration),
          built.some((each) => known(each.cost_usd)) ? over("Cost", (each) => each.cost_usd || 0, money) : null) : null,
        Rocky.grid("Executions", ["Run", "Outcome", "Began", number("Took"), number("Rows written"), number("Version"), "Why"], found.executions.map((each) => [
          runLink(each.run_id), Rocky.status(each.outcome), when(each.started_at),
          duration(each.duration_ms), known(each.rows_affected) ? count(each.rows_affected) : "", known(each.commit_version) ? each.commit_version : "",
          linked(each.reason || each.action)])),
        driftOf(found.executions),
      ];
    });
  }

  // What became of columns at the source, run by run.
  function driftOf(executions) {
    const told = executions.flatMap((each) => (each.drift || []).map((one) => [each, one]));
    return told.length ? [h("h3", {}, "Changes of its source"), Rocky.live.driftRows(told)] : null;
  }

  // ---------------------------------------------------------------- files

  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const checkLine = (file, local) => (local ? `echo ${quoted(`${file.blake3_hash}  ${file.path}`)} | b3sum --check` : `aws s3 cp ${quoted(file.path)} - | b3sum   # ${file.blake3_hash}`);
  const FILES = 50;

  const storesFiles = (table) => stored(table) && table.strategy !== "view" && table.strategy !== "ephemeral";

  // Columns are shown as the code has them, rows and files as the table was built: where these differ, it is said.
  Rocky.columnsNote = (table, { columns, complete }) => {
    if (!storesFiles(table) || !complete || !columns.length) return null;
    const box = h("div", {});
    const names = (all) => all.map((name, at) => [at ? ", " : "", h("code", {}, name)]);
    ask("files", { table: table.target || table.name }).then((found) => {
      const [code, built] = [columns.map((column) => column.name), found.columns].map((all) => new Map(all.map((name) => [name.toLowerCase(), name])));
      const only = (one, other) => [...one].filter(([key]) => !other.has(key)).map(([, name]) => name);
      const [added, gone] = [only(code, built), only(built, code)];
      if (added.length || gone.length) {
        Rocky.add(box, [h("p", { class: "hint" }, "These are the columns of the code, which differs from the table as it was built", added.length ? [": the table does not have ", names(added)] : "",
          gone.length ? [added.length ? ", and still has " : ": the table still has ", names(gone)] : "", ".")]);
      }
    }, () => {}); // A table that was never built has nothing to differ; what is wrong with its files, Files says.
    return box;
  };

  function files(table) {
    return later(ask("files", { table: table.target || table.name }), (found) => [
      h("p", {}, `Version ${found.version}: ${counted(found.rows, "row")} in ${counted(found.files.length, "file")}, ${bytes(found.bytes)}`, found.run_id ? [", as ", runLink(found.run_id), " left it."] : "."),
      found.files.length ? [Rocky.grid("Files", ["File", number("Rows"), number("Size"), "Check it without Rocky"], found.files.slice(0, FILES).map((file) => [
        h("code", { title: file.path }, file.blake3_hash ? file.blake3_hash.slice(0, 16) : file.path), count(file.rows), bytes(file.size_bytes),
        file.blake3_hash ? copyable(checkLine(file, found.is_local), `check of ${file.blake3_hash.slice(0, 12)}`) : "its name is not its hash"])),
      found.files.length > FILES ? h("p", { class: "hint" }, `and ${count(found.files.length - FILES)} more`) : null,
      h("p", { class: "hint" }, "The name of a file is the BLAKE3 hash of its bytes, so anybody can check it: ", h("code", {}, "b3sum"), " is a program of its own.")] : null,
    ]);
  }

  function why(table) {
    return later(ask("why", { model: table.name }), (found) => [
      h("p", {}, h("b", {}, `${found.outlook}: `), linked(found.reason), found.certain ? "" : ". Only Spark can say for sure."),
      found.waits_for?.length ? h("p", { class: "hint" }, "First a run builds ", found.waits_for.map((name, at) => [at ? ", " : "", Rocky.live.named(name)]), ".") : null,
      found.last_run ? h("p", { class: "hint" }, "Last ", found.last_outcome, " in ", h("a", { href: `#/run/${found.last_run}` }, h("code", {}, found.last_run)), found.last_reason ? [": ", linked(found.last_reason)] : "") : null,
    ]);
  }

  function tests(table) {
    return later(ask("history", { limit: 50 }), (found) => {
      const mine = new Set([table.name, table.target].filter(Boolean).map((name) => name.toLowerCase()));
      const series = Rocky.live.seriesOf(found.runs).filter(([[, each]]) => mine.has(each.table.toLowerCase()));
      if (!series.length) return Rocky.empty(table.kind === "table" ? "No run has checked it yet: `checks` of its pipeline says what is checked." : "No test of it is recorded: `rocky build` and `rocky run --test` record theirs, `rocky test` tells its caller alone.");
      return Rocky.grid("Tests over time", ["Test", "Results, oldest first", "Last", "Found", "When"], series.map((results) => {
        const [run, last] = results[results.length - 1];
        return [h("b", {}, last.name), Rocky.live.strip(results), Rocky.live.result(last), Rocky.live.found(last), h("a", { href: `#/run/${run.run_id}` }, when(run.started_at))];
      }));
    });
  }

  function sizes(table) {
    return later(ask("counts", { tables: [table.target || table.name] }), (found) => {
      const counts = found.tables[0].counts;
      if (counts.length < 2) return Rocky.empty("It was counted at most once.");
      return h("div", { class: "charts" }, chart("Rows in the table", counts.map((each) => each.count), count, (at) => counts[at].timestamp.slice(0, 16).replace("T", " ")));
    });
  }

  const stored = (table) => Rocky.live.endpoints.has("rows") && (table.kind === "model" || table.kind === "seed" || table.kind === "table");
  Rocky.tableExtras = (table) => [
    stored(table) ? ["Rows", rows(table)] : null,
    storesFiles(table) ? ["Files", files(table)] : null,
    table.kind === "model" ? ["If it ran now", why(table)] : null,
    table.tests.length || table.kind === "table" ? ["Tests over time", tests(table)] : null,
    table.kind === "table" ? ["Size over time", sizes(table)] : null,
    table.kind === "model" || table.kind === "seed" || table.kind === "table" ? ["Over time", executions(table)] : null,
  ].filter(Boolean);
})();
