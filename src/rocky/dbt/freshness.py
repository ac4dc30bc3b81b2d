"""How old a source of dbt's may be, as the `freshness` of one of Rocky's."""

import re
from collections.abc import Mapping
from typing import Any, Final

from rocky.dbt.remarks import Remark
from rocky.dbt.toml_text import Inline
from rocky.dbt.values import Source

_COLUMN: Final = re.compile(r"`?(?P<name>\w+)`?")
_LIMITS: Final = ("warn_after", "error_after")
_MOST: Final = 999_999_999
_MINUTES: Final = {"minute": 1, "hour": 60, "day": 1_440}
HOLDS_READERS: Final = (
    "`rocky build` and `rocky test` look at the `freshness` of sources by themselves: a source"
    " older than its `error_after` holds its readers back, which `dbt build` does not do;"
    " `rocky run` does not look"
)
"""What is different for a project whose sources have `error_after`."""


def holds_readers(source: Source) -> bool:
    """Whether what was taken over of a source can hold back those that read it."""
    limits, _ = source_freshness(source)
    return limits is not None and "error_after" in limits


def source_freshness(source: Source) -> tuple[Inline | None, tuple[Remark, ...]]:
    """The value of `freshness` in `sources/*.toml`, None without one, and what is to be said."""
    known = {key: _duration(source.freshness.get(key)) for key in _LIMITS}
    limits = {key: each for key, each in known.items() if each is not None}
    asked = [key for key in _LIMITS if _is_asked(source.freshness.get(key))]
    if not asked:
        return None, ()
    if not limits:
        why = (
            f"its `freshness` is not taken over: `{asked[0]}` is no number of minutes, hours, days"
        )
        return None, (Remark(why, needs_hand=True),)
    column = _COLUMN.fullmatch(source.loaded_at.strip())
    if column is None:
        return None, (Remark(_no_column(source.loaded_at, limits), needs_hand=True),)
    said: list[Remark] = []
    if source.freshness.get("filter"):
        text = " ".join(str(source.freshness["filter"]).split())
        said.append(
            Remark(
                f"its `freshness` looks at all rows: there is no `filter`, dbt's is `{text[:80]}`",
                needs_hand=True,
            )
        )
    if _minutes(source, "warn_after") >= _minutes(source, "error_after") > 0:
        limits.pop("warn_after", None)
        why = "`warn_after` of its `freshness` is dropped: after `error_after` nothing is a warning"
        said.append(Remark(why))
    said += [
        Remark(
            f"`{key}` of its `freshness` is no number of minutes, hours or days", needs_hand=True
        )
        for key in asked
        if known[key] is None
    ]
    return Inline({"time_column": column["name"], **limits}), tuple(said)


def _no_column(loaded_at: str, limits: Mapping[str, str]) -> str:
    written = ", ".join(f'{key} = "{each}"' for key, each in limits.items())
    ours = f'write `freshness = {{ time_column = "COLUMN", {written} }}`'
    text = " ".join(loaded_at.split())
    if not text:
        return (
            "its `freshness` is not taken over: there is no `loaded_at_field`, and Rocky tells the"
            f" age of a table by a column; {ours}"
        )
    return (
        f"its `freshness` is not taken over: the age is told by a column, and `{text[:80]}` is an"
        f" expression; {ours}"
    )


def _is_asked(limit: Any) -> bool:
    return isinstance(limit, Mapping) and limit.get("count") is not None


def _minutes(source: Source, key: str) -> int:
    """A limit in minutes; 0 where there is none."""
    count, _, unit = (_duration(source.freshness.get(key)) or "0 minute").partition(" ")
    return int(count) * _MINUTES[unit.removesuffix("s")]


def _duration(limit: Any) -> str | None:
    """`{count: 6, period: hour}` as `6 hours`."""
    if not isinstance(limit, Mapping):
        return None
    count, unit = limit.get("count"), str(limit.get("period") or "").lower()
    if isinstance(count, str) and count.isascii() and count.isdigit():
        count = int(count[:9])
    if isinstance(count, bool) or not isinstance(count, int) or unit not in _MINUTES:
        return None
    if not 0 < count <= _MOST:
        return None
    return f"{count} {unit}{'' if count == 1 else 's'}"
