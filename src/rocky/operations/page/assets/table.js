// The page of one table, and that of one of its columns.
"use strict";

(() => {
  const { h, count, counted, duration, bytes, money, when } = Rocky;
  const { store } = Rocky;
  const FEW = 4;
  const STEPS = 500;
  const ROOMY = 40;

  const tables = () => store.index.tables;
  const known = (value) => value !== null && value !== undefined;

  function columnLink(place, column) {
    const table = tables()[place];
    return h("a", { href: store.columnLink(table, column) }, h("span", { class: "of" }, `${table.name}.`), column);
  }

  // ---------------------------------------------------------------- a table

  async function tablePage(table) {
    const found = await store.details(table.place);
    const parts = [
      ["Lineage", lineage(table)],
      ["Columns", columns(table, found)],
      ["Tests", found.tests?.length ? tests(found.tests) : null],
      ["Contract", found.contract ? contract(found.contract) : null],
      ["Findings", found.findings?.length ? Rocky.findingRows(found.findings) : null],
      ["Last run", found.last ? lastRun(found) : null],
      [Rocky.languages[found.code?.language] || "SQL", found.code ? code(table, found) : null],
      ...(Rocky.tableExtras?.(table) || []),
      ["Details", details(table, found)],
    ].filter((each) => each[1]);
    const made = parts.map(([title, body]) => Rocky.section(title, body));
    return [
      head(table, found),
      h("nav", { class: "jump", "aria-label": "On this page" }, parts.map(([title], at) =>
        h("button", { type: "button", click: () => jump(made[at]) }, title))),
      made,
    ];
  }

  // The address names the table, so a place on its page has none: the part is shown and focused.
  function jump(part) {
    part.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    const title = part.querySelector("h2");
    title.tabIndex = -1;
    title.focus({ preventScroll: true });
  }

  function head(table, found) {
    const made = found.built || found.last;
    const chips = [
      table.owner && ["owner", h("a", { href: `#/tables?owner=${encodeURIComponent(table.owner)}` }, table.owner)],
      table.strategy && ["strategy", table.strategy],
      table.pipeline && ["pipeline", table.pipeline],
      found.last && ["last run", [Rocky.status(found.last.outcome), " ", when(found.last.started_at)]],
      made && known(made.rows) && ["rows written", count(made.rows)],
      made && known(made.cost_usd) && ["cost", money(made.cost_usd)],
    ].filter(Boolean);
    return h("header", { class: "head" },
      h("p", { class: "eyebrow" }, Rocky.badge(table.kind), " ", h("code", {}, table.path)),
      h("h1", { tabindex: "-1" }, table.name),
      table.description ? h("p", { class: "lead" }, table.description) : h("p", { class: "lead quiet" }, "No description yet."),
      chips.length ? h("dl", { class: "chips" }, chips.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))) : null,
      table.tags ? h("ul", { class: "tags", "aria-label": "Tags" }, Rocky.tagTexts(table.tags).map((tag) =>
        h("li", {}, h("a", { href: `#/tables?tag=${encodeURIComponent(tag)}` }, tag)))) : null);
  }

  function lineage(table) {
    const readers = store.readers(table.place);
    const list = (title, places) => h("div", {}, h("h3", {}, `${title} (${count(places.length)})`),
      places.length ? h("ul", { class: "links" }, places.map((place) =>
        h("li", {}, h("span", { class: `dot kind-${tables()[place].kind}` }), Rocky.nameLink(tables()[place])))) : h("p", { class: "quiet" }, "nothing"));
    const lists = h("div", { class: "pair" }, list("Reads", table.reads), list("Read by", readers));
    if (!table.reads.length && !readers.length) return lists;
    return [graphOf(table), lists];
  }

  // The neighbourhood: all of it where it fits, else some steps; more on request.
  function graphOf(table) {
    const holder = h("div", {});
    const all = store.around(table.place, Infinity);
    let depth = Infinity;
    if (all.places.length > ROOMY) {
      depth = 2;
      if (store.around(table.place, 2).places.length > 3 * ROOMY) depth = 1;
    }
    const draw = () => {
      holder.firstChild?.rockyView?.close();
      const { places } = store.around(table.place, depth);
      const view = Rocky.tableGraph({ places, focus: table.place,
        label: `Lineage of ${table.name}, ${counted(places.length, "table")}` });
      view.element.rockyView = view;
      holder.replaceChildren(view.element);
    };
    draw();
    const steps = [[1, "1 step"], [2, "2 steps"], [3, "3 steps"], [Infinity, "all"]];
    const choice = h("label", {}, h("span", {}, "Show"), h("select", {
      change: (event) => {
        depth = Number(event.target.value);
        draw();
      },
    }, steps.map(([value, text]) => h("option", { value, selected: value === depth }, text))));
    return [holder, h("div", { class: "choices under" }, Rocky.legend(all.places), choice)];
  }

  const NO_COLUMNS = {
    model: "The columns are not known: the model has errors.",
    table: "The columns are not known yet: the pipeline has not written the table, or it lies in an object store.",
  };
  // Whether the project makes it, a model or a pipeline, and its columns come from others.
  const isMade = (table) => table.kind === "model" || table.kind === "table";

  function columns(table, found) {
    const open = (found.unknown || []).map(([name, command]) =>
      h("p", { class: "hint" }, "The columns of ", h("code", {}, name), " are not known: ", h("code", {}, command), " makes them known."));
    if (!found.columns.length) return open.length ? open : Rocky.empty(NO_COLUMNS[table.kind] || "None is declared.");
    const told = found.columns.some((column) => column.description);
    // What is copied from outside the graph comes from no column that is known here.
    const from = isMade(table) && found.columns.some((column) => column.sources?.length);
    const heads = ["Column", "Type", told && "Description", from || table.kind === "model" ? "Comes from" : "Read by"].filter(Boolean);
    const rows = found.columns.map((column) => [
      [h("a", { class: "name", href: store.columnLink(table, column.name) }, column.name), " ", marks(column)],
      [h("code", { class: "type" }, column.type), column.nullable ? null : [" ", h("span", { class: "mark" }, "not null")]],
      ...(told ? [column.description || ""] : []),
      links(table, column, from || table.kind === "model" ? "sources" : "readers")]);
    return [...open, Rocky.columnsNote?.(table, found), found.complete ? null : h("p", { class: "hint" }, "Some columns may be missing: not all that the model reads is known."),
      Rocky.grid("Columns", heads, rows)];
  }

  function marks(column) {
    const said = [];
    if (column.classification) said.push(["mark-class", column.classification]);
    if (column.promise) said.push(["mark-contract", promised(column.promise)]);
    return said.length ? h("span", { class: "marks" }, said.map(([name, text]) => [h("span", { class: `mark ${name}` }, text), " "])) : null;
  }

  function promised(promise) {
    if (promise.protected) return "protected";
    if (promise.required) return "required";
    return promise.optional ? "contract, optional" : "contract";
  }

  function links(table, column, way) {
    const found = column[way];
    if (!found?.length) return h("span", { class: "quiet" }, way === "readers" ? "nothing" : "no other column");
    const shown = found.slice(0, FEW);
    return h("ul", { class: "hops" }, shown.map(([place, name, how]) => h("li", {}, columnLink(place, name), how === "direct" ? null : [" ", h("small", {}, how)])),
      found.length > FEW ? h("li", {}, h("a", { href: store.columnLink(table, column.name) }, `and ${found.length - FEW} more`)) : null);
  }

  function tests(found) {
    return Rocky.grid("Tests", ["Test", "Column", "Asks", "Last"], found.map((test) => [
      [h("b", {}, test.name), test.description ? h("p", { class: "hint" }, test.description) : null],
      test.column ? h("code", {}, test.column) : "",
      [test.kind, test.rule ? [": ", h("code", {}, test.rule)] : "", test.severity === "warning" ? " (a warning)" : ""],
      known(test.passed) ? Rocky.status(test.passed ? "success" : test.severity === "warning" ? "warned" : "failed") : h("span", { class: "quiet" }, "not recorded")]));
  }

  function contract(found) {
    const rules = [
      "Columns with a promise are marked above.",
      found.strict ? "No other column may come." : "Other columns may come.",
      found.no_new_nullable ? "No column may become nullable." : null,
      found.absent?.length ? `Promised and not there: ${found.absent.join(", ")}.` : null,
    ];
    return h("p", {}, h("code", {}, found.path), ": ", rules.filter(Boolean).join(" "));
  }

  function lastRun(found) {
    const { last, built } = found;
    const made = built || last;
    const recent = (found.recent || []).slice().reverse();
    const most = Math.max(...recent.map((each) => each[2]), 1);
    const facts = [["Run", h("code", {}, last.run_id)], ["Outcome", Rocky.status(last.outcome)], ["Began", when(last.started_at)],
      built && ["Built by", h("code", {}, built.run_id)], built && ["Built", when(built.started_at)], ["Took", duration(made.duration_ms)],
      known(made.rows) && ["Rows written", count(made.rows)], known(made.files) && ["Files", count(made.files)],
      known(made.bytes_written) && ["Written", bytes(made.bytes_written)], known(made.cost_usd) && ["Cost", money(made.cost_usd)],
      !built && last.reason && ["Why", Rocky.words(last.reason)], last.failure_kind && ["Failure", last.failure_kind]].filter(Boolean);
    return [
      list(facts),
      last.outcome === "failed" ? h("p", { class: "hint" }, "Why it failed is told by ", h("code", {}, `rocky history ${last.run_id}`), ".") : null,
      recent.length > 1 ? [h("h3", {}, `The last ${counted(recent.length, "run")} that had it`),
        h("div", { class: "columns", role: "img", "aria-label": `How long it took: at most ${duration(most)}` }, recent.map(([run, outcome, took]) => {
          const tone = outcome === "failed" ? "bad" : outcome === "built" ? "good" : "plain";
          const made = h("span", { class: `tone-${tone}`, title: `${store.index.runs[run].run_id}: ${outcome}, ${duration(took)}` });
          made.style.height = `${Math.max(4, (100 * took) / most)}%`;
          return made;
        }))] : null,
    ];
  }

  const list = (facts) => h("dl", { class: "facts" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

  function code(table, found) {
    const marked = new Set((found.findings || []).filter((each) => each.place.startsWith(`${table.path}:`))
      .map((each) => Number(each.place.slice(table.path.length + 1).split(":")[0])));
    const near = [...table.reads, table.place].map((place) => tables()[place]);
    return Rocky.code(found.code, near, marked);
  }

  function details(table, found) {
    const facts = [table.target && ["Table", h("code", {}, table.target)], ["File", h("code", {}, table.path)]].filter(Boolean);
    for (const [name, value] of Object.entries(found.settings || {})) facts.push([name.replaceAll("_", " "), h("code", {}, value)]);
    if (found.determinism?.length) facts.push(["May differ between runs", Rocky.words(found.determinism.join("; "))]);
    for (const [name, value] of Object.entries(found.meta || {})) {
      facts.push([`meta.${name}`, typeof value === "object" ? h("code", {}, JSON.stringify(value)) : String(value)]);
    }
    const decided = new Map();
    for (const [place, column, how] of found.rows_by || []) decided.set(how, [...(decided.get(how) || []), [place, column]]);
    return [list(facts), decided.size ? [h("h3", {}, "Rows are decided by"), h("dl", { class: "facts" }, [...decided].map(([how, from]) =>
      h("div", {}, h("dt", {}, how), h("dd", {}, h("ul", { class: "hops" }, from.map(([place, column]) => h("li", {}, columnLink(place, column)))))))) ] : null];
  }

  // ---------------------------------------------------------------- a column

  async function columnPage(table, name) {
    const found = await store.details(table.place);
    const column = store.columnOf(found, name);
    if (!column) return null;
    const [above, below] = [await walk(table.place, column.name, "sources"), await walk(table.place, column.name, "readers")];
    const { promise } = column;
    const facts = [["Type", h("code", { class: "type" }, column.type)], ["Nulls", column.nullable ? "may be null" : "never null"],
      column.classification && ["Classified as", [column.classification, column.tagged_at ? h("small", {}, ` by ${column.tagged_at}`) : ""]],
      promise && ["Contract", [promised(promise), promise.type ? [", ", h("code", {}, promise.type)] : "",
        known(promise.nullable) ? (promise.nullable ? ", nullable" : ", not null") : ""]]].filter(Boolean);
    const tested = (found.tests || []).filter((test) => (test.column || "").toLowerCase().split(", ").includes(column.name.toLowerCase()));
    return [
      h("header", { class: "head" },
        h("p", { class: "eyebrow" }, Rocky.badge("column"), " of ", Rocky.nameLink(table)),
        h("h1", { tabindex: "-1" }, h("span", { class: "of" }, `${table.name}.`), column.name),
        column.description ? h("p", { class: "lead" }, column.description) : h("p", { class: "lead quiet" }, "No description yet.")),
      list(facts),
      tested.length ? Rocky.section("Tests", tests(tested)) : null,
      h("div", { class: "pair" },
        Rocky.section("Comes from", above.length ? tree(above) : h("p", { class: "quiet" }, isMade(table) ? "No column: its values are written in the code, or counted." : `A column of a ${table.kind}.`)),
        Rocky.section("Goes to", below.length ? tree(below) : h("p", { class: "quiet" }, "No column is made from it."))),
    ];
  }

  // What a column is made from, or what is made from it: a tree in which each column opens once.
  async function walk(place, name, way) {
    const key = (at, column) => `${at} ${column.toLowerCase()}`;
    const opened = new Set([key(place, name)]);
    let steps = 0;
    const root = [];
    const waiting = [[place, name, root]];
    while (waiting.length && steps < STEPS) {
      const [at, column, into] = waiting.shift();
      const found = store.columnOf(await store.details(at), column);
      for (const [next, nextColumn, how] of found?.[way] || []) {
        steps += 1;
        const again = opened.has(key(next, nextColumn));
        const branch = { place: next, column: nextColumn, how, again, below: [] };
        into.push(branch);
        if (again) continue;
        opened.add(key(next, nextColumn));
        waiting.push([next, nextColumn, branch.below]);
      }
    }
    if (waiting.length) root.cut = true;
    return root;
  }

  function tree(branches) {
    return [h("ul", { class: "tree" }, branches.map((each) => h("li", {},
      h("span", { class: `dot kind-${tables()[each.place].kind}` }), columnLink(each.place, each.column), " ", h("small", {}, each.how),
      each.again ? [" ", h("small", { class: "quiet" }, "see above")] : null,
      each.below.length ? tree(each.below) : null))),
    branches.cut ? h("p", { class: "hint" }, Rocky.words(`Only the nearest ${STEPS} are shown; \`rocky lineage\` has all.`)) : null];
  }

  Rocky.tablePage = tablePage;
  Rocky.columnPage = columnPage;
})();
