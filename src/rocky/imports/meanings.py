"""Meanings: all that can be told of what a query gives, to see whether a column matters to it.

Lineage alone would not do: `x - y` and `y - x` come from the same columns. So the fingerprints of
how values are computed and rows are chosen are part of it, where there are any.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from rocky.binder.column_logic import Logic
from rocky.binder.query import BoundQuery
from rocky.datatypes.types import DataType, StructField
from rocky.diagnostics import Severity

Fields = tuple[StructField, ...]
Origin = tuple[str, str]
One = TypeVar("One")


class Rebind(Protocol):
    """Binds a model once more, some tables having other columns, or (None) not being there."""

    def __call__(self, reader: str, tables: Mapping[str, Fields | None]) -> BoundQuery: ...

    def logic(self, reader: str, tables: Mapping[str, Fields | None]) -> Logic:
        """The fingerprints of the model over the same tables."""


class Output(NamedTuple):
    """A column that comes out; `logic` is None where it could not be followed."""

    name: str | None
    type: DataType
    nullable: bool
    sources: frozenset[tuple[Origin, int]]
    logic: object


class Meaning(NamedTuple):
    """What a query gives, with where it comes from, and what is wrong with it."""

    outputs: tuple[Output, ...]
    rows: tuple[object, ...]
    wrong: frozenset[tuple[object, ...]]
    followed: bool
    failed: bool

    def says_as_much_as(self, other: "Meaning") -> bool:
        """Whether both give the same columns, in whatever order, and the same rows."""
        return self.takes_along(other) and len(self.outputs) == len(other.outputs)

    def takes_along(self, other: "Meaning") -> bool:
        """Whether this is all that the other gives, and nothing but further columns with it."""
        lost = Counter(other.outputs) - Counter(self.outputs)
        return not lost and self.rows == other.rows and self.wrong == other.wrong


def meaning_of(bound: BoundQuery, logic: Logic) -> Meaning:
    """What a bound query means."""
    wrong = frozenset((each.code, each.span) for each in bound.diagnostics)
    failed = any(each.severity is Severity.ERROR for each in bound.diagnostics)
    binding = bound.binding
    if binding is None:
        return Meaning((), (), wrong, followed=False, failed=failed)
    digests: Sequence[object] = logic.columns or ()
    if len(digests) != len(bound.columns):
        digests = [logic.columns] * len(bound.columns)
    outputs = tuple(
        Output(
            each.name,
            each.type,
            each.nullable,
            frozenset((binding.origins[source >> 3], source & 7) for source in each.sources),
            digest,
        )
        for each, digest in zip(bound.columns, digests, strict=True)
    )
    influences = frozenset((binding.origins[at], role) for at, role in binding.influences)
    rows = (influences, logic.rows, bound.known)
    return Meaning(outputs, rows, wrong, followed=logic.columns is not None, failed=failed)


def find_members(among: Sequence[One], matters: Callable[[Sequence[One]], bool]) -> list[One]:
    """The members that matter, told by asking about many at once: few do of many."""
    if not among or not matters(among):
        return []
    if len(among) == 1:
        return list(among)
    half = len(among) // 2
    return [*find_members(among[:half], matters), *find_members(among[half:], matters)]
