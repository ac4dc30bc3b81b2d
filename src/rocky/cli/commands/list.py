"""`rocky list`: what the project has, what is said of it, and how it hangs together."""

from collections.abc import Iterator
from typing import Final, get_args

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.listing import ListingRow, render_listing
from rocky.cli.render.tables import describe_dropped, render_table, terminal_width
from rocky.diagnostics.render import counted
from rocky.operations.graph.list import Kind, ListRequest, list_project
from rocky.operations.graph.list_report import (
    Listed,
    ListedFunction,
    ListedMacro,
    ListedModel,
    ListedPipeline,
    ListedSeed,
    ListedSource,
    NeighboursReport,
)
from rocky.project.configuration.labels import format_tags

REPORTS: Final = {"list": Listed}
_KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@click.command(
    "list",
    cls=RockyCommand,
    examples=(
        ("rocky list", "models, sources and seeds"),
        ("rocky list models tag:layer=mart", "the models with a tag"),
        ("rocky list +fct_revenue", "all that a model is made from"),
        ("rocky list pipelines -o json", "the pipelines, as a JSON document"),
        ("rocky list functions", "the functions that the project declares"),
        ("rocky list macros", "the macros, with their parameters"),
        ("rocky list deps fct_revenue", "what a model directly reads"),
        ("rocky list consumers raw.orders", "who directly reads a source"),
    ),
)
@click.argument("what", nargs=-1, metavar="[KIND] [SELECTOR]...")
@click.pass_obj
def command(settings: Settings, what: tuple[str, ...]) -> ExitCode:
    """List models, sources and seeds, or pipelines, functions and macros.

    With KIND (`models`, `sources`, `seeds`, `pipelines`, `functions`, `macros`), only that kind.
    `deps NAME` is what a model or a column directly needs, `consumers NAME` who reads it.
    Selectors choose among models, sources and seeds: `rocky list +orders` shows all that `orders`
    is made from. Upstream and downstream count direct neighbours. A narrow terminal gets shorter
    texts; `-o json` has all.
    """
    kind = next((each for each in _KINDS if what[:1] == (each,)), None)
    select = what[1:] if kind is not None else what
    report = list_project(settings.workspace, ListRequest(kind, select))
    if settings.json:
        write_report("list", report)
    elif isinstance(report, NeighboursReport):
        write_line(_render_neighbours(report))
    else:
        fitted = render_listing(list(_rows(report)), terminal_width())
        write_line(fitted.text)
        if fitted.dropped and not settings.quiet:
            write_note(f"note: {describe_dropped(fitted.dropped)}")
    if not settings.json and not settings.quiet:
        for each in (*getattr(report, "models", ()), *getattr(report, "seeds", ())):
            if each.held is not None:
                write_note(f"note: {each.name} {each.held}")
    if report.errors and not settings.quiet:
        count = counted(report.errors, "error")
        write_note(f"note: {count} in the project; `rocky compile` shows them")
    return ExitCode.OK


def _rows(report: Listed) -> Iterator[ListingRow]:
    """Sources, seeds, then models; or pipelines; or functions; or macros."""
    for kind in ("sources", "seeds", "models", "pipelines", "functions", "macros"):
        for each in getattr(report, kind, ()):
            if isinstance(each, ListedPipeline):
                yield _pipeline_row(each)
            elif isinstance(each, ListedFunction):
                yield _function_row(each)
            elif isinstance(each, ListedMacro):
                yield _macro_row(each)
            else:
                yield _row(each)


def _row(each: ListedModel | ListedSource | ListedSeed) -> ListingRow:
    return ListingRow(
        each.name,
        each.kind,
        each.strategy if isinstance(each, ListedModel) else "",
        each.owner or "",
        format_tags(each.tags or {}),
        str(each.columns),
        str(each.upstream) if isinstance(each, ListedModel) else "",
        str(each.downstream),
        each.path,
        each.description or "",
    )


def _render_neighbours(report: NeighboursReport) -> str:
    rows = [
        (each.name, each.kind, ", ".join(each.columns), ", ".join(each.how))
        for each in report.neighbours
    ]
    if not rows:
        said = "needs nothing" if report.side == "deps" else "is read by nobody"
        return f"{report.name} {said}"
    return render_table(("name", "kind", "columns", "how"), rows, set())


def _function_row(each: ListedFunction) -> ListingRow:
    return ListingRow(
        each.signature,
        each.type,
        owner=each.owner or "",
        models=str(len(each.called_by)) if each.called_by else "",
        file=each.path,
        description=each.description or "",
    )


def _macro_row(each: ListedMacro) -> ListingRow:
    return ListingRow(
        each.signature,
        each.kind,
        models=str(len(each.called_by)) if each.called_by else "",
        file=each.path,
        description=each.description or "",
    )


def _pipeline_row(each: ListedPipeline) -> ListingRow:
    return ListingRow(
        each.name,
        each.type,
        owner=each.owner or "",
        models=str(each.models) if each.models else "",
        after=", ".join(dict.fromkeys((*each.depends_on, *each.reads_from))),
        description=each.description or "",
    )
