"""A plan as people and programs see it: what becomes of each step, why, and what it may take."""

from collections.abc import Iterator
from typing import Any, Final

from rocky.cli.render.prospects import prospects_document, render_prospects
from rocky.cli.render.tables import render_table
from rocky.cli.render.units import format_bytes, format_duration, format_usd
from rocky.diagnostics import Code
from rocky.ledger.record import format_time
from rocky.operations.plan.draft import DraftRun, change_document, worst_verdict
from rocky.operations.plan.preview import RunPreview, decision_of, reason_of, shown_steps
from rocky.operations.plan.proposal import PlannedRun, PlanProposal
from rocky.plan.kept_plan import KeptPlan
from rocky.run.reuse.forecast import StepForecast

_HEAD: Final = ("MODEL", "DECISION", "REASON")
_LISTED_AT_MOST: Final = 20
_LEFT_ALONE: Final = frozenset({"reuse", "resume", "skip"})
_SHORT: Final = 12

UNCERTAIN: Final = (
    "only the Spark that it runs on can say whether it is the one of before;"
    " what would be reused is built if it is not"
)


def render_plan(plan: PlanProposal) -> str:
    """What each run of a plan would do, and what it would do to the columns of tables."""
    several = len(plan.runs) > 1
    parts = []
    for run in plan.runs:
        name = run.draft.pipeline
        if several or (name is not None and run.draft.document["type"] != "models"):
            parts.append(f"pipeline {name}")
        parts.append(_render_run(run))
    return "\n".join(parts)


def describe_plan(plan: PlanProposal, kept: KeptPlan) -> str:
    """What to do with a plan that was made."""
    if plan.over_budget:
        return "it is over budget, and `rocky apply` refuses it"
    return f"`rocky apply {kept.plan_id[:_SHORT]}` carries it out"


def plan_notes(plan: PlanProposal, *, quiet: bool) -> Iterator[str]:
    """What goes to standard error: warnings, budgets, and what could not be told."""
    for run in plan.runs:
        yield from run.draft.notes
        outlook = run.draft.view
        if isinstance(outlook, RunPreview) and not outlook.certain and not quiet:
            yield f"note: {UNCERTAIN}"
        for found in run.budget.findings:
            yield f"{found.severity}[{Code.BUDGET_EXCEEDED}]: {found.message}"
        for said in run.budget.unchecked:
            yield f"note: {said}"


def plan_document(plan: PlanProposal, kept: KeptPlan) -> dict[str, Any]:
    """What `rocky plan -o json` prints: one document, also for several pipelines."""
    runs = [_run_document(run) for run in plan.runs]
    findings = [each.document() for run in plan.runs for each in run.budget.findings]
    about = {
        "plan_id": kept.plan_id,
        "plan_kind": kept.kind,
        "created_at": format_time(kept.created_at),
        "budget_diagnostics": findings,
        "budget_unchecked": [each for run in plan.runs for each in run.budget.unchecked],
        "has_budget_errors": plan.over_budget,
        "breaking_verdict": worst_verdict(run.draft for run in plan.runs),
    }
    return {**about, **(runs[0] if len(runs) == 1 else {"pipelines": runs})}


def _render_run(run: PlannedRun) -> str:
    draft = run.draft
    lines = [_render_steps(draft)]
    lines += [
        f"{change.impact.value}: {model}: {change.rule}"
        + (f" `{change.column}`" if change.column else "")
        + _sides(change.before, change.after)
        for model, change in draft.changes
    ]
    taken = _describe_estimate(run)
    return "\n".join([*lines, taken] if taken else lines)


def _sides(before: str | None, after: str | None) -> str:
    return f": {before or 'nothing'} to {after or 'nothing'}" if before or after else ""


def _describe_estimate(run: PlannedRun) -> str | None:
    """What it may take, if there is anything to take it from."""
    totals = run.estimates
    if not run.units or totals.duration_ms.value is None:
        return None
    said = [f"about {format_duration(round(totals.duration_ms.value))}"]
    if totals.cost_usd.value is not None:
        said.append(f"{format_usd(totals.cost_usd.value)} USD")
    if totals.bytes_scanned.value is not None:
        said.append(f"{format_bytes(round(totals.bytes_scanned.value))} read")
    without = totals.duration_ms.without
    left = f"; nothing is known of {len(without)} of them" if without else ""
    return f"if all that may be built is built: {', '.join(said)}{left}"


def _render_steps(draft: DraftRun) -> str:
    if isinstance(draft.view, RunPreview):
        return _render_outlook(draft.view)
    if isinstance(draft.view, tuple):
        return render_prospects(*draft.view)
    rows = [(each["table"], each["decision"], each["reason"]) for each in draft.view]
    if not rows:
        return "nothing to do"
    return render_table(("TABLE", "DECISION", "REASON"), rows, set())


def _render_outlook(outlook: RunPreview) -> str:
    """A table of the steps and a last line. In a large plan what would stay is only counted."""
    rows = [
        (each.step.name, decision_of(each, outlook), reason_of(each))
        for each in shown_steps(outlook)
    ]
    listed = rows
    if len(rows) > _LISTED_AT_MOST:
        listed = [row for row in rows if row[1] not in _LEFT_ALONE]
    parts = [render_table(_HEAD, listed, set())] if listed else []
    left = len(rows) - len(listed)
    if left and listed:
        parts.append(f"{left} more would be left alone: `rocky plan -o json` lists them")
    return "\n".join([*parts, _last_line(outlook)])


def _run_document(run: PlannedRun) -> dict[str, Any]:
    draft = run.draft
    found: dict[str, Any] = {
        "type": draft.document["type"],
        "statements": [
            {"purpose": each.purpose, "target": each.target, "sql": each.sql}
            for each in draft.statements
        ],
        "schema_changes": [
            {"model": model, **change_document(change)} for model, change in draft.changes
        ],
        "estimate": {
            **run.estimates.document(),
            "models": {name: each.document() for name, each in run.estimates.models.items()},
        },
        "inputs_unreadable": draft.unreadable,
    }
    if draft.pipeline is not None:
        found["pipeline"] = draft.pipeline
    if isinstance(draft.view, RunPreview):
        assert draft.plan is not None
        models = [step.name for step in draft.plan.steps if step.kind != "seed"]
        layers = [list(layer) for layer in draft.plan.layers]
        return {**found, "models": models, "execution_layers": layers, **_outlook(draft.view)}
    if isinstance(draft.view, tuple):
        return {**found, **prospects_document(*draft.view)}
    return {**found, "tables": list(draft.view)}


def _outlook(outlook: RunPreview) -> dict[str, Any]:
    found: dict[str, Any] = {
        "certain": outlook.certain,
        "counts": _counts(outlook),
        "model_decisions": [_document(each, outlook) for each in shown_steps(outlook)],
    }
    return found if outlook.resumes is None else {**found, "resumes": outlook.resumes}


def _document(each: StepForecast, outlook: RunPreview) -> dict[str, Any]:
    taken = each.decision.taken if each.decision is not None else None
    reused = taken is not None and taken.basis != "resume"
    facts = {
        "model": each.step.name,
        "kind": each.step.kind,
        "decision": decision_of(each, outlook),
        "reason": reason_of(each),
        "reused_from": taken.run_id if taken is not None and reused else None,
        "basis": taken.basis if taken is not None and reused else None,
        "waits_for": list(each.waits_for) or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _counts(outlook: RunPreview) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in shown_steps(outlook):
        word = decision_of(each, outlook)
        counts[word] = counts.get(word, 0) + 1
    return counts


def _last_line(outlook: RunPreview) -> str:
    words = {
        "build": "to build",
        "reuse": "to reuse",
        "resume": "built already",
        "skip": "unchanged",
        "bind": "to bind",
        "depends": "to be seen",
    }
    counts = _counts(outlook)
    said = ", ".join(f"{counts[word]} {text}" for word, text in words.items() if word in counts)
    resumes = f"; goes on with {outlook.resumes}" if outlook.resumes is not None else ""
    if not counts:
        return "nothing to do"
    return f"{said}{resumes}" if set(counts) - _LEFT_ALONE else f"{said}{resumes}: no Spark needed"
