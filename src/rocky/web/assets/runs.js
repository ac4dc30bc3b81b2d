// Runs: all of them, one laid out in time with what it cost and why things were reused, and two compared.
"use strict";

(() => {
  const { h, count, counted, duration, bytes, money, when } = Rocky;
  const { ask, act, later, facts, head, number, named } = Rocky.live;
  const known = (value) => value !== null && value !== undefined;
  const runLink = (id) => h("a", { href: `#/run/${id}` }, h("code", {}, id));

  async function runs() {
    const found = await ask("history", { limit: 100 });
    return [
      head(null, "Runs", found.runs.length ? `The last ${counted(found.runs.length, "run")}, newest first` : ""),
      Rocky.live.actions.includes("run") ? runForm() : null,
      found.runs.length ? Rocky.grid("Runs", ["Run", "Ended", "Began", number("Took"), "Models", number("Cost"), "Compared"], found.runs.map((run, at) => [
        runLink(run.run_id), Rocky.status(run.died ? "died" : run.status), when(run.started_at), duration(run.duration_ms), outcomes(run.models),
        known(run.totals?.cost_usd) ? money(run.totals.cost_usd) : "",
        found.runs[at + 1] ? h("a", { href: `#/compare/${found.runs[at + 1].run_id}/${run.run_id}` }, "compare with the one before") : ""]))
        : Rocky.empty("No run is recorded yet: `rocky run` makes the first."),
    ];
  }

  function outcomes(models) {
    const counts = new Map();
    for (const each of models) counts.set(each.outcome, (counts.get(each.outcome) || 0) + 1);
    return [...counts].map(([name, many]) => `${count(many)} ${name}`).join(", ");
  }

  // A selection that is run from here, where the server was started so.
  function runForm() {
    const select = h("input", { type: "text", placeholder: "everything", "aria-label": "Selectors, with spaces between", spellcheck: "false" });
    const test = h("input", { type: "checkbox", id: "run-tests" });
    const said = h("div", { role: "status", class: "job" });
    const button = h("button", { type: "submit", class: "button" }, "Run");
    const show = () => {
      const { job } = Rocky.live;
      if (!job || job.action !== "run" || !said.isConnected) return;
      button.disabled = job.status === "running";
      said.replaceChildren(...jobWords(job));
    };
    const form = h("form", { class: "choices", submit: async (event) => {
      event.preventDefault();
      try {
        Rocky.live.job = await act("run", { select: select.value.split(/\s+/).filter(Boolean), test: test.checked });
        show();
      } catch (failure) {
        said.replaceChildren(h("p", { class: "bad" }, failure.message));
      }
    } }, h("label", {}, h("span", {}, "Select"), select), h("label", { for: "run-tests" }, test, " test"), button);
    document.addEventListener("rocky-job", show);
    setTimeout(show);
    return Rocky.section("Run", form, said);
  }

  function jobWords(job) {
    if (job.status === "failed") return [h("p", { class: "bad" }, job.error.message)];
    if (job.status === "done") return [h("p", {}, "Done. ", job.report?.run_id ? runLink(job.report.run_id) : "")];
    const of = job.steps ? ` ${count(job.ended || 0)} of ${counted(job.steps, "step")}` : "";
    return [h("p", {}, `Running …${of}`, job.running?.length ? `: ${job.running.join(", ")}` : "")];
  }

  // ---------------------------------------------------------------- one run

  async function run(_, [id]) {
    const found = await ask("run", { run: id || "latest" });
    const one = found.run;
    const { failed } = found;
    return [
      head(["Run", one.pipeline ? ` of pipeline ${one.pipeline}` : "", found.branch ? `, branch ${found.branch}` : ""], one.run_id),
      facts([["Ended", Rocky.status(one.died ? "died" : one.status)], ["Began", when(one.started_at)], known(one.duration_ms) && ["Took", duration(one.duration_ms)],
        ["Started by", [found.by || "nobody known", one.trigger ? ` (${one.trigger})` : ""]],
        found.git_commit && ["Commit", [h("code", { title: found.git_commit }, found.git_commit.slice(0, 12)), found.git_dirty ? " and changes" : ""]],
        known(one.totals?.cost_usd) && ["Cost", money(one.totals.cost_usd)], ["Models", outcomes(one.models)]]),
      one.status === "Running" && !one.died ? progress(one) : null,
      found.reason ? h("p", { class: "empty" }, found.reason) : null,
      found.promotion ? promoted(found.promotion) : null,
      failed.length ? Rocky.section("What failed", h("ul", { class: "findings" }, failed.map((each) => h("li", { class: "finding finding-error" },
        h("p", {}, named(each.model_name), " ", each.failure_kind || ""), each.error ? h("pre", { class: "said" }, each.error) : null)))) : null,
      Rocky.section("In time", later(ask("trace", { run: one.run_id }), gantt)),
      Rocky.section("Reused, built, and why", decisions(one.models)),
      (one.check_outcomes || []).length ? Rocky.section("Tests and checks", checks(one.check_outcomes)) : null,
      Rocky.section("Cost", later(ask("cost", { run: one.run_id, by: "tag" }), costs)),
      (failed.length || one.status === "Failure") && Rocky.live.endpoints.has("logs") ? Rocky.section("Log", later(ask("logs", { run: one.run_id }), (log) => h("pre", { class: "said", tabindex: "0", role: "region", "aria-label": "Log" }, log.text))) : null,
      Rocky.live.endpoints.has("record") ? Rocky.section("Evidence", h("p", {}, h("a", { href: `#/evidence/${one.run_id}` }, "What is recorded of it, file by file"))) : null,
    ];
  }

  // Who moved production, and whose signatures that stood on.
  function promoted(moved) {
    return Rocky.section(moved.kind === "revert" ? "Revert" : "Promotion", facts([["Branch", h("a", { href: `#/branch/${encodeURIComponent(moved.branch)}` }, moved.branch)], ["By", moved.by],
      ["Approved by", (moved.approvals || []).length ? moved.approvals.map((each) => h("div", {}, each.approver, " ", h("code", {}, each.key_fingerprint))) : "nobody"], moved.verdict && ["Change", moved.verdict],
      ["Tables", count((moved.tables || []).length)], moved.reason && ["Reason", moved.reason]]));
  }

  function progress(one) {
    const done = one.models.length;
    return h("div", { class: "progress", role: "status" }, h("p", {}, `Running: ${counted(done, "model")} done so far. This page follows it.`), h("div", { class: "pulse" }));
  }

  function gantt(found) {
    const whole = Math.max(found.run_duration_ms || 0, ...found.models.map((each) => each.end_offset_ms), 1);
    if (!found.models.length) return Rocky.empty("No model has run in it.");
    const shown = found.models.slice(0, 300);
    const critical = (found.critical_path || []).map((each) => each.model_name);
    return [
      h("p", { class: "hint" }, `${duration(found.run_duration_ms)} in all`, known(found.startup_ms) ? `, ${duration(found.startup_ms)} until the first model` : "",
        known(found.parallelism) ? `, ${found.parallelism.toFixed(1)} at once` : "", critical.length ? ". Critical path: " : ".", critical.map((name, at) => [at ? " → " : "", named(name)])),
      h("ol", { class: "gantt", "aria-label": "Models in order of start" }, shown.map((each) => {
        const bar = h("span", { class: `gantt-bar ${each.critical ? "critical" : ""} outcome-${each.outcome.replace(/\W/g, "-")}` });
        bar.style.left = `${(100 * each.start_offset_ms) / whole}%`;
        bar.style.width = `${Math.max(0.4, (100 * (each.end_offset_ms - each.start_offset_ms)) / whole)}%`;
        return h("li", {}, h("span", { class: "gantt-name" }, named(each.model_name)), h("span", { class: "gantt-lane" }, bar),
          h("span", { class: "right quiet" }, `${each.outcome === "built" ? duration(each.duration_ms) : each.outcome}${each.critical ? " ★" : ""}`));
      })),
      found.models.length > shown.length ? h("p", { class: "hint" }, `and ${count(found.models.length - shown.length)} more`) : null,
    ];
  }

  function decisions(models) {
    return models.length ? Rocky.grid("Decisions", ["Model", "Outcome", "Why", number("Rows"), number("Took")], models.slice(0, 500).map((each) => [
      named(each.model_name), Rocky.status(each.outcome), [each.reason || each.decision || "", each.reuse_basis ? h("small", {}, ` by ${each.reuse_basis}`) : ""],
      known(each.rows_affected) ? count(each.rows_affected) : "", duration(each.duration_ms)])) : Rocky.empty("Nothing was done.");
  }

  function checks(found) {
    return Rocky.grid("Checks", ["Table", "Check", "Result", "Observed", "Expected"], found.map((each) => [
      named(each.table), [h("b", {}, each.name), " ", h("small", {}, each.kind)], Rocky.status(each.passed ? "success" : "failed"), each.observed || each.error || "", each.expected || ""]));
  }

  function costs(found) {
    const saved = found.saved;
    const groups = found.groups || [];
    const most = Math.max(...found.per_model.map((each) => each.metrics?.executor_run_ms || each.duration_ms || 0), 1);
    return [
      facts([known(found.total_cost_usd) && ["Cost", money(found.total_cost_usd)], known(found.total_core_ms) && ["Core time", duration(found.total_core_ms)],
        known(found.total_bytes_scanned) && ["Read", bytes(found.total_bytes_scanned)], known(found.total_bytes_written) && ["Written", bytes(found.total_bytes_written)],
        saved && ["Not spent by reuse", [known(saved.cost_usd) ? `${money(saved.cost_usd)}, ` : "", known(saved.core_ms) ? `${duration(saved.core_ms)} of cores` : counted(saved.model_count, "model")]]]),
      groups.length ? [h("h3", {}, "By tag"), Rocky.grid("Cost by tag", ["Tag", number("Models"), number("Core time"), number("Cost")], groups.map((each) => [
        each.dimension === "tag" ? (each.key === "<unattributed>" ? h("span", { class: "quiet" }, "no tag") : each.key) : `${each.dimension}=${each.key}`, count(each.model_count), known(each.total_core_ms) ? duration(each.total_core_ms) : "", known(each.total_cost_usd) ? money(each.total_cost_usd) : ""]))] : null,
      h("h3", {}, "By model"),
      h("ul", { class: "bars" }, found.per_model.slice(0, 25).map((each) => {
        const used = each.metrics?.executor_run_ms || each.duration_ms || 0;
        const filled = h("i", {});
        filled.style.width = `${used ? Math.max(1, (100 * used) / most) : 0}%`;
        return h("li", {}, named(each.model_name), h("span", { class: "bar-of", "aria-hidden": "true" }, filled),
          h("span", { class: "right" }, known(each.cost_usd) ? money(each.cost_usd) : each.saved ? "reused" : duration(used)));
      })),
    ];
  }

  // ---------------------------------------------------------------- two runs

  async function compare(_, [before, after]) {
    const [a, b] = await Promise.all([ask("trace", { run: before }), ask("trace", { run: after })]);
    const of = (found) => new Map([...found.models, ...(found.unstarted || [])].map((each) => [each.model_name, each]));
    const [left, right] = [of(a), of(b)];
    const names = [...new Set([...right.keys(), ...left.keys()])];
    const change = (name) => (right.get(name)?.duration_ms || 0) - (left.get(name)?.duration_ms || 0);
    names.sort((x, y) => Math.abs(change(y)) - Math.abs(change(x)));
    const signed = (ms) => `${ms > 0 ? "+" : ms < 0 ? "−" : ""}${duration(Math.abs(ms))}`;
    const side = (each) => (each ? [Rocky.status(each.outcome), " ", each.outcome === "built" ? duration(each.duration_ms) : ""] : h("span", { class: "quiet" }, "not in it"));
    return [
      head("Two runs", "Compared", [runLink(before), " took ", duration(a.run_duration_ms), ", ", runLink(after), " took ", duration(b.run_duration_ms), "."]),
      Rocky.grid("Models of both runs", ["Model", before, after, number("Difference"), "Code"], names.slice(0, 500).map((name) => {
        const [x, y] = [left.get(name), right.get(name)];
        const code = x?.sql_hash && y?.sql_hash ? (x.sql_hash === y.sql_hash ? "the same" : "changed") : "";
        return [named(name), side(x), side(y), x && y ? signed(change(name)) : "", code];
      })),
    ];
  }

  Rocky.addView("runs", "Runs", runs);
  Rocky.addView("run", null, run);
  Rocky.addView("compare", null, compare);
})();
