"""Spark's data types as interned values: equal types are the same object.

Build composite types with `decimal`, `array`, `map_of`, `struct` and friends, never by calling the
classes: interning is what makes `is` a correct and cheap equality. `str()` is Spark's
simpleString. `UNKNOWN` is not a Spark type: it stands where Rocky cannot know, and every rule lets
it pass in silence. Decimals are cut to 38 digits in two ways: a common type (`wider_decimal`)
drops fraction digits, an operation (`decimal_result`) keeps up to six of them.

No type nests deeper than `MAX_DEPTH` or prints longer than `MAX_TEXT`: two fields of the same
struct, thirty times over, would print a thousand million names. Making one raises `TypeTooLarge`.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

MAX_DEPTH: Final = 100
"""Arrays, maps and structs inside each other."""
MAX_TEXT: Final = 250_000
"""Characters of a type's text: some ten thousand fields."""


class TypeTooLarge(ValueError):
    """A type that nests too deeply or has too many fields to work with."""


class DataType:
    """A Spark type. `kind` names the family and is what rules dispatch on.

    `depth` counts the arrays, maps and structs inside each other.
    """

    __slots__ = ("depth", "kind", "text")

    def __init__(self, kind: str, text: str, depth: int = 0) -> None:
        self.kind = kind
        self.text = text
        self.depth = depth

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.text}>"

    def __reduce__(self) -> tuple[Callable[..., "DataType"], tuple[Any, ...]]:
        return atom, (self.kind,)


class DecimalType(DataType):
    """A fixed-point number of `precision` digits, `scale` of them after the point."""

    __slots__ = ("precision", "scale")

    def __init__(self, precision: int, scale: int) -> None:
        super().__init__("decimal", f"decimal({precision},{scale})")
        self.precision = precision
        self.scale = scale

    def __reduce__(self) -> tuple[Callable[..., DataType], tuple[Any, ...]]:
        return decimal, (self.precision, self.scale)


class StringType(DataType):
    """A string: plain, collated, or with the length of CHAR/VARCHAR (kind `char`, `varchar`)."""

    __slots__ = ("collation", "length")

    def __init__(self, kind: str, text: str, collation: str, length: int | None) -> None:
        super().__init__(kind, text)
        self.collation = collation
        self.length = length

    def __reduce__(self) -> tuple[Callable[..., DataType], tuple[Any, ...]]:
        if self.length is None:
            return string, (self.collation,)
        return (char if self.kind == "char" else varchar), (self.length,)


class TimeType(DataType):
    """A time of day with a number of fractional digits."""

    __slots__ = ("precision",)

    def __init__(self, precision: int) -> None:
        super().__init__("time", f"time({precision})")
        self.precision = precision

    def __reduce__(self) -> tuple[Callable[..., DataType], tuple[Any, ...]]:
        return time, (self.precision,)


class IntervalType(DataType):
    """An ANSI interval; `kind` is `interval_ym` or `interval_dt`, the fields are unit names."""

    __slots__ = ("first", "last")

    def __init__(self, kind: str, first: str, last: str) -> None:
        super().__init__(
            kind, f"interval {first}" if first == last else f"interval {first} to {last}"
        )
        self.first = first
        self.last = last

    def __reduce__(self) -> tuple[Callable[..., DataType], tuple[Any, ...]]:
        return interval, (self.first, self.last)


class ArrayType(DataType):
    """An array; `contains_null` says whether elements may be null."""

    __slots__ = ("contains_null", "element")

    def __init__(self, element: DataType, contains_null: bool) -> None:  # noqa: FBT001 - positional as in Spark
        depth = _depth_around((element,))
        super().__init__("array", f"array<{element.text}>", depth)
        self.element = element
        self.contains_null = contains_null

    def __reduce__(self) -> tuple[Callable[..., DataType], tuple[Any, ...]]:
        return array, (self.element, self.contains_null)


class MapType(DataType):
    """A map; keys are never null, `contains_null` is about the values."""

    __slots__ = ("contains_null", "key", "value")

    def __init__(self, key: DataType, value: DataType, contains_null: bool) -> None:  # noqa: FBT001 - positional as in Spark
        depth = _depth_around((key, value))
        super().__init__("map", f"map<{key.text},{value.text}>", depth)
        self.key = key
        self.value = value
        self.contains_null = contains_null

    def __reduce__(self) -> tuple[Callable[..., DataType], tuple[Any, ...]]:
        return map_of, (self.key, self.value, self.contains_null)


class StructField:
    """One field of a struct. Compared by identity of its type and by exact name."""

    __slots__ = ("name", "nullable", "type")

    def __init__(self, name: str, type: DataType, nullable: bool) -> None:  # noqa: A002, FBT001 - the field's own words
        self.name = name
        self.type = type
        self.nullable = nullable

    def __reduce__(self) -> tuple[Callable[..., "StructField"], tuple[Any, ...]]:
        return StructField, (self.name, self.type, self.nullable)


class StructType(DataType):
    """A struct: fields in order, names compared without case."""

    __slots__ = ("fields",)

    def __init__(self, fields: tuple[StructField, ...]) -> None:
        depth = _depth_around([f.type for f in fields])
        text = "struct<" + ",".join(f"{f.name}:{f.type.text}" for f in fields) + ">"
        super().__init__("struct", text, depth)
        self.fields = fields

    def __reduce__(self) -> tuple[Callable[..., DataType], tuple[Any, ...]]:
        return struct, (self.fields,)


def _depth_around(parts: Sequence[DataType]) -> int:
    """The depth of a type made of others. Raises TypeTooLarge, before anything large is made."""
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > MAX_DEPTH:
        raise TypeTooLarge(f"a type nests deeper than {MAX_DEPTH} levels")
    if sum(len(part.text) for part in parts) > MAX_TEXT:
        raise TypeTooLarge(f"a type is longer than {MAX_TEXT:,} characters")
    return depth


_ATOMS: Final[dict[str, DataType]] = {
    kind: DataType(kind, text)
    for kind, text in {
        "void": "void",
        "boolean": "boolean",
        "tinyint": "tinyint",
        "smallint": "smallint",
        "int": "int",
        "bigint": "bigint",
        "float": "float",
        "double": "double",
        "binary": "binary",
        "date": "date",
        "timestamp": "timestamp",
        "timestamp_ntz": "timestamp_ntz",
        "interval": "interval",
        "variant": "variant",
        "unknown": "unknown",
    }.items()
}


def atom(kind: str) -> DataType:
    """The one instance of an atomic type."""
    return _ATOMS[kind]


NULL: Final = atom("void")
BOOLEAN: Final = atom("boolean")
TINYINT: Final = atom("tinyint")
SMALLINT: Final = atom("smallint")
INT: Final = atom("int")
BIGINT: Final = atom("bigint")
FLOAT: Final = atom("float")
DOUBLE: Final = atom("double")
BINARY: Final = atom("binary")
DATE: Final = atom("date")
TIMESTAMP: Final = atom("timestamp")
TIMESTAMP_NTZ: Final = atom("timestamp_ntz")
CALENDAR_INTERVAL: Final = atom("interval")
VARIANT: Final = atom("variant")
UNKNOWN: Final = atom("unknown")

_DECIMALS: dict[tuple[int, int], DecimalType] = {}
_STRINGS: dict[tuple[str, str, int | None], StringType] = {}
_TIMES: dict[int, TimeType] = {}
_INTERVALS: dict[tuple[str, str], IntervalType] = {}
_ARRAYS: dict[tuple[DataType, bool], ArrayType] = {}
_MAPS: dict[tuple[DataType, DataType, bool], MapType] = {}
_STRUCTS: dict[tuple[tuple[str, DataType, bool], ...], StructType] = {}

MAX_PRECISION: Final = 38
YEAR_MONTH_UNITS: Final = ("year", "month")
DAY_TIME_UNITS: Final = ("day", "hour", "minute", "second")


def decimal(precision: int, scale: int = 0) -> DecimalType:
    key = (precision, scale)
    found = _DECIMALS.get(key)
    if found is None:
        found = _DECIMALS[key] = DecimalType(precision, scale)
    return found


def string(collation: str = "UTF8_BINARY") -> StringType:
    return _sized_string("string", collation, None)


def char(length: int) -> StringType:
    return _sized_string("char", "UTF8_BINARY", length)


def varchar(length: int) -> StringType:
    return _sized_string("varchar", "UTF8_BINARY", length)


def _sized_string(kind: str, collation: str, length: int | None) -> StringType:
    key = (kind, collation, length)
    found = _STRINGS.get(key)
    if found is None:
        text = kind if length is None else f"{kind}({length})"
        if collation != "UTF8_BINARY":
            text = f"{text} collate {collation}"
        found = _STRINGS[key] = StringType(kind, text, collation, length)
    return found


STRING: Final = string()


def time(precision: int = 6) -> TimeType:
    found = _TIMES.get(precision)
    if found is None:
        found = _TIMES[precision] = TimeType(precision)
    return found


def interval(first: str, last: str) -> IntervalType:
    """An ANSI interval from one unit to another of the same family."""
    key = (first, last)
    found = _INTERVALS.get(key)
    if found is None:
        kind = "interval_ym" if first in YEAR_MONTH_UNITS else "interval_dt"
        found = _INTERVALS[key] = IntervalType(kind, first, last)
    return found


def array(element: DataType, contains_null: bool = True) -> ArrayType:  # noqa: FBT001, FBT002 - positional as in Spark
    key = (element, contains_null)
    found = _ARRAYS.get(key)
    if found is None:
        found = _ARRAYS[key] = ArrayType(element, contains_null)
    return found


def map_of(key: DataType, value: DataType, contains_null: bool = True) -> MapType:  # noqa: FBT001, FBT002 - positional as in Spark
    at = (key, value, contains_null)
    found = _MAPS.get(at)
    if found is None:
        found = _MAPS[at] = MapType(key, value, contains_null)
    return found


def struct(fields: tuple[StructField, ...]) -> StructType:
    key = tuple((f.name, f.type, f.nullable) for f in fields)
    found = _STRUCTS.get(key)
    if found is None:
        found = _STRUCTS[key] = StructType(fields)
    return found


def is_numeric(type: DataType) -> bool:  # noqa: A002 - the noun of this package
    return type.kind in NUMERIC_KINDS


INTEGRAL_KINDS: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
FRACTIONAL_KINDS: Final = frozenset({"float", "double", "decimal"})
NUMERIC_KINDS: Final = INTEGRAL_KINDS | FRACTIONAL_KINDS
STRING_KINDS: Final = frozenset({"string", "char", "varchar"})
DATETIME_KINDS: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
INTERVAL_KINDS: Final = frozenset({"interval", "interval_ym", "interval_dt"})


INTEGRAL_DIGITS: Final = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_MIN_ADJUSTED_SCALE: Final = 6


def decimal_for(given: DataType) -> DecimalType:
    """The decimal that holds every value of a number type (floats get Spark's approximation)."""
    if isinstance(given, DecimalType):
        return given
    if given.kind == "float":
        return decimal(14, 7)
    if given.kind == "double":
        return decimal(30, 15)
    return decimal(INTEGRAL_DIGITS[given.kind], 0)


def is_wider_decimal(wide: DecimalType, narrow: DecimalType) -> bool:
    """Whether `wide` has room for every value of `narrow`, digits and fraction."""
    return (
        wide.precision - wide.scale >= narrow.precision - narrow.scale
        and wide.scale >= narrow.scale
    )


def wider_decimal(a: DecimalType, b: DecimalType) -> DecimalType:
    """The decimal with room for both; past 38 digits the fraction gives way."""
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    return decimal(MAX_PRECISION, max(0, scale - (precision - MAX_PRECISION)))


def decimal_result(op: str, left: DecimalType, right: DecimalType) -> DecimalType:
    """The decimal of an operation on two decimals, cut to 38 digits as Spark cuts it."""
    p1, s1, p2, s2 = left.precision, left.scale, right.precision, right.scale
    if op in {"+", "-"}:
        scale = max(s1, s2)
        return _adjusted(max(p1 - s1, p2 - s2) + scale + 1, scale)
    if op == "*":
        return _adjusted(p1 + p2 + 1, s1 + s2)
    if op == "/":
        scale = max(_MIN_ADJUSTED_SCALE, s1 + p2 + 1)
        return _adjusted(p1 - s1 + s2 + scale, scale)
    scale = max(s1, s2)
    return _adjusted(min(p1 - s1, p2 - s2) + scale, scale)


def _adjusted(precision: int, scale: int) -> DecimalType:
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    whole = precision - scale
    return decimal(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, _MIN_ADJUSTED_SCALE)))
