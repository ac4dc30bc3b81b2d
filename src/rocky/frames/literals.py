"""Literals and types of a plan as SQL writes them."""

import datetime as dt
import math
from typing import Any, Final

from pyspark.sql.connect.types import UnparsedDataType, proto_schema_to_pyspark_data_type

from rocky.language.datatypes import types as t
from rocky.language.datatypes.text import (
    TypeSyntaxError,
    format_type,
    parse_schema,
    parse_type,
    type_from_json,
)
from rocky.language.datatypes.types import DataType
from rocky.language.names import quote_text

_EPOCH: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the zero of Spark's clock
_MICROSECONDS_A_DAY: Final = 86_400_000_000


class NoSql(ValueError):
    """A literal or a type that has no SQL here; the message says which."""


def type_of(message: Any) -> DataType:
    """The type that a plan has. Raises NoSql."""
    if message.WhichOneof("kind") == "unparsed":
        return parsed_type(message.unparsed.data_type_string)
    found = proto_schema_to_pyspark_data_type(message)
    if isinstance(found, UnparsedDataType):
        return parsed_type(found.data_type_string)
    return json_type(found.jsonValue())


def json_type(value: Any) -> DataType:
    """The type that Spark's JSON describes. Raises NoSql."""
    try:
        return type_from_json(value)
    except (ValueError, KeyError, TypeError) as fault:
        raise NoSql(f"the type {value}") from fault


def parsed_type(text: str) -> DataType:
    """A type written as text, a list of columns included. Raises NoSql."""
    try:
        return parse_type(text)
    except TypeSyntaxError:
        pass
    try:
        return t.struct(tuple(parse_schema(text)))
    except TypeSyntaxError as fault:
        raise NoSql(f"the type `{text}`") from fault


def literal_sql(value: Any) -> str:
    """A literal as SQL. Raises NoSql."""
    kind = value.WhichOneof("literal_type")
    make = _MAKERS.get(kind)
    if make is None:
        raise NoSql(f"a literal of the kind `{kind}`")
    return make(value)


def _null(value: Any) -> str:
    kind = type_of(value.null if value.HasField("null") else value.data_type)
    return "NULL" if kind is t.NULL else f"CAST(NULL AS {format_type(kind)})"


def _number(suffix: str, name: str) -> Any:
    return lambda value: f"{getattr(value, name)}{suffix}"


def _floating(suffix: str, name: str, type_name: str) -> Any:
    def make(value: Any) -> str:
        number = getattr(value, name)
        if math.isnan(number) or math.isinf(number):
            word = "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
            return f"CAST('{word}' AS {type_name})"
        return f"{number!r}{suffix}"

    return make


def _decimal(value: Any) -> str:
    text = value.decimal.value
    return (
        f"CAST('{text}' AS DECIMAL({value.decimal.precision},{value.decimal.scale}))"
        if (value.decimal.HasField("precision") and "E" in text.upper())
        else f"{text}BD"
    )


def _date(value: Any) -> str:
    return f"DATE '{(_EPOCH + dt.timedelta(days=value.date)).date().isoformat()}'"


def _moment(microseconds: int) -> str:
    return (_EPOCH + dt.timedelta(microseconds=microseconds)).isoformat(sep=" ")


def _clock(nanoseconds: int) -> str:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest // 1000:06}"


def _day_time(value: Any) -> str:
    total = value.day_time_interval
    sign, total = ("-" if total < 0 else ""), abs(total)
    days, rest = divmod(total, _MICROSECONDS_A_DAY)
    seconds, micros = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micros:06}"
    return f"INTERVAL '{sign}{days} {clock}' DAY TO SECOND"


def _year_month(value: Any) -> str:
    total = value.year_month_interval
    sign, total = ("-" if total < 0 else ""), abs(total)
    return f"INTERVAL '{sign}{total // 12}-{total % 12}' YEAR TO MONTH"


def _array(value: Any) -> str:
    return f"array({', '.join(literal_sql(each) for each in value.array.elements)})"


_MAKERS: Final = {
    "null": _null,
    "binary": lambda value: f"X'{value.binary.hex()}'",
    "boolean": lambda value: "true" if value.boolean else "false",
    "byte": _number("Y", "byte"),
    "short": _number("S", "short"),
    "integer": _number("", "integer"),
    "long": _number("L", "long"),
    "float": _floating("F", "float", "FLOAT"),
    "double": _floating("D", "double", "DOUBLE"),
    "decimal": _decimal,
    "string": lambda value: quote_text(value.string),
    "date": _date,
    "timestamp": lambda value: f"TIMESTAMP '{_moment(value.timestamp)}Z'",
    "timestamp_ntz": lambda value: f"TIMESTAMP_NTZ '{_moment(value.timestamp_ntz)}'",
    "day_time_interval": _day_time,
    "year_month_interval": _year_month,
    "array": _array,
    "time": lambda value: f"TIME '{_clock(value.time.nano)}'",
}
