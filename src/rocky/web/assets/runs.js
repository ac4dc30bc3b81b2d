// Runs: all of them, one laid out in time with what it cost and why things were reused, and two compared.
"use strict";

(() => {
  const { h, count, counted, duration, bytes, money, when } = Rocky;
  const { ask, act, later, facts, head, number, named, linked, runLink, result, went, found: seen } = Rocky.live;
  const known = (value) => value !== null && value !== undefined;
  const total = (run) => run.totals?.cost_usd;

  // What is done to tables without building them is a run too, and is compared with none.
  const deed = (run) => Rocky.deedOf(run.models.map((each) => each.outcome));
  const kindOf = (run) => deed(run) || run.pipeline || "";

  // The run before that did the same work: of the same pipeline, and no promotion.
  const former = (runs, at) => (deed(runs[at]) ? undefined : runs.slice(at + 1).find((each) => !deed(each) && each.pipeline === runs[at].pipeline));

  async function runs() {
    const found = await ask("history", { limit: 100 });
    return [
      head(null, "Runs", found.runs.length ? found.runs.length === 1 ? "One run" : `The last ${counted(found.runs.length, "run")}, newest first` : ""),
      Rocky.live.actions.includes("run") ? runForm() : null,
      found.runs.length ? Rocky.grid("Runs", ["Run", "Of", "Status", "Began", number("Took"), "Models", number("Cost"), "Compared"], found.runs.map((run, at) => {
        const before = former(found.runs, at);
        return [runLink(run.run_id), kindOf(run), [Rocky.status(run.died ? "died" : run.status), failures(run)], when(run.started_at), duration(run.duration_ms), outcomes(run.models),
          known(total(run)) ? money(total(run)) : "",
          before ? h("a", { href: `#/compare/${before.run_id}/${run.run_id}`, "aria-label": `Compare ${run.run_id} with the one before` }, "with the one before") : ""];
      }))
        : Rocky.empty("No run is recorded yet: `rocky run` makes the first."),
    ];
  }

  function failures(run) {
    const failed = (run.check_outcomes || []).filter((each) => went(each) === "failed").length;
    const warned = (run.check_outcomes || []).filter((each) => went(each) === "warning").length;
    const words = [failed && `${counted(failed, "check")} failed`, warned && `${counted(warned, "check")} warned`, run.anomalies?.length && counted(run.anomalies.length, "unusual size")].filter(Boolean);
    return words.length ? h("div", {}, h("small", { class: "quiet" }, words.join(", "))) : null;
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
      head([h("a", { href: "#/runs" }, "Runs"), one.pipeline ? `, pipeline ${one.pipeline}` : deed(one) ? `, ${/^[aeiou]/.test(deed(one)) ? "an" : "a"} ${deed(one)}` : "", found.branch ? `, branch ${found.branch}` : ""], one.run_id),
      facts([["Status", Rocky.status(one.died ? "died" : one.status)], ["Began", when(one.started_at)], known(one.duration_ms) && ["Took", duration(one.duration_ms)],
        ["Started by", [found.by || "nobody known", one.trigger ? ` (${one.trigger})` : ""]],
        found.git_commit && ["Commit", [h("code", { title: found.git_commit }, found.git_commit.slice(0, 12)), found.git_dirty ? " and changes" : ""]],
        known(one.totals?.cost_usd) && ["Cost", money(one.totals.cost_usd)], ["Models", outcomes(one.models)]]),
      one.status === "Running" && !one.died ? progress(one) : null,
      found.reason ? h("p", { class: "empty" }, Rocky.words(found.reason)) : null,
      found.promotion ? Rocky.live.promoted(found.promotion) : null,
      failed.length ? Rocky.section("What failed", h("ul", { class: "findings" }, failed.map((each) => h("li", { class: "finding finding-error" },
        h("p", {}, named(each.model_name), " ", each.failure_kind || ""), each.error ? h("pre", { class: "said" }, each.error) : null)))) : null,
      deed(one) ? null : Rocky.section("In time", later(ask("trace", { run: one.run_id }), gantt)),
      Rocky.section(deed(one) ? "Tables" : "Reused, built, and why", decisions(one.models)),
      (one.anomalies || []).length ? Rocky.section("Unusual sizes", h("ul", { class: "hops" }, one.anomalies.map((each) => h("li", {}, named(each.table), ` ${each.kind}: ${each.reason}`)))) : null,
      one.models.some((each) => each.drift?.length) ? Rocky.section("Drift", Rocky.live.driftRows(one.models.flatMap((model) => (model.drift || []).map((each) => [{ ...one, table: model.model_name }, each])))) : null,
      (one.check_outcomes || []).length ? Rocky.section("Tests and checks", checks(one.check_outcomes)) : null,
      deed(one) ? null : Rocky.section("Cost", later(ask("cost", { run: one.run_id, by: "tag" }), costs)),
      (failed.length || one.status === "Failure") && Rocky.live.endpoints.has("logs") ? Rocky.section("Log", later(ask("logs", { run: one.run_id }), (log) => h("pre", { class: "said", tabindex: "0", role: "region", "aria-label": "Log" }, log.text))) : null,
      Rocky.live.endpoints.has("record") ? Rocky.section("Evidence", h("p", {}, h("a", { href: `#/evidence/${one.run_id}` }, "What is recorded of it, file by file"))) : null,
    ];
  }

  // How many there will be is known of a job of this server alone; else what the last such run had is told.
  function progress(one) {
    const { job } = Rocky.live;
    const mine = job?.status === "running" && job.steps ? job : null;
    const box = h("div", { class: "progress", role: "status" }, h("p", {}, "Running: ", mine ? `${count(mine.ended || 0)} of ${counted(mine.steps, "step")} done` : `${counted(one.models.length, "model")} done so far`,
      mine?.running?.length ? `, now ${mine.running.join(", ")}` : "", ". This page follows it."));
    box.append(h("div", { class: "pulse" }), later(Rocky.live.endpoints.has("state") ? ask("state") : Promise.resolve({}), (state) => {
      const claim = (state.claims || []).find((each) => each.run_id === one.run_id);
      if (!claim) return null;
      const done = new Set(one.models.map((each) => each.model_name.toLowerCase()));
      const left = (claim.targets || []).filter((target) => !done.has(target.toLowerCase()) && !done.has((Rocky.store.named(target)?.name || "").toLowerCase()));
      return h("p", { class: "hint" }, `Process ${claim.process} on ${claim.hostname} holds ${counted((claim.targets || []).length, "table")}; `, left.length ? [`to come: `, left.slice(0, 12).map((name, at) => [at ? ", " : "", named(name)]), left.length > 12 ? ` and ${count(left.length - 12)} more` : ""] : "all are done", ".");
    }));
    return box;
  }

  function gantt(found) {
    const whole = Math.max(found.run_duration_ms || 0, ...found.models.map((each) => each.end_offset_ms), 1);
    if (!found.models.length) return Rocky.empty(found.finished_at ? "No model has run in it." : "No model has ended yet.");
    const held = found.unstarted || [];
    const shown = found.models.slice(0, 300);
    // Of a run that goes on, nobody knows yet what it will have waited for.
    const critical = found.finished_at ? (found.critical_path || []).map((each) => each.model_name) : [];
    return [
      h("p", { class: "hint" }, found.finished_at ? `${duration(found.run_duration_ms)} in all` : `Until the last model that ended ${duration(found.run_duration_ms)}`, known(found.startup_ms) ? `, ${duration(found.startup_ms)} until the first model` : "",
        known(found.parallelism) && found.parallelism >= 1.05 ? `, ${found.parallelism.toFixed(1)} at once` : "", critical.length ? ". Critical path: " : ".", critical.map((name, at) => [at ? " → " : "", named(name)])),
      h("ol", { class: "gantt", "aria-label": "Models in order of start" }, shown.map((each) => {
        const bar = h("span", { class: `gantt-bar ${each.critical && found.finished_at ? "critical" : ""} outcome-${each.outcome.replace(/\W/g, "-")}` });
        bar.style.left = `${(100 * each.start_offset_ms) / whole}%`;
        bar.style.width = `${Math.max(0.4, (100 * (each.end_offset_ms - each.start_offset_ms)) / whole)}%`;
        return h("li", {}, h("span", { class: "gantt-name" }, named(each.model_name)), h("span", { class: "gantt-lane" }, bar),
          h("span", { class: "right quiet" }, `${each.outcome === "built" ? duration(each.duration_ms) : each.outcome}${each.critical && found.finished_at ? " ★" : ""}`));
      })),
      h("ul", { class: "legend", "aria-label": "Colours" }, [["critical", "on the critical path (★): the run was no shorter than these"], ["", "built"], ["outcome-reused", "reused"], ["outcome-failed", "failed"]].map(([name, words]) =>
        h("li", {}, h("span", { class: `gantt-key ${name}`, "aria-hidden": "true" }), words))),
      held.length ? h("p", { class: "hint" }, "Not started: ", held.slice(0, 20).map((each, at) => [at ? ", " : "", named(each.model_name), ` (${each.outcome})`]), held.length > 20 ? ` and ${count(held.length - 20)} more` : "", ".") : null,
      found.models.length > shown.length ? h("p", { class: "hint" }, `and ${count(found.models.length - shown.length)} more`) : null,
    ];
  }

  function decisions(models) {
    return models.length ? Rocky.grid("Decisions", ["Model", "Outcome", "Why", number("Rows"), number("Took")], models.slice(0, 500).map((each) => [
      named(each.model_name), Rocky.status(each.outcome), [linked(each.reason || each.decision), each.reuse_basis ? h("small", {}, ` by ${each.reuse_basis}`) : ""],
      known(each.rows_affected) ? count(each.rows_affected) : "", duration(each.duration_ms)])) : Rocky.empty("Nothing was done.");
  }

  function checks(found) {
    return Rocky.grid("Checks", ["Table", "Check", "Result", "Observed", "Expected"], found.map((each) => [
      named(each.table), [h("b", {}, each.name), " ", h("small", {}, each.kind)], result(each), seen(each), each.expected || ""]));
  }

  function costs(found) {
    const saved = found.saved;
    const groups = found.groups || [];
    // One measure for all bars: money where there is a price, else core time, else how long each took.
    const measures = [[(each) => each.cost_usd, money], [(each) => each.metrics?.executor_run_ms, duration], [(each) => (each.saved ? null : each.duration_ms), duration]];
    const [measure, words] = measures.find(([value]) => found.per_model.some((each) => value(each))) || measures[2];
    const ranked = found.per_model.slice().sort((a, b) => (measure(b) || 0) - (measure(a) || 0));
    const most = Math.max(...ranked.map((each) => measure(each) || 0), Number.MIN_VALUE);
    return [
      facts([known(found.total_cost_usd) && ["Cost", money(found.total_cost_usd)], known(found.total_core_ms) && ["Core time", duration(found.total_core_ms)],
        known(found.total_bytes_scanned) && ["Read", bytes(found.total_bytes_scanned)], known(found.total_bytes_written) && ["Written", bytes(found.total_bytes_written)],
        saved && ["Not spent by reuse", [known(saved.cost_usd) ? `${money(saved.cost_usd)}, ` : "", known(saved.core_ms) ? `${duration(saved.core_ms)} of cores` : counted(saved.model_count, "model")]]]),
      groups.length ? [h("h3", {}, "By tag"), Rocky.grid("Cost by tag", ["Tag", number("Models"), number("Core time"), number("Cost")], groups.map((each) => [
        each.dimension === "tag" ? (each.key === "<unattributed>" ? h("span", { class: "quiet" }, "no tag") : each.key) : `${each.dimension}=${each.key}`, count(each.model_count), known(each.total_core_ms) ? duration(each.total_core_ms) : "", known(each.total_cost_usd) ? money(each.total_cost_usd) : ""]))] : null,
      h("h3", {}, "By model"),
      h("ul", { class: "bars" }, ranked.slice(0, 25).map((each) => {
        const used = measure(each) || 0;
        const filled = h("i", {});
        filled.style.width = `${used ? Math.max(1, (100 * used) / most) : 0}%`;
        return h("li", {}, named(each.model_name), h("span", { class: "bar-of", "aria-hidden": "true" }, filled),
          h("span", { class: "right" }, used ? words(used) : each.saved ? "reused" : "nothing"));
      })),
      ranked.length > 25 ? h("p", { class: "hint" }, `and ${count(ranked.length - 25)} more`) : null,
    ];
  }

  // ---------------------------------------------------------------- two runs

  async function compare(_, [before, after]) {
    const [a, b, first, second, past] = await Promise.all([ask("trace", { run: before }), ask("trace", { run: after }), ask("run", { run: before }), ask("run", { run: after }), ask("history", { limit: 100 })]);
    const [x, y] = [first.run, second.run];
    // What was held has no time, so the trace alone would not know it.
    const of = (run, traced) => {
      const hashes = new Map(traced.models.map((each) => [each.model_name, each]));
      return new Map(run.models.map((each) => [each.model_name, { ...hashes.get(each.model_name), ...each }]));
    };
    const [left, right] = [of(x, a), of(y, b)];
    const names = [...new Set([...right.keys(), ...left.keys()])];
    const change = (name) => (right.get(name)?.duration_ms || 0) - (left.get(name)?.duration_ms || 0);
    const differs = (name) => left.get(name)?.outcome !== right.get(name)?.outcome;
    names.sort((one, other) => differs(other) - differs(one) || Math.abs(change(other)) - Math.abs(change(one)));
    const signed = (value, words) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${words(Math.abs(value))}`;
    const seed = (name) => Rocky.store.named(name)?.kind === "seed";
    const side = (each, name) => (each ? [Rocky.status(each.outcome), " ", each.outcome === "built" ? duration(each.duration_ms) : ""] : h("span", { class: "quiet" }, seed(name) ? "not loaded again" : "not in it"));
    const rows = (name) => [left.get(name)?.rows_affected, right.get(name)?.rows_affected];
    const both = (one, other, words) => (known(one) || known(other) ? [known(one) ? words(one) : "none", " → ", known(other) ? words(other) : "none", known(one) && known(other) ? h("small", {}, ` ${signed(other - one, words)}`) : null] : "not priced");
    const tests = turned(x, y);
    return [
      head([h("a", { href: "#/runs" }, "Runs"), x.pipeline !== y.pipeline ? ", of different pipelines" : x.pipeline ? `, pipeline ${x.pipeline}` : ""], "Two runs compared", chooser(past.runs, before, after)),
      facts([["Status", [Rocky.status(x.died ? "died" : x.status), " → ", Rocky.status(y.died ? "died" : y.status)]], ["Began", [when(x.started_at), " → ", when(y.started_at)]], ["Took", both(a.run_duration_ms, b.run_duration_ms, duration)],
        ["Cost", both(total(x), total(y), money)], ["Code", first.git_commit && second.git_commit ? (first.git_commit === second.git_commit ? ["commit ", h("code", {}, first.git_commit.slice(0, 12)), first.git_dirty || second.git_dirty ? ", with changes" : " both times"]
          : [h("code", {}, first.git_commit.slice(0, 12)), " → ", h("code", {}, second.git_commit.slice(0, 12))]) : "not in git"]]),
      Rocky.section("Models", Rocky.grid("Models of both runs", ["Model", "Before", "After", number("Difference"), number("Rows written"), "Differs", "Why then, against its table"], names.slice(0, 500).map((name) => {
        const [one, other] = [left.get(name), right.get(name)];
        const [was, is] = rows(name);
        return [named(name), side(one, name), side(other, name), one?.outcome === "built" && other?.outcome === "built" ? signed(change(name), duration) : "",
          known(was) || known(is) ? `${known(was) ? count(was) : "–"} → ${known(is) ? count(is) : "–"}` : "", differences(one, other), linked(right.get(name)?.reason)];
      }))),
      tests.length ? Rocky.section("Tests and checks that went another way", Rocky.grid("Checks that changed", ["Table", "Check", "Before", "After", "Found"], tests.map(([was, is]) => [
        named((is || was).table), h("b", {}, (is || was).name), was ? result(was) : h("span", { class: "quiet" }, "not run"), is ? result(is) : h("span", { class: "quiet" }, "not run"), is ? seen(is) : ""]))) : null,
    ];
  }

  // What of a model was not the same in two runs, by the hashes that both recorded. The text that
  // Spark got has hints, too, so it changes with the size of what is read.
  function differences(one, other) {
    const both = (name) => one?.[name] && other?.[name];
    const changed = (name) => both(name) && one[name] !== other[name];
    if (!both("sql_hash") && !both("input_hash")) return "";
    const found = [changed("skip_hash") ? (changed("sql_hash") ? "code" : "settings") : changed("sql_hash") && "text for Spark", !changed("skip_hash") && changed("input_hash") && "inputs", changed("env_hash") && "environment"].filter(Boolean);
    return found.length ? h("b", {}, found.join(", ")) : "nothing";
  }

  // The checks whose result differs, or that only one of two runs made.
  function turned(x, y) {
    const of = (run) => new Map((run.check_outcomes || []).map((each) => [`${each.table} ${each.name}`, each]));
    const [was, is] = [of(x), of(y)];
    return [...new Set([...is.keys(), ...was.keys()])].map((key) => [was.get(key), is.get(key)]).filter(([one, other]) => !one || !other || went(one) !== went(other));
  }

  function chooser(runs, before, after) {
    const choice = (label, chosen, go) => h("label", {}, h("span", {}, label), h("select", { change: (event) => { location.hash = go(event.target.value); } },
      (runs.some((run) => run.run_id === chosen) ? [] : [{ run_id: chosen, models: [] }]).concat(runs.filter((run) => !deed(run))).map((run) =>
        h("option", { value: run.run_id, selected: run.run_id === chosen }, `${run.run_id}${run.pipeline ? `, ${run.pipeline}` : ""}`))));
    return h("span", { class: "choices" }, choice("Before", before, (id) => `#/compare/${id}/${after}`), choice("After", after, (id) => `#/compare/${before}/${id}`));
  }

  Rocky.addView("runs", "Runs", runs);
  Rocky.addView("run", null, run);
  Rocky.addView("compare", null, compare);
})();
