// Tests and pipelines as boxes of a graph, beside the tables they speak of: each by itself where there are
// few, else one box for all of a table or a folder. What became of each is a word on its box.
"use strict";

(() => {
  const { counted } = Rocky;
  const MOST_TESTS = 120;
  const PARTS = [["tests", "Tests", "test"], ["pipelines", "Pipelines", "pipeline"]];

  // A graph with the parts that are asked for. `held` are the places of the tables of each box.
  function withParts({ nodes, edges, held }, wanted) {
    const made = { nodes: nodes.slice(), edges: edges.slice(), held: held.slice() };
    if (wanted?.has("tests")) addTests(made, nodes.length);
    if (wanted?.has("pipelines")) addPipelines(made, nodes.length);
    return made;
  }

  function add(made, node) {
    made.held.push([]);
    return made.nodes.push(node) - 1;
  }

  // ---------------------------------------------------------------- tests

  function addTests(made, size) {
    const { tables } = Rocky.store.index;
    const of = made.held.slice(0, size).map((places) => places.flatMap((place) => tables[place].tests.map((name, at) =>
      ({ name, table: tables[place], went: tables[place].tests_went?.[at] }))));
    const few = of.reduce((sum, each, at) => sum + (made.nodes[at].many ? 0 : each.length), 0) <= MOST_TESTS;
    of.forEach((tests, at) => {
      if (!tests.length) return;
      const boxes = few && !made.nodes[at].many ? tests.map(testNode) : [testsNode(made.nodes[at], tests)];
      for (const box of boxes) made.edges.push([at, add(made, box)]);
    });
  }

  const testNode = ({ name, table, went }) => ({
    name, kind: "test", words: `test of ${table.name} · ${went || "not recorded"}`, bad: went === "failed",
    link: `${Rocky.store.tableLink(table)}?tests`,
  });

  function testsNode(node, tests) {
    const of = (went) => tests.filter((each) => (each.went || "not recorded") === went).length;
    const words = ["failed", "warned", "passed", "not recorded"].filter(of).map((went) => `${Rocky.count(of(went))} ${went}`).join(", ");
    return { name: counted(tests.length, "test"), kind: "test", words: `of ${node.name} · ${words}`, bad: of("failed") > 0,
      link: node.many ? node.link : `${Rocky.store.tableLink(tests[0].table)}?tests` };
  }

  // ---------------------------------------------------------------- pipelines

  // A pipeline leads to what it writes first: to the boxes that read no other of its own.
  function addPipelines(made, size) {
    const { tables, pipelines, runs } = Rocky.store.index;
    const into = made.nodes.map(() => []);
    for (const [from, to] of made.edges) if (to < size) into[to].push(from);
    const numbers = new Map();
    for (const pipeline of pipelines) {
      const own = new Set();
      for (let at = 0; at < size; at += 1) {
        if (made.held[at].some((place) => tables[place].pipeline === pipeline.name)) own.add(at);
      }
      const last = runs.find((run) => run.pipeline === pipeline.name || (!run.pipeline && pipelines.length === 1));
      const number = add(made, {
        name: pipeline.name, kind: "pipeline", bad: Boolean(last) && /Failure/.test(last.status),
        words: [`${pipeline.type} pipeline`, last ? (last.status === "Running" && !last.died ? "running now" : `last run ${Rocky.statusWord(last.died ? "died" : last.status)}`) : "no run yet"].join(" · "),
        link: `#/tables?pipeline=${encodeURIComponent(pipeline.name)}`,
      });
      numbers.set(pipeline.name, number);
      for (const at of own) if (!into[at].some((from) => from !== at && own.has(from))) made.edges.push([number, at]);
    }
    for (const pipeline of pipelines) {
      for (const before of [...(pipeline.depends_on || []), ...(pipeline.reads_from || [])]) {
        if (numbers.has(before)) made.edges.push([numbers.get(before), numbers.get(pipeline.name)]);
      }
    }
  }

  // ---------------------------------------------------------------- switches

  const THERE = {
    tests: () => Rocky.store.index.tables.some((table) => table.tests.length),
    pipelines: () => Rocky.store.index.pipelines.length > 0,
  };

  // What the address asks for, of what the project has.
  const partsOf = (asked) => new Set((asked.get("show") || "").split(",").filter((name) => Object.hasOwn(THERE, name) && THERE[name]()));

  // The address keeps what is on, together with what else it says by now.
  function partSwitches(asked) {
    const on = partsOf(asked);
    const buttons = PARTS.filter(([name]) => THERE[name]()).map(([name, title]) => Rocky.h("button", {
      type: "button", class: "switch", "aria-pressed": String(on.has(name)), "data-part": name,
      click: async () => {
        const next = new URLSearchParams(location.hash.split("?")[1] || "");
        const shown = partsOf(next);
        if (!shown.delete(name)) shown.add(name);
        if (shown.size) next.set("show", [...shown].join(","));
        else next.delete("show");
        const text = String(next).replaceAll("%2C", ",");
        history.replaceState(null, "", `#/graph${text ? `?${text}` : ""}`);
        await Rocky.refresh();
        document.querySelector(`[data-part=${name}]`)?.focus();
      },
    }, title));
    return buttons.length ? Rocky.h("div", { class: "switches", role: "group", "aria-label": "Show beside the tables" }, Rocky.h("span", { class: "quiet" }, "Show"), buttons) : null;
  }

  Object.assign(Rocky, { withParts, partsOf, partSwitches, PARTS });
})();
