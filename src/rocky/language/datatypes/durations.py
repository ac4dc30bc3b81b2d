"""Durations written as text, as time windows and interval casts read them: `1 hour 30 minutes`.

A duration has months, days and microseconds that Spark never mixes: a month has no length in days.
"""

import re
from typing import Final, NamedTuple

_SECOND: Final = 1_000_000
_MONTHS: Final = {"year": 12, "month": 1}
_DAYS: Final = {"week": 7, "day": 1}
_MICROS: Final = {
    "hour": 3600 * _SECOND,
    "minute": 60 * _SECOND,
    "second": _SECOND,
    "millisecond": 1000,
    "microsecond": 1,
}
_PART: Final = re.compile(r"([+-])?\s*(\d+)?(?:\.(\d{0,9}))?\s+([a-z]+)(?:\s+|$)")


class Duration(NamedTuple):
    """Months, days and microseconds, each with its own sign."""

    months: int = 0
    days: int = 0
    micros: int = 0

    @property
    def whole_micros(self) -> int:
        """Its length where it has no months, a day being 24 hours."""
        return self.days * 86_400 * _SECOND + self.micros


def duration_of(amount: int, unit: str) -> Duration | None:
    """So many of a unit, `hour` or `hours`; None when there is no such unit."""
    word = unit.lower()
    if word not in _MONTHS and word not in _DAYS and word not in _MICROS:
        word = word.removesuffix("s")
    if word in _MONTHS:
        return Duration(months=amount * _MONTHS[word])
    if word in _DAYS:
        return Duration(days=amount * _DAYS[word])
    return Duration(micros=amount * _MICROS[word]) if word in _MICROS else None


def parse_duration(text: str) -> Duration | None:
    """The duration a text such as `interval 1 day -2 hours` says; None when it says none."""
    body = text.strip().lower()
    if body == "interval" or body.startswith(("interval ", "interval\t", "interval\n")):
        body = body[len("interval") :].strip()
    total, at = Duration(), 0
    while at < len(body):
        match = _PART.match(body, at)
        if match is None or not (match[2] or match[3]):
            return None
        part = duration_of(int(match[2] or 0), match[4])
        if part is None or (match[3] is not None and not match[4].startswith("second")):
            return None
        fraction = int((match[3] or "").ljust(6, "0")[:6])
        sign = -1 if match[1] == "-" else 1
        total = Duration(
            total.months + sign * part.months,
            total.days + sign * part.days,
            total.micros + sign * (part.micros + fraction),
        )
        at = match.end()
    return total if body else None
