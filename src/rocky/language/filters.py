"""Filters: conditions simple enough to be asked of a file's columns without Spark.

They compare columns with literals, ask for nulls, and join such parts with AND, OR and NOT.
"""

import re
from datetime import date
from decimal import Decimal
from typing import Final, Literal, NamedTuple

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
Value = bool | int | Decimal | str | date


class Comparison(NamedTuple):
    """A column, by its lower-case name, compared with a literal."""

    column: str
    operator: Operator
    value: Value


class NullTest(NamedTuple):
    """Whether a column is null."""

    column: str


class Both(NamedTuple):
    left: "Filter"
    right: "Filter"


class Either(NamedTuple):
    left: "Filter"
    right: "Filter"


class Negation(NamedTuple):
    inner: "Filter"


Filter = Comparison | NullTest | Both | Either | Negation


def columns_in(condition: Filter) -> frozenset[str]:
    """The columns that a filter looks at, by lower-case name."""
    match condition:
        case Both(left, right) | Either(left, right):
            return columns_in(left) | columns_in(right)
        case Negation(inner):
            return columns_in(inner)
        case Comparison() | NullTest():
            return frozenset({condition.column})


_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_date(text: str) -> date | None:
    """The date of a text `yyyy-MM-dd`; Spark reads other texts as dates too, and is left to it."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None
