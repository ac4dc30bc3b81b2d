"""Sizes, times and amounts as people read them: short, with a unit, three digits or so."""

from datetime import UTC, datetime
from typing import Final

NOTHING: Final = "-"
"""What stands where a value is not known."""
NULL: Final = "NULL"
"""What stands for a null of SQL."""

_SIZES: Final = ("B", "kB", "MB", "GB", "TB", "PB")
_STEP: Final = 1000
_SECOND_MS: Final = 1000
_MINUTE_MS: Final = 60 * _SECOND_MS
_HOUR_MS: Final = 60 * _MINUTE_MS
_CENT: Final = 0.01


def format_bytes(count: int | None) -> str:
    """Decimal units, as object stores and disks count: 1.5 MB is 1,500,000 bytes."""
    if count is None:
        return NOTHING
    if count < _STEP:
        return f"{count} B"
    size = float(count)
    unit = 0
    # Rounding may carry into the next unit: 999.96 kB is 1.0 MB.
    while round(size, 1) >= _STEP and unit < len(_SIZES) - 1:
        size /= _STEP
        unit += 1
    return f"{size:.1f} {_SIZES[unit]}"


def format_duration(milliseconds: int | None) -> str:
    """As `850 ms`, `12.3 s`, `4 min 05 s` or `2 h 07 min`."""
    if milliseconds is None:
        return NOTHING
    if milliseconds < _SECOND_MS:
        return f"{milliseconds} ms"
    if milliseconds < _MINUTE_MS:
        return f"{milliseconds // 100 / 10:.1f} s"
    if milliseconds < _HOUR_MS:
        minutes, rest = divmod(milliseconds, _MINUTE_MS)
        return f"{minutes} min {rest // _SECOND_MS:02} s"
    hours, rest = divmod(milliseconds, _HOUR_MS)
    return f"{hours:,} h {rest // _MINUTE_MS:02} min"


def format_seconds(milliseconds: int | None) -> str:
    """Core time, in seconds alone, so that a column of them can be compared."""
    return NOTHING if milliseconds is None else f"{milliseconds / _SECOND_MS:,.1f}"


def format_usd(amount: float | None) -> str:
    """Cents, and more digits where cents would say nothing."""
    if amount is None:
        return NOTHING
    if amount == 0 or amount >= _CENT:
        return f"{amount:,.2f}"
    return f"{amount:.6f}" if amount >= _CENT / 10_000 else "< 0.000001"


def format_count(count: int | None) -> str:
    return NOTHING if count is None else f"{count:,}"


def format_moment(moment: datetime | None) -> str:
    """Seconds in UTC."""
    return NOTHING if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
