"""`rocky catalog`: every table with its columns, what is said of them, and its tests."""

from collections.abc import Iterator, Sequence
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import render_table
from rocky.diagnostics.render import counted
from rocky.operations.page.catalog import CatalogReport, CatalogRequest, CatalogTable, catalog

REPORTS: Final = {"catalog": CatalogReport}


@click.command(
    "catalog",
    cls=RockyCommand,
    examples=(
        ("rocky catalog -o json", "all tables, as a JSON document"),
        ("rocky catalog +fct_revenue", "a model and all that it is made from"),
    ),
)
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...")
@click.pass_obj
def command(settings: Settings, selectors: Sequence[str]) -> ExitCode:
    """Show every table with its columns, types, descriptions, owner and tests.

    Selectors choose among models, sources and seeds, as in `rocky list`.
    """
    report = catalog(settings.workspace, CatalogRequest(tuple(selectors)))
    if settings.json:
        write_report("catalog", report)
    else:
        write_line("\n\n".join("\n".join(_lines(each)) for each in report.tables))
    if report.errors and not settings.quiet:
        count = counted(report.errors, "error")
        write_note(f"note: {count} in the project; `rocky compile` shows them")
    return ExitCode.OK


def _lines(table: CatalogTable) -> Iterator[str]:
    owner = f", owner {table.owner}" if table.owner else ""
    yield f"{table.name}  ({table.kind}{owner}, {table.path})"
    if table.description:
        yield f"  {table.description}"
    rows = [
        (
            each.name,
            each.type if each.nullable else f"{each.type} not null",
            " ".join(filter(None, (each.description, _marked(each.classification)))),
        )
        for each in table.columns
    ]
    if rows:
        yield from (
            f"  {line}" for line in render_table(("column", "type", ""), rows, set()).splitlines()
        )
    if not table.complete:
        yield "  columns are not all known"
    for test in table.tests:
        rule = f": {test.rule}" if test.rule else ""
        yield f"  test {test.name} ({test.severity}){rule}"


def _marked(classification: str | None) -> str | None:
    return None if classification is None else f"[{classification}]"
