"""`rocky state`: what is remembered between runs: watermarks, computed intervals, the file."""

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings
from rocky.cli.render.state import StateView, render_state, state_document
from rocky.cli.state_files import StateCommand, chosen_reader, state_path
from rocky.ledger import SCHEMA_VERSION


@click.command("state", cls=StateCommand)
@click.pass_obj
def command(settings: Settings) -> ExitCode:
    """Show what is remembered between runs."""
    view = load_state(settings)
    if settings.json:
        write_json("state", state_document(view))
    else:
        write_line(render_state(view))
    return ExitCode.OK


def load_state(settings: Settings) -> StateView:
    path = state_path(settings)
    with chosen_reader(settings) as reader:
        if reader is None:
            return StateView(path, SCHEMA_VERSION)
        return StateView(
            path,
            SCHEMA_VERSION,
            reader.schema_version,
            reader.totals(),
            reader.watermarks(),
            reader.partitions(),
        )
