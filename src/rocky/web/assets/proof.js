// Branches with their approvals and the gate, and evidence: what is recorded, checked, and checkable by anybody.
"use strict";

(() => {
  const { h, count, counted, bytes, when } = Rocky;
  const { ask, act, later, refused, copyable, facts, head, number, named } = Rocky.live;
  const known = (value) => value !== null && value !== undefined;

  // ---------------------------------------------------------------- branches

  async function branches() {
    const [open, moved] = await Promise.all([ask("branches"), ask("branches", { promotions: true })]);
    return [
      head(null, "Branches", open.total ? counted(open.total, "open branch", "open branches") : ""),
      open.branches.length ? Rocky.grid("Branches", ["Branch", "Made", "By", "From", "Why"], open.branches.map((each) => [
        h("a", { class: "name", href: `#/branch/${encodeURIComponent(each.name)}` }, each.name), when(each.created_at), each.created_by || "", each.parent || "", each.description || ""]))
        : Rocky.empty("There is no branch: `rocky branch create NAME` makes one."),
      Rocky.section("Promotions and reverts", moved.promotions.length ? Rocky.grid("Promotions", ["When", "What", "By", "Approved by", "Change", number("Tables")], moved.promotions.slice().reverse().map((each) => [
        h("a", { href: `#/run/${each.run_id}` }, when(each.at)), [each.kind, " ", h("b", {}, each.branch)], each.by,
        (each.approvals || []).length ? h("ul", { class: "hops" }, each.approvals.map((one) => h("li", {}, Rocky.status("signed"), " ", one.approver, " ", h("small", {}, one.key_fingerprint)))) : h("span", { class: "quiet" }, "nobody"),
        each.verdict || "", count((each.tables || []).length)])) : Rocky.empty("Nothing was promoted yet.")),
    ];
  }

  async function branch(_, [name]) {
    const found = await ask("branch", { branch: name });
    const differ = found.tables.filter((each) => each.status !== "same");
    return [
      head("Branch", found.branch.name, `${count(differ.length)} of ${counted(found.tables.length, "table")} ${differ.length === 1 ? "differs" : "differ"} from production`),
      Rocky.section("Approvals and the gate", later(ask("approvals", { branch: name }), gate)),
      Rocky.section("Tables", found.tables.length ? Rocky.grid("Tables of the branch", ["Table", "Status", number("Rows"), number("In production"), number("Version"), "Content"], found.tables.map((each) => [
        named(each.target), each.status, known(each.rows) ? count(each.rows) : "", known(each.production_rows) ? count(each.production_rows) : "",
        known(each.branch_version) ? each.branch_version : "", each.content ? h("code", { title: each.content }, each.content.slice(0, 12)) : ""])) : Rocky.empty("It has no tables yet.")),
      Rocky.section("Rows that differ", h("p", {}, "They are read by Spark: "), copyable(`rocky branch diff ${name}`)),
    ];
  }

  function gate(found) {
    const { policy } = found;
    const enough = found.satisfied;
    return [
      h("p", {}, Rocky.status(!enough ? "not enough" : found.verdict === "breaking" ? "held" : "open"), " ", policy.required ? (enough ? "Enough approvals count." : `${counted(policy.min_approvers, "approval")} must count, ${count(found.accepted.length)} does.`)
        : "No approval is required.", found.verdict === "breaking" ? " The change breaks readers: a promotion needs a signed reason, or is refused." : found.verdict === "info" ? " The change breaks no reader." : ` The change is of the kind ${found.verdict}.`),
      found.accepted.length ? Rocky.grid("Approvals that count", ["By", "Signature", "Signed", "Key", "Says"], found.accepted.map((each) => [
        h("b", {}, each.approver), [Rocky.status("signed"), " ", h("small", {}, "by a key that is allowed, over the branch as it is now")], when(each.signed_at), h("code", { title: each.key_fingerprint }, `${each.key_fingerprint.slice(0, 17)}…`), each.message || ""])) : null,
      found.rejected.length ? Rocky.grid("Statements that do not count", ["By", "Signature", "Why not"], found.rejected.map((each) => [each.approver || each.approval_id, Rocky.status("does not count"), `${each.reason.replaceAll("_", " ")}: ${each.detail}`])) : null,
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
      Rocky.section("Runs", history.runs.length ? Rocky.grid("Recorded runs", ["Run", "Ended", "Began", "Proof"], history.runs.map((each) => [
        h("code", {}, each.run_id), Rocky.status(each.died ? "died" : each.status), when(each.started_at), h("a", { href: `#/evidence/${each.run_id}` }, "files and hashes")])) : Rocky.empty("No run is recorded yet.")),
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
        facts([["Built by", h("a", { href: `#/run/${each.built_by}` }, h("code", {}, each.built_by))], each.execution.recipe_hash && ["Recipe", h("code", { title: each.execution.recipe_hash }, each.execution.recipe_hash.slice(0, 16))],
          each.execution.rows_hash && ["Rows hash", h("code", {}, each.execution.rows_hash)], known(each.as_written) && ["Provenance", each.as_written ? "as it was written" : "altered"]]),
        each.artifacts.length ? Rocky.grid(`Files of ${each.model}`, ["File", number("Size"), "Check it without Rocky"], each.artifacts.map((file) => [
          h("code", {}, file.blake3_hash.slice(0, 16)), bytes(file.size_bytes), copyable(`echo '${file.blake3_hash}  ${file.file_path.replaceAll("'", "'\\''")}' | b3sum --check`, `check of ${file.blake3_hash.slice(0, 12)}`)])) : h("p", { class: "quiet" }, each.built_by && each.built_by !== found.run_id ? ["This run wrote none: ", h("a", { href: `#/evidence/${each.built_by}` }, "those of the run that built it")] : "no files"))),
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
