"""SQL that Rocky writes itself: names quoted, values as literals, rows compared.

The column that a value is compared with decides what the value means: Spark is never left to guess,
because under ANSI a wrong guess stops the whole query. Two rows are the same when all columns are
null-safely equal; maps are compared by their sorted entries and variants by their text.
"""

import math
from collections.abc import Container, Iterable, Sequence
from datetime import UTC, date, datetime, time
from typing import Any, Final

from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import (
    STRING_KINDS,
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)
from rocky.language.names import quote_name, quote_text


class UnwritableValue(ValueError):
    """A value that has no SQL text beside a column of its type."""


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


FILE_NAME: Final = "substring_index(input_file_name(), '/', -1)"
"""The file a row is read from. `_metadata.file_name` says the same, but no view passes it on."""


def column_list(names: Iterable[str], relation: str | None = None) -> str:
    """`r.a, r.b`."""
    prefix = f"{relation}." if relation else ""
    return ", ".join(prefix + quote_name(name) for name in names)


def same_key(names: Sequence[str], left: str, right: str, without_null: Container[str] = ()) -> str:
    """Whether two rows have one key; a null is equal to a null.

    Of columns `without_null` on one side of a join the plain comparison says the same, and Spark
    looks values up by it for a fraction of the cost.
    """
    return " AND ".join(
        f"{left}.{quote_name(name)} {'=' if name in without_null else '<=>'}"
        f" {right}.{quote_name(name)}"
        for name in names
    )


def same_values(columns: Iterable[StructField], left: str, right: str) -> str:
    """Whether two rows agree in all of some columns."""
    pairs = [
        f"{comparable(f'{left}.{quote_name(each.name)}', each.type)} <=> "
        f"{comparable(f'{right}.{quote_name(each.name)}', each.type)}"
        for each in columns
    ]
    return " AND ".join(pairs) if pairs else "TRUE"


def comparable(expression: str, kind: DataType, depth: int = 0) -> str:
    """The expression, or one that Spark can compare and that tells the same values apart."""
    if not holds_kind(kind, "map", "variant"):
        return expression
    inner = f"x{depth}"
    match kind:
        case MapType(key=key, value=value):
            made = (
                f"struct({comparable(f'{inner}.key', key, depth + 1)} AS k, "
                f"{comparable(f'{inner}.value', value, depth + 1)} AS v)"
            )
            return f"array_sort(transform(map_entries({expression}), {inner} -> {made}))"
        case ArrayType(element=element):
            return f"transform({expression}, {inner} -> {comparable(inner, element, depth + 1)})"
        case StructType(fields=fields):
            parts = (
                f"{comparable(f'({expression}).{quote_name(each.name)}', each.type, depth + 1)}"
                f" AS f{at}"
                for at, each in enumerate(fields)
            )
            return f"IF({expression} IS NULL, NULL, struct({', '.join(parts)}))"
        case _:
            return f"to_json({expression})"


def moment(at: datetime) -> str:
    """A literal of type TIMESTAMP that means one instant in every session."""
    text = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    # strftime leaves out leading zeros of years on some platforms.
    return f"TIMESTAMP '{text.zfill(26)}+00:00'"
