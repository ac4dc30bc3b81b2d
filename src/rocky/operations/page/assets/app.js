// The frame around the views: the bar, the list at the side, and the view that the address names.
"use strict";

(() => {
  const { h, icon, store } = Rocky;
  const main = document.getElementById("main");
  let asked = 0;

  // The page that a view of one thing belongs to.
  const WITHIN = { table: "tables", run: "runs", compare: "runs", branch: "branches" };
  const PAGES = [["", "Overview"], ["tables", "Tables"], ["graph", "Graph"], ["runs", "Runs"], ["findings", "Findings"]];
  // Views that need a server: a title in the bar, or none, and what makes them of the rest of the address.
  const views = new Map();
  const addView = (name, title, make) => views.set(name, { title, make });

  function bar() {
    const { index } = store;
    const pages = [...PAGES, ...[...views].filter(([name, each]) => each.title && name !== "runs").map(([name, each]) => [name, each.title])];
    const button = h("button", { type: "button", class: "tool theme" });
    const show = () => {
      const theme = Rocky.savedTheme();
      button.replaceChildren(icon({ auto: "auto", light: "sun", dark: "moon" }[theme]));
      button.title = `Colours: ${theme}`;
      button.setAttribute("aria-label", `Colours: ${theme}`);
    };
    button.addEventListener("click", () => {
      const themes = Rocky.THEMES;
      Rocky.setTheme(themes[(themes.indexOf(Rocky.savedTheme()) + 1) % themes.length]);
      show();
    });
    show();
    const field = index ? Rocky.search.field() : h("div", { class: "search" }, h("input", { type: "search", disabled: true, placeholder: "Search", "aria-label": "Search" }));
    document.getElementById("bar").replaceChildren();
    Rocky.add(document.getElementById("bar"), [
      h("a", { class: "brand", href: "#/", "aria-label": index ? index.project : "Rocky" }, h("img", { src: "icon.svg", alt: "", width: "26", height: "26" }), h("span", {}, index ? index.project : "Rocky")),
      h("nav", { class: "pages", "aria-label": "Pages" }, pages.map(([route, title]) => h("a", { href: `#/${route}`, "data-route": route }, title))),
      field, button]);
    if (!index) return;
    const said = store.isLive ? "" : " No row of any table is on these pages.";
    document.getElementById("foot").replaceChildren(h("p", {}, `Made by Rocky ${index.rocky}.${said}`));
  }

  // ---------------------------------------------------------------- the list at the side

  // Groups by kind and folder; the tables of a group are made when it is opened.
  function side() {
    const groups = new Map();
    const { index } = store;
    for (const table of index.tables) {
      const folder = table.path.split("/").slice(0, -1).join("/") || ".";
      const name = table.kind === "model" ? folder : `${table.kind}s`;
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(table);
    }
    const few = index.tables.length <= 60;
    const made = [...groups].map(([name, tables]) => {
      const list = h("ul", {});
      const fill = () => {
        if (list.children.length) return;
        list.append(...tables.slice().sort((a, b) => (a.name < b.name ? -1 : 1)).map((table) => h("li", {},
          h("a", { href: store.tableLink(table), "data-place": table.place }, h("span", { class: `dot kind-${table.kind}` }), table.name))));
      };
      const group = h("details", { open: few, toggle: () => { if (group.open) fill(); } },
        h("summary", {}, h("span", {}, name), " ", h("small", {}, Rocky.count(tables.length))), list);
      if (few) fill();
      group.rockyTables = new Set(tables.map((table) => table.place));
      group.rockyFill = fill;
      return group;
    });
    document.getElementById("side").replaceChildren(...made);
  }

  function markSide(place) {
    for (const link of document.querySelectorAll("#side [aria-current]")) link.removeAttribute("aria-current");
    if (place === null) return;
    for (const group of document.querySelectorAll("#side details")) {
      if (!group.rockyTables.has(place)) continue;
      group.open = true;
      group.rockyFill();
      const link = group.querySelector(`[data-place="${place}"]`);
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest" });
    }
  }

  // ---------------------------------------------------------------- the address

  // What the address asks for: the parts of its path, and choices after a question mark.
  function route() {
    const [path, choices] = location.hash.replace(/^#\/?/, "").split("?");
    const parts = path.split("/").map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
    return { parts, choices: new URLSearchParams(choices || "") };
  }

  async function view({ parts, choices }) {
    const [name, ...rest] = parts;
    if (name === "table" || views.has(name)) await Rocky.live?.ready;
    if (name === "table" && rest[0]) {
      const table = store.named(rest[0]);
      if (!table) return [`No table ${rest[0]}`, missing(`Nothing here is called ${rest[0]}.`), null];
      if (rest[1] === undefined) return [table.name, await Rocky.tablePage(table), table.place];
      const made = await Rocky.columnPage(table, rest[1]);
      return [`${table.name}.${rest[1]}`, made || missing(`${table.name} has no column ${rest[1]}.`), table.place];
    }
    if (name === "graph") await Rocky.live?.layouts;
    if (views.has(name)) {
      const { title, make } = views.get(name);
      return [rest[0] || title || name, await make(choices, rest), null];
    }
    const page = PAGES.find(([known]) => known === name);
    if (!page) return ["Not found", missing("There is no such page."), null];
    return [page[1], Rocky.lists[name || "overview"](choices), null];
  }

  const missing = (text, title = "Not found") => [h("header", { class: "head" }, h("h1", { tabindex: "-1" }, title), h("p", { class: "lead" }, text)),
    h("p", {}, h("a", { href: "#/tables" }, "All tables"), store.index.findings.length ? [" · ", h("a", { href: "#/findings" }, "Findings")] : null)];

  async function show(again) {
    const turn = (asked += 1);
    const wanted = route();
    const { index } = store;
    let made;
    try {
      made = await view(wanted);
    } catch (failure) {
      const more = store.isLive ? "" : ". The folder of the site must be copied whole.";
      made = ["Not loaded", missing(`${failure.message}${more}`, "Not loaded"), null];
    }
    // A slower page must not stand in place of one that was asked for later.
    if (turn !== asked) return;
    const [title, children, place] = made;
    const kind = store.isLive ? "" : " docs";
    for (const each of main.querySelectorAll("*")) each.rockyView?.close();
    main.replaceChildren();
    Rocky.add(main, children);
    document.title = title === "Overview" ? `${index.project}${kind}` : `${title} · ${index.project}${kind}`;
    for (const link of document.querySelectorAll(".pages a")) {
      if (link.dataset.route === (WITHIN[wanted.parts[0]] || wanted.parts[0])) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.body.dataset.page = wanted.parts[0] || "overview";
    markSide(place);
    if (again !== true && turn > 1) {
      scrollTo(0, 0);
      main.querySelector("h1")?.focus({ preventScroll: true });
    }
    if (wanted.choices.has("tests") && place !== null) document.getElementById("s-tests")?.scrollIntoView();
  }

  // The address names the view, so the skip link moves the focus and not the address.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });

  function start() {
    bar();
    side();
    addEventListener("hashchange", () => show());
    return show();
  }

  // The records are others than they were: the view that is seen is made again, where one looks at it.
  async function refresh() {
    side();
    const at = scrollY;
    await show(true);
    scrollTo(0, at);
  }

  Object.assign(Rocky, { addView, hasView: (name) => views.has(name), dropView: (name) => views.delete(name), start, refresh, frame: bar });
  if (store.index) start();
})();
