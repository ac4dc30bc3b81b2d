// The page inside the editor: reports come by messages, and a click on a file opens it beside.
"use strict";

(() => {
  const editor = acquireVsCodeApi();
  const { h, store } = Rocky;
  const STEPS = 2;
  let overlay = editor.getState()?.overlay || null;
  const waiting = new Map();
  let asked = 0;
  let started = false;

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

  async function load() {
    const index = await ask("project");
    store.forget();
    store.open(index);
    if (started) await Rocky.refresh();
    else await Rocky.start();
    if (!started) editor.postMessage({ kind: "ready" });
    started = true;
  }

  // The editor's theme is the page's.
  function dress() {
    const dark = document.body.matches(".vscode-dark, .vscode-high-contrast:not(.vscode-high-contrast-light)");
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  }

  function tell(failure) {
    const words = document.createElement("p");
    words.className = "empty";
    words.setAttribute("role", "status");
    words.textContent = failure.message;
    document.getElementById("main").replaceChildren(words);
  }

  addEventListener("message", ({ data }) => {
    if (data.kind === "answer") {
      const { resolve, reject } = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.failure === undefined) resolve(data.report);
      else reject(new Error(data.failure));
    } else if (data.kind === "changed") {
      load().catch(tell);
    } else if (data.kind === "show" && started && store.named(data.table)) {
      location.hash = `#/lineage/${encodeURIComponent(data.table)}`;
    }
  });

  // What a table is made from and who reads it, with the overlays of the page.
  Rocky.addView("lineage", null, (_, [name]) => {
    const table = store.named(name || "");
    if (!table) return h("p", { class: "empty" }, "Open a model to see its lineage.");
    const { places, more } = store.around(table.place, STEPS);
    const view = Rocky.tableGraph({ places, focus: table.place, label: `Lineage of ${table.name}` });
    view.element.rockyView = view;
    const switches = Rocky.overlaySwitches(view, overlay, (chosen) => {
      overlay = chosen;
      editor.setState({ overlay });
    });
    const all = h("a", { href: `#/table/${encodeURIComponent(table.name)}?details` }, more ? "All of it, columns and runs" : "Columns and runs");
    return [h("h1", { tabindex: "-1" }, table.name), switches, view.element, h("p", { class: "under" }, all)];
  });

  // A table that is chosen in the graph is opened in the editor, which makes the view follow.
  addEventListener("hashchange", (event) => {
    const [, name, rest] = location.hash.match(/^#\/table\/([^/?]+)(.*)$/) || [];
    const table = name && !rest && store.named(decodeURIComponent(name));
    if (!table) return;
    event.stopImmediatePropagation();
    editor.postMessage({ kind: "open", path: table.path });
    location.hash = `#/lineage/${name}`;
  }, true);

  new MutationObserver(dress).observe(document.body, { attributes: true, attributeFilter: ["class"] });
  dress();
  load().catch(tell);
})();
