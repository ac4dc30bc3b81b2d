"""Values of seeds: whether the text of a cell is a value of its column's type, as Spark casts it.

Cells are cast under ANSI rules when a seed is loaded, so what Spark would refuse is found at once.
The answer is False only for what Spark surely refuses: time zones by name, for one, are left to it.
Values are looked at once each, however often a column repeats them.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final

from rocky.language.datatypes.types import DataType, DecimalType

Fits = Callable[[str], bool]

_BLANK: Final = "".join(map(chr, (*range(33), *range(127, 160))))
"""What Spark trims off the two ends of a text: white space and control characters."""
_JAVA_BLANK: Final = "".join(map(chr, range(33)))
"""What Java trims: all up to the space."""
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_FLOAT: Final = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?"
    r"|0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?)"
)
_SPECIAL: Final = frozenset({"inf", "+inf", "infinity", "+infinity", "-inf", "-infinity", "nan"})
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,9})?")
_MOST_DIGITS: Final = 38
_EXACT: Final = Context(prec=4 * _MOST_DIGITS)
_FLAGS: Final = frozenset({"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"})
_DATE: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<year>[0-9]{4,7})"
    r"(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})(?:[ T].*)?)?)?",
    re.DOTALL,
)
_AFTER_SECONDS: Final = r"(?:\.[0-9]*)?(?P<zone>[^0-9.].*)?"
_TIMESTAMP: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<year>[0-9]{4,6})(?:-(?P<month>[0-9]{1,2})(?:-(?P<day>[0-9]{1,2})"
    r"(?:[ T](?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{1,2})"
    rf"(?::(?P<second>[0-9]{{1,2}}){_AFTER_SECONDS})?)?)?)?)?",
    re.DOTALL,
)
_CLOCK: Final = re.compile(
    r"(?:T(?=[0-9]{1,2}(?::|\Z))|(?=[0-9]{1,2}:))(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{1,2})"
    rf"(?::(?P<second>[0-9]{{1,2}}){_AFTER_SECONDS})?)?",
    re.DOTALL,
)
_OFFSET: Final = re.compile(
    r"[+-](?:(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{1,2})(?::[0-9]{2})?)?"
    r"|(?P<hours>[0-9]{2})(?P<minutes>[0-9]{2})(?:[0-9]{2})?)"
)
_REGION: Final = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]*")
_OFFSET_HOURS: Final = 18
_YEARS: Final = {"": 5881580, "+": 5881580, "-": 5877641}
"""The last year of a date."""
_TIMESTAMP_YEARS: Final = {"": 294247, "+": 294247, "-": 290308}


def fits_of(kind: DataType) -> Fits | None:
    """What tells values of a type; None for one that takes any text, or that is left to Spark."""
    if isinstance(kind, DecimalType):
        precision, scale = kind.precision, kind.scale
        return lambda cell: _fits_decimal(cell, precision, scale)
    if kind.kind in _BITS:
        bits = _BITS[kind.kind]
        return lambda cell: _fits_whole(cell, bits)
    return _FITS.get(kind.kind)


def example_of(kind: DataType) -> str:
    """A value of a type, as a cell has it."""
    if isinstance(kind, DecimalType):
        if kind.precision == kind.scale:
            return "0.5"
        return "7" if kind.scale == 0 else f"1.{'5'.ljust(min(kind.scale, 2), '0')}"
    return _EXAMPLES.get(kind.kind, "12")


def _fits_whole(cell: str, bits: int) -> bool:
    if len(cell) <= bits // 4 and cell.isdecimal() and cell.isascii():
        return True
    text = cell.strip(_BLANK)
    if _WHOLE.fullmatch(text) is None:
        return False
    digits = text.lstrip("+-").lstrip("0")
    return len(digits) < 20 and -(1 << bits - 1) <= int(text) < 1 << bits - 1


def _fits_float(cell: str) -> bool:
    if cell.strip().lower() in _SPECIAL:
        return True
    return _FLOAT.fullmatch(cell.strip(_JAVA_BLANK)) is not None


def _fits_decimal(cell: str, precision: int, scale: int) -> bool:
    # Java takes digits of every script, and so does Python.
    text = cell.strip(_JAVA_BLANK)
    if _DECIMAL.fullmatch(text) is None:
        return False
    number = Decimal(text)
    if not number:
        return True
    if number.adjusted() >= _MOST_DIGITS:
        return False
    if number.adjusted() < -_MOST_DIGITS - scale:
        return True
    least = Decimal(1).scaleb(-scale)
    rounded = number.quantize(least, ROUND_HALF_UP, _EXACT)
    return not rounded or rounded.adjusted() < precision - scale


def _fits_flag(cell: str) -> bool:
    return cell.strip(_BLANK).lower() in _FLAGS


def _fits_date(cell: str) -> bool:
    found = _DATE.fullmatch(cell.strip(_BLANK))
    return found is not None and _exists(found, _YEARS)


def _fits_timestamp(cell: str) -> bool:
    return _fits_moment(cell) or _is_clock(_CLOCK.fullmatch(cell.rstrip(_BLANK)))


def _fits_moment(cell: str) -> bool:
    """A timestamp with its date."""
    found = _TIMESTAMP.fullmatch(cell.strip(_BLANK))
    return found is not None and _exists(found, _TIMESTAMP_YEARS) and _is_clock(found)


def _is_clock(found: re.Match[str] | None) -> bool:
    if found is None:
        return False
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    return hour < 24 and minute < 60 and second < 60 and _is_zone(found["zone"])


def _is_zone(text: str | None) -> bool:
    """Whether a text may be a time zone; names are not looked up."""
    zone = (text or "").strip(_JAVA_BLANK)
    if not zone or _REGION.fullmatch(zone):
        return not zone or zone == "Z" or len(zone) > 1
    found = _OFFSET.fullmatch(zone)
    if found is None:
        return False
    hours, minutes = int(found["hour"] or found["hours"]), found["minute"] or found["minutes"]
    most = 59 if hours < _OFFSET_HOURS else 0
    return hours <= _OFFSET_HOURS and int(minutes or 0) <= most


def _exists(found: re.Match[str], last: Mapping[str, int]) -> bool:
    year = int(found["year"])
    # Leap years repeat every 400 years, and Python's begin with 1.
    known = (-year if found["sign"] == "-" else year) % 400 + 400
    try:
        date(known, int(found["month"] or 1), int(found["day"] or 1))
    except ValueError:
        return False
    return year <= last[found["sign"]]


_FITS: Final[dict[str, Fits]] = {
    "float": _fits_float,
    "double": _fits_float,
    "boolean": _fits_flag,
    "date": _fits_date,
    "timestamp": _fits_timestamp,
    "timestamp_ntz": _fits_moment,
}
_EXAMPLES: Final = {
    "float": "1.5",
    "double": "1.5",
    "boolean": "true",
    "date": "2026-05-30",
    "timestamp": "2026-05-30T12:00:00Z",
    "timestamp_ntz": "2026-05-30T12:00:00",
}
