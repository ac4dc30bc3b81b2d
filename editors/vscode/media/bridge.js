// The page inside the editor: reports come by messages, a click on a table or a column opens its line, and what the
// lineage shows is chosen in a row above it.
"use strict";

(() => {
  const editor = acquireVsCodeApi();
  const { h, store } = Rocky;
  const MANY = 120;
  // Columns are in the boxes from the start where the panel is so high.
  const TALL = 420;
  const chosen = { overlay: null, depth: "2", way: "", closed: [], folders: false, ...editor.getState() };
  const waiting = new Map();
  let asked = 0;
  let started = false;
  let seen = null;
  let wanted = null;

  const keep = (changes) => editor.setState(Object.assign(chosen, changes));
  const lineageLink = (name) => `#/lineage/${encodeURIComponent(name)}`;

  const ask = (name, given = {}) => new Promise((resolve, reject) => {
    asked += 1;
    waiting.set(asked, { resolve, reject });
    const texts = Object.entries(given).map(([key, value]) => [key, Array.isArray(value) ? value.map(String) : String(value)]);
    editor.postMessage({ kind: "ask", id: asked, name, arguments: Object.fromEntries(texts) });
  });

  store.use({
    part: async (number) => new Map(Object.entries((await ask("details", { part: number })).tables)),
    overlay: (name) => ask("overlay", { name }),
  });

  // ---------------------------------------------------------------- what comes from the editor

  let loading = null;
  let again = false;

  // One at a time; what changes meanwhile is asked for once more.
  function load() {
    if (loading) again = true;
    else loading = reload().catch(tell).finally(() => { loading = null; });
    return loading;
  }

  async function reload() {
    do {
      again = false;
      const index = await ask("project");
      store.forget();
      store.open(index);
      if (started) await Rocky.refresh();
      else {
        if (!location.hash) location.replace("#/lineage/");
        await Rocky.start();
        started = true;
        editor.postMessage({ kind: "ready" });
      }
    } while (again);
  }

  // The editor's theme is the page's.
  function dress() {
    const dark = document.body.matches(".vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light)");
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    document.dispatchEvent(new Event("rocky-theme"));
  }

  function tell(failure) {
    document.getElementById("main").replaceChildren(h("p", { class: "empty", role: "status" }, failure.message));
  }

  function show({ table, column }) {
    if (!store.named(table)) return;
    wanted = column || null;
    const link = lineageLink(table);
    if (location.hash === link) light();
    else location.hash = link;
  }

  addEventListener("message", ({ data, origin }) => {
    // The editor's messages come from the frame around this one; other frames can send some too.
    if (origin !== window.origin || !data) return;
    if (data.kind === "answer") {
      const asking = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.failure === undefined) asking?.resolve(data.report);
      else asking?.reject(new Error(data.failure));
    } else if (data.kind === "changed") load();
    else if (data.kind === "stopped") tell(new Error(data.words));
    else if (data.kind === "show" && started) show(data);
  });

  // ---------------------------------------------------------------- lineage

  // The neighbourhood of a table, and above it all that chooses what of it is drawn.
  Rocky.addView("lineage", null, async (_, [name]) => {
    const table = store.named(name || "");
    if (!table) return [h("p", { class: "empty" }, "Open a model to see its lineage.")];
    const details = await store.details(table.place).catch(() => null);
    const graph = h("div", { class: "held" });
    const overlays = h("div", { class: "overlay-holder" });
    const folders = h("div", { class: "switches folders", role: "group", "aria-label": "Folders drawn as one box" });
    const draw = () => {
      const { places, more } = near(table);
      graph.firstChild?.rockyView?.close();
      const view = drawn(table, places);
      view.element.rockyView = view;
      graph.replaceChildren(view.element);
      overlays.replaceChildren(Rocky.overlaySwitches(view, chosen.overlay, (overlay) => keep({ overlay })));
      folderSwitches(folders, places, draw);
      steps.title = more ? "There are more tables beyond these" : "";
      restore(view, table);
    };
    const steps = select("How far", "depth", [["1", "1 step"], ["2", "2 steps"], ["3", "3 steps"], ["Infinity", "all"]], draw);
    const ways = select("Which way", "way", [["", "both ways"], ["upstream", "upstream"], ["downstream", "downstream"]], draw);
    const fold = h("button", { type: "button", class: "switch", "aria-pressed": String(chosen.folders), click: () => {
      keep({ folders: !chosen.folders });
      fold.setAttribute("aria-pressed", String(chosen.folders));
      folders.hidden = !chosen.folders;
    } }, "Folders");
    folders.hidden = !chosen.folders;
    draw();
    return [
      h("div", { class: "lineage-bar" }, h("h1", { tabindex: "-1" }, table.name), facts(table, details), searchField()),
      h("div", { class: "lineage-bar" }, steps, ways, fold, overlays), folders, graph];
  });

  // The one of the page's own bar, which is not seen here.
  let field = null;
  const searchField = () => (field ||= document.querySelector("#bar .search"));

  function near(table) {
    const found = store.around(table.place, Number(chosen.depth), chosen.way);
    // A hub has more neighbours than can be seen: what is nearest is.
    return found.places.length > MANY && chosen.depth === "2" ? store.around(table.place, 1, chosen.way) : found;
  }

  function drawn(table, places) {
    const label = `Lineage of ${table.name}`;
    const whole = true;
    if (!chosen.closed.length) return Rocky.tableGraph({ places, focus: table.place, label, whole, opens: innerHeight >= TALL });
    const link = (folder) => `#/unfold/${encodeURIComponent(folder)}`;
    return Rocky.collapsedGraph({ places, focus: table.place, closed: new Set(chosen.closed), link, label, whole });
  }

  function folderSwitches(holder, places, draw) {
    const all = Rocky.foldersOf(store.index.tables);
    const counts = new Map();
    for (const place of places) counts.set(all[place], (counts.get(all[place]) || 0) + 1);
    holder.replaceChildren(...[...counts].map(([folder, number]) => h("button", {
      type: "button", class: "switch", "aria-pressed": String(chosen.closed.includes(folder)),
      click: () => {
        keep({ closed: chosen.closed.includes(folder) ? chosen.closed.filter((each) => each !== folder) : [...chosen.closed, folder] });
        draw();
        [...holder.children].find((each) => each.textContent.startsWith(`${folder} `))?.focus();
      },
    }, `${folder} (${Rocky.count(number)})`)));
  }

  function select(title, key, options, draw) {
    return h("select", { "aria-label": title, change: (event) => { keep({ [key]: event.target.value }); draw(); } },
      options.map(([value, text]) => h("option", { value, selected: value === chosen[key] }, text)));
  }

  // What is known of the table, each a way to it: the run, the first finding, all the rest.
  function facts(table, details) {
    const findings = details?.findings || [];
    const last = details?.last;
    return h("p", { class: "quiet facts-line" },
      table.kind, table.strategy ? ` · ${table.strategy}` : "",
      last ? [" · ", h("a", { href: `#/run/${encodeURIComponent(last.run_id)}`, title: last.run_id }, last.outcome), " ", Rocky.when(last.started_at)] : "",
      findings.map((each) => [" · ", h("a", { href: "#", title: each.message, click: (event) => {
        event.preventDefault();
        openPlace(each.place);
      } }, `${each.severity} ${each.code}`)]),
      " · ", h("a", { href: `#/details/${encodeURIComponent(table.name)}` }, "columns and runs"));
  }

  // The same graph again stays as it was looked at.
  function restore(view, table) {
    const names = view.nodes.map((node) => node.name).join("\n");
    const was = seen && seen.table === table.name && seen.names === names ? seen.view : null;
    seen = { table: table.name, names, view };
    setTimeout(async () => {
      if (was?.columns.byHand && was.columns.isOpen !== view.columns.isOpen) await view.columns.toggle();
      if (was?.moved) {
        const { x, y, scale } = was;
        Object.assign(view, { x, y, scale, moved: true });
        view.redraw();
      }
      light();
    });
  }

  // The column that the cursor is on, where its rows are seen.
  async function light() {
    if (!seen) return;
    const { view } = seen;
    if (view.columns.loading) await new Promise((done) => setTimeout(done, 100));
    const columns = view.columns.byNode?.[view.focus];
    const row = wanted && columns ? columns.findIndex((each) => each.name.toLowerCase() === wanted.toLowerCase()) : -1;
    view.columns.choose(row >= 0 ? [view.focus, row] : null);
    if (row >= 0) view.said.textContent = view.columns.said();
  }

  Rocky.addView("details", null, async (_, [name]) => {
    const table = store.named(name || "");
    return table ? Rocky.tablePage(table) : [h("p", { class: "empty" }, `Nothing here is called ${name}.`)];
  });
  Rocky.addView("run", null, () => []);

  // ---------------------------------------------------------------- what a click leads to

  function openPlace(place) {
    const [, path, line] = place.match(/^(.*?)(?::(\d+)(?::\d+)?)?$/);
    editor.postMessage({ kind: "open", path, line: line ? Number(line) : undefined });
  }

  const LEADS = {
    table: (name, column) => {
      const table = store.named(name);
      if (!table) return null;
      wanted = column || null;
      editor.postMessage({ kind: "open", path: table.path, column });
      return lineageLink(table.name);
    },
    run: (run) => {
      editor.postMessage({ kind: "run", run });
      return lineageLink(seen?.table || "");
    },
    unfold: (folder) => {
      keep({ closed: chosen.closed.filter((each) => each !== folder) });
      return lineageLink(seen?.table || "");
    },
  };

  // A table that is chosen in the graph is opened in the editor, which makes the view follow.
  addEventListener("hashchange", (event) => {
    const [kind, ...parts] = location.hash.replace(/^#\/?/, "").split("?")[0].split("/").map(decodeURIComponent);
    const next = Object.hasOwn(LEADS, kind) ? LEADS[kind](...parts) : null;
    if (!next) return;
    event.stopImmediatePropagation();
    location.replace(next);
  }, true);

  Rocky.commandLink = (command) => h("a", { href: "#", title: "Run it in a terminal", click: (event) => {
    event.preventDefault();
    editor.postMessage({ kind: "command", words: command.split(" ").slice(1) });
  } }, h("code", {}, command));
  Rocky.save = (name, text) => editor.postMessage({ kind: "save", name, text });

  document.getElementById("back").addEventListener("click", (event) => {
    event.preventDefault();
    location.hash = lineageLink(seen?.table || "");
  });
  new MutationObserver(dress).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  dress();
  load();
})();
