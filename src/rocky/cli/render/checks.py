"""What the checks of a pipeline found: a line each, and what fails underneath.

Checks that pass are only counted: a pipeline of a thousand tables has thousands of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rocky.cli.render.tables import render_table
from rocky.diagnostics.render import counted
from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome
from rocky.pipelines.report import Sample

Samples = Mapping[tuple[str, str], Sample]

_NO_SAMPLES: Final[Samples] = {}
_WIDTH: Final = 40


def render_checks(
    outcomes: Sequence[CheckOutcome],
    anomalies: Sequence[AnomalyRecord],
    samples: Samples = _NO_SAMPLES,
) -> str:
    """Failed checks and anomalies, each with why, then how many there are of each kind."""
    lines: list[str] = []
    for outcome in outcomes:
        if not outcome.passed:
            lines += _outcome_lines(outcome, samples.get((outcome.table, outcome.name)))
    lines += [_anomaly_line(each) for each in anomalies]
    counts = render_check_counts(outcomes, anomalies)
    return "\n".join([*lines, f"checks: {counts}"] if counts else lines)


def render_check_counts(
    outcomes: Sequence[CheckOutcome], anomalies: Sequence[AnomalyRecord]
) -> str:
    """As `1 failed, 2 warnings, 1 anomaly, 12 passed`; empty when nothing was checked."""
    failed = sum(not each.passed and each.severity == "error" for each in outcomes)
    warnings = sum(not each.passed and each.severity != "error" for each in outcomes)
    passed = sum(each.passed for each in outcomes)
    said = [f"{failed:,} failed"] if failed else []
    said += [counted(warnings, "warning")] if warnings else []
    said += [_counted_anomalies(len(anomalies))] if anomalies else []
    return ", ".join([*said, f"{passed:,} passed"] if outcomes else said)


def describe_findings(
    outcomes: Sequence[CheckOutcome], anomalies: Sequence[AnomalyRecord], noun: str = "check"
) -> list[str]:
    """As `2 checks failed`, `1 warning` and `1 anomaly`: all that was found, grave or not."""
    wrong = [each.severity for each in outcomes if not each.passed]
    failed = wrong.count("error")
    said = [f"{counted(failed, noun)} failed"] if failed else []
    said += [counted(len(wrong) - failed, "warning")] if len(wrong) > failed else []
    return [*said, _counted_anomalies(len(anomalies))] if anomalies else said


def _counted_anomalies(count: int) -> str:
    return "1 anomaly" if count == 1 else f"{count:,} anomalies"


def _outcome_lines(outcome: CheckOutcome, sample: Sample | None) -> Iterator[str]:
    mark = "FAIL" if outcome.severity == "error" else "WARN"
    yield f"{mark}  {outcome.table or '-'}  {outcome.name}: {_said(outcome)}"
    if outcome.description:
        yield f"      {outcome.description}"
    if sample is not None:
        rows = [[_cell(cell) for cell in row] for row in sample.rows]
        for line in render_table(sample.columns, rows, set()).splitlines():
            yield f"      {line}"


def _said(outcome: CheckOutcome) -> str:
    found = outcome.observed
    if found is None and outcome.failing_rows is not None:
        found = counted(outcome.failing_rows, "failing row")
    if found is None:
        return f"could not be answered, {outcome.error}"
    said = f"found {found}" if outcome.observed is not None else found
    if outcome.expected is not None:
        said += f", expected {outcome.expected}"
    return f"{said} ({outcome.error})" if outcome.error else said


def _anomaly_line(anomaly: AnomalyRecord) -> str:
    mark = "FAIL" if anomaly.severity == "error" else "WARN"
    return f"{mark}  {anomaly.table}  {anomaly.kind}: {anomaly.reason}"


def _cell(cell: str | None) -> str:
    if cell is None:
        return "NULL"
    shown = cell.replace("\n", "\\n").replace("\t", "\\t")
    return shown if len(shown) <= _WIDTH else f"{shown[: _WIDTH - 1]}…"
