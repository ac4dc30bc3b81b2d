"""The graph of models: the order in which they are bound, and cycles, each with its path.

The order comes from what cached models read and from a cheap scan of texts not yet bound. The scan
may name too much (a CTE called like a model) or too little; it only decides who goes first. What a
model truly reads is known when it is bound.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.diagnostic import Span
from rocky.language.names import split_name
from rocky.project import ModelFile, Project


class ModelGraph(NamedTuple):
    """Who reads whom, by declared names, and all models, each after what it reads."""

    upstream: Mapping[str, tuple[str, ...]]
    downstream: Mapping[str, tuple[str, ...]]
    order: tuple[str, ...]


def graph_of(names: Iterable[str], upstream: Mapping[str, tuple[str, ...]]) -> ModelGraph:
    """The graph of models, from what models and pipelines read."""
    readers: dict[str, list[str]] = {}
    for name, reads in upstream.items():
        for each in reads:
            readers.setdefault(each, []).append(name)
    levels, left_over = topological_levels(names, upstream)
    order = (*(name for level in levels for name in level), *left_over)
    return ModelGraph(
        upstream, {name: tuple(sorted(each)) for name, each in readers.items()}, order
    )


# Over lower-case text, and each with a word in front: ignoring case, or looking for several words
# at once, would make the search five times as slow.
_NAME = r"(?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+)){0,2}"
_FROM = re.compile(rf"from\s+({_NAME}(?:(?:\s+(?:as\s+)?\w+)?\s*,\s*{_NAME})*)")
_JOIN = re.compile(rf"join\s+({_NAME})")


def scan_references(sql: str) -> set[tuple[str, ...]]:
    """Names that stand where a table may stand, in lower case."""
    text = sql.lower()
    lists = {*_FROM.findall(text), *_JOIN.findall(text)}
    items = [item.split() for names in lists for item in names.split(",")]
    return {_parts(words[0]) for words in items if words}


# Many models read the same few.
_parts = lru_cache(maxsize=1 << 14)(split_name)


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


def report_cycles(project: Project, cycles: Sequence[Sequence[str]]) -> Iterator[Diagnostic]:
    """One diagnostic a cycle, at the first model's reference, with a label at each other's."""
    for cycle in cycles:
        path = [project.models[key] for key in cycle]
        names = " -> ".join(f"`{model.name}`" for model in path)
        first, second = path[0], path[1]
        labels = tuple(
            Label(_reference(reader, read), f"`{reader.name}` reads `{read.name}`", reader.path)
            for reader, read in pairwise(path[1:])
        )
        yield Diagnostic(
            Code.DEPENDENCY_CYCLE,
            f"models form a cycle: {names}"
            if len(path) > 2
            else f"model `{first.name}` reads itself",
            _reference(first, second),
            first.path,
            labels=labels,
            help="break the cycle: move the shared part into a model both can read",
            model=first.name,
        )


def _reference(reader: ModelFile, read: ModelFile) -> Span:
    """Where a model's SQL names another."""
    for name in (read.name, read.target.table):
        match = re.search(rf"(?i)(?<![\w.]){re.escape(name)}(?!\w)", reader.sql)
        if match is not None:
            return reader.place_in_file(Span(match.start(), match.end()))
    return reader.place_in_file(Span(0, min(1, len(reader.sql))))
