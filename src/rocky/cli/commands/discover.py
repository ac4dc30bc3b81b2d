"""`rocky discover`: the columns that sources have now, and their declarations kept up to date."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.operations.discover import (
    ColumnChange,
    DiscoveredSource,
    DiscoverReport,
    DiscoverRequest,
    discover,
)

REPORTS: Final = {"discover": DiscoverReport}
_HEADS: Final = {
    "undeclared": "not declared",
    "untyped": "declares no columns",
    "changed": "differs from its declaration",
}


@click.command(
    "discover",
    cls=RockyCommand,
    examples=(
        ("rocky discover", "every source, and every table that nobody declares"),
        ("rocky discover 'raw.*' --write", "declare what those of one schema have"),
    ),
)
@click.argument("names", nargs=-1, metavar="[SOURCE]...")
@click.option("--write", is_flag=True, help="Bring `sources/*.toml` up to date.")
@click.option("--target", metavar="ADAPTER", help="Ask the Spark of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, names: tuple[str, ...], write: bool, target: str | None
) -> ExitCode:
    """Ask Spark for the columns of sources, and of tables that nobody declares.

    Prints how they differ from `sources/*.toml`; nothing is changed without `--write`.
    Exits 1 when a source could not be read.
    """
    with note_start(settings) as workspace:
        report = discover(workspace, DiscoverRequest(names, write, target))
    if settings.json:
        write_report("discover", report)
        return ExitCode.FAILED if report.has_errors else ExitCode.OK
    for source in report.sources:
        if source.error is not None:
            write_line(f"error: {source.error}")
        elif source.status != "same":
            write_line(render_source(source))
    if any(each.status == "untyped" and each.guessed for each in report.sources):
        write_line(
            "note: a CSV or JSON has no types of its own: look at what was guessed from its values,"
            " such as a number that is a code"
        )
    for path in report.written:
        write_line(f"wrote {path}")
    if not settings.quiet:
        write_line(_summary(report, written=write))
    return ExitCode.FAILED if report.has_errors else ExitCode.OK


def render_source(source: DiscoveredSource) -> str:
    """A source that is not as it is declared: a line for each column that differs."""
    head = f"{source.name} ({source.file}): {_HEADS[source.status]}"
    return "\n".join([head, *(f"  {_change(each)}" for each in source.changes)])


def _change(each: ColumnChange) -> str:
    if each.declared is None:
        return f"+ {each.column} {each.found}"
    if each.found is None:
        return f"- {each.column} {each.declared}"
    return f"~ {each.column} {each.declared} -> {each.found}"


def _summary(report: DiscoverReport, *, written: bool) -> str:
    if not report.sources:
        return "no sources: the models read nothing that the project does not make"
    looked = counted(len(report.sources), "source")
    differ = sum(bool(each.changes) for each in report.sources)
    if differ and not written:
        return f"{looked} looked at, {differ} to declare: `rocky discover --write` does it"
    return f"{looked} looked at, {differ} declared anew" if differ else f"{looked}, all as declared"
