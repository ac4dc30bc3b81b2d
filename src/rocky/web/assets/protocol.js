// The protocol of the server: questions are fetched, actions are posted. What is refused is an Error
// whose message is the server's own.
"use strict";

(() => {
  const { h } = Rocky;
  const API = "/api/v1/";

  function address(name, given) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(given || {})) {
      if (value === null || value === undefined || value === "" || value === false) continue;
      for (const each of Array.isArray(value) ? value : [value]) query.append(key, String(each));
    }
    return `${API}${name}${String(query) ? `?${query}` : ""}`;
  }

  async function read(answer) {
    const found = await answer.json().catch(() => ({}));
    if (answer.ok) return found;
    throw Object.assign(new Error(found.error?.message || `the server answered ${answer.status}`), { kind: found.error?.kind, status: answer.status });
  }

  async function ask(name, given) {
    let answer;
    try {
      answer = await fetch(address(name, given), { headers: { Accept: "application/json" } });
    } catch {
      throw new Error("The server does not answer: it was ended, or this machine sleeps");
    }
    return read(answer);
  }

  const act = (name, given) => post(`actions/${name}`, given);
  const post = async (name, given) => read(await fetch(`${API}${name}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given || {}),
  }));

  // A part of a page that is there when its answer is: what is refused is said in its place.
  function later(question, render) {
    const box = h("div", { class: "later" }, h("p", { class: "quiet" }, "Looking …"));
    question.then((found) => {
      box.replaceChildren();
      Rocky.add(box, [render(found)]);
    }, (failure) => box.replaceChildren(refused(failure)));
    return box;
  }

  const refused = (failure) => h("p", { class: "empty", role: "status" }, Rocky.words(failure.message));

  // A text that can be taken along, with a button that copies it.
  function copyable(text, label) {
    const button = h("button", { type: "button", class: "button small", "aria-label": `Copy: ${label || text}` }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Select it";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    return h("span", { class: "copyable" }, h("code", {}, text), button);
  }

  const facts = (rows) => h("dl", { class: "facts" }, rows.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  const head = (eyebrow, title, lead) => h("header", { class: "head" }, eyebrow ? h("p", { class: "eyebrow" }, eyebrow) : null,
    h("h1", { tabindex: "-1" }, title), lead ? h("p", { class: "lead" }, lead) : null);
  const number = (text) => ({ text, right: true });
  const named = (name) => {
    const table = Rocky.store.named(name);
    return table ? Rocky.nameLink(table) : h("span", { class: "name" }, name);
  };

  // Names of runs in a text that a run has recorded lead to them, and what stands in backticks is code.
  const RUN = /(run-\d{8}-\d{6}-\w+)/;
  const runLink = (id) => h("a", { href: `#/run/${id}` }, h("code", {}, id));
  const linked = (text) => String(text || "").split(RUN).map((part, at) => (at % 2 ? runLink(part) : Rocky.words(part)));

  // ---------------------------------------------------------------- results of tests and checks

  const went = (each) => (each.passed ? "passed" : each.severity === "warning" ? "warning" : "failed");
  const TONES = { passed: "good", warning: "notice", failed: "bad" };
  const result = (each) => h("span", { class: `status status-${TONES[went(each)]}` }, went(each));
  const found = (each) => each.error || each.observed || (each.failing_rows ? Rocky.counted(each.failing_rows, "failing row") : "");

  // Results of one check, as [run, outcome], oldest first.
  const strip = (results) => h("span", { class: "strip", role: "img", "aria-label": results.map(([, each]) => went(each)).join(", ") },
    results.slice(-40).map(([run, each]) => h("i", { class: `tone-${TONES[went(each)]}`, title: `${run.started_at.slice(0, 16).replace("T", " ")} UTC: ${went(each)}${found(each) ? `, ${found(each)}` : ""}` })));

  // The results of every check in some runs (newest first), by table and name.
  function seriesOf(runs) {
    const series = new Map();
    for (const run of runs.slice().reverse()) {
      for (const each of run.check_outcomes || []) {
        const key = `${each.table} ${each.name}`;
        if (!series.has(key)) series.set(key, []);
        series.get(key).push([run, each]);
      }
    }
    return [...series.values()];
  }

  // Bars over time, oldest first; those that `bad` names stand out. Each is also said in words.
  function chart(title, values, words, said, bad) {
    const most = Math.max(...values, 0);
    return h("figure", {}, h("figcaption", {}, title, " ", h("b", {}, words(values[values.length - 1]))),
      h("div", { class: "columns", role: "img", "aria-label": `${title}, oldest first: ${values.map((value, at) => `${words(value)}${bad?.(at) ? ` (${bad(at)})` : ""}`).join(", ")}` }, values.map((value, at) => {
        const bar = h("span", { class: bad?.(at) ? "tone-bad" : "tone-good", title: `${said(at)}: ${words(value)}${bad?.(at) ? `, ${bad(at)}` : ""}` });
        bar.style.height = `${most ? Math.max(4, (100 * value) / most) : 4}%`;
        return bar;
      })));
  }

  Rocky.live = { runLink, linked, went, result, found, strip, seriesOf, chart, ask, act, post, later, refused, copyable, facts, head, number, named, actions: [], job: null };
})();
