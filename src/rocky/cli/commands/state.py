"""`rocky state`: what is remembered between runs, and the commands that forget some of it."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.groups import CommandGroup
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.tables import NOTHING, format_bytes, format_count, format_moment, render_table
from rocky.diagnostics.render import counted
from rocky.ledger.pipeline_records import GracePeriod
from rocky.ledger.run_records import PartitionRecord, PartitionStatus, WatermarkState
from rocky.operations.proof.foreign_table import (
    ForeignTableReport,
    ForeignTableRequest,
    accept_foreign,
    restore_foreign,
)
from rocky.operations.state.kept_state import (
    DeleteRequest,
    KeyInFlight,
    RetentionSweepReport,
    RunningClaim,
    StateReport,
    SweepRequest,
    WatermarkDeletionReport,
    delete_watermark,
    show_state,
    sweep_state,
)
from rocky.operations.state.state_restoration import (
    RestorationReport,
    RestorationRequest,
    TableRestoration,
    restore_state,
)

REPORTS: Final = {
    "state": StateReport,
    "state accept": ForeignTableReport,
    "state delete": WatermarkDeletionReport,
    "state restore": ForeignTableReport | RestorationReport,
    "state retention sweep": RetentionSweepReport,
}
_MANY: Final = 20
_FEW: Final = 5


class StateGroup(StateCommand, CommandGroup):
    """The commands about what is remembered between runs."""


@click.group("state", cls=StateGroup, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> ExitCode:
    """Show the state that is kept between runs."""
    settings: Settings = context.obj
    if context.invoked_subcommand is None:
        report = show_state(settings.workspace)
        if settings.json:
            write_report("state", report)
        else:
            write_line(_render_state(report))
    return ExitCode.OK


@command.command("delete", cls=StateCommand)
@click.option("--table", required=True, metavar="TABLE", help="The table's full name.")
@click.pass_obj
def delete(settings: Settings, table: str) -> ExitCode:
    """Delete a table's watermark: its next run copies everything and replaces the table."""
    report = delete_watermark(settings.workspace, DeleteRequest(table))
    mark = report.deleted
    if settings.json:
        write_report("state delete", report)
    elif not settings.quiet:
        write_line(f"deleted the watermark of `{mark.table}`, which was {mark.last_value}")
        write_line("its next run copies everything, and replaces the table when that is done")
    _warn(report.warnings, settings)
    return ExitCode.OK


@command.command("accept", cls=StateCommand)
@click.argument("table")
@click.option("-m", "--message", required=True, help="Why: the ledger keeps it.")
@click.option("--target", "adapter", metavar="ADAPTER", help="The adapter whose table it is.")
@click.pass_obj
def accept(settings: Settings, table: str, message: str, adapter: str | None) -> ExitCode:
    """Take a table as it is that somebody other than a run has written."""
    report = accept_foreign(settings.workspace, ForeignTableRequest(table, message, adapter))
    return _say("state accept", report, settings)


@command.command("restore", cls=StateCommand)
@click.argument("table", required=False)
@click.option(
    "--from-tables",
    is_flag=True,
    help="Take watermarks, time intervals and loaded files of a lost state from the tables.",
)
@click.option("-m", "--message", required=True, help="Why: the ledger keeps it.")
@click.option("--target", "adapter", metavar="ADAPTER", help="The adapter whose table it is.")
@click.pass_obj
def restore(
    settings: Settings, table: str | None, from_tables: bool, message: str, adapter: str | None
) -> ExitCode:
    """Put a table back to what was recorded of it last; or the state, from what the tables say.

    With `--from-tables` no table is changed: a state that was lost, or is an older copy, gets to
    know them again, all or the one that is named.
    """
    if from_tables:
        request = RestorationRequest(message, table, adapter)
        return _say_restored(restore_state(settings.workspace, request), settings)
    if table is None:
        raise click.UsageError("name a table, or restore the state with `--from-tables`")
    report = restore_foreign(settings.workspace, ForeignTableRequest(table, message, adapter))
    return _say("state restore", report, settings)


def _say(command: str, report: ForeignTableReport, settings: Settings) -> ExitCode:
    if settings.json:
        write_report(command, report)
    elif not settings.quiet:
        versions = ", ".join(map(str, report.versions))
        how = (
            f"accepted, version {versions}"
            if report.verdict == "accepted"
            else (f"put back as version {report.commit_version}; version {versions} is rejected")
        )
        write_line(f"`{report.target}`: {how} (recorded as `{report.run_id}`)")
    return ExitCode.OK


def _say_restored(report: RestorationReport, settings: Settings) -> ExitCode:
    if settings.json:
        write_report("state restore", report)
        return ExitCode(report.exit_code)
    if not settings.quiet:
        for each in report.tables:
            write_line(f"`{each.target}`: {_restored_facts(each)}")
        known = counted(len(report.tables), "table")
        write_line(f"the state knows {known} again (recorded as `{report.run_id}`)")
    for each in report.tables:
        if each.note is not None:
            write_note(f"warning: `{each.target}`: {each.note}")
    for left in report.left:
        write_note(f"warning: `{left.target}` is not restored: {left.reason}")
    return ExitCode(report.exit_code)


def _restored_facts(table: TableRestoration) -> str:
    facts = [f"version {table.commit_version}"]
    if table.watermark is not None:
        facts.append(f"loaded up to {table.watermark}")
    if table.time_intervals is not None:
        facts.append(counted(table.time_intervals, "time interval"))
    if table.loaded_files is not None:
        facts.append(f"{counted(table.loaded_files, 'file')} loaded")
    return ", ".join(facts)


@command.group("retention", cls=StateGroup)
def retention() -> None:
    """Forget old runs."""


@retention.command("sweep", cls=StateCommand)
@click.option("--dry-run", is_flag=True, help="Only say what would be forgotten.")
@click.pass_obj
def sweep(settings: Settings, dry_run: bool) -> ExitCode:
    """Forget runs older than `[state.retention]` allows that no table depends on."""
    report = sweep_state(settings.workspace, SweepRequest(dry_run))
    if settings.json:
        write_report("state retention sweep", report)
    elif not settings.quiet:
        write_line(_render_sweep(report))
    _warn(report.warnings, settings)
    return ExitCode.OK


def _warn(warnings: Sequence[str], settings: Settings) -> None:
    if not settings.json:
        for each in warnings:
            write_note(f"warning: {each}")


def _render_state(report: StateReport) -> str:
    """The file, how far each incremental table is, and which intervals are computed."""
    if report.schema_version_on_disk is None:
        return f"no state yet: `{report.path}` is made by the first run"
    parts = [
        f"state: {report.path} (schema {report.schema_version_on_disk})",
        ", ".join(
            (
                counted(report.runs, "run"),
                counted(report.executions, "execution"),
                counted(report.artifacts, "recorded file"),
            )
        ),
        *_kept_at(report),
    ]
    if report.claims:
        parts += ["", _render_claims(report.claims)]
    if report.watermarks:
        parts += ["", _render_watermarks(report.watermarks)]
    if report.partitions:
        parts += ["", _render_partitions(report.partitions)]
    if report.grace_periods:
        parts += ["", _render_grace(report.grace_periods)]
    if report.check_history or report.loaded_files:
        parts += ["", _render_tables(report)]
    if report.keys_in_flight:
        parts += ["", _render_keys(report.keys_in_flight)]
    return "\n".join(parts)


def _kept_at(report: StateReport) -> Iterator[str]:
    """Where a remote state is kept, whether that answers, and which runs of others go on."""
    if report.backend in (None, "local"):
        return
    problem = report.backend_problem
    yield f"kept in {report.backend}, which {'answers' if problem is None else 'was not reached'}"
    if problem is not None:
        yield f"warning: {problem}"
    if report.runs_elsewhere:
        yield f"running on other machines: {', '.join(report.runs_elsewhere)}"


def _render_claims(claims: Sequence[RunningClaim]) -> str:
    rows = [
        (
            each.run_id,
            f"{each.process} on {each.hostname}",
            format_moment(each.since),
            ", ".join(each.targets[:_FEW])
            + (f" and {len(each.targets) - _FEW} more" if len(each.targets) > _FEW else ""),
        )
        for each in claims
    ]
    head = ("RUN", "PROCESS", "SINCE (UTC)", "TABLES IT ALONE MAY WRITE")
    return render_table(head, rows, right=set())


def _render_watermarks(watermarks: Sequence[WatermarkState]) -> str:
    rows = [
        (
            each.table,
            each.last_value or NOTHING,
            format_moment(each.updated_at),
            each.run_id or NOTHING,
        )
        for each in watermarks
    ]
    return render_table(("TABLE", "WATERMARK", "UPDATED (UTC)", "RUN"), rows, right=set())


def _render_grace(periods: Sequence[GracePeriod]) -> str:
    rows = [
        (
            each.table,
            each.column,
            each.change,
            format_moment(each.first_seen_at),
            format_moment(each.expires_at),
        )
        for each in periods
    ]
    head = ("TABLE", "COLUMN", "CHANGE", "SINCE (UTC)", "STAYS UNTIL (UTC)")
    return render_table(head, rows, right=set())


def _render_tables(report: StateReport) -> str:
    """Tables whose rows were counted, or that files were loaded into."""
    counts = {each.table: each for each in report.check_history}
    loaded = {each.table: each.files for each in report.loaded_files}
    rows = []
    for table in sorted({*counts, *loaded}):
        found, files = counts.get(table), loaded.get(table)
        rows.append(
            (
                table,
                format_count(found.last.count) if found else NOTHING,
                format_moment(found.last.timestamp) if found else NOTHING,
                format_count(found.counts) if found else NOTHING,
                format_count(files) if files is not None else NOTHING,
            )
        )
    head = ("TABLE", "LAST COUNT", "COUNTED (UTC)", "COUNTS", "FILES LOADED")
    return render_table(head, rows, right={1, 3, 4})


def _render_keys(keys: Sequence[KeyInFlight]) -> str:
    rows = [
        (each.key, each.run_id or NOTHING, each.hostname or NOTHING, format_moment(each.since))
        for each in keys
    ]
    return render_table(("KEY IN FLIGHT", "RUN", "HOST", "SINCE (UTC)"), rows, right=set())


def _render_partitions(partitions: Sequence[PartitionRecord]) -> str:
    head = ("MODEL", "INTERVALS", "COMPUTED", "FAILED", "FIRST", "LAST", "ROWS")
    return render_table(head, list(_partition_rows(partitions)), right={1, 2, 3, 6})


def _partition_rows(partitions: Sequence[PartitionRecord]) -> Iterator[tuple[str, ...]]:
    for _, group in groupby(partitions, key=lambda each: each.model_name.lower()):
        mine = list(group)
        done = [each for each in mine if each.status is PartitionStatus.COMPUTED]
        failed = [each for each in mine if each.status is PartitionStatus.FAILED]
        yield (
            mine[-1].model_name,
            format_count(len(mine)),
            format_count(len(done)),
            format_count(len(failed)),
            done[0].partition_key if done else NOTHING,
            done[-1].partition_key if done else NOTHING,
            format_count(sum(each.row_count for each in done)),
        )


def _render_sweep(report: RetentionSweepReport) -> str:
    """What went, and why the rest of what is old enough stays."""
    verb = "would forget" if report.dry_run else "forgot"
    since = f"from before {format_moment(report.cutoff)} UTC"
    lines = [f"{verb} {counted(len(report.runs), 'run')} {since}"]
    lines += [f"  {run_id}" for run_id in report.runs[:_MANY]]
    if len(report.runs) > _MANY:
        lines.append(f"  and {format_count(len(report.runs) - _MANY)} more")
    if report.removed:
        rows = (
            f"{format_count(count)} of `{table}`" for table, count in report.rows_by_table.items()
        )
        lines.append(f"rows {'to remove' if report.dry_run else 'removed'}: {', '.join(rows)}")
    if report.freed_bytes:
        lines.append(f"the state file is {format_bytes(report.freed_bytes)} smaller")
    for why, number in report.kept_because.items():
        each = ":" if number == 1 else ", each because"
        lines.append(f"kept {counted(number, 'older run')}{each} {why}")
    if not report.applies_to:
        lines.append("`[state.retention] applies_to` is empty: no run is ever forgotten")
    return "\n".join(lines)
