"""`rocky list`: what the project has, and how it hangs together."""

from typing import Final, get_args

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import render_table
from rocky.diagnostics.render import counted
from rocky.operations.list import (
    Kind,
    Listed,
    ListedModel,
    ListedSeed,
    ListedSource,
    ListRequest,
    list_project,
)

REPORTS: Final = {"list": Listed}


@click.command("list", cls=RockyCommand)
@click.argument("kind", required=False, type=click.Choice(get_args(Kind)))
@click.pass_obj
def command(settings: Settings, kind: Kind | None) -> ExitCode:
    """List models, sources and seeds.

    With KIND, only that kind. Upstream and downstream count direct neighbours.
    """
    report = list_project(settings.workspace, ListRequest(kind))
    if settings.json:
        write_report("list", report)
    else:
        write_line(render_entries(report))
    if report.errors and not settings.quiet:
        count = counted(report.errors, "error")
        write_note(f"note: {count} in the project; `rocky compile` shows them")
    return ExitCode.OK


def render_entries(report: Listed) -> str:
    """A line each: sources, seeds, then models."""
    entries: list[ListedModel | ListedSource | ListedSeed] = []
    for kind in ("sources", "seeds", "models"):
        entries += getattr(report, kind, ())
    rows = [
        (
            each.name,
            each.kind,
            str(each.columns),
            str(each.upstream) if each.kind == "model" else "",
            str(each.downstream),
            each.path,
        )
        for each in entries
    ]
    head = ("NAME", "KIND", "COLUMNS", "UPSTREAM", "DOWNSTREAM", "FILE")
    return render_table(head, rows, right={2, 3, 4})
