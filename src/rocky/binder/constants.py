"""Constants as text: how Spark writes the value of a literal.

A double is written as Java writes it (`1.0E10`, never `1e+10`), and a date or timestamp in its
normal form whatever the author typed.
"""

import re
import struct
from decimal import Decimal
from typing import Any, Final

from rocky.binder.expression import Expr
from rocky.catalog.operand import NO_VALUE
from rocky.datatypes.types import FLOAT

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
