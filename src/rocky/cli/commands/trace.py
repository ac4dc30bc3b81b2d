"""`rocky trace`: a run's timeline, from what was recorded of it. A run that died traces too."""

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings, StateCommand
from rocky.cli.render.bars import Canvas
from rocky.cli.render.fitting import shows_blocks, terminal_width
from rocky.cli.render.trace import SHOWN, render_trace, trace_document
from rocky.evidence.timeline import timeline_of
from rocky.ledger import LATEST
from rocky.operations.workspace import find_run

_PIPED_WIDTH = 80


@click.command("trace", cls=StateCommand)
@click.argument("run", default=LATEST)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Only the N models that ran longest. Default: {SHOWN} in a table, all in JSON.",
)
@click.pass_obj
def command(settings: Settings, run: str, limit: int | None) -> ExitCode:
    """Show when each model of a run ran, and what it waited for.

    RUN is a run's id; without one, the latest.
    """
    found = find_run(settings.workspace, run)
    timeline = timeline_of(found)
    if settings.json:
        write_json("trace", trace_document(found, timeline, limit))
    else:
        canvas = Canvas(terminal_width() or _PIPED_WIDTH, shows_blocks(), settings.colour)
        write_line(render_trace(found, timeline, limit or SHOWN, canvas))
    return ExitCode.OK
