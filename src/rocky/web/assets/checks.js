// Checks: what failed lately, how sources drift, every check over time, and tables of unusual size.
"use strict";

(() => {
  const { h, count, counted, when } = Rocky;
  const { ask, later, head, number, named, result, found: seen, strip, seriesOf, went } = Rocky.live;
  const LOOKED = 100;
  const WEEK = 7 * 24 * 3600 * 1000;
  const CHARTS = 12;
  const RECORDED = "`rocky build`, `rocky run --test` and pipelines record theirs, `rocky test` tells its caller alone.";

  async function checks() {
    const { runs } = await ask("history", { limit: LOOKED });
    const series = seriesOf(runs);
    const rank = ([, last]) => ["failed", "warning", "passed"].indexOf(went(last));
    series.sort((a, b) => rank(a[a.length - 1]) - rank(b[b.length - 1]));
    const odd = runs.flatMap((run) => (run.anomalies || []).map((each) => [run, each]));
    const changed = runs.flatMap((run) => run.models.flatMap((model) => (model.drift || []).map((each) => [{ ...run, table: model.model_name }, each])));
    return [
      head(null, "Checks", "What failed lately, how sources differ from their copies, and tables whose size is unusual"),
      Rocky.section("In the last week", lately(runs)),
      Rocky.section("Drift", later(ask("overlay", { name: "drift" }), drift), changed.length ? [h("h3", {}, "Over time"), driftRows(changed)] : null),
      Rocky.section("Tests and checks over time", series.length ? Rocky.grid("Checks over time", ["Table", "Check", "Oldest to newest", "Last", "Found", "When"], series.map((results) => {
        const [run, last] = results[results.length - 1];
        return [named(last.table), checked(last), strip(results), result(last), seen(last), h("a", { href: `#/run/${run.run_id}` }, when(run.started_at))];
      })) : Rocky.empty(`No test or check is recorded yet: ${RECORDED}`)),
      Rocky.section("Unusual sizes", odd.length ? [later(ask("counts", { tables: [...new Set(odd.map(([, each]) => each.table))].slice(0, CHARTS) }), (found) => sizes(found, odd)),
        Rocky.grid("Anomalies", ["When", "Table", "Kind", number("Rows"), number("Usually"), "Why"], odd.map(([run, each]) => [
          h("a", { href: `#/run/${run.run_id}` }, when(run.started_at)), named(each.table), each.kind, count(each.current_count), count(Math.round(each.baseline_avg)), each.reason]))]
        : Rocky.empty("No table was unusually large or small.")),
      runs.length === LOOKED ? h("p", { class: "hint" }, `These are the last ${LOOKED} runs, since `, when(runs[LOOKED - 1].started_at), ".") : null,
    ];
  }

  // A check by its name; its kind only where that says more.
  const checked = (each) => [h("b", {}, each.name), each.name.startsWith(each.kind) ? "" : [" ", h("small", {}, each.kind)], each.severity === "warning" ? [" ", h("small", {}, "only warns")] : ""];

  // A run that began before the week is not of it, whenever it ended.
  function lately(runs) {
    const since = Date.now() - WEEK;
    const recent = runs.filter((run) => new Date(run.started_at).getTime() >= since);
    const all = recent.flatMap((run) => (run.check_outcomes || []).map((each) => [run, each]));
    const failed = all.filter(([, each]) => !each.passed);
    const short = runs.length === LOOKED && recent.length === LOOKED;
    const span = short ? [` in the last ${LOOKED} runs, which reach back to `, when(runs[LOOKED - 1].started_at)] : ` in ${counted(recent.length, "run")}`;
    if (!all.length) return [h("p", { class: "verdict" }, recent.length ? ["No test or check is recorded", span, ". ", Rocky.words(RECORDED)] : "Nothing has run.")];
    const errors = failed.filter(([, each]) => went(each) === "failed").length;
    const words = [errors && `${counted(errors, "time")} a check failed`, failed.length - errors && `${counted(failed.length - errors, "time")} one warned`].filter(Boolean).join(", ");
    return [
      h("p", { class: "verdict" }, Rocky.status(errors ? "failed" : "success"), " ", failed.length ? [`${words}, of ${count(all.length)} results`, span, "."] : [`All ${count(all.length)} results passed`, span, "."]),
      failed.length ? failures(failed) : null,
    ];
  }

  // One row a check, however often it failed; `failed` are [run, outcome], newest first.
  function failures(failed) {
    const groups = new Map();
    for (const one of failed) groups.set(`${one[1].table} ${one[1].name}`, [...(groups.get(`${one[1].table} ${one[1].name}`) || []), one]);
    const rows = [...groups.values()].sort(([[, a]], [[, b]]) => (went(a) === "failed" ? 0 : 1) - (went(b) === "failed" ? 0 : 1));
    const at = (run) => h("a", { href: `#/run/${run.run_id}` }, when(run.started_at));
    return [Rocky.grid("Failed in the last week", ["Table", "Check", "Result", "Found", "Last"], rows.slice(0, 50).map((each) => {
      const [[last, outcome], [first]] = [each[0], each[each.length - 1]];
      return [named(outcome.table), checked(outcome), [result(outcome), each.length > 1 ? h("div", {}, h("small", {}, counted(each.length, "time"))) : null],
        [seen(outcome), outcome.expected ? h("div", {}, h("small", {}, `expected ${outcome.expected}`)) : null], [at(last), each.length > 1 ? h("div", {}, h("small", {}, "since ", at(first))) : null]];
    })), rows.length > 50 ? h("p", { class: "hint" }, `and ${count(rows.length - 50)} more`) : null];
  }

  function drift(found) {
    if (found.unavailable) return Rocky.empty(found.unavailable);
    if (!found.tables?.length) return Rocky.empty("No pipeline copies anything here.");
    const { tables } = Rocky.store.index;
    return [Rocky.grid("Drift", ["Table", "State", "What"], found.tables.map(([place, state, words]) => [
      Rocky.nameLink(tables[place]), h("span", { class: `tone-text-${found.states[state].tone}` }, h("span", { class: `dot tone-${found.states[state].tone}` }), " ", found.states[state].name), words])),
    h("p", { class: "hint" }, "As it was when each was last copied. ", h("code", {}, "rocky drift"), " asks the sources now. ", h("a", { href: "#/graph?overlay=drift" }, "On the graph"))];
  }

  // Changes of sources, as [what ran, change], newest first. What stays as it was for several runs is told once, when it was first seen.
  function driftRows(changed) {
    const first = new Map();
    for (const [ran, each] of changed) {
      const key = [ran.table, each.column, each.grade, each.before, each.after].join(" ");
      first.set(key, [ran, each, (first.get(key)?.[2] || 0) + 1]);
    }
    const rows = [...first.values()].sort((a, b) => b[0].started_at.localeCompare(a[0].started_at)).slice(0, 100);
    const tables = rows.some(([ran]) => ran.table);
    return Rocky.grid("Changes of sources", ["First seen", tables && "Table", "Column", "Change", "Decided", "Reaches", number("Runs")].filter(Boolean), rows.map(([ran, each, many]) => [
      h("a", { href: `#/run/${ran.run_id}` }, when(ran.started_at)), ...(tables ? [named(ran.table)] : []), h("b", {}, each.column), typed(each), each.action.replaceAll("_", " "),
      each.reaches?.length ? h("ul", { class: "hops" }, each.reaches.slice(0, 4).map((name) => h("li", {}, name)), each.reaches.length > 4 ? h("li", { class: "quiet" }, `and ${count(each.reaches.length - 4)} more`) : null) : "", count(many)]));
  }

  function typed({ before, after }) {
    if (!before) return after ? ["new, ", h("code", {}, after)] : "new";
    return after ? [h("code", {}, before), " → ", h("code", {}, after)] : ["gone, was ", h("code", {}, before)];
  }

  function sizes(found, odd) {
    const moment = (text) => `${text.slice(0, 10)} ${text.slice(11, 16)}`;
    return h("div", { class: "charts" }, found.tables.filter((each) => each.counts.length > 1).map((each) => {
      const told = new Map(odd.filter(([, one]) => one.table === each.table).map(([run, one]) => [nearest(each.counts, run), one.kind]));
      return Rocky.live.chart(each.table, each.counts.map((one) => one.count), (value) => counted(value, "row"), (at) => moment(each.counts[at].timestamp), (at) => told.get(at));
    }));
  }

  // The count that a run made: the first since it began.
  const nearest = (counts, run) => counts.findIndex((each) => new Date(each.timestamp) >= new Date(run.started_at));

  Object.assign(Rocky.live, { driftRows });
  Rocky.addView("checks", "Checks", checks);
})();
