"""Moments: arithmetic on dates, timestamps, times and intervals.

These rules come before any coercion, on the types as written. What they do not claim (they
return None) goes on as arithmetic on numbers, where a string may turn out to be a date and
come back here: `'2020-01-01' - DATE'2019-01-01'` is an interval.
"""

from typing import Final

from rocky.datatypes.casts import force_nullable
from rocky.datatypes.coercion import promote_string
from rocky.datatypes.mismatch import OperandMismatch, Typing, uncastable, unexpected
from rocky.datatypes.types import (
    CALENDAR_INTERVAL,
    DATE,
    NULL,
    NUMERIC_KINDS,
    STRING,
    STRING_KINDS,
    TIMESTAMP,
    DataType,
    IntervalType,
    interval,
    time,
)

Outcome = Typing | OperandMismatch | None

_DAY: Final = interval("day", "day")
_DAY_TO_SECOND: Final = interval("day", "second")
_YEAR_TO_MONTH: Final = interval("year", "month")
_HOUR_TO_SECOND: Final = interval("hour", "second")
_TIMESTAMPS: Final = frozenset({"timestamp", "timestamp_ntz"})
_MOMENTS: Final = _TIMESTAMPS | {"date", "time"}
_DURATIONS: Final = frozenset({"interval", "interval_dt"})
_INTERVALS: Final = _DURATIONS | {"interval_ym"}
_DAY_COUNTS: Final = frozenset({"tinyint", "smallint", "int"})


def moment_arithmetic(op: str, left: DataType, right: DataType) -> Outcome:
    """The result when the operator works on moments or intervals; None when it does not."""
    if op == "+":
        return _add(left, right)
    if op == "-":
        return _subtract(left, right)
    if op == "*":
        return _multiply(left, right)
    return _scale(op, left, right, 1) if op == "/" and left.kind in _INTERVALS else None


def _add(left: DataType, right: DataType) -> Outcome:
    if left.kind in _MOMENTS and right is NULL:
        return _forced(_add(left, _DAY_TO_SECOND))
    if right.kind in _MOMENTS and left is NULL:
        return _forced(_add(_DAY_TO_SECOND, right))
    if left.kind in _INTERVALS and right.kind in _INTERVALS:
        return _add_intervals(left, right)
    if right.kind in _INTERVALS:
        return _shift_by("+", left, right, 0)
    if left.kind in _INTERVALS:
        return _shift_by("+", right, left, 1)
    if left.kind == "date":
        return _count_days("+", right, 1)
    return _count_days("+", left, 0) if right.kind == "date" else None


def _add_intervals(left: DataType, right: DataType) -> Outcome:
    if left.kind == right.kind:
        return None
    # One of the two is taken for a timestamp, which it is not.
    at_fault = 0 if right.kind in _DURATIONS else 1
    return unexpected("+", left if at_fault == 0 else right, "a timestamp", at_fault)


def _subtract(left: DataType, right: DataType) -> Outcome:  # noqa: PLR0911 - an ordered table
    if left.kind in _MOMENTS and right is NULL:
        return _forced(_subtract(left, left))
    if right.kind in _MOMENTS and left is NULL:
        return _forced(_subtract(right, right))
    if left.kind == "time" and right.kind == "time":
        return _HOUR_TO_SECOND, True
    if left.kind in _INTERVALS and right.kind in _INTERVALS:
        if left.kind == right.kind or right.kind == "interval_ym":
            return None
        return unexpected("-", left, "a timestamp", 0)
    if right.kind in _INTERVALS:
        return _shift_by("-", left, right, 0)
    if left.kind in _TIMESTAMPS or right.kind in _TIMESTAMPS:
        return _subtract_timestamps(left, right)
    if right.kind == "date":
        return _subtract_date(left)
    if left.kind == "date":
        return _date_less(right)
    promoted = promote_string(left, right)
    if promoted is not None and promoted.kind == "time":
        return _HOUR_TO_SECOND, True
    return None


def _date_less(right: DataType) -> Outcome:
    # A plain string is read as a date, a collated one as a number of days.
    return (_DAY, True) if right is STRING else _count_days("-", right, 1)


def _subtract_timestamps(left: DataType, right: DataType) -> Outcome:
    for at, (given, other) in enumerate(((left, right), (right, left))):
        if given.kind in STRING_KINDS:
            return _DAY_TO_SECOND, True
        if given.kind not in _TIMESTAMPS and given.kind != "date":
            return unexpected("-", given, "a timestamp", at)
        if given.kind == "date" and force_nullable(given, other):
            return _DAY_TO_SECOND, True
    return _DAY_TO_SECOND, False


def _subtract_date(left: DataType) -> Outcome:
    if left is DATE:
        return _DAY, False
    if left.kind in STRING_KINDS:
        return _DAY, True
    if left.kind == "time":
        return uncastable("-", left, 0)
    return unexpected("-", left, "a `date`", 0)


def _shift_by(op: str, moment: DataType, by: DataType, at: int) -> Outcome:
    """A moment moved by an interval; `at` is the moment's place."""
    if moment is NULL and by is not CALENDAR_INTERVAL:
        return None
    if moment.kind == "date":
        by_time = by.kind == "interval_dt" and by is not _DAY
        return (TIMESTAMP if by_time else DATE), False
    if moment.kind == "time" and isinstance(by, IntervalType) and by.kind == "interval_dt":
        return _time_shifted(moment, by), True
    if moment.kind in _TIMESTAMPS:
        return moment, False
    if by.kind == "interval_ym":
        return None
    if moment.kind in STRING_KINDS:
        return moment, True
    if moment is NULL:
        return uncastable(op, moment, at) if op == "+" or at == 0 else None
    return unexpected(op, moment, "a timestamp", at)


def _time_shifted(moment: DataType, by: IntervalType) -> DataType:
    return time(6) if by.last == "second" else moment


def _count_days(op: str, days: DataType, at: int) -> Outcome:
    """A date moved by a number of days; `at` is the place of the number."""
    if days.kind in _DAY_COUNTS:
        return DATE, False
    if days.kind in STRING_KINDS and days is not STRING:
        return DATE, True
    return unexpected(op, days, "an `int`, `smallint` or `tinyint` number of days", at)


def _multiply(left: DataType, right: DataType) -> Outcome:
    for kind in ("interval", "interval_ym", "interval_dt"):
        if left.kind == kind:
            return _scale("*", left, right, 1)
        if right.kind == kind:
            return _scale("*", right, left, 0)
    return None


def _scale(op: str, by: DataType, number: DataType, at: int) -> Outcome:
    """An interval times or over a number; `at` is the place of the number."""
    if by is CALENDAR_INTERVAL:
        if number is NULL or number.kind in STRING_KINDS or number.kind in NUMERIC_KINDS:
            return by, True
        return unexpected(op, number, "a `double`", at)
    result = _YEAR_TO_MONTH if by.kind == "interval_ym" else _DAY_TO_SECOND
    if number.kind in NUMERIC_KINDS:
        return result, False
    if number is NULL or number.kind in STRING_KINDS:
        return result, True
    return unexpected(op, number, "a number", at)


def _forced(outcome: Outcome) -> Outcome:
    return (outcome[0], True) if isinstance(outcome, tuple) else outcome
