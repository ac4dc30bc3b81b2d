"""The order of binding.

The order comes from what cached models read and from a cheap scan of texts not yet bound. The scan
may name too much (a CTE called like a model) or too little; it only decides who goes first. What a
model truly reads is known when it is bound.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

# Over lower-case text: ignoring case would make the search five times as slow.
_REFERENCE = re.compile(
    r"(?:from|join|,)\s+(?:lateral\s+)?((?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+)){0,2})"
)


def scan_references(sql: str) -> set[tuple[str, ...]]:
    """Names that stand where a table may stand, in lower case."""
    return {_parts(name) for name in set(_REFERENCE.findall(sql.lower()))}


# Most of what is found is the names of columns, the same ones in model after model.
@lru_cache(maxsize=1 << 14)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip("`") for part in name.split("."))


def topological_levels(
    keys: Iterable[str], upstream: Mapping[str, Iterable[str]]
) -> tuple[list[list[str]], list[str]]:
    """Keys in levels, each after all it reads; what is left over stands in or behind a cycle."""
    waiting: dict[str, int] = dict.fromkeys(keys, 0)
    readers: dict[str, list[str]] = {}
    for key in waiting:
        needs = upstream.get(key)
        if not needs:
            continue
        for each in set(needs):
            if each in waiting and each != key:
                waiting[key] += 1
                readers.setdefault(each, []).append(key)
    level = sorted(key for key, count in waiting.items() if not count)
    levels: list[list[str]] = []
    while level:
        levels.append(level)
        following: list[str] = []
        for key in level:
            for reader in readers.get(key, ()):
                waiting[reader] -= 1
                if not waiting[reader]:
                    following.append(reader)
            del waiting[key]
        level = sorted(following)
    return levels, sorted(waiting)
