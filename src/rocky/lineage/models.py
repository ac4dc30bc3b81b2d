"""Lineage between whole models: who is reached from where.

Works on adjacency (`Compilation.upstream` or `.downstream`), so it needs no column to be
typed. A cycle is walked once.
"""

from collections.abc import Iterable, Mapping


def reach_models(neighbours: Mapping[str, Iterable[str]], start: Iterable[str]) -> set[str]:
    """Everything that can be reached from `start`, which is included."""
    seen = set(start)
    waiting = list(seen)
    while waiting:
        for each in neighbours.get(waiting.pop(), ()):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return seen


def model_edges(
    neighbours: Mapping[str, Iterable[str]], start: Iterable[str]
) -> list[tuple[str, str]]:
    """The edges among what can be reached from `start`, each from a node to its neighbour."""
    reached = reach_models(neighbours, start)
    return sorted((name, each) for name in reached for each in set(neighbours.get(name, ())))
