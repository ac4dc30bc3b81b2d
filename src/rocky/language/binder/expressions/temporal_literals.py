"""Dates, times and intervals in literals: which strings are one, and the interval type of units."""

import re
from datetime import date
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import Expr
from rocky.language.binder.scopes import Scope, bind_expression
from rocky.language.datatypes import types as t

_DATE = re.compile(r"\s*([+-]?\d{4,7})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?\s*", re.DOTALL)
_CLOCK = r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.\d{0,9})?)?)?"
_ZONE = (
    r"\s*(?:Z|UTC|GMT|UT|[+-]\d{1,2}(?::?\d{2})?(?::?\d{2})?"
    r"|(?:UTC|GMT|UT)[+-]\d{1,2}(?::\d{2})?|[A-Za-z_]+(?:/[A-Za-z_+\-0-9]+)+|[A-Z]{3})?"
)
_STAMP = re.compile(
    rf"\s*([+-]?\d{{4,6}})(?:-(\d{{1,2}})(?:-(\d{{1,2}})(?:[ T]+(?:{_CLOCK})?{_ZONE})?)?)?\s*"
)
_TIME = re.compile(rf"\s*{_CLOCK}\s*([AaPp][Mm])?\s*")


def _valid_day(year: str, month: str | None, day: str | None) -> bool:
    # Python's calendar ends at 9999; the leap rule repeats every 400 years.
    try:
        date(2000 + int(year) % 400, int(month or 1), int(day or 1))
    except ValueError:
        return False
    return True


_SPECIAL = frozenset({"epoch", "now", "today", "tomorrow", "yesterday"})


def is_date(text: str) -> bool:
    """Whether `DATE 'text'` is a literal Spark takes."""
    if text.strip().lower() in _SPECIAL:
        return True
    match = _DATE.fullmatch(text)
    return match is not None and _valid_day(match[1], match[2], match[3])


def is_timestamp(text: str) -> bool:
    """Whether `TIMESTAMP 'text'` is a literal Spark takes."""
    if text.strip().lower() in _SPECIAL:
        return True
    match = _STAMP.fullmatch(text)
    if match is None:
        # A time of day alone is today at that time, but only with its marker.
        bare = re.fullmatch(rf"\s*T?{_CLOCK}{_ZONE}\s*", text)
        return bare is not None and ":" in text and _valid_clock(bare.group(1, 2, 3))
    return _valid_day(match[1], match[2], match[3]) and _valid_clock(match.group(4, 5, 6))


def reads_clock(text: str) -> bool:
    """Whether a date or timestamp written so depends on when it is read: `now`, or a time alone."""
    word = text.strip().lower()
    return (word in _SPECIAL and word != "epoch") or (
        ":" in text and _STAMP.fullmatch(text) is None and is_timestamp(text)
    )


def is_time(text: str) -> bool:
    """Whether `TIME 'text'` is a literal Spark takes."""
    match = _TIME.fullmatch(text)
    return match is not None and match[2] is not None and _valid_clock(match.group(1, 2, 3))


def _valid_clock(parts: tuple[str | None, ...]) -> bool:
    hour, minute, second = (int(part or 0) for part in parts)
    return hour < 24 and minute < 60 and second < 60


_UNITS: Final = {
    "year": "year",
    "month": "month",
    "week": "day",
    "day": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "millisecond": "second",
    "microsecond": "second",
}
_ALL: Final = t.YEAR_MONTH_UNITS + t.DAY_TIME_UNITS
_PART = re.compile(r"\s*[+-]?\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+))\s+([A-Za-z]+)")
_SPAN_FORMS: Final = {
    ("year", "month"): r"[+-]?\d+-\d+",
    ("day", "hour"): r"[+-]?\d+ \d{1,2}",
    ("day", "minute"): r"[+-]?\d+ \d{1,2}:\d{1,2}",
    ("day", "second"): r"[+-]?\d+ \d{1,2}:\d{1,2}:\d{1,2}(\.\d{1,9})?",
    ("hour", "minute"): r"[+-]?\d+:\d{1,2}",
    ("hour", "second"): r"[+-]?\d+:\d{1,2}:\d{1,2}(\.\d{1,9})?",
    ("minute", "second"): r"[+-]?\d+:\d{1,2}(\.\d{1,9})?",
}


def unit_of(word: str) -> str | None:
    """The field a written unit belongs to: `weeks` counts as days, `milliseconds` as seconds."""
    low = word.lower()
    return _UNITS.get(low) or _UNITS.get(low.removesuffix("s"))


def interval_type(node: exp.Interval, scope: Scope) -> Expr:
    """The typed interval literal, or a report of what is wrong with it."""
    unit = node.args.get("unit")
    value = node.args.get("this")
    if value.__class__ in (exp.Placeholder, exp.Parameter):
        return bind_expression(value, scope)
    if unit is None:
        parent = node.parent
        if value is not None and parent.__class__ is exp.Add and parent.args["expression"] is node:
            # `INTERVAL 1 DAY + 1`: the library takes the number for a second interval, and a
            # whole number for a string.
            if value.__class__ is exp.Literal and value.name.isdigit():
                return Expr(t.INT, False, value=int(value.name), foldable=True)
            return bind_expression(value, scope)
        if value.__class__ is exp.Neg:
            words = "a sign stands inside the text of an interval, not before it"
            return _bad(words, node, scope, "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION")
        return _from_words(value.name if value is not None else "", node, scope)
    if unit.__class__ is exp.IntervalSpan:
        return _unit_to_unit(node, unit, scope)
    return _of_one_unit(node, unit, scope)


def _of_one_unit(node: exp.Interval, unit: Any, scope: Scope) -> Expr:
    value = node.args.get("this")
    field = unit_of(unit.name)
    if field is None:
        nanos = unit.name.lower().removesuffix("s") == "nanosecond"
        condition = "INVALID_INTERVAL_FORMAT" if nanos else "PARSE_SYNTAX_ERROR"
        return _bad(f"`{unit.name}` is not an interval unit", node, scope, condition)
    if value is not None and not _is_number(value):
        words = "an interval is written with a number, not an expression"
        return _bad(words, node, scope, "PARSE_SYNTAX_ERROR")
    negative, text = _signed(value)
    if not re.fullmatch(r"[+-]?\s*\d*\.?\d*", text) or not any(c.isdigit() for c in text):
        return _bad(f"`{text}` is not a number of `{unit.name.lower()}`", node, scope)
    if "." in text and field != "second":
        return _bad(f"a fraction of `{unit.name.lower()}` is not an interval", node, scope)
    if len(text.partition(".")[2]) > _FRACTION:
        return _bad(f"`{text}` has more than {_FRACTION} digits after the point", node, scope)
    number = int(re.sub(r"[+\s]", "", text).partition(".")[0].rstrip("-") or 0)
    overflow = _overflow(unit.name.lower().removesuffix("s"), -number if negative else number)
    if overflow is not None:
        return _bad(f"`{text}` of `{unit.name.lower()}` is too long", node, scope, overflow)
    return Expr(t.interval(field, field), False, foldable=True)


def _is_number(value: Any) -> bool:
    if value.__class__ is exp.Neg or (value.__class__ is exp.Paren and value.args.get("plus")):
        value = value.args["this"]
    return value.__class__ is exp.Literal


def _signed(value: Any) -> tuple[bool, str]:
    """The written number without a sign before it, and whether that sign is a minus."""
    negative = value.__class__ is exp.Neg
    inner = value.args["this"] if negative or value.__class__ is exp.Paren else value
    return negative, str(inner.args["this"]).strip() if inner is not None else ""


_FRACTION: Final = 9
_MONTHS: Final = {"year": 12, "month": 1}
_MICROSECONDS: Final = {
    "week": 7 * 86_400_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_DAYS: Final = {"week": 7, "day": 1}


def _fits(number: int, bits: int) -> bool:
    return -(1 << bits - 1) <= number < 1 << bits - 1


def _overflow(unit: str, number: int) -> str | None:
    """Spark's condition for more than an interval holds: months and days are of 32 bits."""
    small = number * _MONTHS[unit] if unit in _MONTHS else number * _DAYS.get(unit, 0)
    if not _fits(small, 32):
        return "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION"
    if unit in _MONTHS or _fits(number * _MICROSECONDS[unit], 64):
        return None
    if unit in _DAYS:
        return "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"
    return "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION"


_LARGEST: Final = {"month": 11, "hour": 23, "minute": 59, "second": 59}


def _unit_to_unit(node: exp.Interval, unit: exp.IntervalSpan, scope: Scope) -> Expr:
    first, last = unit.this.name.lower(), unit.expression.name.lower()
    if (first, last) not in _SPAN_FORMS:
        return _bad(f"`{first} to {last}` is not an interval range", node, scope)
    if not _is_number(node.args.get("this")):
        words = "an interval is written with a text, not an expression"
        return _bad(words, node, scope, "PARSE_SYNTAX_ERROR")
    negative, text = _signed(node.args.get("this"))
    if not re.fullmatch(_SPAN_FORMS[first, last], text):
        return _bad(f"`{text}` is not an interval of `{first} to {last}`", node, scope)
    negative ^= text.startswith("-")
    numbers = [int(each) for each in re.findall(r"\d+", text.partition(".")[0])]
    fields = _ALL[_ALL.index(first) : _ALL.index(last) + 1]
    for field, number in list(zip(fields, numbers, strict=True))[1:]:
        if number > _LARGEST[field]:
            words = f"`{number}` in `{text}` is more than {_LARGEST[field]} of `{field}`"
            return _bad(words, node, scope)
    if first == "year":
        months = numbers[0] * 12 + numbers[1]
        whole, bits = -months if negative else months, 32
    else:
        parts = zip(fields, numbers, strict=True)
        micros = sum(number * _MICROSECONDS[field] for field, number in parts)
        whole, bits = -micros if negative else micros, 64
    if not _fits(whole, bits):
        return _bad(f"`{text}` is too long for `{first} to {last}`", node, scope)
    return Expr(t.interval(first, last), False, foldable=True)


def _from_words(text: str, node: exp.Interval, scope: Scope) -> Expr:
    """`INTERVAL '1 day 2 hours'`: the range from the largest to the smallest unit named."""
    body = re.sub(r"(?i)^\s*interval\s+", "", text)
    fields: list[str] = []
    at = 0
    while at < len(body.rstrip()):
        match = _PART.match(body, at)
        field = unit_of(match[2]) if match else None
        fraction = match[1].partition(".")[2] if match else ""
        if match is None or field is None or (fraction and field != "second"):
            return _bad(f"`{text}` is not an interval", node, scope, "INVALID_TYPED_LITERAL")
        if len(fraction) > _FRACTION:
            return _bad(f"`{text}` is not an interval", node, scope, "INVALID_TYPED_LITERAL")
        fields.append(field)
        at = match.end()
    if not fields:
        return _bad(f"`{text}` is not an interval", node, scope, "INVALID_TYPED_LITERAL")
    fields.sort(key=_ALL.index)
    first, last = fields[0], fields[-1]
    if (first in t.YEAR_MONTH_UNITS) != (last in t.YEAR_MONTH_UNITS):
        return _bad("an interval cannot mix months with days", node, scope)
    return Expr(t.interval(first, last), False, foldable=True)


def _bad(
    message: str, node: exp.Interval, scope: Scope, condition: str = "INVALID_INTERVAL_FORMAT"
) -> Expr:
    return scope.binding.error(
        Code.SYNTAX_ERROR,
        message,
        node,
        condition,
        help="for example `INTERVAL '3' DAY` or `INTERVAL '1-6' YEAR TO MONTH`",
    )
