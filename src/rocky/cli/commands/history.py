"""`rocky history`: what ran, newest first. Reads the state file only, no project and no Spark."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import click

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.projects import load_chosen, model_named
from rocky.cli.render.history import (
    executions_document,
    history_document,
    render_executions,
    render_runs,
)
from rocky.cli.state_files import StateCommand, chosen_reader
from rocky.errors import NothingSelected, ProjectNotFound
from rocky.ledger import Reader, RecordedExecution
from rocky.ledger.records import RunRecord

_AGO: Final = re.compile(r"([1-9][0-9]{0,5})([mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def _read_moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """A date, a time, or how long ago."""
    if value is None:
        return None
    ago = _AGO.fullmatch(value)
    if ago is not None:
        return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"`{value}` is neither a date (2026-05-30), a time (2026-05-30T11:04:22Z)"
            " nor a while ago (30m, 12h, 7d, 2w)",
            ctx,
            param,
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@click.command("history", cls=StateCommand)
@click.option("--model", metavar="NAME", help="The executions of one model instead of runs.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many."
)
@click.option(
    "--since",
    callback=_read_moment,
    metavar="WHEN",
    help="Since a date, a time (UTC unless it says otherwise), or a while ago: 30m, 12h, 7d, 2w.",
)
@click.option("--audit", is_flag=True, help="Also who, where, and from which commit.")
@click.pass_obj
def command(
    settings: Settings, model: str | None, limit: int, since: datetime | None, audit: bool
) -> ExitCode:
    """Show what ran, newest first."""
    if audit and model is not None:
        raise click.UsageError("`--audit` is about runs; leave it or `--model` out")
    with chosen_reader(settings) as reader:
        if model is not None:
            name, executions = find_executions(settings, reader, model, limit, since)
            _show_executions(settings, name, executions)
        else:
            runs = reader.runs(limit, since) if reader is not None else ()
            _show_runs(settings, runs, audit=audit)
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


def _show_runs(settings: Settings, runs: Sequence[RunRecord], *, audit: bool) -> None:
    if settings.json:
        write_json("history", history_document(runs, audit=audit))
    elif runs:
        write_line(render_runs(runs, audit=audit))
    elif not settings.quiet:
        write_note("no runs; `rocky run` makes the first, `--since` may leave some out")


def _show_executions(
    settings: Settings, name: str, executions: Sequence[RecordedExecution]
) -> None:
    if settings.json:
        write_json("history", executions_document(name, executions))
    elif executions:
        write_line(render_executions(executions))
    elif not settings.quiet:
        write_note(f"no executions of `{name}`; `rocky run --model {name}` makes the first")
