"""`rocky state`: what is remembered between runs, and the commands that forget some of it.

Those need object stores and servers, which who only looks need not wait for.
"""

from datetime import UTC, datetime

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.groups import CommandGroup
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.state import StateView, render_state, state_document
from rocky.lazy import load_attribute
from rocky.ledger import SCHEMA_VERSION
from rocky.ledger.pipeline_state import open_pipeline_state_reader
from rocky.operations.workspace import open_history, state_path


class StateGroup(StateCommand, CommandGroup):
    """The commands about what is remembered between runs."""


@click.group("state", cls=StateGroup, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> ExitCode:
    """Show what is remembered between runs."""
    settings: Settings = context.obj
    if context.invoked_subcommand is None:
        view = load_state(settings)
        if settings.json:
            write_json("state", state_document(view))
        else:
            write_line(render_state(view))
    return ExitCode.OK


def load_state(settings: Settings) -> StateView:
    path = state_path(settings.workspace)
    with open_history(settings.workspace) as reader:
        remembered = open_pipeline_state_reader(path) if reader is not None else None
        if reader is None or remembered is None:
            return StateView(path, SCHEMA_VERSION)
        with remembered:
            return StateView(
                path,
                SCHEMA_VERSION,
                reader.schema_version,
                reader.totals(),
                reader.watermarks(),
                reader.partitions(),
                remembered.grace_periods(),
                remembered.counted_tables(),
                remembered.loaded_files(),
                remembered.keys_in_flight(datetime.now(UTC)),
            )


@command.command("delete", cls=StateCommand)
@click.option("--table", required=True, metavar="TABLE", help="The table's full name.")
@click.pass_obj
def delete(settings: Settings, table: str) -> ExitCode:
    """Delete a table's watermark: its next run copies everything and replaces the table."""
    code: ExitCode = load_attribute("rocky.cli.forgetting", "delete_watermark")(settings, table)
    return code


@command.group("retention", cls=StateGroup)
def retention() -> None:
    """Forget old runs."""


@retention.command("sweep", cls=StateCommand)
@click.option("--dry-run", is_flag=True, help="Only say what would be forgotten.")
@click.pass_obj
def sweep(settings: Settings, dry_run: bool) -> ExitCode:
    """Forget runs older than `[state.retention]` keeps that vouch for no table."""
    code: ExitCode = load_attribute("rocky.cli.forgetting", "sweep_state")(settings, dry_run)
    return code
