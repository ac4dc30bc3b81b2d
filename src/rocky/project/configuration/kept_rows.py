"""How long the rows of a model's table are kept: `retention = "90d"` in its settings.

A row is as old as the time column of its strategy says. A strategy without one has none to go by;
and a table that is built whole would get its old rows back with the next build.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final

from rocky.project.configuration.strategies import (
    Incremental,
    Microbatch,
    Strategy,
    TimeInterval,
)
from rocky.project.toml.documents import Parsed, Problem

_KEPT: Final = re.compile(r"([1-9][0-9]{0,4})([dy])")
_DAYS: Final = {"d": 1, "y": 365}
_LONGEST: Final = 100_000


def kept_days(text: str) -> int:
    """The days of `90d` or `2y`; 0 for a text that is neither."""
    found = _KEPT.fullmatch(text)
    return 0 if found is None else int(found[1]) * _DAYS[found[2]]


def _parse_kept(value: Any) -> str:
    if isinstance(value, str) and 0 < kept_days(value) <= _LONGEST:
        return value
    raise ValueError(f'`{value}` is no time to keep rows for: write days or years, "90d" or "2y"')


KeptFor = Annotated[str, Parsed(_parse_kept)]


def time_column_of(strategy: Strategy | None) -> str | None:
    """The column that says how old a row is; None for a strategy without one."""
    match strategy:
        case Incremental(timestamp_column=column) | Microbatch(timestamp_column=column):
            return column
        case TimeInterval(time_column=column):
            return column
        case _:
            return None


def refuse_retention(retention: str | None, strategy: Strategy | None) -> Iterator[Problem]:
    """What is wrong with the retention of a model, given its strategy."""
    if retention is not None and time_column_of(strategy) is None:
        name = "full_refresh" if strategy is None else strategy.type
        yield Problem(
            ("retention",),
            f"`retention` needs a time column, and the strategy `{name}` has none",
            "filter old rows out in the model's query, or use `incremental`, `microbatch` or"
            " `time_interval`",
            on_key=True,
        )
