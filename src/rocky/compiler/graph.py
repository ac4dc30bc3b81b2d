"""The order of binding, and cycles.

The order comes from what cached models read and from a cheap scan of texts not yet bound. The scan
may name too much (a CTE called like a model) or too little; it only decides who goes first. What a
model truly reads is known when it is bound.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

_REFERENCE = re.compile(
    r"(?i)(?:\bfrom|\bjoin|,)\s+(?:lateral\s+)?((?:`[^`]+`|[\w]+)(?:\.(?:`[^`]+`|\w+)){0,2})"
)


def scan_references(sql: str) -> set[tuple[str, ...]]:
    """Names that stand where a table may stand, in lower case."""
    return {
        tuple(part.strip("`") for part in match.lower().split("."))
        for match in _REFERENCE.findall(sql)
    }


def topological_levels(
    keys: Iterable[str], upstream: Mapping[str, Iterable[str]]
) -> tuple[list[list[str]], list[str]]:
    """Keys in levels, each after all it reads; what is left over stands in or behind a cycle."""
    waiting: dict[str, int] = {}
    readers: dict[str, list[str]] = {}
    members = set(keys)
    for key in members:
        needs = {each for each in upstream.get(key, ()) if each in members and each != key}
        waiting[key] = len(needs)
        for each in needs:
            readers.setdefault(each, []).append(key)
    level = sorted(key for key, count in waiting.items() if count == 0)
    levels: list[list[str]] = []
    while level:
        levels.append(level)
        following: list[str] = []
        for key in level:
            for reader in readers.get(key, ()):
                waiting[reader] -= 1
                if waiting[reader] == 0:
                    following.append(reader)
            del waiting[key]
        level = sorted(following)
    return levels, sorted(waiting)


def find_cycle(keys: Iterable[str], upstream: Mapping[str, Sequence[str]]) -> list[str]:
    """One cycle among the keys as a path that ends where it began, or an empty list."""
    state: dict[str, int] = {}
    for start in keys:
        if start in state:
            continue
        path: list[str] = [start]
        iterators = [iter(sorted(upstream.get(start, ())))]
        state[start] = 1
        while iterators:
            following = next(iterators[-1], None)
            if following is None:
                state[path.pop()] = 2
                iterators.pop()
            elif state.get(following) == 1:
                return [*path[path.index(following) :], following]
            elif following not in state:
                state[following] = 1
                path.append(following)
                iterators.append(iter(sorted(upstream.get(following, ()))))
    return []
