"""Which strings are dates, times and timestamps, as far as Spark's literals go."""

import re
from datetime import date

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
