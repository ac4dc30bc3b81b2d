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

  const refused = (failure) => h("p", { class: "empty", role: "status" }, failure.message);

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

  Rocky.live = { ask, act, post, later, refused, copyable, facts, head, number, named, actions: [], job: null };
})();
