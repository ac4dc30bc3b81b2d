"""`rocky show`: rows of a table, read from its files. Needs no Spark and no Java.

Text is laid out in cells, with control characters made visible: what a table holds must not reach
the terminal as an instruction.
"""

from collections.abc import Sequence
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import Settings, TableCommand
from rocky.cli.render.tables import GAP, format_bytes
from rocky.diagnostics.render import counted
from rocky.diagnostics.render.terminal import lay_out
from rocky.language.datatypes.types import is_numeric
from rocky.operations.show import ShowReport, ShowRequest, show, spoken_value, text_value

REPORTS: Final = {"show": ShowReport}
WIDEST: Final = 60
"""The most cells of a value that are shown."""


@click.command("show", cls=TableCommand)
@click.argument("model")
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
    settings: Settings, model: str, limit: int, version: int | None, target: str | None
) -> ExitCode:
    """Show rows of a model's table.

    MODEL is the name of a model or a seed, or the full name of any table. Which rows come first is
    not defined.
    """
    report = show(settings.workspace, ShowRequest(model, limit, version, target))
    if settings.json:
        write_report("show", report)
    else:
        write_line(render_rows(report))
    return ExitCode.OK


def render_rows(report: ShowReport) -> str:
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
    lines = [_header(report), ""] + [_line(row, widths, right) for row in table]
    if not report.values:
        lines.append("(no rows)")
    elif len(report.values) < report.row_count:
        lines += ["", f"{counted(len(report.values), 'row')} of {report.row_count:,}"]
    return "\n".join(lines)


def _header(report: ShowReport) -> str:
    parts = [
        f"version {report.table_version}",
        counted(report.row_count, "row"),
        counted(report.file_count, "file"),
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
