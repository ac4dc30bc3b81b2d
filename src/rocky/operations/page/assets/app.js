// The frame around the views: the bar, the list at the side, and the view that the address names.
"use strict";

(() => {
  const { h, icon, store } = Rocky;
  const main = document.getElementById("main");
  const { index } = store;
  let asked = 0;

  const PAGES = [["", "Overview"], ["tables", "Tables"], ["graph", "Graph"], ["runs", "Runs"], ["findings", "Findings"]];

  function bar() {
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
    Rocky.add(document.getElementById("bar"), [
      h("a", { class: "brand", href: "#/" }, h("img", { src: "icon.svg", alt: "", width: "26", height: "26" }), h("span", {}, index.project)),
      h("nav", { class: "pages", "aria-label": "Pages" }, PAGES.map(([route, title]) => h("a", { href: `#/${route}`, "data-route": route }, title))),
      Rocky.search.field(), button]);
    Rocky.add(document.getElementById("foot"), [h("p", {}, `Made by Rocky ${index.rocky}. No row of any table is on these pages.`)]);
  }

  // ---------------------------------------------------------------- the list at the side

  // Groups by kind and folder; the tables of a group are made when it is opened.
  function side() {
    const groups = new Map();
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
    document.getElementById("side").append(...made);
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
    if (name === "table" && rest[0]) {
      const table = store.named(rest[0]);
      if (!table) return [`No table ${rest[0]}`, missing(`Nothing here is called ${rest[0]}.`), null];
      if (rest[1] === undefined) return [table.name, await Rocky.tablePage(table), table.place];
      const made = await Rocky.columnPage(table, rest[1]);
      return [`${table.name}.${rest[1]}`, made || missing(`${table.name} has no column ${rest[1]}.`), table.place];
    }
    const page = PAGES.find(([known]) => known === name);
    if (!page) return ["Not found", missing("There is no such page."), null];
    return [page[1], Rocky.lists[name || "overview"](choices), null];
  }

  const missing = (text) => [h("header", { class: "head" }, h("h1", { tabindex: "-1" }, "Not found"), h("p", { class: "lead" }, text)),
    h("p", {}, h("a", { href: "#/tables" }, "All tables"))];

  async function show() {
    const turn = (asked += 1);
    const wanted = route();
    let made;
    try {
      made = await view(wanted);
    } catch (failure) {
      made = ["Not loaded", missing(`${failure.message}. The folder of the site must be copied whole.`), null];
    }
    // A slower page must not stand in place of one that was asked for later.
    if (turn !== asked) return;
    const [title, children, place] = made;
    for (const each of main.querySelectorAll("*")) each.rockyView?.close();
    main.replaceChildren();
    Rocky.add(main, children);
    document.title = title === "Overview" ? `${index.project} docs` : `${title} · ${index.project} docs`;
    for (const link of document.querySelectorAll(".pages a")) {
      if (link.dataset.route === wanted.parts[0]) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.body.dataset.page = wanted.parts[0] || "overview";
    markSide(place);
    if (turn > 1) {
      scrollTo(0, 0);
      main.querySelector("h1")?.focus({ preventScroll: true });
    }
    if (wanted.choices.has("tests") && place !== null) document.getElementById("s-tests")?.scrollIntoView();
  }

  bar();
  side();
  // The address names the view, so the skip link moves the focus and not the address.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener("hashchange", show);
  show();
})();
