// Overlays on a graph: switches, a legend with counts, and the state of every table also as a list.
"use strict";

(() => {
  const { h, count } = Rocky;
  const OVERLAYS = [["drift", "Drift"], ["breaking", "Breaking"], ["replay", "Replay"], ["governance", "Governance"]];
  const RANK = { bad: 3, notice: 2, good: 1, plain: 0 };
  const MOST = 200;

  // The switches of a graph. `chosen` is the one that is on at first; `changed` is told of another.
  function overlaySwitches(view, chosen, changed) {
    const there = OVERLAYS.filter(([name]) => Rocky.store.isLive || Rocky.store.index.overlays?.includes(name));
    if (!there.length) return null;
    const legend = h("div", { class: "overlay-legend", "aria-live": "polite" });
    const buttons = there.map(([name, title]) => h("button", {
      type: "button", class: "switch", "aria-pressed": "false", "data-overlay": name,
      click: () => turn(buttons.find((each) => each.dataset.overlay === name).getAttribute("aria-pressed") === "true" ? null : name),
    }, title));
    async function turn(name) {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each.dataset.overlay === name));
      changed?.(name);
      if (!name) {
        view.setSignals(null);
        legend.replaceChildren();
        return;
      }
      legend.replaceChildren(h("p", { class: "quiet" }, "Looking …"));
      let found;
      try {
        found = await Rocky.store.overlay(name);
      } catch (failure) {
        found = { unavailable: failure.message };
      }
      if (!legend.isConnected || buttons.find((each) => each.dataset.overlay === name).getAttribute("aria-pressed") !== "true") return;
      legend.replaceChildren();
      if (!found || found.unavailable) {
        view.setSignals(null);
        legend.append(h("p", { class: "empty" }, Rocky.words(found?.unavailable || "It is not part of this site."),
          Rocky.store.index.findings.length ? [" ", h("a", { href: "#/findings" }, "Findings")] : null));
        return;
      }
      if (!found.tables?.length) {
        view.setSignals(null);
        legend.append(h("p", { class: "empty" }, `${found.title} says nothing of any table here: `, h("code", {}, found.command), " is about others."));
        return;
      }
      view.setSignals(signalsOf(view, found));
      Rocky.add(legend, [found.partial ? h("p", { class: "partial" }, Rocky.words(found.partial)) : null, key(found), states(found)]);
    }
    if (chosen && there.some(([name]) => name === chosen)) setTimeout(() => turn(chosen));
    return h("div", { class: "overlays" }, h("div", { class: "switches", role: "group", "aria-label": "Overlays" },
      h("span", { class: "quiet" }, "Overlay"), buttons), legend);
  }

  // Of each box the worst of its tables.
  function signalsOf(view, found) {
    const by = new Map((found.tables || []).map(([table, state, words]) => [table, { ...found.states[state], words }]));
    return view.places.map((places) => {
      const there = places.map((place) => by.get(place)).filter(Boolean);
      if (!there.length) return null;
      const worst = there.reduce((a, b) => (RANK[b.tone] > RANK[a.tone] ? b : a));
      const same = there.filter((each) => each.name === worst.name).length;
      const state = places.length > 1 ? `${count(same)} ${worst.name}` : worst.name;
      return { tone: worst.tone, state, words: worst.words };
    });
  }

  function key(found) {
    return h("ul", { class: "legend", "aria-label": `${found.title}: states` }, found.states.map((state) =>
      h("li", { class: `tone-text-${state.tone}` }, h("span", { class: `dot tone-${state.tone}` }), `${state.name} `, h("b", {}, count(state.count)))),
      h("li", { class: "quiet" }, "as ", Rocky.commandLink?.(found.command) || h("code", {}, found.command)));
  }

  // The same in words: what is worst first, and what has nothing to say not at all.
  function states(found) {
    const told = (found.tables || []).filter(([, state]) => found.states[state].tone !== "plain")
      .sort((a, b) => RANK[found.states[b[1]].tone] - RANK[found.states[a[1]].tone]);
    const list = h("ul", { class: "links" });
    const made = h("details", { class: "overlay-list", toggle: () => {
      if (!made.open || list.children.length) return;
      list.append(...told.slice(0, MOST).map(([place, state, words, columns]) => h("li", {},
        h("span", { class: `dot tone-${found.states[state].tone}` }), Rocky.nameLink(Rocky.store.index.tables[place]),
        h("span", {}, `${found.states[state].name}: `, linked(Rocky.store.index.tables[place], words, columns || [])))));
      if (told.length > MOST) list.append(h("li", { class: "quiet" }, `and ${count(told.length - MOST)} more`));
    } }, h("summary", {}, `In words (${count(told.length)})`), list);
    return told.length ? made : null;
  }

  // The words with what they speak of as links: columns that are there, in the order they are named, and runs.
  function linked(table, words, columns) {
    const found = [];
    let from = 0;
    const link = (at, text, href) => {
      found.push(words.slice(from, at), h("a", { href }, text));
      from = at + text.length;
    };
    const there = new Set(table.columns.map((each) => each.toLowerCase()));
    for (const column of columns) {
      const at = words.indexOf(column, from);
      if (at >= 0 && there.has(column.toLowerCase())) link(at, column, Rocky.store.columnLink(table, column));
    }
    const run = words.slice(from).match(/\brun-\d+-\d+-\w+/);
    if (run && Rocky.hasView("run")) link(from + run.index, run[0], `#/run/${run[0]}`);
    return found.length ? [...found, words.slice(from)] : Rocky.words(words);
  }

  Rocky.overlaySwitches = overlaySwitches;
})();
