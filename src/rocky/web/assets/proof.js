// Branches with their approvals and the gate, and evidence: what is recorded, checked, and checkable by anybody.
"use strict";

(() => {
  const { h, count, counted, bytes, when } = Rocky;
  const { ask, act, later, refused, copyable, facts, head, number, named, runLink } = Rocky.live;
  const known = (value) => value !== null && value !== undefined;

  // ---------------------------------------------------------------- branches

  async function branches() {
    const [open, moved] = await Promise.all([ask("branches"), ask("branches", { promotions: true })]);
    return [
      head(null, "Branches", open.total ? counted(open.total, "open branch", "open branches") : ""),
      open.branches.length ? Rocky.grid("Branches", ["Branch", "Made", "By", "From", "Why"], open.branches.map((each) => [
        h("a", { class: "name", href: `#/branch/${encodeURIComponent(each.name)}` }, each.name), when(each.created_at), each.created_by || "", each.parent || "", each.description || ""]))
        : Rocky.empty("There is no branch: `rocky branch create NAME` makes one."),
      Rocky.section("Promotions and reverts", moved.promotions.length ? Rocky.grid("Promotions", ["When", "What", "By", "Signed by", "Change", number("Tables"), "Reason"], moved.promotions.slice().reverse().map((each) => [
        h("a", { href: `#/run/${each.run_id}` }, when(each.at)), [each.kind, " ", h("b", {}, each.branch)], each.by, signatures(each), verdict(each.verdict), count((each.tables || []).length), each.reason || ""])) : Rocky.empty("Nothing was promoted yet.")),
    ];
  }

  const VERDICTS = { none: "no change of code", info: "breaks no reader", warning: "may change values", breaking: "breaks readers", unknown: "could not be compared" };
  const verdict = (word) => (word ? (word === "breaking" || word === "unknown" ? h("span", { class: "status status-bad" }, VERDICTS[word]) : VERDICTS[word] || word) : "");

  // Who signs for breaking readers has not approved by that: the two are told apart.
  function signatures(moved) {
    const said = moved.approvals || [];
    if (!said.length) return h("span", { class: "quiet" }, moved.kind === "revert" ? "a revert needs no approval" : "nobody");
    return h("ul", { class: "hops" }, said.map((one) => h("li", {}, Rocky.status("signed"), " ", one.approver, one.kind === "approval" ? "" : h("b", {}, " to break readers"), " ", h("small", { title: one.key_fingerprint }, `${one.key_fingerprint.slice(0, 17)}…`))));
  }

  // Who moved production, and whose signatures that stood on.
  function promoted(moved) {
    return Rocky.section(moved.kind === "revert" ? "Revert" : "Promotion", facts([["Branch", h("a", { href: `#/branch/${encodeURIComponent(moved.branch)}` }, moved.branch)], ["By", moved.by], moved.verdict && ["Change", verdict(moved.verdict)],
      ["Tables", count((moved.tables || []).length)], moved.reason && ["Reason", moved.reason], moved.reverts && ["Takes back", runLink(moved.reverts)]]),
    h("h3", {}, "Signed by"), signatures(moved),
    (moved.breaking || []).length ? [h("h3", {}, "What broke"), h("ul", { class: "hops" }, moved.breaking.map((each) => h("li", {}, inWords(each))))] : null);
  }
  Rocky.live.promoted = promoted;

  const ORDER = ["conflict", "behind", "changed", "added", "same"];
  const STATES = { same: "as in production", added: "new", changed: "would be replaced", behind: "production has moved on", conflict: "changed here and in production" };

  async function branch(_, [name]) {
    const found = await ask("branch", { branch: name });
    const tables = found.tables.slice().sort((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
    const differ = tables.filter((each) => each.status !== "same");
    const same = tables.filter((each) => each.status === "same");
    return [
      head(h("a", { href: "#/branches" }, "Branches"), found.branch.name, `${count(differ.length)} of ${counted(found.tables.length, "table")} ${differ.length === 1 ? "differs" : "differ"} from production`),
      Rocky.section("Approvals and the gate", later(ask("approvals", { branch: name }), (judged) => gate(judged, tables))),
      Rocky.section("What a promotion would change", h("p", { class: "hint" }, "Of the tables as they are built on the branch now; what the code changes is judged above."), differ.length ? Rocky.grid("Tables that differ", ["Table", "State", "Rows, now → then", "Columns", "Versions"], differ.map((each) => [
        named(each.target), STATES[each.status] || each.status, rowsOf(each), columnChanges(each), versions(each)])) : Rocky.empty(`No table: each of the branch is as in production. What its code would change is built by \`rocky run --branch ${name}\`.`),
      same.length ? h("p", { class: "hint" }, "As in production: ", same.slice(0, 20).map((each, at) => [at ? ", " : "", named(each.target)]), same.length > 20 ? ` and ${count(same.length - 20)} more` : "", ".") : null),
      Rocky.section("Rows that differ", h("p", {}, "They are read by Spark: "), copyable(`rocky branch diff ${name}`)),
    ];
  }

  function rowsOf({ rows, production_rows: now }) {
    const text = (value) => (known(value) ? count(value) : "none");
    const more = (rows || 0) - (now || 0);
    return [`${text(now)} → ${text(rows)}`, known(rows) && known(now) && more ? h("small", {}, ` ${more > 0 ? "+" : "−"}${count(Math.abs(more))}`) : ""];
  }

  const TONES = { breaking: "bad", warning: "notice", info: "good" };

  function columnChanges(each) {
    if (!each.columns?.length) return h("span", { class: "quiet" }, each.status === "added" ? "a new table" : "the same columns, as built");
    return h("ul", { class: "hops" }, each.columns.map((one) => h("li", {}, h("span", { class: `dot tone-${TONES[one.impact]}` }), " ", one.column ? h("b", {}, one.column) : "", " ", one.rule.replaceAll("_", " "),
      one.before && one.after ? h("small", {}, ` ${one.before} → ${one.after}`) : one.before || one.after ? h("small", {}, ` ${one.before || one.after}`) : "", one.impact === "breaking" ? h("small", {}, " breaks readers") : "")));
  }

  const versions = ({ base_version: base, production_version: now }) => (known(now) ? [`${now} → ${now + 1}`, known(base) && base !== now ? h("small", {}, ` branched from version ${base}`) : ""] : "its first");

  // Why a statement does not count, where the word of the record says little.
  const REJECTED = { parse_error: "cannot be read", not_ed25519: "not an Ed25519 key", in_future: "signed in the future", state_hash_mismatch: "signed over another state of the branch", own_change: "signed by who made the change", duplicate_person: "has signed already" };

  // A change as it is recorded, `revenue.city: column_removed`, for people.
  const inWords = (change) => change.replace(/: \w+/, (rule) => rule.replaceAll("_", " "));

  // All that a promotion would refuse, each in words; only it looks at files and signatures once more.
  function gate(found, tables) {
    const { policy } = found;
    const moved = tables.filter((each) => each.status === "conflict" || each.status === "behind");
    const refusals = [
      !found.satisfied && `${counted(policy.min_approvers, "approval")} must count, ${count(found.accepted.length)} ${found.accepted.length === 1 ? "does" : "do"}.`,
      (found.unready || []).length && ["The tables of the branch are not what the present code makes: ", Rocky.words(found.unready.join("; ")), ". ", h("code", {}, `rocky run --branch ${found.branch}`), " builds them."],
      moved.length && [`Production has moved on: `, moved.map((each, at) => [at ? ", " : "", named(each.target)]), "."],
      (found.breaking || []).length && ["The code breaks readers of production (", found.breaking.map(inWords).join("; "), "): ", h("code", {}, `rocky branch promote ${found.branch} --allow-breaking -m "why" --key KEY`), " signs for it with a reason."],
    ].filter(Boolean);
    return [
      h("p", { class: "verdict" }, Rocky.status(refusals.length ? "closed" : "open"), " ", refusals.length ? "A promotion would be refused." : policy.required ? "Enough approvals count, and nothing stands in the way." : "No approval is required, and nothing stands in the way.",
        found.verdict === "breaking" ? "" : [" The change: ", verdict(found.verdict), "."]),
      refusals.length ? h("ul", { class: "findings" }, refusals.map((each) => h("li", { class: "finding finding-error" }, h("p", {}, each)))) : null,
      found.accepted.length ? h("h3", {}, "Approvals that count") : null,
      found.accepted.length ? Rocky.grid("Approvals that count", ["By", "Signature", "Signed", "Key", "Says"], found.accepted.map((each) => [
        h("b", {}, each.approver), [Rocky.status("signed"), " ", h("small", {}, "by a key that is allowed, over the branch as it is now")], when(each.signed_at), h("code", { title: each.key_fingerprint }, `${each.key_fingerprint.slice(0, 17)}…`), each.message || ""])) : null,
      found.rejected.length ? h("h3", {}, "Statements that do not count") : null,
      found.rejected.length ? Rocky.grid("Statements that do not count", ["By", "Signature", "Why not"], found.rejected.map((each) => [each.approver || each.approval_id, Rocky.status("does not count"), [`${REJECTED[each.reason] || each.reason.replaceAll("_", " ")}: `, Rocky.words(each.detail)]])) : null,
      (found.warnings || []).map((each) => h("p", { class: "hint" }, each)),
    ];
  }

  // ---------------------------------------------------------------- evidence

  async function evidence(_, [run]) {
    if (run) return record(run);
    const state = await ask("state");
    const box = h("div", {});
    const button = h("button", { type: "button", class: "button" }, "Verify now");
    button.addEventListener("click", () => {
      button.disabled = true;
      const question = ask("verify").finally(() => { button.disabled = false; });
      box.replaceChildren(later(question, verified));
    });
    const history = await ask("history", { limit: 20 });
    return [
      head(null, "Evidence", `${counted(state.runs, "run")}, ${counted(state.executions, "execution")} and ${counted(state.artifacts, "file")} are recorded in one chain`),
      Rocky.section("Chain and tables", h("p", {}, "Every hash is computed again: of each record, each commit and each file."), button, box),
      Rocky.section("Runs", history.runs.length ? Rocky.grid("Recorded runs", ["Run", "Status", "Began", "Proof"], history.runs.map((each) => [
        runLink(each.run_id), Rocky.status(each.died ? "died" : each.status), when(each.started_at), h("a", { href: `#/evidence/${each.run_id}`, "aria-label": `Files and hashes of ${each.run_id}` }, "files and hashes")])) : Rocky.empty("No run is recorded yet.")),
      Rocky.section("Seals", h("p", {}, "A seal is the head of the chain, signed with a person's key and kept elsewhere: nobody who can write the ledger can rewrite what was sealed."),
        sealCheck()),
    ];
  }

  function sealCheck() {
    const place = h("input", { type: "text", value: "seals", "aria-label": "Where the seals are: a file, a folder or git:REF" });
    const box = h("div", {});
    return [h("form", { class: "choices", submit: (event) => {
      event.preventDefault();
      box.replaceChildren(later(ask("verify", { sealed: place.value }), verified));
    } }, h("label", {}, h("span", {}, "Seals in"), place), h("button", { type: "submit", class: "button" }, "Check against seals")), box];
  }

  function verified(found) {
    return [
      h("p", { class: "verdict" }, Rocky.status(found.verified ? "success" : "failed"), " ", found.verified ? "Records and tables are unchanged and agree." : counted(found.findings.length, "finding")),
      facts([["Head of the chain", [`entry ${count(found.head.seq)} `, h("code", {}, found.head.entry_hash.slice(0, 16))]],
        ...["runs", "records", "entries", "tables", "commits", "files", "seals"].map((name) => [name, count(found.checked[name])]), ["bytes", bytes(found.checked.bytes)]]),
      found.findings.length ? h("ul", { class: "findings" }, found.findings.map((each) => h("li", { class: "finding finding-error" }, h("p", {}, h("span", { class: "finding-code" }, each.code), " ", each.where, ": ", each.message)))) : null,
      found.seals?.length ? Rocky.grid("Seals", ["Seal", "By", "When", number("Entry")], found.seals.map((each) => [each.name, each.signer, when(each.sealed_at), count(each.seq)])) : null,
      (found.notes || []).map((each) => h("p", { class: "hint" }, each)),
      h("h3", {}, "The same anywhere"), copyable(`rocky verify --head ${found.head.entry_hash}`),
    ];
  }

  async function record(run) {
    const box = later(ask("record", { run }), (found) => [
      h("p", { class: "verdict" }, Rocky.status(found.verification.verified ? "success" : "failed"), " ", found.verification.verified ? "What is recorded of it is unchanged, and so are its files." : counted(found.verification.findings.length, "finding")),
      found.models.map((each) => Rocky.section(each.model,
        facts([each.provenance ? ["Built by", runLink(each.built_by)] : ["Not built", Rocky.words(each.execution.reason || each.execution.decision || each.execution.status)], each.execution.recipe_hash && ["Recipe", h("code", { title: each.execution.recipe_hash }, each.execution.recipe_hash.slice(0, 16))],
          each.execution.rows_hash && ["Rows hash", h("code", {}, each.execution.rows_hash)], known(each.as_written) && ["Provenance", each.as_written ? "as it was written" : "altered"]]),
        each.artifacts.length ? Rocky.grid(`Files of ${each.model}`, ["File", number("Size"), "Check it without Rocky"], each.artifacts.map((file) => [
          h("code", {}, file.blake3_hash.slice(0, 16)), bytes(file.size_bytes), copyable(`echo '${file.blake3_hash}  ${file.file_path.replaceAll("'", "'\\''")}' | b3sum --check`, `check of ${file.blake3_hash.slice(0, 12)}`)])) : h("p", { class: "quiet" }, each.built_by && each.built_by !== found.run.run_id ? ["This run wrote none: ", h("a", { href: `#/evidence/${each.built_by}` }, "those of the run that built it")] : "This run wrote no file of it."))),
    ]);
    const actions = Rocky.live.actions.includes("replay") ? replayButton(run) : null;
    return [head(h("a", { href: "#/evidence" }, "Evidence"), run), actions, box];
  }

  function replayButton(run) {
    const said = h("span", { role: "status" });
    return h("p", { class: "choices" }, h("button", { type: "button", class: "button", click: async () => {
      try {
        Rocky.live.job = await act("replay", { run });
        said.textContent = "Checking …";
      } catch (failure) {
        said.replaceChildren(refused(failure));
      }
    } }, "Check the record again"), said, listenTo("replay", said));
  }

  function listenTo(action, said) {
    document.addEventListener("rocky-job", () => {
      const { job } = Rocky.live;
      if (job?.action !== action || !said.isConnected) return;
      if (job.status === "failed") said.textContent = job.error.message;
      if (job.status === "done") said.replaceChildren(Rocky.status(job.report.verified ? "success" : "failed"));
    });
    return null;
  }

  Rocky.addView("branches", "Branches", branches);
  Rocky.addView("branch", null, branch);
  Rocky.addView("evidence", "Evidence", evidence);
})();
