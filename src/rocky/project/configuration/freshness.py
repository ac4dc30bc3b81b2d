"""`freshness` of a model or a source: how old the newest row of its table may be.

One limit is written `max_lag_seconds`, with a severity; two are `warn_after` and `error_after`,
which are durations in words.
"""

import re
from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.project.toml.documents import (
    NonNegative,
    Parsed,
    Problem,
    Problems,
    ReadBy,
    Refusal,
    refuses,
)
from rocky.project.toml.records import INVALID, reader_for
from rocky.project.toml.variables import Keys

_UNITS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_SHORT: Final = {"s": 1, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"\s*(\d{1,9})\s*([a-z]+)\s*", re.IGNORECASE)
SHOWN_UNITS: Final = ((86_400, "day", "days"), (3_600, "h", "h"), (60, "min", "min"))
"""Seconds of a unit, and what one and several of it are called."""
_EXPECTED: Final = 'a duration such as "6 hours" or "1 day" is expected'


def parse_duration(value: Any) -> int:
    """The seconds of a text such as `6 hours`. Raises ValueError for anything else."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(_EXPECTED)
    unit = found[2].lower()
    seconds = _SHORT.get(unit) or _UNITS.get(unit.removesuffix("s"))
    if seconds is None:
        known = ", ".join(f"{each}s" for each in _UNITS)
        raise ValueError(f"`{found[2]}` is no unit of time: {known}")
    return int(found[1]) * seconds


def exactly(seconds: int) -> str:
    """A duration in the largest unit of which it is a multiple."""
    for unit, one, several in SHOWN_UNITS:
        if seconds and seconds % unit == 0:
            return f"1 {one}" if seconds == unit else f"{seconds // unit} {several}"
    return f"{seconds} s"


Duration = Annotated[int, Parsed(parse_duration)]


@refuses(
    column=Refusal("the column is named by another key", "write `time_column`"),
    loaded_at_field=Refusal("the column is named by another key", "write `time_column`"),
    expected_lag_seconds=Refusal("the limit is named by another key", "write `max_lag_seconds`"),
    filter=Refusal("all rows of a table count", "remove it"),
)
class FreshnessRecord(NamedTuple):
    """The time column whose newest value counts, and the limits."""

    time_column: str
    warn_after: Duration | None = None
    error_after: Duration | None = None
    max_lag_seconds: NonNegative | None = None
    severity: Literal["error", "warning"] | None = None

    @property
    def limits(self) -> dict[Literal["error", "warning"], int]:
        """The seconds after which a table is stale, by severity: the worst comes first."""
        if self.max_lag_seconds is not None:
            return {self.severity or "error": self.max_lag_seconds}
        found: dict[Literal["error", "warning"], int] = {}
        if self.error_after is not None:
            found["error"] = self.error_after
        if self.warn_after is not None:
            found["warning"] = self.warn_after
        return found


def _read_freshness(value: Any, at: Keys, problems: Problems) -> Any:
    before = len(problems)
    read = reader_for(FreshnessRecord)(value, at, problems)
    if read is INVALID or len(problems) > before:
        return INVALID
    problem = _contradiction(read, at)
    if problem is None:
        return read
    problems.append(problem)
    return INVALID


def _contradiction(read: FreshnessRecord, at: Keys) -> Problem | None:
    """What the keys of a block do not say together."""
    two = [key for key in ("warn_after", "error_after") if getattr(read, key) is not None]
    if not two and read.max_lag_seconds is None:
        return Problem(
            at,
            "`freshness` has no limit",
            'write `error_after = "1 day"`, `warn_after = "6 hours"`, or both',
        )
    if two and read.max_lag_seconds is not None:
        said = f"`max_lag_seconds` is the only limit, and `{two[0]}` is another"
        return Problem((*at, "max_lag_seconds"), said, "remove one of the two", on_key=True)
    if two and read.severity is not None:
        said = f"`severity` is that of `max_lag_seconds`; `{two[0]}` says its own"
        return Problem((*at, "severity"), said, "remove it", on_key=True)
    if len(two) > 1 and (read.warn_after or 0) >= (read.error_after or 0):
        said = "`warn_after` is not shorter than `error_after`: nothing would ever be a warning"
        return Problem((*at, "warn_after"), said, "make it shorter, or remove it")
    return None


Freshness = Annotated[FreshnessRecord, ReadBy(_read_freshness)]
