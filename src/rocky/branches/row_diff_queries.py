"""The SQL of a row diff: two views, a row found again by its key, or by all it holds.

Values are compared null-safely. Columns whose type changed are compared where both types have a
common meaning, else as texts, and nested ones not at all: Spark would refuse the whole query.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rocky.analysis.changes.columns import compared_type
from rocky.language.datatypes.types import (
    DATETIME_KINDS,
    NUMERIC_KINDS,
    STRING_KINDS,
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)
from rocky.language.names import quote_name
from rocky.run.engine.sql import comparable

_BEFORE: Final = "__rocky_before"
_AFTER: Final = "__rocky_after"
_ALIKE: Final = (NUMERIC_KINDS, DATETIME_KINDS, STRING_KINDS)


@dataclass(frozen=True, slots=True)
class Pair:
    """A column that both states have: one expression for each that can be compared."""

    name: str
    before: StructField
    after: StructField

    @property
    def sides(self) -> tuple[str, str] | None:
        """The column of `b` and that of `a`; None where nothing can be said of them together."""
        old, new = self.before.type, self.after.type
        left, right = f"b.{quote_name(self.before.name)}", f"a.{quote_name(self.after.name)}"
        if compared_type(old) is compared_type(new):
            return comparable(left, old), comparable(right, new)
        if any(old.kind in kinds and new.kind in kinds for kinds in _ALIKE):
            return left, right
        if _is_nested(old) or _is_nested(new):
            return None
        return f"CAST({left} AS STRING)", f"CAST({right} AS STRING)"

    @property
    def is_comparable(self) -> bool:
        return self.sides is not None

    @property
    def same(self) -> str:
        """Whether the values of a row of both are the same."""
        sides = self.sides
        assert sides is not None
        return f"({sides[0]} <=> {sides[1]})"

    @property
    def texts(self) -> tuple[str, str]:
        """The values as texts, for people."""
        return (
            _text(f"b.{quote_name(self.before.name)}", self.before.type),
            _text(f"a.{quote_name(self.after.name)}", self.after.type),
        )


def pair_columns(before: Sequence[StructField], after: Sequence[StructField]) -> list[Pair]:
    """The columns of both, in the order of the second; names are compared without case."""
    old = {each.name.lower(): each for each in before}
    return [
        Pair(each.name, old[each.name.lower()], each) for each in after if each.name.lower() in old
    ]


def format_duplicates(before: str, after: str, key: Sequence[Pair]) -> str:
    """How many keys several rows of one view share, in each of the views."""
    counts = []
    for view, relation, side in ((before, "b", 0), (after, "a", 1)):
        names = ", ".join(_side(each, side) for each in key)
        counts.append(
            f"(SELECT count(*) FROM (SELECT count(*) AS n FROM {view} {relation}"  # noqa: S608 - names are quoted
            f" GROUP BY {names} HAVING count(*) > 1) d)"
        )
    return f"SELECT {counts[0]} AS before, {counts[1]} AS after"


def format_counts(before: str, after: str, key: Sequence[Pair], others: Sequence[Pair]) -> str:
    """Rows added, removed and changed, then the changed rows of each column."""
    both = f"b.{_BEFORE} AND a.{_AFTER}"
    counted = [
        f"count_if(b.{_BEFORE} IS NULL)",
        f"count_if(a.{_AFTER} IS NULL)",
        f"count_if({both} AND NOT {_all_same(others)})",
        *(f"count_if({both} AND NOT {each.same})" for each in others),
    ]
    selected = ", ".join(f"{each} AS n{at}" for at, each in enumerate(counted))
    return (
        f"SELECT {selected} FROM (SELECT *, TRUE AS {_BEFORE} FROM {before}) b"  # noqa: S608 - names are quoted
        f" FULL OUTER JOIN (SELECT *, TRUE AS {_AFTER} FROM {after}) a ON {_same_key(key)}"
    )


def format_sample(
    before: str, after: str, key: Sequence[Pair], others: Sequence[Pair], limit: int
) -> str:
    """Changed rows: the key as texts, then of each column whether it changed, before and after."""
    columns = [each.texts[1] for each in key]
    for each in others:
        columns += [f"NOT {each.same}", *each.texts]
    selected = ", ".join(f"{each} AS c{at}" for at, each in enumerate(columns))
    order = ", ".join(_order(each, at) for at, each in enumerate(key))
    return (
        f"SELECT {selected} FROM {before} b JOIN {after} a ON {_same_key(key)}"  # noqa: S608 - names are quoted
        f" WHERE NOT {_all_same(others)} ORDER BY {order} LIMIT {limit}"
    )


def format_multiset(before: str, after: str, columns: Sequence[Pair]) -> str:
    """Rows added and removed, where a row that is there three times counts three times."""
    names = ", ".join(f"c{at}" for at in range(len(columns)))
    sides = []
    for view, relation, side, weight in ((before, "b", 0, -1), (after, "a", 1, 1)):
        selected = ", ".join(f"{_side(each, side)} AS c{at}" for at, each in enumerate(columns))
        sides.append(f"SELECT {selected}, {weight} AS n FROM {view} {relation}")  # noqa: S608 - names are quoted
    return (
        "SELECT CAST(coalesce(sum(greatest(n, 0)), 0) AS BIGINT) AS added,"  # noqa: S608 - names are quoted
        " CAST(coalesce(sum(greatest(-n, 0)), 0) AS BIGINT) AS removed FROM"
        f" (SELECT sum(n) AS n FROM ({' UNION ALL '.join(sides)}) u GROUP BY {names}) g"
    )


def _side(pair: Pair, side: int) -> str:
    sides = pair.sides
    assert sides is not None
    return sides[side]


def _same_key(key: Sequence[Pair]) -> str:
    return " AND ".join(each.same for each in key)


def _all_same(pairs: Sequence[Pair]) -> str:
    return f"({' AND '.join(each.same for each in pairs) or 'TRUE'})"


def _order(pair: Pair, at: int) -> str:
    """Numbers as numbers; what has no order of its own by its text."""
    kind = pair.after.type
    return f"c{at}" if _is_nested(kind) else f"a.{quote_name(pair.after.name)}"


def _text(expression: str, kind: DataType) -> str:
    if kind.kind == "binary":
        return f"concat('0x', hex({expression}))"
    if "variant" in kind.text:
        return f"to_json({expression})"
    return f"CAST({expression} AS STRING)"


def _is_nested(kind: DataType) -> bool:
    return isinstance(kind, ArrayType | MapType | StructType) or kind.kind == "variant"
