"""`rocky show`: rows of a table, read from its files; of what has no table by Spark.

Text is laid out in cells, with control characters made visible: what a table holds must not reach
the terminal as an instruction.
"""

from collections.abc import Sequence
from typing import Any, Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import Settings, TableCommand
from rocky.cli.render.tables import GAP, format_bytes
from rocky.cli.start_notes import note_start
from rocky.diagnostics.render import counted
from rocky.diagnostics.render.terminal import lay_out
from rocky.language.datatypes.types import is_numeric
from rocky.operations.rows.show import ShowReport, ShowRequest, show
from rocky.operations.rows.values import spoken_value, text_value

REPORTS: Final = {"show": ShowReport}
WIDEST: Final = 60
"""The most cells of a value that are shown."""


@click.command(
    "show",
    cls=TableCommand,
    examples=(
        ("rocky show fct_revenue", "the first rows of a table"),
        ("rocky show fct_revenue --columns month,amount", "some columns"),
        ('rocky show stg_orders --where "amount > 100"', "some rows"),
        ("rocky show fct_revenue --version 3", "the table as it was"),
        ('rocky show --sql "SELECT count(*) FROM stg_orders"', "the rows of a query"),
    ),
)
@click.argument("model", required=False)
@click.option("--columns", metavar="NAMES", help="Only these columns: `id,amount`.")
@click.option("--where", metavar="CONDITION", help="Only rows for which this SQL condition holds.")
@click.option("--sql", metavar="QUERY", help="The rows of a query over the project's names.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Show at most this many rows.",
)
@click.option(
    "--version",
    type=click.IntRange(min=0),
    metavar="N",
    help="The table as it was at a version. Default: now.",
)
@click.option("--target", metavar="ADAPTER", help="The table of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, /, limit: int, target: str | None, columns: str | None, **options: Any
) -> ExitCode:
    """Show rows of a model's table, or of a query.

    MODEL is the name of a model, a seed or a source, or the full name of any table. Which rows come
    first is not defined. Rows of a table are read from its files, without Spark; a condition that
    they cannot answer, a query, and what has no table (a view, a model that was never built, a
    source) are asked of Spark. Whatever Spark is asked has been compiled first.
    """
    chosen = tuple(each.strip() for each in columns.split(",")) if columns is not None else ()
    request = ShowRequest(limit=limit, adapter=target, columns=chosen, **options)
    with note_start(settings) as workspace:
        report = show(workspace, request)
    if report.preview is not None and not settings.quiet:
        write_note(f"note: `{report.model}` {report.preview}: a preview, its query run by Spark")
    if settings.json:
        write_report("show", report)
    else:
        write_line(render_rows(report, limit))
    return ExitCode.OK


def render_rows(report: ShowReport, limit: int | None = None) -> str:
    """What the table is, then its rows under their columns."""
    head = [_clip(each.name) for each in report.fields]
    body = [
        [
            _clip(text_value(spoken_value(value, field.type)))
            for field, value in zip(report.fields, row, strict=True)
        ]
        for row in report.values
    ]
    table = [head, *body]
    widths = [max(cell[1] for cell in column) for column in zip(*table, strict=True)]
    right = [is_numeric(each.type) for each in report.fields]
    lines = [_header(report), ""] if report.target is not None else []
    lines += [_line(row, widths, right) for row in table]
    if not report.values:
        lines.append("(no rows)")
    elif report.row_count is None or report.where is not None:
        # How many there are in all, nobody has counted.
        if len(report.values) == limit:
            lines += ["", f"the first {counted(limit, 'row')}"]
    elif len(report.values) < report.row_count:
        lines += ["", f"{counted(len(report.values), 'row')} of {report.row_count:,}"]
    return "\n".join(lines)


def _header(report: ShowReport) -> str:
    parts = [
        f"version {report.table_version}",
        counted(report.row_count or 0, "row"),
        counted(report.file_count or 0, "file"),
        format_bytes(report.bytes),
    ]
    if report.run_id is not None:
        parts.append(report.run_id)
    return f"{report.target}: {', '.join(parts)}"


def _clip(text: str) -> tuple[str, int]:
    """A cell as shown and its width in cells, cut at WIDEST."""
    row = lay_out(text[: WIDEST * 4])
    if row.starts[-1] <= WIDEST:
        return row.shown, row.starts[-1]
    kept = max(index for index, start in enumerate(row.starts) if start < WIDEST)
    short = lay_out(text[:kept])
    return f"{short.shown}…", short.starts[-1] + 1


def _line(cells: Sequence[tuple[str, int]], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        " " * (width - own) + shown if to_right else shown + " " * (width - own)
        for (shown, own), width, to_right in zip(cells, widths, right, strict=True)
    )
    return GAP.join(padded).rstrip()
