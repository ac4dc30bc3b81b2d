"""Printing literals: strings bare, numbers as the JVM writes them, dates with their type.

A double is written as Java writes it (`1.0E10`, never `1e+10`), and a date or timestamp in its
normal form whatever the author typed.
"""

import re
import struct
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.expr import Expr
from rocky.language.binder.expressions.literals import literal_in_cast, number
from rocky.language.binder.expressions.temporal_literals import unit_of
from rocky.language.binder.names.printer import bind_quietly, written_text
from rocky.language.binder.scopes import Scope, suppress_findings
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import FLOAT
from rocky.language.functions.operand import NO_VALUE

_DATE: Final = re.compile(r"\s*([+-]?)(\d+)(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_CLOCK: Final = re.compile(r"[ T]+(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2}))?(?:\.(\d{0,9}))?(.*)")
_LAST_PLAIN_YEAR: Final = 9999
_UTC: Final = frozenset({"", "Z", "UTC", "GMT", "+00:00", "+0:00", "+00", "+0", "UT"})


def value_text(expr: Expr) -> str | None:
    """The literal cast to string, as a column name shows it; None when it is no plain literal."""
    value = expr.value
    if value is NO_VALUE:
        return None
    kind = expr.type.kind
    if kind == "date":
        return date_text(str(value))
    if kind in ("timestamp", "timestamp_ntz"):
        return timestamp_text(str(value))
    if kind in ("time", "binary"):
        return None
    if isinstance(value, Decimal):
        return f"{value:f}"
    return number_text(value, single=expr.type is FLOAT)


def number_text(value: Any, *, single: bool = False) -> str:
    """A number, boolean or string as the JVM prints it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value, single=single)
    return str(value)


def float_text(value: float, *, single: bool = False) -> str:
    """Java's `Double.toString` (or `Float.toString`)."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(_shortest(value, single=single)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    exponent += len(digits) - len(text)
    point = len(text) + exponent
    prefix = "-" if sign else ""
    if text == "0":
        return f"{prefix}0.0"
    if -3 < point <= 7:
        if point <= 0:
            return f"{prefix}0.{'0' * -point}{text}"
        whole, fraction = text[:point].ljust(point, "0"), text[point:]
        return f"{prefix}{whole}.{fraction or '0'}"
    return f"{prefix}{text[0]}.{text[1:] or '0'}E{point - 1}"


def _shortest(value: float, *, single: bool) -> str:
    if single:
        for precision in range(1, 10):
            text = f"{value:.{precision}g}"
            if _as_single(float(text)) == _as_single(value):
                return text
    return repr(value)


def _as_single(value: float) -> bytes:
    return struct.pack("f", value)


def date_text(text: str) -> str:
    """A date literal in normal form: `2020-1-5` is `2020-01-05`."""
    match = _DATE.match(text)
    if match is None:
        return text
    sign, year, month, day = match.groups()
    era = "-" if sign == "-" else "+" if int(year) > _LAST_PLAIN_YEAR else ""
    return f"{era}{int(year):04d}-{int(month or 1):02d}-{int(day or 1):02d}"


def timestamp_text(text: str) -> str:
    """A timestamp literal in normal form; its zone is dropped when the session's says the same."""
    day = date_text(text)
    match = _CLOCK.search(text)
    if match is None:
        return f"{day} 00:00:00"
    hour, minute, second, fraction, zone = match.groups()
    clock = f"{int(hour):02d}:{int(minute or 0):02d}:{int(second or 0):02d}"
    fraction = (fraction or "")[:6].rstrip("0")
    shown = f"{day} {clock}{'.' + fraction if fraction else ''}"
    return shown if zone.strip().upper() in _UTC else f"{shown}{zone}"


_MICROS: Final = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_MONTHS: Final = {"year": 12, "month": 1}
_WORDS: Final = re.compile(r"([+-]?)\s*(\d*\.?\d*)\s+([A-Za-z]+)")
_TIME: Final = re.compile(
    r"(?i)\s*T?(\d{1,2})(?::(\d{1,2}))?(?::(\d{1,2}))?(?:\.(\d{0,9}))?\s*([ap]m)?\s*"
)
_TYPED_WORDS: Final = {"date": "DATE", "timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ"}


def literal_text(literal: Expr) -> str | None:
    """A bound literal as a name shows it; None when its value is not known."""
    value, kind = literal.value, literal.type.kind
    if value is NO_VALUE:
        return None
    if value is None:
        return "NULL"
    if kind in _TYPED_WORDS:
        normal = date_text(str(value)) if kind == "date" else timestamp_text(str(value))
        return f"{_TYPED_WORDS[kind]} '{normal}'"
    if kind == "time":
        return f"TIME '{_time_text(str(value))}'"
    if kind == "binary":
        return f"X'{str(value).upper()}'"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value, single=literal.type is t.FLOAT)
    if isinstance(value, Decimal):
        return _decimal_text(value)
    return str(value)


def _decimal_text(value: Decimal) -> str:
    """As the JVM prints it, which knows no negative zero and where no scale is below zero."""
    exponent = value.as_tuple().exponent
    shown = abs(value) if value == 0 else value
    return f"{shown:f}" if isinstance(exponent, int) and exponent > 0 else str(shown)


def print_literal(node: exp.Literal, scope: Scope) -> str:
    args = node.args
    if args["is_string"]:
        return str(args["this"])
    return literal_text(number(args["this"])) or str(args["this"])


def print_negative_literal(node: exp.Neg, scope: Scope) -> str | None:
    """`-5`, which is one literal to Spark; None when the operand is no plain numeral."""
    inner = node.args["this"]
    if inner.__class__ is exp.Literal and not inner.args["is_string"]:
        found = number(inner.args["this"], negative=True)
        return literal_text(Expr(found.type, False, value=-found.value))
    if inner.__class__ is exp.Cast:
        literal = cast_literal(inner, scope, negative=True)
        if literal is not None and literal.type.kind in t.NUMERIC_KINDS:
            return literal_text(Expr(literal.type, False, value=-literal.value))
    return None


def cast_literal(node: exp.Cast, scope: Scope, *, negative: bool = False) -> Expr | None:
    """The literal behind a cast nobody wrote (`1L`, `DATE '...'`); nothing is reported again."""
    with suppress_findings(scope.binding):
        return literal_in_cast(node, scope, negative=negative)


def print_null(node: exp.Null, scope: Scope) -> str:
    return "NULL"


def print_boolean(node: exp.Boolean, scope: Scope) -> str:
    return "true" if node.args["this"] else "false"


def print_hex(node: exp.HexString, scope: Scope) -> str:
    digits = str(node.args["this"]).upper()
    return f"X'{digits if len(digits) % 2 == 0 else '0' + digits}'"


def print_raw_string(node: Any, scope: Scope) -> str:
    return str(node.args["this"])


def print_string_run(node: exp.Concat, scope: Scope) -> str:
    """Adjacent strings, which Spark reads as one; where two touch, there is a quote between."""
    parts = node.args["expressions"]
    meta = parts[0]._meta or {}
    ends = {token.start: token.end for token in scope.binding.tokens} if "end" in meta else {}
    text, end = "", meta.get("end")
    for at, part in enumerate(parts):
        if at and end is not None:
            if end + 1 in ends:
                text += scope.binding.text[end]
            end = ends.get(end + 1)
        text += part.name
    return text


def _time_text(text: str) -> str:
    match = _TIME.fullmatch(text)
    if match is None:
        return text
    hour, minute, second, fraction, half = match.groups()
    # Noon and midnight are both 12 on a clock of twelve hours.
    hours = int(hour) if half is None else int(hour) % 12 + (12 if half.lower() == "pm" else 0)
    clock = f"{hours:02d}:{int(minute or 0):02d}:{int(second or 0):02d}"
    fraction = (fraction or "")[:6].rstrip("0")
    return f"{clock}.{fraction}" if fraction else clock


# -- intervals --------------------------------------------------------------------------------


def print_interval(node: exp.Interval, scope: Scope) -> str:
    """`INTERVAL '1 02' DAY TO HOUR`: fields after the first in two digits, whatever was written."""
    return _print_amounts([node], scope)


def print_interval_run(node: exp.Add, scope: Scope) -> str | None:
    """`INTERVAL 1 DAY 2 HOURS`, which the parser library reads as a sum; None for a written sum."""
    parts = _run(node)
    if parts is None:
        return None
    words = [rf"'?{re.escape(str(part.this.name))}'?\s+{part.args['unit'].name}" for part in parts]
    written = r"(?i)\binterval\s+" + r"\s+".join(words) + r"\b"
    if re.search(written, scope.binding.text) is None:
        return None
    return _print_amounts(parts, scope, node)


def _run(node: Any) -> list[exp.Interval] | None:
    if node.__class__ is exp.Interval:
        return [node] if node.args.get("unit").__class__ is exp.Var else None
    if node.__class__ is not exp.Add:
        return None
    left, right = _run(node.args["this"]), _run(node.args["expression"])
    return [*left, *right] if left is not None and right is not None else None


def _print_amounts(parts: list[exp.Interval], scope: Scope, whole: exp.Expr | None = None) -> str:
    kind = bind_quietly(whole or parts[0], scope).type
    amounts = [_amount(part) for part in parts]
    if not isinstance(kind, t.IntervalType) or None in amounts:
        return written_text(whole or parts[0], scope)
    total = sum(amount for amount in amounts if amount is not None)
    return interval_text(kind, total)


def _amount(node: exp.Interval) -> int | None:
    """The months or microseconds an interval literal stands for."""
    value, unit = node.args.get("this"), node.args.get("unit")
    text = str(value.name) if value is not None else ""
    if value.__class__ is exp.Neg:
        text = f"-{text}"
    if unit is None:
        return _amount_of_words(text)
    if unit.__class__ is exp.IntervalSpan:
        return _amount_of_span(text.strip(), unit.this.name.lower(), unit.expression.name.lower())
    return _amount_of_words(f"{text} {unit.name}")


def _amount_of_words(text: str) -> int | None:
    total = 0
    for sign, digits, word in _WORDS.findall(text):
        low = word.lower()
        unit = low if low in _MICROS or low in _MONTHS else low.removesuffix("s")
        size = _MONTHS.get(unit) or _MICROS.get(unit)
        if size is None or unit_of(word) is None or not digits.strip("."):
            return None
        amount = int(Decimal(digits) * size)
        total += -amount if sign == "-" else amount
    return total


def _amount_of_span(text: str, first: str, last: str) -> int | None:
    negative = text.startswith("-")
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    units = t.YEAR_MONTH_UNITS if first in t.YEAR_MONTH_UNITS else t.DAY_TIME_UNITS
    if first not in units or last not in units:
        return None
    names = units[units.index(first) : units.index(last) + 1]
    if len(numbers) != len(names):
        return None
    total = sum(
        int(Decimal(digits) * (_MONTHS.get(name) or _MICROS[name]))
        for digits, name in zip(numbers, names, strict=True)
    )
    return -total if negative else total


def interval_text(kind: t.IntervalType, amount: int) -> str:
    """The ANSI text of so many months or microseconds."""
    sign, amount = ("-", -amount) if amount < 0 else ("", amount)
    units = kind.text.removeprefix("interval ").upper()
    if kind.kind == "interval_ym":
        years, months = divmod(amount, 12)
        body = {"YEAR": f"{years}", "MONTH": f"{amount}"}.get(units, f"{years}-{months}")
        return f"INTERVAL '{sign}{body}' {units}"
    all_names = t.DAY_TIME_UNITS
    names = all_names[all_names.index(kind.first) : all_names.index(kind.last) + 1]
    body = ""
    for at, name in enumerate(names):
        count, amount = divmod(amount, _MICROS[name])
        text = f"{count}" if name == "day" else f"{count:02d}"
        if name == "second" and amount:
            text += f".{amount:06d}".rstrip("0")
        body += ("" if at == 0 else " " if names[at - 1] == "day" else ":") + text
    return f"INTERVAL '{sign}{body}' {units}"


LITERAL_PRINTERS: Final[dict[type, Any]] = {
    exp.Literal: print_literal,
    exp.Null: print_null,
    exp.Boolean: print_boolean,
    exp.HexString: print_hex,
    exp.RawString: print_raw_string,
    exp.Concat: print_string_run,
    exp.Interval: print_interval,
}
