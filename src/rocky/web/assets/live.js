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
    const [index, actions] = await Promise.all([live.ask("project"), live.ask("actions")]);
    live.actions = actions.actions;
    live.endpoints = new Set(actions.endpoints);
    live.job = actions.job || null;
    store.forget();
    store.open(index);
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

  function listen() {
    const events = new EventSource("/api/v1/events");
    events.addEventListener("change", reload);
    events.addEventListener("job", async () => {
      live.job = (await live.ask("actions")).job || null;
      document.dispatchEvent(new Event("rocky-job"));
    });
    let lost = false;
    events.addEventListener("error", () => {
      lost = true;
      said("The server does not answer. This page shows what it last heard.");
    });
    events.addEventListener("open", () => {
      if (lost) reload();
      lost = false;
    });
  }

  async function begin() {
    document.body.prepend(line);
    said("");
    try {
      await load();
    } catch (failure) {
      // A project that cannot be opened may be mended: the next change asks again.
      main.replaceChildren(h("header", { class: "head" }, h("h1", { tabindex: "-1" }, "The project cannot be opened"), h("p", { class: "lead" }, failure.message)));
      const events = new EventSource("/api/v1/events");
      events.addEventListener("change", () => location.reload());
      return;
    }
    for (const [view, needed] of [["evidence", "verify"], ["state", "state"]]) if (!live.endpoints.has(needed)) Rocky.dropView(view);
    main.replaceChildren();
    await Rocky.start();
    listen();
  }

  begin();
})();
