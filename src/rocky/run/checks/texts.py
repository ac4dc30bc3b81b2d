"""Cells as text, made by Spark itself: what people are shown, and what unit tests compare.

Python's own values would not do: a timestamp comes back in the zone of whoever asks, and a map has
no order. The texts of two cells of one type are equal exactly when the cells are.
"""

from collections.abc import Sequence
from typing import Any

from rocky.datatypes.types import DataType, MapType, StructField
from rocky.run.engine import Engine, Frame
from rocky.run.literals import quote_name

Cell = str | None
Row = tuple[Cell, ...]


def text_of(name: str, type: DataType) -> str:  # noqa: A002 - the noun of `datatypes`
    """An expression for the text of a column."""
    column = quote_name(name)
    if isinstance(type, MapType):
        entry = f"struct(k AS key, {column}[k] AS value)"
        return f"to_json(transform(array_sort(map_keys({column})), k -> {entry}))"
    if type.kind in ("array", "struct", "variant"):
        return f"to_json({column})"
    if type.kind == "binary":
        return f"hex({column})"
    if type.kind in ("double", "float"):
        # Zero has two signs and one value.
        return f"CAST({column} + CAST(0 AS {type.text}) AS STRING)"
    return f"CAST({column} AS STRING)"


def text_rows(engine: Engine, source: str, columns: Sequence[StructField], limit: int) -> list[Row]:
    """The first rows of a relation as texts; `columns` are all of its columns, in order."""
    names = [f"c{index}" for index in range(len(columns))]
    cells = ", ".join(text_of(name, field.type) for name, field in zip(names, columns, strict=True))
    # By place, because two columns may have one name.
    renamed = f" AS t({', '.join(names)})" if names else ""
    sql = f"SELECT {cells or '1'} FROM {source}{renamed}"  # noqa: S608 - names are quoted
    found = engine.rows(engine.frame(sql), limit)
    return [_row(row) if columns else () for row in found]


def sample_rows(
    engine: Engine, frame: Frame, view: str, limit: int
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """The names of a frame's columns and its first rows as texts, by way of a view."""
    columns = engine.columns(frame)
    engine.views.bind_frame(view, frame)
    try:
        rows = text_rows(engine, quote_name(view), columns, limit)
    finally:
        engine.views.unbind([view])
    return tuple(field.name for field in columns), tuple(rows)


def _row(cells: Sequence[Any]) -> Row:
    return tuple(None if cell is None else str(cell) for cell in cells)
