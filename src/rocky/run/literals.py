"""Names and values as Spark SQL text: quoted, escaped and of the type they are compared with.

A value from TOML has few types; the column it is compared with decides what it means. A text beside
a date is a date, a number beside a text is that text: Spark is never left to guess, because under
ANSI a wrong guess stops the whole query.
"""

import math
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any, Final

from rocky.datatypes.types import STRING_KINDS, DataType

_BACKSLASH: Final = "\\"


class UnwritableValue(ValueError):
    """A value that has no SQL text beside a column of its type."""


def quote_name(name: str) -> str:
    """An identifier in backticks."""
    return f"`{name.replace('`', '``')}`"


def quote_text(text: str) -> str:
    """A string literal: the text itself, whatever is in it."""
    escaped = text.replace(_BACKSLASH, _BACKSLASH * 2).replace("'", f"{_BACKSLASH}'")
    return f"'{escaped}'"


def literal(value: Any, type: DataType | None) -> str:  # noqa: A002 - the noun of datatypes
    """A TOML value as SQL beside a column of a type; None when the type is not known.

    Raises UnwritableValue for lists and tables.
    """
    if isinstance(value, list | tuple | dict):
        raise UnwritableValue("a list or a table cannot be compared with a column")
    if type is not None and type.kind in STRING_KINDS:
        return quote_text(_plain(value))
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str) and type is None:
        return quote_text(value)
    kind = type.text if type is not None else _kind_of(value)
    return f"CAST({quote_text(_plain(value))} AS {kind})"


def literals(values: Sequence[Any], type: DataType | None) -> str:  # noqa: A002 - as above
    return ", ".join(literal(value, type) for value in values)


def _plain(value: Any) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _number(value: float) -> str:
    """A number from TOML: exact as written, because Spark reads `0.1` as a decimal."""
    if math.isnan(value) or math.isinf(value):
        return f"CAST({quote_text(str(value))} AS DOUBLE)"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def _kind_of(value: Any) -> str:
    if isinstance(value, datetime):
        return "TIMESTAMP" if value.tzinfo is not None else "TIMESTAMP_NTZ"
    return "DATE" if isinstance(value, date) else "TIME"
