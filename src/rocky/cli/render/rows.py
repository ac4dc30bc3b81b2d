"""Rows of a table, as text for people and as JSON: every value of every Spark type has a form.

Text is laid out in cells, with control characters made visible: what a table holds must not
reach the terminal as an instruction.
"""

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import GAP
from rocky.cli.render.units import format_bytes
from rocky.diagnostics.render.terminal import lay_out
from rocky.language.datatypes.types import DataType, IntervalType, StructField, is_numeric
from rocky.store.delta.snapshot import Snapshot

NULL: Final = "NULL"
_WORDS: Final = {None: NULL, True: "true", False: "false"}
WIDEST: Final = 60
"""The most cells of a value that are shown."""


@dataclass(frozen=True, slots=True)
class RowsView:
    """Some rows of a table at a version. `run_id` is the run that made the version, if known."""

    name: str
    target: str
    snapshot: Snapshot
    columns: tuple[StructField, ...]
    rows: tuple[tuple[Any, ...], ...]
    run_id: str | None = None


def rows_document(view: RowsView) -> dict[str, Any]:
    """What `rocky show -o json` prints."""
    document: dict[str, Any] = {
        "model": view.name,
        "target": view.target,
        "table_version": view.snapshot.version,
        "row_count": view.snapshot.rows,
        "file_count": len(view.snapshot.files),
        "bytes": view.snapshot.bytes,
        "columns": [
            {"name": each.name, "type": each.type.text, "nullable": each.nullable}
            for each in view.columns
        ],
        "rows": [
            {
                column.name: json_value(spoken_value(value, column.type))
                for column, value in zip(view.columns, row, strict=True)
            }
            for row in view.rows
        ],
    }
    if view.run_id is not None:
        document["run_id"] = view.run_id
    return document


def json_value(value: Any) -> Any:
    """A value as JSON holds it: what JSON has no form for is a text, bytes in base 64."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return b64encode(value).decode()
        case Mapping():
            return {key: json_value(each) for key, each in value.items()}
        case [tuple(), *_]:
            return {text_value(key): json_value(each) for key, each in value}
        case list() | tuple():
            return [json_value(each) for each in value]
        case _:
            return text_value(value)


def spoken_value(value: Any, type: DataType) -> Any:  # noqa: A002 - the noun of our schemas
    """An interval as an interval: files hold a number of microseconds or of months."""
    if not isinstance(type, IntervalType) or not isinstance(value, int):
        return value
    if type.kind == "interval_ym":
        years, months = divmod(abs(value), 12)
        return f"{'-' if value < 0 else ''}{years}-{months}"
    return timedelta(microseconds=value)


def text_value(value: Any) -> str:
    """A value on one line, in Spark's words where it has them."""
    match value:
        case None | bool():
            return _WORDS[value]
        case datetime():
            return _moment_text(value)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return _interval_text(value)
        case Decimal():
            return f"{value:f}"
        case bytes():
            return f"0x{value.hex()}"
        case Mapping():
            return _pairs_text(value.items())
        case [tuple(), *_]:
            return _pairs_text(value)
        case list() | tuple():
            return f"[{', '.join(text_value(each) for each in value)}]"
        case _:
            return str(value)


def _pairs_text(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Fields of a struct, or entries of a map, which come as pairs."""
    shown = (f"{text_value(key)}: {text_value(each)}" for key, each in pairs)
    return f"{{{', '.join(shown)}}}"


def _moment_text(moment: datetime) -> str:
    """A moment in UTC with its zone, or a wall clock's time without one."""
    zone = "Z" if moment.tzinfo is not None else ""
    shown = moment.astimezone(UTC) if moment.tzinfo is not None else moment
    return shown.replace(tzinfo=None).isoformat(sep=" ") + zone


def _interval_text(interval: timedelta) -> str:
    sign, whole = ("-", -interval) if interval < timedelta() else ("", interval)
    hours, rest = divmod(whole.seconds, 3600)
    text = f"{sign}{whole.days} {hours:02}:{rest // 60:02}:{rest % 60:02}"
    return f"{text}.{whole.microseconds:06}" if whole.microseconds else text


def render_rows(view: RowsView) -> str:
    """What the table is, then its rows under their columns."""
    head = [_clip(each.name) for each in view.columns]
    body = [
        [
            _clip(text_value(spoken_value(value, column.type)))
            for column, value in zip(view.columns, row, strict=True)
        ]
        for row in view.rows
    ]
    table = [head, *body]
    widths = [max(cell[1] for cell in column) for column in zip(*table, strict=True)]
    right = [is_numeric(each.type) for each in view.columns]
    lines = [render_header(view), ""] + [_line(row, widths, right) for row in table]
    if not view.rows:
        lines.append("(no rows)")
    elif len(view.rows) < view.snapshot.rows:
        lines += ["", f"{counted(len(view.rows), 'row')} of {view.snapshot.rows:,}"]
    return "\n".join(lines)


def render_header(view: RowsView) -> str:
    snapshot = view.snapshot
    parts = [
        f"version {snapshot.version}",
        counted(snapshot.rows, "row"),
        counted(len(snapshot.files), "file"),
        format_bytes(snapshot.bytes),
    ]
    if view.run_id is not None:
        parts.append(view.run_id)
    return f"{view.target}: {', '.join(parts)}"


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
