"""Shares: which part of a column a value has, and what is left there of the column's tags.

Most values have all of a column with its tags, which is share 0: only fields of structs and calls
that end or lower tags (`rocky.language.functions.tag_rules`) make others.
"""

from collections.abc import Iterator
from typing import NamedTuple

from rocky.language.binder.expr import SHARE, WHOLE, Sources
from rocky.language.functions.tag_rules import KEEPS


class Way(NamedTuple):
    """A path of fields inside a column, "" for all of it, and what is left of a tag."""

    path: str = ""
    effect: int = KEEPS


class Shares:
    """The ways in which one query has columns, by number."""

    __slots__ = ("_numbers", "_ways")

    def __init__(self) -> None:
        self._ways = [Way()]
        self._numbers = {Way(): 0}

    def __bool__(self) -> bool:
        """Whether there is any but the first."""
        return len(self._ways) > 1

    def way_of(self, source: int) -> Way:
        return self._ways[source >> SHARE]

    def put(self, source: int, way: Way) -> int:
        """A source that is had in some way."""
        number = self._numbers.get(way)
        if number is None:
            number = self._numbers[way] = len(self._ways)
            self._ways.append(way)
        return source & WHOLE | number << SHARE

    def weaken(self, sources: Sources, effect: int) -> Sources:
        """The sources with no more left of their tags than an effect leaves."""
        made = []
        for source in sources:
            path, left = self.way_of(source)
            made.append(self.put(source, Way(path, max(left, effect))))
        return frozenset(made)

    def partial(self, sources: Sources) -> Iterator[tuple[int, list[tuple[str, int]]]]:
        """The origins of which not all is had with its tags, each with its ways."""
        if not sources or max(sources) <= WHOLE:
            return
        ways: dict[int, set[Way]] = {}
        for source in sources:
            ways.setdefault((source & WHOLE) >> 3, set()).add(self.way_of(source))
        for origin, reached in sorted(ways.items()):
            # The whole column with its tags is all there is to know.
            if Way() not in reached:
                yield origin, [(each.path, each.effect) for each in sorted(reached)]
