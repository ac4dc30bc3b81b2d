"""Filters asked of the columns of a file, as Spark would answer them.

Only where Arrow and Spark are sure to agree: whole numbers, decimals, plain strings, flags and
dates, each with a literal of its own kind, and times where a caller gives a time as a value. NaN,
collations and CHAR are left to Spark, and so are times that people write: a session has a zone. A
comparison with a null is neither true nor false, and a row is kept only where the whole is true.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.filters import (
    Both,
    Comparison,
    Either,
    Filter,
    Negation,
    NullTest,
    Operator,
    parse_date,
)

_WHOLE: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
_MOST_DIGITS: Final = 18
_COMPARE: Final[Mapping[Operator, Callable[[Any, Any], Any]]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def can_filter(condition: Filter, schema: Sequence[StructField]) -> bool:
    """Whether a filter can be answered here, for a table of these columns."""
    types = {field.name.lower(): field.type for field in schema}
    return _fits(condition, types)


def _fits(condition: Filter, types: Mapping[str, DataType]) -> bool:
    match condition:
        case Both(left, right) | Either(left, right):
            return _fits(left, types) and _fits(right, types)
        case Negation(inner):
            return _fits(inner, types)
        case NullTest(column):
            return column in types
        case Comparison(column, _, value):
            return column in types and _scalar(value, types[column]) is not None


def _scalar(value: Any, type: DataType) -> Any:  # noqa: A002 - the noun of `datatypes`
    """A literal as a value of a column; None where Spark must say what comparing them means."""
    if isinstance(value, bool):
        return pa.scalar(value) if type.kind == "boolean" else None
    if isinstance(value, datetime):
        # A moment for a column of moments; what a clock shows for one without zones.
        zone = None if value.tzinfo is None else "UTC"
        kind = "timestamp_ntz" if zone is None else "timestamp"
        return pa.scalar(value, pa.timestamp("us", zone)) if type.kind == kind else None
    if type.kind in _WHOLE and isinstance(value, int):
        return pa.scalar(value, pa.int64()) if _digits(value) <= _MOST_DIGITS else None
    if isinstance(type, t.DecimalType) and isinstance(value, int | Decimal):
        fits = _digits(value) <= _MOST_DIGITS and type.precision <= _MOST_DIGITS
        return pa.scalar(Decimal(value)) if fits else None
    if (type is t.STRING or type.kind == "varchar") and isinstance(value, str):
        return pa.scalar(value)
    if type.kind == "date":
        found = parse_date(value) if isinstance(value, str) else value
        return pa.scalar(found) if isinstance(found, date) else None
    return None


def _digits(value: int | Decimal) -> int:
    return len(Decimal(value).as_tuple().digits)


def mask_of(
    condition: Filter, types: Mapping[str, DataType], column_of: Callable[[str], Any]
) -> Any:
    """Which rows a filter keeps, as an array of flags; `column_of` gives a column by its key."""
    match condition:
        case Both(left, right):
            return pc.and_kleene(mask_of(left, types, column_of), mask_of(right, types, column_of))
        case Either(left, right):
            return pc.or_kleene(mask_of(left, types, column_of), mask_of(right, types, column_of))
        case Negation(inner):
            return pc.invert(mask_of(inner, types, column_of))
        case NullTest(column):
            return pc.is_null(column_of(column))
        case Comparison(column, operator, value):
            return _COMPARE[operator](column_of(column), _scalar(value, types[column]))
