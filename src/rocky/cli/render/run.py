"""The end of a run as people see it: a table, what failed, what drifted, a last line.

A pipeline that is no set of models has the same, after what it found in its sources and by checks.
"""

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from rocky.cli.render.checks import describe_findings, render_checks
from rocky.cli.render.tables import (
    Fitted,
    Room,
    describe_dropped,
    elide,
    format_bytes,
    format_count,
    format_duration,
    format_seconds,
    format_usd,
    render_fitted,
    shows_blocks,
)
from rocky.cli.render.tests import render_tests
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import NO_TEXTS, Texts
from rocky.diagnostics.render import counted, render_full
from rocky.ledger.pipeline_records import DriftRecord
from rocky.ledger.run_records import BudgetBreach, RunStatus
from rocky.operations.execution.pipeline_report import PipelineRun
from rocky.operations.execution.run import Ending, FailedPipeline, SkippedRun, WithheldPipeline
from rocky.operations.execution.run_report import ModelsRun, count_endings
from rocky.operations.records.outcome_words import AS_BEFORE, is_as_before, outcome_of
from rocky.plan.steps import HELD
from rocky.run.engine.protocol import EngineEnd
from rocky.run.outcomes import RunResult, StepOutcome, is_left_alone

_HEAD: Final = (
    "MODEL", "DECISION", "ROWS", "FILES", "READ", "WRITTEN", "CORE S", "TIME", "USD",
)  # fmt: skip
_NUMBERS: Final = {2, 3, 4, 5, 6, 7, 8}
_EXPENDABLE: Final = ("FILES", "READ", "WRITTEN", "CORE S", "USD", "ROWS")
"""What goes from a narrow terminal, in this order."""
_NAME_AT_LEAST: Final = 12
LISTED_AT_MOST: Final = 20
"""In a run of more steps than that, those with nothing to do are not listed one by one."""
_UNREMARKABLE: Final = "ignore"
_ENDED: Final = "notice_ended"
_REACHES_SHOWN: Final = 5
_DONE: Final = {
    RunStatus.SUCCESS: "done",
    RunStatus.PARTIAL_FAILURE: "done in part",
    RunStatus.FAILURE: "failed",
    RunStatus.INTERRUPTED: "interrupted",
    RunStatus.RUNNING: "running",
}


def render_ending(
    ending: Ending, *, quiet: bool = False, colour: bool = False, width: int | None = None
) -> str:
    """What became of a run; nothing where notes say all. Quiet: errors and the last line alone.

    Tables fit a terminal of that `width`.
    """
    match ending:
        case ModelsRun():
            return render_run(ending, quiet=quiet, colour=colour, width=width)
        case PipelineRun():
            return render_pipeline(ending, quiet=quiet, width=width)
        case SkippedRun():
            return ending.message
        case FailedPipeline() | WithheldPipeline():
            return ""
        case _:
            assert_never(ending)


def ending_notes(ending: Ending, pipeline: str | None = None) -> list[str]:
    """What goes to standard error; `pipeline` is the name of one of several."""
    match ending:
        case ModelsRun(result=result) | PipelineRun(run=ModelsRun(result=result)):
            return [*(f"warning: {each}" for each in result.warnings), *describe_budget(result)]
        case SkippedRun():
            return []
        case FailedPipeline():
            return [f"error: pipeline `{pipeline}`: {ending.error.message}"]
        case WithheldPipeline():
            word = "error" if ending.exit_code else "note"
            return [f"{word}: pipeline `{pipeline}` was not run: it {ending.reason}"]
        case _:
            assert_never(ending)


def ending_findings(ending: Ending) -> list[Diagnostic]:
    """What failed at a place in the project: steps of a run, and its tests."""
    match ending:
        case ModelsRun(result=result) | PipelineRun(run=ModelsRun(result=result)):
            found = [each.finding for each in result.outcomes]
            if result.tests is not None:
                found += [each.finding for each in result.tests.units]
                found += [each.finding for each in result.tests.assertions]
            return [each for each in found if each is not None]
        case _:
            return []


def ending_texts(ending: Ending) -> Texts:
    """The files that its findings are about."""
    match ending:
        case ModelsRun(texts=texts) | PipelineRun(run=ModelsRun(texts=texts)):
            return texts
        case _:
            return NO_TEXTS


def render_run(
    run: ModelsRun, *, quiet: bool = False, colour: bool = False, width: int | None = None
) -> str:
    """The table at the end of a run, the failures, and a last line that says it all.

    In a large run what was reused is counted and not listed: nobody reads hundreds of lines.
    """
    report = run.result
    listed = () if quiet else report.outcomes
    if len(listed) > LISTED_AT_MOST:
        listed = tuple(each for each in listed if not is_left_alone(each.execution))
    parts = _render_steps(listed, width) if listed else []
    left = len(report.outcomes) - len(listed)
    if left and listed:
        parts.append(f"{left} more left alone: `rocky run -o json` lists them")
    held = [each for each in report.outcomes if each.execution.decision == HELD]
    parts += [f"{each.step.name} {each.execution.reason}" for each in held if not quiet]
    failures = [each for each in report.outcomes if each.execution.error]
    parts += [_render_failure(each, run.texts, colour=colour) for each in failures]
    if run.tests is not None:
        parts += render_tests(run.tests, quiet=True, title="tests").splitlines()
    if report.state_error is not None:
        parts.append(f"error: {report.state_error}")
    for error in (report.seal_error, report.governance_error):
        if error is not None:
            parts.append(f"error: {error}")
    for each in report.hooks:
        if each.error is not None:
            level = "error" if each.required else "warning"
            parts.append(f"{level}: hook `{each.event}` ({each.target}) failed: {each.error}")
    if report.engine_end is not None:
        parts.append(_describe_end(report.engine_end))
    if report.log is not None:
        parts.append(f"log: {report.log}")
    return "\n".join([*parts, _last_line(report)])


def _render_steps(outcomes: Sequence[StepOutcome], width: int | None) -> list[str]:
    """The table, and what a narrow terminal has no room for.

    Counts go first, then which run a model was reused from, then the middle of long names.
    """
    rows = [_cells(each) for each in outcomes]
    fitted = render_fitted(_HEAD, rows, _NUMBERS, Room(width, _EXPENDABLE))
    if width is not None and _width_of(fitted) > width:
        rows = [(row[0], *row[1].split(" from ")[:1], *row[2:]) for row in rows]
        fitted = render_fitted(_HEAD, rows, _NUMBERS, Room(width, _EXPENDABLE))
    if width is not None and _width_of(fitted) > width:
        longest = max(len(row[0]) for row in rows)
        limit = max(_NAME_AT_LEAST, longest - (_width_of(fitted) - width))
        rows = [(elide(row[0], limit, blocks=shows_blocks()), *row[1:]) for row in rows]
        fitted = render_fitted(_HEAD, rows, _NUMBERS, Room(width, _EXPENDABLE))
    return [fitted.text, *([describe_dropped(fitted.dropped)] if fitted.dropped else [])]


def _width_of(table: Fitted) -> int:
    return max(len(line) for line in table.text.splitlines())


def _describe_end(end: EngineEnd) -> str:
    """How Spark ended in the middle of a run, and the last that it said."""
    building = ", ".join(f"`{each}`" for each in end.building)
    while_ = f" while building {building}" if building else ""
    lines = [f"error: {end.message}{while_}; what was built before is recorded"]
    if end.last_lines:
        lines.append("  = its last lines:")
        lines += [f"    {each}" for each in end.last_lines]
    return "\n".join([*lines, f"  = help: {end.advice}"])


def _render_failure(outcome: StepOutcome, texts: Texts, *, colour: bool) -> str:
    """Why a step failed: at its place, as a compile shows it, where it has one."""
    if outcome.finding is None:
        return f"error: {outcome.step.name}: {outcome.execution.error}"
    shown = render_full([outcome.finding], texts, colour=colour).rstrip()
    return f"{shown}\n"


def render_pipeline(pipeline: PipelineRun, *, quiet: bool = False, width: int | None = None) -> str:
    """Drift, checks and what failed before it was read; then the run's own table and last line."""
    run, found = pipeline.result.run, pipeline.result.checks
    parts = [
        *(() if quiet else _render_drift(pipeline)),
        *(f"error: {name}: {why}" for name, why in run.failed_sources.items()),
    ]
    if found is not None:
        failed = [each for each in found.outcomes if not each.passed]
        outcomes = failed if quiet else found.outcomes
        parts.append(render_checks(outcomes, found.anomalies, found.samples))
    parts.append(render_run(pipeline.run, quiet=quiet, width=width))
    if quiet:
        return "\n".join(part for part in parts if part)
    if run.unchanged:
        parts.append(f"{counted(len(run.unchanged), 'table')} unchanged since the last copy")
    left = [each for each in pipeline.result.excluded if each.name and each.target is None]
    parts += [f"left alone: {each.name} ({each.reason})" for each in left]
    return "\n".join(part for part in parts if part)


def _render_drift(pipeline: PipelineRun) -> Iterator[str]:
    for each in pipeline.drift.actions_taken:
        if each.record.grade != _UNREMARKABLE or each.record.action == _ENDED:
            yield f"drift: {describe_drift(each.table, each.record)}"


def describe_drift(table: str, record: DriftRecord) -> str:
    """One difference in one line: what changed, what was decided, who reads it."""
    types = " -> ".join(each for each in (record.before, record.after) if each)
    said = f"`{table}.{record.column}` {record.action.replace('_', ' ')}"
    if types:
        said += f" ({types})"
    if record.days_left is not None:
        said += f", {counted(record.days_left, 'day')} left"
    if record.reaches:
        shown = ", ".join(f"`{each}`" for each in record.reaches[:_REACHES_SHOWN])
        more = len(record.reaches) - _REACHES_SHOWN
        said += f"; reaches {shown}" + (f" and {more} more" if more > 0 else "")
    return said


def describe_budget(report: RunResult) -> list[str]:
    """Limits that were exceeded or could not be checked: for standard error."""
    said = [
        f"{report.budget.severity_of(each)}[{Code.BUDGET_EXCEEDED}]: {_describe_breach(each)}"
        for each in report.budget.breaches
    ]
    return [*said, *(f"note: {each}" for each in report.budget.unchecked)]


def _last_line(report: RunResult) -> str:
    totals = report.totals
    said = [
        f"{report.run_id} {_DONE[report.status]}: {_count_endings(report)}",
        f"in {format_duration(totals.duration_ms)}",
    ]
    if totals.core_ms is not None:
        said.append(f"{format_seconds(totals.core_ms)} core seconds")
    if totals.cost_usd is not None:
        said.append(f"{format_usd(totals.cost_usd)} USD")
    if report.unchanged_since is not None:
        said.append(f"nothing had changed since {report.unchanged_since}")
    elif report.outcomes and all(is_left_alone(each.execution) for each in report.outcomes):
        said.append("nothing had to be built")
    if report.seal is not None:
        said.append(f"sealed in {report.seal}")
    if report.resumed_from is not None:
        said.append(f"resumed from {report.resumed_from}")
    return ", ".join(said)


def _cells(outcome: StepOutcome) -> tuple[str, ...]:
    execution = outcome.execution
    return (
        outcome.step.name,
        _describe_decision(outcome),
        format_count(execution.rows_affected),
        format_count(execution.files),
        format_bytes(execution.bytes_scanned),
        format_bytes(execution.bytes_written),
        format_seconds(execution.metrics.executor_run_ms if execution.metrics else None),
        format_duration(execution.duration_ms),
        format_usd(execution.cost_usd),
    )


def _describe_decision(outcome: StepOutcome) -> str:
    execution = outcome.execution
    word = outcome_of(execution)
    if word == "built":
        decision = "view" if outcome.step.kind == "inline" else (execution.decision or word)
        return f"{decision}, {AS_BEFORE}" if is_as_before(execution) else decision
    if execution.reused_from is not None:
        return f"reused from {execution.reused_from}"
    return word


def _count_endings(report: RunResult) -> str:
    """As `2 built, 1 failed, 1 check failed`: steps, what never became one, and checks."""
    said = [f"{count} {word}" for word, count in count_endings(report).items()]
    noun = "check" if report.tests is None else "test"
    said += describe_findings(report.check_outcomes, report.anomalies, noun)
    return ", ".join(said) or "nothing to do"


def _describe_breach(breach: BudgetBreach) -> str:
    whose = f"`{breach.model_name}`" if breach.model_name else "the run"
    return f"{whose} exceeded `{breach.limit_type}` = {breach.limit:g}: {breach.actual:g}"
