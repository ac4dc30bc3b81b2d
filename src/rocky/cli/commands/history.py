"""`rocky history`: what ran, newest first. Reads the state file only, no project and no Spark."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import click

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.projects import load_chosen, model_named
from rocky.cli.render.audit import render_audit
from rocky.cli.render.fitting import Fitted, describe_dropped, terminal_width
from rocky.cli.render.history import (
    audited_execution,
    audited_run,
    executions_document,
    history_document,
    render_executions,
    render_runs,
)
from rocky.cli.render.units import format_moment
from rocky.cli.state_files import StateCommand, chosen_reader
from rocky.errors import NothingSelected, ProjectNotFound
from rocky.ledger import Reader, RecordedExecution
from rocky.ledger.record import RunId
from rocky.ledger.records import RunRecord

_AGE: Final = re.compile(r"([1-9][0-9]{0,5})([mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_FIRST_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Before any run: years of fewer digits would not sort among run ids."""


def _read_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A date, a time, or an age."""
    if value is None:
        return None
    age = _AGE.fullmatch(value)
    try:
        if age is not None:
            moment = datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
        else:
            moment = datetime.fromisoformat(value)
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        return _FIRST_MOMENT
    except ValueError:
        raise click.BadParameter(
            f"`{value}` is not a date (2026-05-30), a time (2026-05-30T11:04:22Z)"
            " or an age (30m, 12h, 7d, 2w)",
            ctx,
            param,
        ) from None
    return max(moment, _FIRST_MOMENT)


@click.command("history", cls=StateCommand)
@click.option("--model", metavar="NAME", help="The executions of one model instead of runs.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many."
)
@click.option(
    "--since",
    callback=_read_moment,
    metavar="WHEN",
    help="Only runs that began at or after WHEN: a date, a time (in UTC unless it has an offset),"
    " or an age such as 30m, 12h, 7d or 2w.",
)
@click.option(
    "--audit", is_flag=True, help="Who ran it, how it was triggered, where, from which commit."
)
@click.pass_obj
def command(
    settings: Settings, model: str | None, limit: int, since: datetime | None, audit: bool
) -> ExitCode:
    """Show what ran, newest first."""
    with chosen_reader(settings) as reader:
        if model is not None:
            name, executions = find_executions(settings, reader, model, limit, since)
            runs = find_runs(reader, executions) if audit else None
            _show_executions(settings, name, executions, runs, since)
        else:
            found = reader.runs(limit, since) if reader is not None else ()
            _show_runs(settings, found, since, audit=audit)
    return ExitCode.OK


def find_executions(
    settings: Settings, reader: Reader | None, model: str, limit: int, since: datetime | None
) -> tuple[str, tuple[RecordedExecution, ...]]:
    """A model's name and executions. Raises NothingSelected when nobody knows the model.

    A model that was deleted has a history all the same, so the project is asked only about names
    that the ledger has never heard.
    """
    last = reader.last_execution(model) if reader is not None else None
    if last is not None:
        name = last.execution.model_name
    else:
        try:
            name = model_named(load_chosen(settings), model).name
        except ProjectNotFound:
            raise NothingSelected(f"no model `{model}` has ever run") from None
    return name, reader.executions(name, limit, since) if reader is not None else ()


def find_runs(
    reader: Reader | None, executions: Sequence[RecordedExecution]
) -> dict[RunId, RunRecord]:
    """The runs of some executions, as far as they are still recorded."""
    if reader is None:
        return {}
    found = {each.run_id: reader.run(each.run_id) for each in executions}
    return {run_id: run for run_id, run in found.items() if run is not None}


def _show_runs(
    settings: Settings, runs: Sequence[RunRecord], since: datetime | None, *, audit: bool
) -> None:
    if settings.json:
        write_json("history", history_document(runs, audit=audit))
    elif runs and audit:
        write_line(render_audit([audited_run(each) for each in runs]))
    elif runs:
        _show_table(settings, render_runs(runs, terminal_width()))
    elif not settings.quiet:
        write_note(_nothing("run", since, "`rocky run` makes the first"))


def _show_executions(
    settings: Settings,
    name: str,
    executions: Sequence[RecordedExecution],
    runs: Mapping[RunId, RunRecord] | None,
    since: datetime | None,
) -> None:
    if settings.json:
        write_json("history", executions_document(name, executions, runs))
    elif executions and runs is not None:
        write_line(
            render_audit([audited_execution(each, runs.get(each.run_id)) for each in executions])
        )
    elif executions:
        _show_table(settings, render_executions(executions, terminal_width()))
    elif not settings.quiet:
        first = f"`rocky run --model {name}` makes the first"
        write_note(_nothing(f"execution of `{name}`", since, first))


def _show_table(settings: Settings, table: Fitted) -> None:
    write_line(table.text)
    if table.dropped and not settings.quiet:
        write_note(describe_dropped(table.dropped))


def _nothing(what: str, since: datetime | None, first: str) -> str:
    if since is None:
        return f"no {what} is recorded; {first}"
    return f"no {what} since {format_moment(since)} UTC; without `--since` older ones are shown"
