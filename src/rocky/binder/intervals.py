"""Interval literals: from the units written to the ANSI interval type they make."""

import re
from typing import Final

from sqlglot import exp

from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import Expr
from rocky.binder.scopes import Scope
from rocky.datatypes import types as t
from rocky.diagnostics import Code

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
_PART = re.compile(r"\s*[+-]?\s*[0-9]*\.?[0-9]*\s+([A-Za-z]+)")
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
    if unit is None:
        parent = node.parent
        if value is not None and parent.__class__ is exp.Add and parent.args["expression"] is node:
            # `INTERVAL 1 DAY + 1`: the library takes the number for a second interval, and a
            # whole number for a string.
            if value.__class__ is exp.Literal and value.name.isdigit():
                return Expr(t.INT, False, value=int(value.name), foldable=True)
            return bind_expression(value, scope)
        return _from_words(value.name if value is not None else "", node, scope)
    if unit.__class__ is exp.IntervalSpan:
        return _unit_to_unit(node, unit, scope)
    field = unit_of(unit.name)
    if field is None:
        return _bad(f"`{unit.name}` is not an interval unit", node, scope)
    if value is not None and value.__class__ not in (exp.Literal, exp.Neg):
        return _bad("an interval is written with a number, not an expression", node, scope)
    if value is not None and value.__class__ is exp.Literal:
        text = str(value.args["this"]).strip()
        if not re.fullmatch(r"[+-]?\s*\d*\.?\d*", text) or not any(c.isdigit() for c in text):
            return _bad(f"`{text}` is not a number of `{unit.name.lower()}`", node, scope)
        if "." in text and field != "second":
            return _bad(f"a fraction of `{unit.name.lower()}` is not an interval", node, scope)
    return Expr(t.interval(field, field), False, foldable=True)


def _unit_to_unit(node: exp.Interval, unit: exp.IntervalSpan, scope: Scope) -> Expr:
    first, last = unit.this.name.lower(), unit.expression.name.lower()
    if (first, last) not in _SPAN_FORMS:
        return _bad(f"`{first} to {last}` is not an interval range", node, scope)
    value = node.args.get("this")
    text = value.name.strip() if value is not None else ""
    if not re.fullmatch(_SPAN_FORMS[first, last], text):
        return _bad(f"`{text}` is not an interval of `{first} to {last}`", node, scope)
    return Expr(t.interval(first, last), False, foldable=True)


def _from_words(text: str, node: exp.Interval, scope: Scope) -> Expr:
    """`INTERVAL '1 day 2 hours'`: the range from the largest to the smallest unit named."""
    body = re.sub(r"(?i)^\s*interval\s+", "", text)
    fields: list[str] = []
    at = 0
    while at < len(body.rstrip()):
        match = _PART.match(body, at)
        field = unit_of(match[1]) if match else None
        if match is None or field is None:
            return _bad(f"`{text}` is not an interval", node, scope)
        fields.append(field)
        at = match.end()
    if not fields:
        return _bad(f"`{text}` is not an interval", node, scope)
    fields.sort(key=_ALL.index)
    first, last = fields[0], fields[-1]
    if (first in t.YEAR_MONTH_UNITS) != (last in t.YEAR_MONTH_UNITS):
        return _bad("an interval cannot mix months with days", node, scope)
    return Expr(t.interval(first, last), False, foldable=True)


def _bad(message: str, node: exp.Interval, scope: Scope) -> Expr:
    return scope.binding.error(
        Code.SYNTAX_ERROR,
        message,
        node,
        "INVALID_INTERVAL_FORMAT",
        help="for example `INTERVAL '3' DAY` or `INTERVAL '1-6' YEAR TO MONTH`",
    )
