// The page over a server: records are fetched, and fetched again when files, git or the ledger change.
"use strict";

(() => {
  const { h, store, live } = Rocky;
  const main = document.getElementById("main");
  let fetching = false;
  let again = false;

  store.use({
    part: async (number) => new Map(Object.entries((await live.ask("details", { part: number })).tables)),
    overlay: (name) => live.ask("overlay", { name }),
  });

  async function load() {
    const index = await live.ask("project");
    // It names all that can be asked, which takes a server longer than the tables: views wait for it, the frame does not.
    live.ready = live.ask("actions").then((found) => {
      live.actions = found.actions;
      live.endpoints = new Set(found.endpoints);
      live.job = found.job || null;
    });
    live.ready.catch(() => {});
    store.forget();
    store.open(index);
  }

  // Where the boxes of large graphs stood when they were last drawn. Without it they are placed anew.
  async function layouts() {
    try {
      const found = await live.ask("layouts");
      const rest = (act) => (window.requestIdleCallback || setTimeout)(act);
      const keep = (key, heights) => rest(() => live.post("layouts", { key, heights }).catch((failure) => said(failure.message)));
      Rocky.keepLayouts(found.layouts, found.keeps ? keep : null);
    } catch (failure) {
      said(failure.message);
    }
  }

  // One at a time; what changes meanwhile is fetched once more.
  async function reload() {
    if (fetching) {
      again = true;
      return;
    }
    fetching = true;
    do {
      again = false;
      try {
        await load();
        await Rocky.refresh();
        said("");
      } catch (failure) {
        said(failure.message);
      }
    } while (again);
    fetching = false;
  }

  const line = h("p", { class: "live-said", role: "status" });
  const said = (text) => {
    line.textContent = text;
    line.hidden = !text;
  };

  // A browser keeps few connections to a server: of all tabs one listens, and tells the others.
  function listen() {
    const others = new BroadcastChannel("rocky");
    others.addEventListener("message", (event) => heard(event.data));
    const lead = () => stream((kind) => {
      heard(kind);
      others.postMessage(kind);
    });
    if (!navigator.locks) lead();
    else navigator.locks.request("rocky-events", () => new Promise(lead));
  }

  function stream(tell) {
    const events = new EventSource("/api/v1/events");
    let lost = false;
    events.addEventListener("change", () => tell("change"));
    events.addEventListener("job", () => tell("job"));
    events.addEventListener("remote", (event) => tell(`remote ${JSON.parse(event.data).problem}`));
    events.addEventListener("error", () => {
      lost = true;
      tell("lost");
    });
    events.addEventListener("open", () => {
      if (lost) tell("change");
      lost = false;
    });
  }

  async function heard(kind) {
    if (kind === "change") await reload();
    else if (kind === "lost") said("The server does not answer. This page shows what it last heard.");
    else if (kind.startsWith("remote ")) said(kind.slice(7));
    else if (kind === "job") {
      live.job = (await live.ask("actions")).job || null;
      document.dispatchEvent(new Event("rocky-job"));
    }
  }

  async function begin() {
    document.body.prepend(line);
    said("");
    Rocky.frame();
    live.layouts = layouts();
    try {
      await load();
    } catch (failure) {
      // A project that cannot be opened may be mended: the next change asks again.
      main.replaceChildren(h("header", { class: "head" }, h("h1", { tabindex: "-1" }, "The project cannot be opened"), h("p", { class: "lead" }, failure.message)));
      stream((kind) => { if (kind === "change") location.reload(); });
      return;
    }
    main.replaceChildren();
    await Rocky.start();
    listen();
    await live.ready;
    const absent = [["evidence", "verify"], ["state", "state"]].filter(([, needed]) => !live.endpoints.has(needed));
    for (const [view] of absent) Rocky.dropView(view);
    if (absent.length) {
      Rocky.frame();
      await Rocky.refresh();
    }
  }

  begin();
})();
