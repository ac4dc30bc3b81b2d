"""Circles among settings that name each other: pipelines that depend, roles that inherit."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Circle(NamedTuple):
    """The names of a circle, the first also last; and which entry of whose list closes it."""

    names: tuple[str, ...]
    owner: str
    entry: int

    @property
    def text(self) -> str:
        """The names, as a message shows them."""
        return " -> ".join(f"`{each}`" for each in self.names)


def find_circles(named: Mapping[str, Sequence[str]]) -> Iterator[Circle]:
    """Each circle once, of settings by name with the names that they list."""
    placed: set[str] = set()
    for first in named:
        path = {first: iter(enumerate(named[first]))} if first not in placed else {}
        while path:
            owner = next(reversed(path))
            index, other = next(path[owner], (0, None))
            if other is None:
                placed.add(owner)
                del path[owner]
            elif other in path:
                names = tuple(path)
                yield Circle((*names[names.index(other) :], other), owner, index)
            elif other in named and other not in placed:
                path[other] = iter(enumerate(named[other]))
