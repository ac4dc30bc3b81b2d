"""Comparison: rows expected and rows found, as the differences between them.

Rows are texts that Spark made, so equal texts are equal values. Without an order the rows are a
multiset: two equal rows expected are two rows, not one. Floating columns are compared closely.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from rocky.datatypes.types import StructField
from rocky.run.checks.fixtures import close_numbers
from rocky.run.checks.texts import Cell, Row


class Difference(NamedTuple):
    """A row that should be there and is not, one that is there and should not be, or both.

    With both, they are most likely meant to be the same row, and `cells` are the places where they
    are not.
    """

    expected: Row | None
    found: Row | None
    cells: tuple[int, ...] = ()


def compare_rows(
    expected: Sequence[Row], found: Sequence[Row], columns: Sequence[StructField], *, ordered: bool
) -> tuple[Difference, ...]:
    """What differs; nothing when the rows are as expected."""
    same = _Sameness(columns)
    if ordered:
        return tuple(
            same.difference(want, have)
            for want, have in zip_longest(expected, found)
            if want is None or have is None or not same.rows(want, have)
        )
    missing = list((Counter(expected) - Counter(found)).elements())
    extra = list((Counter(found) - Counter(expected)).elements())
    for want in list(missing):
        near = next((have for have in extra if same.rows(want, have)), None)
        if near is not None:
            missing.remove(want)
            extra.remove(near)
    return tuple(_paired(missing, extra, same))


def _paired(missing: list[Row], extra: list[Row], same: "_Sameness") -> list[Difference]:
    """Missing rows beside the found rows most like them, then those that are like none."""
    pairs: list[Difference] = []
    for want in missing:
        likeness = [(same.cells(want, have), -index) for index, have in enumerate(extra)]
        best, place = max(likeness, default=(0, 0))
        alone = len(want) == 1 and len(missing) == len(extra) == 1
        have = extra.pop(-place) if best or (alone and extra) else None
        pairs.append(same.difference(want, have))
    return [*pairs, *(Difference(None, have) for have in extra)]


class _Sameness:
    """When two cells of a column are the same."""

    def __init__(self, columns: Sequence[StructField]) -> None:
        self._kinds = [field.type.kind for field in columns]

    def cell(self, index: int, want: Cell, have: Cell) -> bool:
        if want == have:
            return True
        kind = self._kinds[index]
        if want is None or have is None or kind not in ("double", "float"):
            return False
        return close_numbers(want, have, single=kind == "float")

    def rows(self, want: Row, have: Row) -> bool:
        return all(
            self.cell(index, *pair) for index, pair in enumerate(zip(want, have, strict=True))
        )

    def cells(self, want: Row, have: Row) -> int:
        """How many cells are the same."""
        return sum(
            self.cell(index, *pair) for index, pair in enumerate(zip(want, have, strict=True))
        )

    def difference(self, want: Row | None, have: Row | None) -> Difference:
        if want is None or have is None:
            return Difference(want, have)
        pairs = enumerate(zip(want, have, strict=True))
        cells = tuple(index for index, pair in pairs if not self.cell(index, *pair))
        return Difference(want, have, cells)
