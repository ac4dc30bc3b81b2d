"""`rocky discover`: the columns that sources have now, and their declarations kept up to date."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.diagnostics.render.terminal import lay_out
from rocky.operations.sources.discover import (
    ColumnChange,
    DiscoveredSource,
    DiscoverReport,
    DiscoverRequest,
    discover,
)
from rocky.operations.sources.function_discovery import DiscoveredFunction
from rocky.project.schema_cache import SCHEMAS_FOLDER

REPORTS: Final = {"discover": DiscoverReport}
_HEADS: Final = {
    "undeclared": "not declared",
    "untyped": "declares no columns",
    "changed": "differs from its declaration",
    "table": "written by a pipeline",
}


@click.command(
    "discover",
    cls=RockyCommand,
    examples=(
        ("rocky discover", "every source, and every table that nobody declares"),
        ("rocky discover 'raw.*' --write", "declare what those of one schema have"),
        ("rocky discover --pipeline bronze --cache", "know what it will copy, for compiles alone"),
    ),
)
@click.argument("names", nargs=-1, metavar="[SOURCE]...")
@click.option("--write", is_flag=True, help="Bring `sources/*.toml` up to date; declare functions.")
@click.option("--cache", is_flag=True, help="Keep what nobody declares in `.rocky/schemas`.")
@click.option("--pipeline", metavar="NAME", help="What one pipeline reads.")
@click.option("--schema", multiple=True, metavar="GLOB", help="Only sources of these schemas.")
@click.option("--target", metavar="ADAPTER", help="Ask the Spark of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings,
    names: tuple[str, ...],
    write: bool,
    cache: bool,
    pipeline: str | None,
    schema: tuple[str, ...],
    target: str | None,
) -> ExitCode:
    """Find the columns of sources, and of tables that nobody declares.

    Parquet files and Delta tables tell them; Spark is asked for the rest. Prints how they differ
    from `sources/*.toml`; nothing is changed without `--write`. With `--cache` what nobody declares
    is kept for compiles. Unless something is chosen, functions that models call, nobody declares
    and Spark has are looked at too. Exits 1 when a source could not be read.
    """

    def looked(number: int, of: int, source: DiscoveredSource) -> None:
        if of > 1 and not settings.json and not settings.quiet:
            by = f" ({source.asked})" if source.asked is not None else ""
            write_note(f"{number}/{of}  {source.name}  {source.status}{by}")

    with note_start(settings) as workspace:
        request = DiscoverRequest(names, write, target, pipeline, schema, cache)
        report = discover(workspace, request, looked=looked)
    if settings.json:
        write_report("discover", report)
        return ExitCode.FAILED if report.has_errors else ExitCode.OK
    for source in report.sources:
        if source.error is not None:
            write_line(f"error: {source.error}")
        elif source.status != "same":
            write_line(render_source(source))
    for function in report.functions:
        write_line(render_function(function))
    if any(each.status == "untyped" and each.guessed for each in report.sources):
        write_line(
            "note: a CSV or JSON has no types of its own: look at what was guessed from its values,"
            " such as a number that is a code"
        )
    for path in report.written:
        write_line(f"wrote {path}")
    if not settings.quiet:
        write_line(_summary(report, written=write, cached=cache))
    return ExitCode.FAILED if report.has_errors else ExitCode.OK


def render_source(source: DiscoveredSource) -> str:
    """A source that is not as it is declared: a line for each column that differs."""
    head = f"{lay_out(source.name).shown} ({source.file}): {_HEADS[source.status]}"
    return "\n".join([head, *(f"  {_change(each)}" for each in source.changes)])


def render_function(function: DiscoveredFunction) -> str:
    """A function that nobody declares: what it takes and gives, if Spark says so."""
    if function.signature is None:
        return (
            f"{function.name}: Spark has this function and does not say what it takes and gives;"
            " declare it under functions/"
        )
    return f"{function.name} ({function.file}): not declared\n  + {function.signature}"


def _change(each: ColumnChange) -> str:
    """One line, whatever a column is called."""
    if each.declared is None:
        line = f"+ {each.column} {each.found}"
    elif each.found is None:
        line = f"- {each.column} {each.declared}"
    else:
        line = f"~ {each.column} {each.declared} -> {each.found}"
    return lay_out(line).shown


def _summary(report: DiscoverReport, *, written: bool, cached: bool) -> str:
    if not report.sources and not report.functions:
        return "no sources: the models read nothing that the project does not make"
    looked = counted(len(report.sources), "source")
    differ = sum(bool(each.changes) for each in report.sources)
    if report.functions:
        looked = f"{looked} and {counted(len(report.functions), 'function')}"
        differ += sum(each.status == "undeclared" for each in report.functions)
    failed = sum(each.error is not None for each in report.sources)
    if failed:
        looked = f"{looked}, of which {failed} could not be read"
    if cached:
        kept = counted(len(report.cached), "schema")
        return f"{looked} looked at, {kept} kept in `{SCHEMAS_FOLDER}`"
    if differ and not written:
        return f"{looked} looked at, {differ} to declare: `rocky discover --write` does it"
    if differ:
        return f"{looked} looked at, {differ} declared anew"
    return looked if failed else f"{looked}, all as declared"
