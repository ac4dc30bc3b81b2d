// The pages of the whole project: overview, tables, graph, runs and findings.
"use strict";

(() => {
  const { h, words, count, counted, duration, money, when } = Rocky;
  const SHOWN = 200;
  const MANY = 150;

  const GOOD = new Set(["built", "reused", "resumed", "not needed", "cloned", "promoted", "moved back", "Success", "success", "signed", "open"]);
  const BAD = new Set(["failed", "Failure", "PartialFailure", "does not count", "closed", "died"]);
  const WORDS = new Map([["PartialFailure", "partly failed"], ["Failure", "failed"], ["Success", "success"],
    ["Interrupted", "interrupted"], ["Running", "running"]]);

  // Words that do not say by themselves what became of a table.
  const MEANINGS = new Map([
    ["held", "left as it is: its code is what a revert took back"],
    ["held back", "not built: something that it reads failed"],
    ["resumed", "built already by the run that this one went on from"],
    ["reused", "not built: an earlier result is of the same code and inputs"],
    ["moved back", "put back to the version before a promotion"],
    ["unchanged", "nothing new to load"],
  ]);

  // How something ended: a colour and always a word.
  function status(outcome) {
    const tone = GOOD.has(outcome) ? "good" : BAD.has(outcome) ? "bad" : outcome === "warned" ? "notice" : "plain";
    return h("span", { class: `status status-${tone}`, title: MEANINGS.get(outcome) }, statusWord(outcome));
  }

  const statusWord = (outcome) => WORDS.get(outcome) || outcome;

  const badge = (kind) => h("span", { class: `badge kind-${kind}` }, kind);
  const tableLink = (table) => h("a", { class: "name", href: Rocky.store.tableLink(table) }, table.name);
  const section = (title, ...rest) => {
    const id = `s-${title.toLowerCase().replace(/\W+/g, "-")}`;
    return h("section", { "aria-labelledby": id, class: "part" }, h("h2", { id }, title), ...rest);
  };

  // Roles are said aloud, because a narrow window shows rows as blocks and then they would be lost.
  function grid(label, heads, rows) {
    const side = (head) => (head.right ? "right" : null);
    const cell = (content, head) => h("td", { role: "cell", "data-label": head.text || head, class: side(head) },
      content === "" ? null : h("div", {}, content));
    const made = h("div", { class: "wide", role: "group", "aria-label": label }, h("table", { role: "table", "aria-label": label },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads.map((head) =>
        h("th", { role: "columnheader", scope: "col", class: side(head) }, head.text || head)))),
      h("tbody", { role: "rowgroup" }, rows.map((cells) =>
        h("tr", { role: "row" }, cells.map((content, at) => cell(content, heads[at])))))));
    scrolls.observe(made);
    return made;
  }

  // Keys can move a table that is wider than its window, and do not stop at one that is not.
  const scrolls = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });

  const right = (text) => ({ text, right: true });

  function tagTexts(tags) {
    return Object.entries(tags || {}).map(([name, value]) => (value === "true" ? name : `${name}=${value}`));
  }

  // ---------------------------------------------------------------- overview

  function overview() {
    const { index } = Rocky.store;
    const { tables } = index;
    const of = (kind) => tables.filter((table) => table.kind === kind).length;
    const columns = tables.reduce((sum, table) => sum + table.columns.length, 0);
    const tests = tables.reduce((sum, table) => sum + table.tests.length, 0);
    const errors = index.findings.filter((each) => each.severity === "error").length;
    const stat = (value, noun, href, tone) => h("li", { class: tone ? `stat stat-${tone}` : "stat" },
      h("a", { href }, h("strong", {}, count(value)), " ", h("span", {}, value === 1 ? noun : `${noun}s`)));
    const last = index.runs[0];
    return [
      h("header", { class: "head" },
        h("p", { class: "eyebrow" }, index.branch ? `Project, branch ${index.branch}` : "Project"),
        h("h1", { tabindex: "-1" }, index.project),
        h("p", { class: "lead" }, lead(index, errors, last))),
      h("ul", { class: "stats", "aria-label": "Counts" },
        stat(of("model"), "model", "#/tables?kind=model"), stat(of("source") + of("import"), "source", "#/tables?kind=source"),
        of("table") ? stat(of("table"), "pipeline table", "#/tables?kind=table") : null,
        stat(of("seed"), "seed", "#/tables?kind=seed"), stat(columns, "column", "#/tables"), stat(tests, "test", "#/tables?tests"),
        stat(index.findings.length, "finding", "#/findings", errors ? "bad" : null)),
      tables.length && graphPart(tables.map((table) => table.place)),
      h("div", { class: "pair" },
        section("Last runs", index.runs.length ? runRows(index.runs.slice(0, 6), true) : empty("No run is recorded yet: `rocky run` makes the first.")),
        section("Findings", index.findings.length ? findingRows(gravest(index.findings).slice(0, 6)) : empty("The project compiles without findings."),
          index.findings.length ? h("p", {}, h("a", { href: "#/findings" }, index.findings.length > 6 ? `All ${count(index.findings.length)} findings` : "Findings on a page of their own")) : null)),
      h("div", { class: "pair" },
        section("Owners", owners(tables)),
        section("How much is described", coverage(tables))),
      index.pipelines.length ? section("Pipelines", pipelines(index.pipelines)) : null,
    ];
  }

  function lead(index, errors, last) {
    const said = errors ? [h("strong", { class: "bad" }, counted(errors, "error")), " in the project. "]
      : ["Every model compiles. "];
    return last ? [said, last.status === "Running" && !last.died ? "A run is going on, since " : ["The last run: ", status(last.died ? "died" : last.status), ", "], when(last.started_at),
      last.cost_usd !== undefined && last.cost_usd !== null ? `, ${money(last.cost_usd)}` : "", "."] : said;
  }

  function graphPart(places) {
    if (places.length > MANY) {
      const folders = Rocky.folderGraph({ label: "Lineage of the project's folders" });
      const shown = section("Lineage", folders.element, Rocky.legend(places));
      shown.rockyView = folders;
      return shown;
    }
    const view = Rocky.tableGraph({ places, label: `Lineage of the whole project, ${counted(places.length, "table")}` });
    const made = section("Lineage", view.element, Rocky.legend(places));
    made.rockyView = view;
    return made;
  }

  function owners(tables) {
    const found = new Map();
    for (const table of tables) {
      const name = table.owner || "";
      found.set(name, (found.get(name) || 0) + 1);
    }
    if (found.size === 1 && found.has("")) return empty("Nothing says who owns what: `owner` in a model, a folder or a pipeline does.");
    const rows = [...found].sort((a, b) => (a[0] === "") - (b[0] === "") || b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    return h("ul", { class: "bars" }, rows.slice(0, 12).map(([name, number]) => h("li", {},
      h("a", { href: `#/tables?owner=${encodeURIComponent(name)}` }, name || "nobody"), " ", bar(number / tables.length), h("span", { class: "right" }, count(number)))));
  }

  function bar(share) {
    const filled = h("i", {});
    filled.style.width = `${share ? Math.max(1, Math.round(share * 100)) : 0}%`;
    return h("span", { class: "bar-of", "aria-hidden": "true" }, filled);
  }

  function coverage(tables) {
    const models = tables.filter((table) => table.kind === "model");
    const share = (name, part, whole) => (whole ? h("li", {}, h("span", {}, name), " ", bar(part / whole),
      h("span", { class: "right" }, `${count(part)} of ${count(whole)}`)) : null);
    const columns = models.reduce((sum, table) => sum + table.columns.length, 0);
    const described = models.reduce((sum, table) => sum + table.columns.filter((column) =>
      Object.hasOwn(table.column_descriptions || {}, column.toLowerCase())).length, 0);
    return h("ul", { class: "bars" },
      share("Models with a description", models.filter((table) => table.description).length, models.length),
      share("Columns with a description", described, columns),
      share("Models with an owner", models.filter((table) => table.owner).length, models.length),
      share("Models with tests", models.filter((table) => table.tests.length).length, models.length));
  }

  function pipelines(found) {
    return grid("Pipelines", ["Name", "Type", right("Models"), "Owner", "Description"], found.map((each) =>
      [h("b", {}, each.name), each.type, each.models ? count(each.models) : "", each.owner || "", each.description || ""]));
  }

  const empty = (text) => h("p", { class: "empty" }, words(text));

  // ---------------------------------------------------------------- tables

  function tables(asked) {
    const { index } = Rocky.store;
    const choice = (name, label, values) => {
      const wanted = asked.get(name);
      return h("label", {}, h("span", {}, label), h("select", {
        change: (event) => {
          const next = new URLSearchParams(asked);
          if (event.target.value === "*") next.delete(name);
          else next.set(name, event.target.value);
          location.hash = `#/tables${String(next) ? `?${next}` : ""}`;
        },
      }, h("option", { value: "*" }, "all"), values.map(([value, text]) => h("option", { value, selected: value === wanted }, text))));
    };
    const distinct = (values) => [...new Set(values)].sort();
    const kinds = distinct(index.tables.map((table) => table.kind));
    const owned = distinct(index.tables.map((table) => table.owner || ""));
    const tags = distinct(index.tables.flatMap((table) => tagTexts(table.tags)));
    const found = index.tables.filter((table) =>
      (!asked.has("kind") || table.kind === asked.get("kind"))
      && (!asked.has("owner") || (table.owner || "") === asked.get("owner"))
      && (!asked.has("tag") || tagTexts(table.tags).includes(asked.get("tag")))
      && (!asked.has("pipeline") || table.pipeline === asked.get("pipeline"))
      && (!asked.has("tests") || table.tests.length));
    return [
      h("header", { class: "head" }, h("h1", { tabindex: "-1" }, "Tables"),
        h("p", { class: "lead" }, found.length === index.tables.length ? counted(found.length, "table")
          : `${count(found.length)} of ${counted(index.tables.length, "table")}`)),
      h("div", { class: "choices" }, choice("kind", "Kind", kinds.map((kind) => [kind, kind])),
        choice("owner", "Owner", owned.map((name) => [name, name || "nobody"])),
        tags.length ? choice("tag", "Tag", tags.map((tag) => [tag, tag])) : null,
        asked.has("pipeline") && h("a", { class: "button", href: "#/tables" }, `of ${asked.get("pipeline")} ×`),
        asked.has("tests") && h("a", { class: "button", href: "#/tables" }, "with tests ×")),
      found.length ? paged(found, tableRows) : empty("Nothing is like that."),
    ];
  }

  function tableRows(found) {
    return grid("Tables", ["Name", "Description", "Owner", right("Columns"), right("Tests"), "Last run"], found.map((table) => [
      [badge(table.kind), " ", tableLink(table), table.errors ? [" ", h("span", { class: "status status-bad" }, counted(table.errors, "error"))] : null],
      table.description || "", table.owner || "", count(table.columns.length), table.tests.length ? count(table.tests.length) : "",
      table.outcome ? status(table.outcome) : ""]));
  }

  // A list in pages that follow each other: ten thousand rows at once would freeze a phone.
  function paged(rows, render) {
    const box = h("div", {});
    let shown = 0;
    const more = h("button", { type: "button", class: "button" });
    const next = () => {
      more.remove();
      box.append(render(rows.slice(shown, shown + SHOWN)));
      shown += SHOWN;
      if (shown < rows.length) {
        more.textContent = `Show more (${count(rows.length - shown)} left)`;
        box.append(more);
      }
    };
    more.addEventListener("click", next);
    next();
    return box;
  }

  // ---------------------------------------------------------------- runs

  // `short` is without what a run cost. Where there is a server, a run has a page of its own.
  function runRows(runs, short) {
    const name = (run) => (Rocky.live ? Rocky.live.runLink(run.run_id) : h("code", {}, run.run_id));
    const checks = (run) => [run.checks_failed && `${counted(run.checks_failed, "check")} failed`, run.checks_warned && `${counted(run.checks_warned, "check")} warned`].filter(Boolean).join(", ");
    const heads = ["Run", "Of", "Status", "Began", right("Took"), "Models", right("Cost")];
    const rows = runs.map((run) => [
      name(run), deedOf(Object.keys(run.outcomes)) || run.pipeline || "", [status(run.died ? "died" : run.status), checks(run) ? [" ", h("small", { class: "quiet" }, checks(run))] : ""],
      when(run.started_at), duration(run.duration_ms), outcomes(run),
      run.cost_usd !== undefined && run.cost_usd !== null ? money(run.cost_usd) : ""]);
    return short ? grid("Runs", heads.slice(0, -1), rows.map((row) => row.slice(0, -1))) : grid("Runs", heads, rows);
  }

  // What is done to tables without building them is a run too.
  const DEEDS = new Map([["promoted", "promotion"], ["moved back", "revert"], ["erased", "erasure"]]);
  const deedOf = (outcomes) => DEEDS.get(outcomes[0]);

  function outcomes(run) {
    return Object.entries(run.outcomes).map(([name, number]) => `${count(number)} ${name}`).join(", ");
  }

  function runs() {
    const { index } = Rocky.store;
    return [
      h("header", { class: "head" }, h("h1", { tabindex: "-1" }, "Runs"),
        h("p", { class: "lead" }, index.runs.length > 1 ? `The last ${count(index.runs.length)} runs, newest first` : "")),
      index.runs.length ? [bars(index.runs), runRows(index.runs)] : empty("No run is recorded yet: `rocky run` makes the first."),
      index.runs.length ? h("p", { class: "hint" }, "Why a run failed is told by ", h("code", {}, "rocky history RUN"),
        ": it may quote rows, so it is not here.") : null,
    ];
  }

  // How long each run took, oldest first.
  function bars(found) {
    const known = found.filter((run) => run.duration_ms).slice().reverse();
    if (known.length < 2) return null;
    const most = Math.max(...known.map((run) => run.duration_ms));
    return h("div", { class: "columns", role: "img", "aria-label": `How long the last ${known.length} runs took: at most ${duration(most)}` },
      known.map((run) => {
        const tone = GOOD.has(run.status) ? "good" : BAD.has(run.status) ? "bad" : "plain";
        const made = h("span", { class: `tone-${tone}`, title: `${run.run_id}: ${duration(run.duration_ms)}` });
        made.style.height = `${Math.max(4, (100 * run.duration_ms) / most)}%`;
        return made;
      }));
  }

  // ---------------------------------------------------------------- findings

  // Errors first; else in the order of the compiler.
  const GRAVITY = ["error", "warning", "info"];
  const gravest = (found) => found.slice().sort((a, b) => GRAVITY.indexOf(a.severity) - GRAVITY.indexOf(b.severity));

  function findingRows(found) {
    const { tables: all } = Rocky.store.index;
    return h("ul", { class: "findings" }, found.map((each) => h("li", { class: `finding finding-${each.severity}` },
      h("p", {}, h("span", { class: "finding-code" }, `${each.severity} ${each.code}`), " ", words(each.message)),
      each.help ? h("p", { class: "hint" }, "help: ", words(each.help)) : null,
      h("p", { class: "hint" }, h("code", {}, each.place), each.table !== undefined ? [" in ", tableLink(all[each.table])] : null))));
  }

  function findings() {
    const { index } = Rocky.store;
    return [
      h("header", { class: "head" }, h("h1", { tabindex: "-1" }, "Findings"),
        h("p", { class: "lead" }, "What ", h("code", {}, "rocky compile"), " says of the project")),
      index.findings.length ? paged(gravest(index.findings), findingRows) : empty("The project compiles without findings."),
    ];
  }

  // ---------------------------------------------------------------- graph

  // Of few tables all at once; of many their folders, and the tables of one that is opened.
  function graph(asked) {
    const { index } = Rocky.store;
    const places = index.tables.map((table) => table.place);
    if (!places.length) return [h("h1", { tabindex: "-1" }, "Graph"), empty("There is nothing to draw yet.")];
    const folder = asked.get("folder");
    const all = asked.has("all") || (places.length <= MANY && folder === null);
    const label = `Lineage of the whole project, ${counted(places.length, "table")}`;
    const parts = Rocky.partsOf(asked);
    const view = all ? Rocky.tableGraph({ places, parts, whole: true, label })
      : Rocky.folderGraph({ open: folder, parts, whole: true, label: folder ? `Lineage of ${folder}` : `${label}, by folder` });
    view.element.rockyView = view;
    // The address keeps what is chosen, so that it can be sent to somebody.
    const remember = (name) => {
      const next = new URLSearchParams(location.hash.split("?")[1] || "");
      if (name) next.set("overlay", name);
      else next.delete("overlay");
      history.replaceState(null, "", `#/graph${String(next) ? `?${next}` : ""}`);
    };
    return [
      h("header", { class: "head head-row" }, h("h1", { tabindex: "-1" }, folder || "Graph"), Rocky.legend(places, parts)),
      h("div", { class: "graph-choices" }, Rocky.partSwitches(asked), Rocky.overlaySwitches(view, asked.get("overlay"), remember)), view.element,
      h("p", { class: "hint" }, `Drag to move, scroll to zoom, click to open a ${all ? "table" : "folder or a table"}. `,
        folder || (all && places.length > MANY) ? [h("a", { href: "#/graph" }, "All folders"), " · "] : null,
        all ? null : [h("a", { href: "#/graph?all" }, `All ${count(places.length)} tables`), " · "],
        h("a", { href: "#/tables" }, "The same as a list")),
    ];
  }

  Rocky.lists = { overview, tables, graph, runs, findings };
  Object.assign(Rocky, { deedOf, status, statusWord, badge, section, grid, empty, findingRows, tagTexts, nameLink: tableLink });
})();
