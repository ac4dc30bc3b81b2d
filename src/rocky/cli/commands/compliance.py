"""`rocky compliance`: which classified columns are masked, by what and where, and which are not."""

from collections.abc import Iterator
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import format_count, render_table
from rocky.diagnostics.render import counted
from rocky.operations.governance.compliance import (
    ColumnCompliance,
    ComplianceReport,
    ComplianceRequest,
    DeclassifiedColumn,
    EnvProtection,
    FailOn,
    compliance,
)
from rocky.operations.governance.probe import ProbedColumn

REPORTS: Final = {"compliance": ComplianceReport}
_WORDS: Final = {
    "not_stored": "not stored",
    "clear_by_decision": "clear by decision",
    "allowed": "clear, allowed",
    "exposed": "EXPOSED",
}


class ComplianceCommand(RockyCommand):
    """A command that looks at tables, and reads who made them."""

    uses_state = True
    takes_branch = True


@click.command("compliance", cls=ComplianceCommand)
@click.option("--exceptions-only", is_flag=True, help="Only columns that are clear by oversight.")
@click.option(
    "--fail-on",
    type=click.Choice(["exception"]),
    help="Exit 1 if a classified value is clear and nobody decided so.",
)
@click.option(
    "--declassified",
    is_flag=True,
    help="Only what was declassified, with who wrote it down, and since which run it holds.",
)
@click.option(
    "--probe",
    is_flag=True,
    help="Read the tables as a reader would, and say what was seen of each column.",
)
@click.pass_obj
def command(
    settings: Settings,
    exceptions_only: bool,
    fail_on: FailOn | None,
    declassified: bool,
    probe: bool,
) -> ExitCode:
    """Show how each classified column is masked, in each environment.

    With `--env` in that environment only.
    """
    request = ComplianceRequest(exceptions_only, fail_on, declassified, probe)
    report = compliance(settings.workspace, request)
    if settings.json:
        write_report("compliance", report)
    else:
        lines = _render_declassified(report, told=True) if declassified else _render(report)
        write_line("\n".join(lines))
    return ExitCode.FAILED if report.failed else ExitCode.OK


def _render(report: ComplianceReport) -> Iterator[str]:
    """A row a column with a tag, a column an environment; then exceptions, with their ways."""
    if report.per_column:
        head = ("MODEL", "COLUMN", "TAG", *(each.upper() for each in report.envs), "DECLARED AT")
        rows = [_row(each) for each in report.per_column]
        yield render_table(head, rows, set())
    if report.probed:
        if report.per_column:
            yield ""
        head = ("MODEL", "COLUMN", "TAG", "TABLE", "THROUGH", "SAW", "ROWS")
        yield render_table(head, [_seen(each) for each in report.probed], {6})
    unknown = [each.model for each in report.per_column if each.declared and each.column == "*"]
    if unknown:
        names = ", ".join(f"`{each}`" for each in dict.fromkeys(unknown))
        yield (
            f"note: the columns of {names} are not known before a first run, so whatever is read of"
            " it has all its tags"
        )
    together: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for each in report.exceptions:
        place = f"{each.model}.{each.column} ({each.classification})"
        together.setdefault((place, each.reason, each.path), []).append(each.env)
    for (place, reason, path), envs in together.items():
        yield f"exception: {place} in {', '.join(envs)}: {reason}"
        if len(path) > 1:
            yield f"  {' -> '.join(path)}"
    if report.declassified:
        yield from _render_declassified(report)
    yield _last_line(report)


def _render_declassified(report: ComplianceReport, *, told: bool = False) -> Iterator[str]:
    """What was taken off, by whom and why; since when, if that was looked up."""
    if not report.declassified:
        yield "nothing is declassified"
    for gone in report.declassified:
        place = f"{gone.model}.{gone.column} ({gone.classification})"
        yield f"declassified: {place}, approved by {gone.approved_by}: {gone.reason}"
        yield f"  {' -> '.join(gone.path)}"
        if told:
            yield f"  {_written(gone)}; {_carried_out(gone)}"


def _written(gone: DeclassifiedColumn) -> str:
    said = gone.written
    if said is None:
        return "in no commit"
    return f"written by {said.author} in {said.commit[:12]} at {said.at:%Y-%m-%d %H:%M}"


def _carried_out(gone: DeclassifiedColumn) -> str:
    found = gone.carried_out
    if found is None:
        return "carried out by no run"
    since = "since" if found.whole else "at least since"
    who = f" of {found.by}" if found.by is not None else ""
    run = f", {found.run_id}{who}" if found.run_id is not None else ""
    return f"in the table {since} version {found.table_version} ({found.at:%Y-%m-%d %H:%M}{run})"


def _seen(each: ProbedColumn) -> tuple[str, ...]:
    saw = each.saw.upper() if each.saw == "clear" and not each.restricted else each.saw
    saw = f"{saw}: {each.reason}" if each.reason is not None else saw
    table = f"{each.table} (restricted)" if each.restricted else each.table
    return (
        each.model,
        each.column,
        each.classification,
        table,
        each.through,
        saw,
        format_count(each.rows),
    )


def _row(column: ColumnCompliance) -> tuple[str, ...]:
    cells = (_cell(each) for each in column.envs)
    origin = "here" if column.declared else column.path[0]
    return (column.model, column.column, column.classification, *cells, origin)


def _cell(found: EnvProtection) -> str:
    if found.state != "masked":
        return _WORDS[found.state]
    by = f" for {found.decided_by}" if found.decided_by is not None else ""
    return f"{found.masking_strategy}{by} ({found.level})"


def _last_line(report: ComplianceReport) -> str:
    summary = report.summary
    if not summary.total_classified and not report.declassified:
        return "no table that the project writes has a classified column"
    parts = [
        counted(summary.total_classified, "classified column"),
        f"{summary.total_masked} masked",
    ]
    if summary.total_clear_by_decision:
        parts.append(f"{summary.total_clear_by_decision} clear by decision")
    if summary.total_allowed:
        parts.append(f"{summary.total_allowed} clear, as `allow_unmasked` says")
    if report.declassified:
        parts.append(f"{len(report.declassified)} declassified")
    parts.append(counted(summary.total_exceptions, "exception"))
    return ", ".join(parts)
