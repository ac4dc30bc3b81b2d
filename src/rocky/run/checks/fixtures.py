"""Fixtures: rows written in TOML as values of the columns they stand for.

TOML knows texts, numbers, flags, dates and times; the column's type decides what is meant. What
does not fit is refused with the column's name, never cast into something else: a test that tests
other rows than its author wrote is worse than none.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.types import (
    STRING_KINDS,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StructField,
    StructType,
    array,
    map_of,
    struct,
)
from rocky.run.engine.protocol import Views

_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


class UnusableFixture(ValueError):
    """Rows of a test that are none of their table; the message names the column."""


def convert_rows(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[StructField], zone: tzinfo
) -> list[dict[str, Any]]:
    """Rows under the columns' own names. A time without a zone is in `zone`.

    Raises UnusableFixture for a column that is not there and for a value that does not fit.
    """
    by_name = {field.name.lower(): field for field in columns}
    found = []
    for row in rows:
        converted: dict[str, Any] = {}
        for name, value in row.items():
            field = by_name.get(name.lower())
            if field is None:
                names = [each.name for each in columns]
                hint = suggestion(name, names) or f"it has {_listed(names)}"
                raise UnusableFixture(f"there is no column `{name}`; {hint}")
            if field.name in converted:
                raise UnusableFixture(f"column `{field.name}` is twice in one row")
            try:
                converted[field.name] = _convert(value, field.type, zone)
            except _Misfit as misfit:
                raise UnusableFixture(f"column `{field.name}`: {misfit}") from misfit
        found.append(converted)
    return found


def nullable_columns(columns: Sequence[StructField]) -> tuple[StructField, ...]:
    """The columns with everything nullable: what a fixture leaves out is null."""
    return tuple(StructField(field.name, _nullable(field.type), nullable=True) for field in columns)


def _nullable(type: DataType) -> DataType:  # noqa: A002 - the noun of `datatypes`
    if isinstance(type, ArrayType):
        return array(_nullable(type.element))
    if isinstance(type, MapType):
        return map_of(_nullable(type.key), _nullable(type.value))
    if isinstance(type, StructType):
        return struct(nullable_columns(type.fields))
    return type


def bind_fixture(
    views: Views, view: str, columns: Sequence[StructField], rows: Sequence[Mapping[str, Any]]
) -> list[StructField]:
    """Bind rows under the columns they name; gives back the columns that are left to be null.

    Columns that nobody names may have types whose values cannot be written: they never travel.
    """
    named = {name for row in rows for name in row}
    present = [field for field in columns if field.name in named]
    if rows and not present:
        present = [field for field in columns if field.type.kind in _READERS][:1]
    absent = [field for field in columns if rows and field not in present]
    views.bind_rows(view, nullable_columns(present if rows else columns), rows)
    return absent


class _Misfit(ValueError):
    """A value that is none of its type."""


def _convert(value: Any, type: DataType, zone: tzinfo) -> Any:  # noqa: A002 - the noun of `datatypes`
    if value is None:
        return None
    convert = _READERS.get(type.kind)
    if convert is None:
        raise _Misfit(f"values of type `{type}` cannot be written in a test")
    return convert(value, type, zone)


def _misfit(value: Any, type: DataType, hint: str = "") -> _Misfit:  # noqa: A002 - as above
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return _Misfit(f"{shown} is not of type `{type}`{hint}")


def _boolean(value: Any, type: DataType, zone: tzinfo) -> bool:  # noqa: A002, ARG001 - a reader
    if isinstance(value, bool):
        return value
    raise _misfit(value, type, ": write true or false")


def _whole(value: Any, type: DataType, zone: tzinfo) -> int:  # noqa: A002, ARG001 - a reader
    if isinstance(value, bool) or not isinstance(value, int):
        raise _misfit(value, type)
    if not -(1 << _BITS[type.kind] - 1) <= value < 1 << _BITS[type.kind] - 1:
        raise _misfit(value, type, ": it is too large")
    return value


def _floating(value: Any, type: DataType, zone: tzinfo) -> float:  # noqa: A002, ARG001 - a reader
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _misfit(value, type)
    return float(value)


def _decimal(value: Any, type: DataType, zone: tzinfo) -> Decimal:  # noqa: A002, ARG001 - a reader
    assert isinstance(type, DecimalType)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _misfit(value, type)
    try:
        number = Decimal(str(value))
        exact = number.quantize(Decimal(1).scaleb(-type.scale))
    except InvalidOperation as failure:
        raise _misfit(value, type) from failure
    if exact != number:
        raise _misfit(value, type, f": it has more than {type.scale} decimal places")
    if abs(exact) >= Decimal(10) ** (type.precision - type.scale):
        raise _misfit(value, type, ": it is too large")
    return exact


def _text(value: Any, type: DataType, zone: tzinfo) -> str:  # noqa: A002, ARG001 - a reader
    if isinstance(value, str):
        return str(value)
    raise _misfit(value, type, ": write it in quotes")


def _date(value: Any, type: DataType, zone: tzinfo) -> date:  # noqa: A002, ARG001 - a reader
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError as failure:
            raise _misfit(value, type, ": write it like 2026-01-31") from failure
    raise _misfit(value, type, ": write it like 2026-01-31")


def _moment(value: Any, type: DataType) -> datetime:  # noqa: A002 - the noun of `datatypes`
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError as failure:
            raise _misfit(value, type, ": write it like 2026-01-31T12:00:00") from failure
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - the caller adds the zone
    raise _misfit(value, type, ": write it like 2026-01-31T12:00:00")


def _timestamp(value: Any, type: DataType, zone: tzinfo) -> datetime:  # noqa: A002 - a reader
    found = _moment(value, type)
    return found if found.tzinfo is not None else found.replace(tzinfo=zone)


def _timestamp_ntz(value: Any, type: DataType, zone: tzinfo) -> datetime:  # noqa: A002, ARG001 - a reader
    found = _moment(value, type)
    if found.tzinfo is not None:
        raise _misfit(value, type, ": it has a time zone")
    return found


def _binary(value: Any, type: DataType, zone: tzinfo) -> bytes:  # noqa: A002, ARG001 - a reader
    try:
        return bytes.fromhex(value)
    except (TypeError, ValueError) as failure:
        raise _misfit(value, type, ": write it in hexadecimal digits") from failure


def _list(value: Any, type: DataType, zone: tzinfo) -> list[Any]:  # noqa: A002 - a reader
    assert isinstance(type, ArrayType)
    if not isinstance(value, list | tuple):
        raise _misfit(value, type, ": write a list")
    return [_convert(each, type.element, zone) for each in value]


def _map(value: Any, type: DataType, zone: tzinfo) -> dict[str, Any]:  # noqa: A002 - a reader
    assert isinstance(type, MapType)
    if not isinstance(value, Mapping):
        raise _misfit(value, type, ": write a table")
    if type.key.kind not in STRING_KINDS:
        raise _Misfit(f"a map whose keys are `{type.key}` cannot be written in a test")
    return {str(key): _convert(each, type.value, zone) for key, each in value.items()}


def _struct(value: Any, type: DataType, zone: tzinfo) -> dict[str, Any]:  # noqa: A002 - a reader
    assert isinstance(type, StructType)
    if not isinstance(value, Mapping):
        raise _misfit(value, type, ": write a table")
    try:
        (found,) = convert_rows([value], type.fields, zone)
    except UnusableFixture as failure:
        raise _Misfit(str(failure)) from failure
    return {field.name: found.get(field.name) for field in type.fields}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) if names else "no columns"


_READERS: Final[Mapping[str, Callable[[Any, DataType, tzinfo], Any]]] = {
    "boolean": _boolean,
    **dict.fromkeys(_BITS, _whole),
    "float": _floating,
    "double": _floating,
    "decimal": _decimal,
    "string": _text,
    "char": _text,
    "varchar": _text,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp_ntz": _timestamp_ntz,
    "binary": _binary,
    "array": _list,
    "map": _map,
    "struct": _struct,
}


def close_numbers(first: str, second: str, *, single: bool) -> bool:
    """Whether two texts of floating numbers mean one: sums differ in the last digits."""
    try:
        return math.isclose(float(first), float(second), rel_tol=1e-5 if single else 1e-9)
    except ValueError:
        return False
