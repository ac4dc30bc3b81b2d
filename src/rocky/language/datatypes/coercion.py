"""Coercion: the type several operands meet in, and which casts Spark makes unasked.

ANSI mode promotes a string to the other side's type (`'1' + 2` is a bigint); legacy mode does
the opposite in most places. Every function here is about ANSI unless told `ansi=False`.
"""

from collections.abc import Iterable
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import (
    COMPLEX_KINDS,
    expression_type,
    force_nullable,
    merge_parts,
)
from rocky.language.datatypes.safe_casts import store_assignable
from rocky.language.datatypes.types import DataType

Family = str | DataType | tuple["str | DataType", ...]
"""What a function accepts: a family name, one type, or the first that fits of several."""

_NUMBER_ORDER: Final = ("tinyint", "smallint", "int", "bigint", "float", "double")
_DATETIMES: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_ANSI_INTERVALS: Final = frozenset({"interval_ym", "interval_dt"})

# -- two types meet ---------------------------------------------------------------------------

_WIDEST: dict[tuple[DataType, DataType], DataType | None] = {}
_WIDEST_LEGACY: dict[tuple[DataType, DataType], DataType | None] = {}


def widest_type(a: DataType, b: DataType, *, ansi: bool = True) -> DataType | None:
    """The type both sides are cast to in CASE, COALESCE, IN, UNION, arrays; None when none."""
    if a is b:
        return a
    memo = _WIDEST if ansi else _WIDEST_LEGACY
    key = (a, b)
    if key in memo:
        return memo[key]
    found = memo[key] = _widest(expression_type(a), expression_type(b), ansi=ansi)
    return found


def widest_of(types: Iterable[DataType], *, ansi: bool = True) -> DataType | None:
    """The widest type of many, met one after the other from the left."""
    found: DataType = t.NULL
    for each in types if ansi else _strings_first(types):
        wider = widest_type(found, each, ansi=ansi)
        if wider is None:
            return None
        found = wider
    return found


def _strings_first(types: Iterable[DataType]) -> list[DataType]:
    # Legacy string promotion is not associative, so Spark meets the strings before the rest.
    listed = list(types)
    return sorted(listed, key=lambda each: not _holds_string(each))


def _holds_string(given: DataType) -> bool:
    return given.kind in t.STRING_KINDS or (
        isinstance(given, t.ArrayType) and _holds_string(given.element)
    )


def widest_without_string(a: DataType, b: DataType, *, ansi: bool = True) -> DataType | None:
    """As `widest_type`, but a string never meets another type (GREATEST, LEAST)."""
    a, b = expression_type(a), expression_type(b)
    return (
        tightest_type(a, b, ansi=ansi)
        or _widest_decimal(a, b)
        or merge_parts(a, b, lambda x, y: widest_without_string(x, y, ansi=ansi))
    )


def inline_table_type(types: Iterable[DataType]) -> DataType | None:
    """The type of a column of VALUES; Spark keeps to the legacy rules here in both modes."""
    found: DataType = t.NULL
    for each in types:
        wider = widest_without_string(found, each, ansi=False)
        if wider is None:
            return None
        found = wider
    return found


def set_operation_type(a: DataType, b: DataType, *, ansi: bool = True) -> DataType | None:
    """The type of a column of UNION, INTERSECT or EXCEPT."""
    return widest_type(a, b, ansi=ansi)


def tightest_type(a: DataType, b: DataType, *, ansi: bool = True) -> DataType | None:
    """The type both sides reach without loss and without leaving their family."""
    if a is b:
        return a
    return _tightest(expression_type(a), expression_type(b), ansi=ansi)


def _widest(a: DataType, b: DataType, *, ansi: bool) -> DataType | None:
    return (
        _tightest(a, b, ansi=ansi)
        or _widest_decimal(a, b)
        or (promote_string(a, b) if ansi else _demote_to_string(a, b))
        or merge_parts(a, b, lambda x, y: widest_type(x, y, ansi=ansi))
    )


def _tightest(a: DataType, b: DataType, *, ansi: bool) -> DataType | None:
    if a is b or b is t.NULL:
        return a
    if a is t.NULL:
        return b
    if a is t.UNKNOWN or b is t.UNKNOWN:
        return t.UNKNOWN
    if a.kind in t.NUMERIC_KINDS and b.kind in t.NUMERIC_KINDS:
        return _tightest_number(a, b, ansi=ansi)
    if a.kind in _DATETIMES and b.kind in _DATETIMES:
        return t.TIMESTAMP if "timestamp" in (a.kind, b.kind) else t.TIMESTAMP_NTZ
    if isinstance(a, t.IntervalType) and isinstance(b, t.IntervalType):
        return _widest_interval(a, b)
    return merge_parts(a, b, lambda x, y: tightest_type(x, y, ansi=ansi))


def _tightest_number(a: DataType, b: DataType, *, ansi: bool) -> DataType | None:
    if isinstance(a, t.DecimalType) or isinstance(b, t.DecimalType):
        exact, other = (a, b) if isinstance(a, t.DecimalType) else (b, a)
        if (
            isinstance(exact, t.DecimalType)
            and other.kind in t.INTEGRAL_KINDS
            and t.is_wider_decimal(exact, t.decimal_for(other))
        ):
            return exact
        return None
    wider = a if _NUMBER_ORDER.index(a.kind) > _NUMBER_ORDER.index(b.kind) else b
    # An integer does not fit a float without losing digits, so ANSI mode goes on to double.
    return t.DOUBLE if ansi and wider is t.FLOAT else wider


def _widest_interval(a: t.IntervalType, b: t.IntervalType) -> DataType | None:
    if a.kind != b.kind:
        return None
    units = t.YEAR_MONTH_UNITS if a.kind == "interval_ym" else t.DAY_TIME_UNITS
    return t.interval(min(a.first, b.first, key=units.index), max(a.last, b.last, key=units.index))


def _widest_decimal(a: DataType, b: DataType) -> DataType | None:
    if not isinstance(a, t.DecimalType) and not isinstance(b, t.DecimalType):
        return None
    if a.kind not in t.NUMERIC_KINDS or b.kind not in t.NUMERIC_KINDS:
        return None
    if a.kind in _NUMBER_ORDER[4:] or b.kind in _NUMBER_ORDER[4:]:
        return t.DOUBLE
    return t.wider_decimal(t.decimal_for(a), t.decimal_for(b))


def promote_string(a: DataType, b: DataType) -> DataType | None:
    """The type a string is cast to beside the other operand (ANSI); None when neither is one."""
    if b.kind in t.STRING_KINDS:
        a, b = b, a
    if a.kind not in t.STRING_KINDS:
        return None
    if b.kind in t.STRING_KINDS or b.kind in _ANSI_INTERVALS or b.kind in COMPLEX_KINDS:
        return a if a is b else None
    if b is t.NULL:
        return a
    if b.kind in t.INTEGRAL_KINDS:
        return t.BIGINT
    if b.kind in t.FRACTIONAL_KINDS:
        return t.DOUBLE
    # Calendar intervals are not atomic in Spark, so no string becomes one unasked.
    return None if b is t.CALENDAR_INTERVAL else b


def _demote_to_string(a: DataType, b: DataType) -> DataType | None:
    if b.kind in t.STRING_KINDS:
        a, b = b, a
    if a.kind not in t.STRING_KINDS or b.kind in t.STRING_KINDS or b.kind in COMPLEX_KINDS:
        return None
    return None if b.kind in {"binary", "boolean", "interval"} else a


def same_type(a: DataType, b: DataType) -> bool:
    """Whether two types are equal but for the nullability of their parts."""
    if a is b:
        return True
    if isinstance(a, t.ArrayType) and isinstance(b, t.ArrayType):
        return same_type(a.element, b.element)
    if isinstance(a, t.MapType) and isinstance(b, t.MapType):
        return same_type(a.key, b.key) and same_type(a.value, b.value)
    if isinstance(a, t.StructType) and isinstance(b, t.StructType):
        return len(a.fields) == len(b.fields) and all(
            x.name.lower() == y.name.lower() and same_type(x.type, y.type)
            for x, y in zip(a.fields, b.fields, strict=True)
        )
    return False


# -- one type is asked to fit ------------------------------------------------------------------

_FAMILY_KINDS: Final[dict[str, frozenset[str]]] = {
    "numeric": t.NUMERIC_KINDS,
    "integral": t.INTEGRAL_KINDS,
    "decimal": frozenset({"decimal"}),
    "string": t.STRING_KINDS,
    "timestamps": frozenset({"timestamp", "timestamp_ntz"}),
    "time": frozenset({"time"}),
    "array": frozenset({"array"}),
    "map": frozenset({"map"}),
    "struct": frozenset({"struct"}),
    "ansi_interval": _ANSI_INTERVALS,
    "interval_dt": frozenset({"interval_dt"}),
    "interval_ym": frozenset({"interval_ym"}),
}
_FAMILY_DEFAULTS: Final[dict[str, DataType]] = {
    "numeric": t.DOUBLE,
    "integral": t.INT,
    "decimal": t.decimal(t.MAX_PRECISION, 18),
    "string": t.STRING,
    "timestamps": t.TIMESTAMP,
    "time": t.time(6),
    "array": t.array(t.NULL),
    "map": t.map_of(t.NULL, t.NULL),
    "struct": t.struct(()),
    "ansi_interval": t.interval("day", "second"),
    "interval_dt": t.interval("day", "second"),
    "interval_ym": t.interval("year", "month"),
}
_STRING_REACHES: Final = frozenset({"numeric", "decimal", "timestamps"})


def implicit_cast(source: DataType, target: Family, *, ansi: bool = True) -> DataType | None:
    """The type an argument is cast to where `target` is expected; None when it does not fit."""
    source = expression_type(source)
    if source is t.UNKNOWN or target == "any":
        return source
    if isinstance(target, tuple):
        if any(_accepts(each, source) for each in target):
            return source
        reached = (implicit_cast(source, each, ansi=ansi) for each in target)
        return next((found for found in reached if found is not None), None)
    if _accepts(target, source):
        return source
    if source.kind in t.NUMERIC_KINDS and target == "decimal":
        return t.decimal_for(source)
    default = _FAMILY_DEFAULTS[target] if isinstance(target, str) else expression_type(target)
    if default is t.UNKNOWN or source is t.NULL:
        return default
    if source.kind in t.STRING_KINDS and default.kind in t.STRING_KINDS:
        # Functions that refuse a collation do not have it cast away behind the author's back.
        return None
    return _implicit(source, target, default) if ansi else _legacy_implicit(source, target, default)


def _accepts(target: str | DataType, source: DataType) -> bool:
    if isinstance(target, str):
        return target == "any" or source.kind in _FAMILY_KINDS[target]
    return same_type(source, expression_type(target))


def _implicit(source: DataType, target: str | DataType, default: DataType) -> DataType | None:
    if source.kind in t.STRING_KINDS:
        concrete = not isinstance(target, str)
        atomic = default.kind not in COMPLEX_KINDS | {"interval", "void"}
        return default if (concrete and atomic) or target in _STRING_REACHES else None
    if target == "integral":
        return None
    return default if store_assignable(source, default) else None


def _legacy_implicit(
    source: DataType, target: str | DataType, default: DataType
) -> DataType | None:
    moments = _DATETIMES | {"time"}
    concrete = not isinstance(target, str)
    if source.kind in t.STRING_KINDS:
        reached = default.kind in t.NUMERIC_KINDS | moments | {"binary"}
        return default if (concrete and reached) or target in _STRING_REACHES else None
    if default.kind in t.STRING_KINDS:
        return default if source.kind not in COMPLEX_KINDS | {"interval"} else None
    if source.kind in t.NUMERIC_KINDS and concrete and default.kind in t.NUMERIC_KINDS:
        return default
    if source.kind in moments and default.kind in moments:
        return default if concrete or target == "timestamps" else None
    return _legacy_implicit_parts(source, default) if concrete else None


def _legacy_implicit_parts(source: DataType, target: DataType) -> DataType | None:
    if isinstance(source, t.ArrayType) and isinstance(target, t.ArrayType):
        element = implicit_cast(source.element, target.element, ansi=False)
        lossy = source.contains_null or force_nullable(source.element, target.element)
        if element is None or (lossy and not target.contains_null):
            return None
        return t.array(element, target.contains_null)
    if isinstance(source, t.MapType) and isinstance(target, t.MapType):
        key = implicit_cast(source.key, target.key, ansi=False)
        value = implicit_cast(source.value, target.value, ansi=False)
        lossy = source.contains_null or force_nullable(source.value, target.value)
        if key is None or value is None or force_nullable(source.key, target.key):
            return None
        return (
            t.map_of(key, value, target.contains_null)
            if target.contains_null or not lossy
            else None
        )
    return None
