"""`rocky plan`: what a run would do and why, without Spark; only the plan itself is left behind."""

from collections.abc import Iterator
from typing import Any, Final

import click

from rocky.cli.commands.run import RunCommand, request_of, run_options
from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import Settings
from rocky.cli.render.run import describe_drift
from rocky.cli.render.tables import format_bytes, format_duration, format_usd, render_table
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import render_full
from rocky.operations.plan import PlanReport, plan
from rocky.operations.plan.report import CopiesOutlook, ModelsOutlook, PlannedRun
from rocky.operations.records.outcome_words import PLANNED
from rocky.plan.kept_plan import PLANS_FOLDER

REPORTS: Final = {"plan": PlanReport}
_LISTED_AT_MOST: Final = 20
_LEFT_ALONE: Final = frozenset({"reuse", "resume", "skip"})
_NO_SPARK: Final = _LEFT_ALONE | {"hold"}
_SHOWN: Final = {each: PLANNED[each] for each in ("resume", "hold", "skip", "depends")}
"""What is no verb of a command is shown in the words that it is counted by."""
_SHORT: Final = 12

UNCERTAIN: Final = (
    "Spark's version and settings are compared once Spark runs; if they changed, what would be"
    " reused is built"
)


@click.command(
    "plan",
    cls=RunCommand,
    examples=(
        ("rocky plan", "what a run would do, and why"),
        ("rocky plan stg_orders+", "of a model and its readers"),
        ("rocky plan --branch net-of-vat", "on a branch of the tables"),
    ),
)
@run_options
@click.pass_obj
def command(settings: Settings, /, **given: Any) -> ExitCode:
    """Show what `rocky run` would build, copy, reuse or leave, and why.

    Nothing is run. The plan is saved in `.rocky/plans`, and `rocky apply` runs it. A model
    whose inputs will be built is reused or built once they are there. For a pipeline that copies
    tables Spark is asked what columns its source has now.
    """
    with note_start(settings) as workspace:
        report = plan(workspace, request_of(given))
    if settings.json:
        write_report("plan", report)
    else:
        write_line(render_plan(report))
    for run in report.runs:
        if run.findings:
            write_note(render_full(run.findings, report.texts, colour=settings.colour).rstrip())
    for note in _notes(report, quiet=settings.quiet):
        write_note(note)
    return ExitCode.FAILED if report.has_errors else ExitCode.OK


def _notes(report: PlanReport, *, quiet: bool) -> Iterator[str]:
    """What goes to standard error: warnings, budgets, what could not be told, what to do next."""
    for run in report.runs:
        yield from run.notes
        yield from (f"left out: {each.model}: {each.reason}" for each in run.left_out)
        if isinstance(run.outlook, ModelsOutlook) and not run.outlook.certain and not quiet:
            yield f"note: {UNCERTAIN}"
        for found in run.budget.findings:
            yield f"{found.severity}[{found.code}]: {found.message}"
        for said in run.budget.unchecked:
            yield f"note: {said}"
    if not quiet:
        does = f"`rocky apply {report.plan_id[:_SHORT]}` runs it"
        if report.has_budget_errors:
            does = "it is over budget, and `rocky apply` refuses it"
        elif report.has_errors:
            does = "what it reads is not all there, and `rocky apply` refuses it"
        yield f"plan {report.plan_id} is saved in {PLANS_FOLDER}; {does}"


def render_plan(report: PlanReport) -> str:
    """What each run of a plan would do, and what it would do to the columns of tables."""
    several = len(report.runs) > 1
    parts = []
    for run in report.runs:
        if several or (run.pipeline is not None and run.type != "models"):
            parts.append(f"pipeline {run.pipeline}")
        parts += _render_run(run)
    return "\n".join(parts)


def _render_run(run: PlannedRun) -> Iterator[str]:
    match run.outlook:
        case ModelsOutlook() as models:
            yield from _render_models(models)
        case CopiesOutlook() as copies:
            yield from _render_copies(copies)
        case tables:
            rows = [(each.table, each.decision, each.reason) for each in tables.tables]
            head = ("TABLE", "DECISION", "REASON")
            yield render_table(head, rows, set()) if rows else "nothing to do"
    for changed in run.schema_changes:
        change = changed.change
        column = f" `{change.column}`" if change.column else ""
        sides = f": {change.before or 'nothing'} to {change.after or 'nothing'}"
        shown = sides if change.before or change.after else ""
        yield f"{change.impact.value}: {changed.model}: {change.rule}{column}{shown}"
    for mask in run.mask_actions:
        tags = ", ".join(mask.tags)
        yield f"mask: {mask.model}.{mask.column} ({tags}) by {mask.resolved_strategy}"
    yield from _render_estimate(run)


def _render_estimate(run: PlannedRun) -> Iterator[str]:
    """What it may take, if there is anything to take it from."""
    totals = run.estimate.totals
    if not run.estimate.models or totals.duration_ms is None:
        return
    said = [f"about {format_duration(round(totals.duration_ms))}"]
    if totals.cost_usd is not None:
        said.append(f"{format_usd(totals.cost_usd)} USD")
    if totals.bytes_scanned is not None:
        said.append(f"{format_bytes(round(totals.bytes_scanned))} read")
    count = len(totals.without)
    left = f"; {count} of them {'has' if count == 1 else 'have'} no estimate" if count else ""
    yield f"if all that may be built is built: {', '.join(said)}{left}"


def _render_models(outlook: ModelsOutlook) -> Iterator[str]:
    """A table of the steps and a last line. In a large plan what would stay is only counted."""
    decisions = listed = outlook.model_decisions
    if len(decisions) > _LISTED_AT_MOST:
        listed = tuple(each for each in decisions if each.decision not in _LEFT_ALONE)
    if listed:
        rows = [
            (each.model, _SHOWN.get(each.decision, each.decision), each.reason) for each in listed
        ]
        yield render_table(("MODEL", "DECISION", "REASON"), rows, set())
    left = len(decisions) - len(listed)
    if left and listed:
        yield f"{left} more would be left alone: `rocky plan -o json` lists them"
    counts = outlook.counts
    if not counts:
        yield "nothing to do"
        return
    said = ", ".join(f"{counts[word]} {text}" for word, text in PLANNED.items() if word in counts)
    resumes = f"; continues {outlook.resumes}" if outlook.resumes is not None else ""
    idle = "" if set(counts) - _NO_SPARK else ": no Spark needed"
    yield f"{said}{resumes}{idle}"


def _render_copies(outlook: CopiesOutlook) -> Iterator[str]:
    """A table of what would be done, the drift that decides it, and a last line."""
    listed = outlook.tables
    if len(listed) > _LISTED_AT_MOST:
        listed = tuple(each for each in listed if each.decision != "leave")
    rows = [(each.table, each.decision, each.reason) for each in listed]
    if rows:
        yield render_table(("TABLE", "DECISION", "REASON"), rows, set())
    for each in outlook.tables:
        for record in each.drift:
            yield f"drift: {describe_drift(each.table, record)}"
    for name, why in outlook.failed_sources.items():
        yield f"error: {name}: {why}"
    counts: dict[str, int] = {}
    for each in outlook.tables:
        counts[each.decision] = counts.get(each.decision, 0) + 1
    said = ", ".join(f"{count} to {decision}" for decision, count in counts.items())
    yield said or "nothing to do"
