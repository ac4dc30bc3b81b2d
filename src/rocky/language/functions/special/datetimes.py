"""Dates and times: fields, units and moments put together from parts.

What a field gives depends on its name: a second has fractions, a month of an interval is a
tinyint. Units such as DAY arrive as string literals in the first place.
"""

from collections.abc import Sequence
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing

SECONDS: Final = t.decimal(8, 6)

_FIELDS: Final[dict[str, str]] = {
    alias: field
    for field, aliases in {
        "year": "year y years yr yrs",
        "yearofweek": "yearofweek",
        "quarter": "quarter qtr",
        "month": "month mon mons months",
        "week": "week w weeks",
        "day": "day d days",
        "dayofweek": "dayofweek dow",
        "dayofweek_iso": "dayofweek_iso dow_iso",
        "doy": "doy",
        "hour": "hour h hours hr hrs",
        "minute": "minute m min mins minutes",
        "second": "second s sec seconds secs",
    }.items()
    for alias in aliases.split()
}
_OF_INTERVAL: Final[dict[str, DataType]] = {
    "year": t.INT,
    "month": t.TINYINT,
    "day": t.INT,
    "hour": t.TINYINT,
    "minute": t.TINYINT,
    "second": SECONDS,
}


def type_date_part(name: str, args: Sequence[Operand]) -> Typing:
    """`date_part(field, source)`, `datepart` and `extract(field FROM source)`."""
    f.take(name, args, 2)
    label, source = args
    if label.type is t.UNKNOWN:
        return t.UNKNOWN, True
    if not label.foldable:
        raise Refusal(
            "NON_FOLDABLE_ARGUMENT", f"argument 1 of `{name}`, the field, must be a constant", 0
        )
    if label.value is None:
        return t.DOUBLE, True
    if label.value is NO_VALUE:
        return t.UNKNOWN, True
    field = _FIELDS.get(str(label.value).lower())
    if source.type is t.UNKNOWN:
        return (t.UNKNOWN if field is None else t.INT), True
    outcome = None if field is None else _type_field(name, field, source)
    if outcome is not None:
        return outcome
    raise Refusal("INVALID_EXTRACT_FIELD", f"`{label.value}` is not a field of `{source.type}`", 0)


def _type_field(name: str, field: str, source: Operand) -> Typing | None:
    found = source.type
    if isinstance(found, t.IntervalType):
        units = t.YEAR_MONTH_UNITS if found.kind == "interval_ym" else t.DAY_TIME_UNITS
        inside = units[units.index(found.first) : units.index(found.last) + 1]
        return (_OF_INTERVAL[field], source.nullable) if field in inside else None
    if found is t.CALENDAR_INTERVAL:
        kind = _OF_INTERVAL.get(field)
        return None if kind is None else (kind, source.nullable)
    of_clock = field in ("hour", "minute", "second")
    if found.kind == "time":
        return (SECONDS if field == "second" else t.INT, True) if of_clock else None
    family = f.ANY_TIMESTAMP if of_clock else f.DATE
    try:
        fitted = f.fit(name, (source,), (family,))
    except Refusal:
        raise f.unexpected_type(name, 1, family.text, found) from None
    return (SECONDS if field == "second" else t.INT), fitted[0].nullable


_UNITS: Final = frozenset(
    "year quarter month week day dayofyear hour minute second millisecond microsecond".split()
)


def _check_unit(name: str, unit: Operand) -> None:
    if unit.type is not t.UNKNOWN and str(unit.value).lower() not in _UNITS:
        message = f"`{unit.value}` is not a unit for `{name}`"
        raise Refusal("INVALID_PARAMETER_VALUE.DATETIME_UNIT", message, 0)


_SMALL: Final = f.one_of(f.INT, f.exactly(t.SMALLINT), f.exactly(t.TINYINT))


def type_date_add(name: str, args: Sequence[Operand]) -> Typing:
    """`date_add(date, days)`, and with a unit first a timestamp moved by so many units."""
    if len(args) == 3:
        return type_timestamp_add(name, args)
    f.take(name, args, 2)
    days = args[1]
    # Days may be a string or a small integer; nothing wider is narrowed.
    if days.type.kind not in ("int", "smallint", "tinyint", "string", "void", "unknown"):
        raise f.unexpected_type(name, 1, "`int`", days.type)
    if args[0].type.kind == "time":
        raise f.unexpected_type(name, 0, "`date`", args[0].type)
    fitted = f.fit(name, args, (f.DATE, _SMALL))
    return t.DATE, f.any_nullable(fitted)


def type_timestamp_add(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 3)
    _check_unit(name, args[0])
    fitted = f.fit(name, args[1:], (f.BIGINT, f.ANY_TIMESTAMP))
    return fitted[1].type, f.any_nullable(fitted)


def type_date_diff(name: str, args: Sequence[Operand]) -> Typing:
    """`datediff(end, start)` in days, and with a unit first in whole units."""
    if len(args) == 3:
        return type_timestamp_diff(name, args)
    fitted = f.fit(name, args, (f.DATE, f.DATE))
    return t.INT, f.any_nullable(fitted)


def type_timestamp_diff(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 3)
    _check_unit(name, args[0])
    fitted = f.fit(name, args[1:], (f.TIMESTAMP, f.TIMESTAMP))
    return t.BIGINT, f.any_nullable(fitted)


def type_date_trunc(name: str, args: Sequence[Operand]) -> Typing:
    """Always nullable: an unknown unit gives null even in ANSI mode."""
    f.fit(name, args, (f.STRING, f.TIMESTAMP))
    return t.TIMESTAMP, True


# -- moments and intervals from parts ---------------------------------------------------------

_INTERVAL_SECONDS: Final = f.exactly(t.decimal(18, 6))
_CLOCK_SECONDS: Final = f.exactly(t.decimal(16, 6))


def _built(result: DataType, families: Sequence[f.Family], optional: int) -> Rule:
    def rule(name: str, args: Sequence[Operand]) -> Typing:
        fitted = f.fit(name, args, families, optional)
        return result, name.startswith("try_") or f.any_nullable(fitted)

    return rule


def type_make_timestamp(name: str, args: Sequence[Operand]) -> Typing:
    """From six numbers, or from a date and a time; a zone may follow."""
    local = name.endswith("_ntz")
    result = t.TIMESTAMP_NTZ if local else t.TIMESTAMP
    counts = (2, 6) if local else (2, 3, 6, 7) if name.endswith("_ltz") else (1, 2, 3, 6, 7)
    if len(args) not in counts:
        raise f.wrong_count(name, " or ".join(str(count) for count in counts), len(args))
    if len(args) <= 3:
        # A TIME argument of any precision is taken as it is.
        families: tuple[f.Family, ...] = (f.DATE, f.TIME, f.STRING)
    else:
        families = (*(f.INT,) * 5, _CLOCK_SECONDS, f.STRING)
    fitted = (f.expect if len(args) <= 3 else f.fit)(name, args, families[: len(args)])
    unsure = local if len(args) <= 3 else name.startswith("try_")
    return result, unsure or f.any_nullable(fitted)


_INTERVAL_PARTS: Final = (*(f.INT,) * 6, _INTERVAL_SECONDS)

DATETIMES: dict[str, Rule] = {
    "date_part": type_date_part,
    "datepart": type_date_part,
    "extract": type_date_part,
    "date_add": type_date_add,
    "dateadd": type_date_add,
    "timestampadd": type_timestamp_add,
    "date_diff": type_date_diff,
    "datediff": type_date_diff,
    "timestampdiff": type_timestamp_diff,
    "date_trunc": type_date_trunc,
    "make_interval": _built(t.CALENDAR_INTERVAL, _INTERVAL_PARTS, optional=7),
    "try_make_interval": _built(t.CALENDAR_INTERVAL, _INTERVAL_PARTS, optional=6),
    "make_dt_interval": _built(
        t.interval("day", "second"), (*(f.INT,) * 3, _INTERVAL_SECONDS), optional=4
    ),
    "make_ym_interval": _built(t.interval("year", "month"), (f.INT, f.INT), optional=2),
    "make_timestamp": type_make_timestamp,
    "make_timestamp_ltz": type_make_timestamp,
    "make_timestamp_ntz": type_make_timestamp,
    "try_make_timestamp": type_make_timestamp,
    "try_make_timestamp_ltz": type_make_timestamp,
    "try_make_timestamp_ntz": type_make_timestamp,
}
