"""Expr: what the binder knows about one expression, and Column, one that has a name in a relation.

`sources` holds the columns a value is made from, each packed with how (`origin << 3 | kind`), so
that lineage costs one small frozenset an expression. Above these stands which part of the column it
is and what is left of its tags, a number of `Binding.shares`; it is 0, all of it, nearly always. A
reference to a column *is* the column's object: nothing is allocated for the most common expression
of all.
"""

from collections.abc import Iterable
from typing import Any, Final

from rocky.language.datatypes.types import UNKNOWN, DataType
from rocky.language.functions.operand import NO_VALUE, Operand

DIRECT, CAST, EXPRESSION, CONDITIONAL, AGGREGATE, WINDOW = range(6)
"""How a source column reaches a value, weakest first."""

HAS_AGGREGATE: Final = 1
HAS_WINDOW: Final = 2
HAS_GENERATOR: Final = 4
VOLATILE: Final = 8
HAS_OUTER: Final = 16
HAS_SUBQUERY: Final = 32
HAS_LATERAL_ALIAS: Final = 64
HAS_CORRELATED: Final = 128
"""A scalar subquery that reads columns of the query around it."""

SHARE: Final = 43
"""How far the number of a share is shifted."""
WHOLE: Final = (1 << SHARE) - 1
"""The bits of a source below its share: its origin and its kind."""

Sources = frozenset[int]
NO_SOURCES: Final[Sources] = frozenset()
_blank = object.__new__


class Expr(Operand):
    """A typed expression."""

    __slots__ = ("flags", "sources")

    def __init__(
        self,
        type: DataType,  # noqa: A002 - the noun of this package
        nullable: bool,  # noqa: FBT001 - read at hundreds of call sites
        sources: Sources = NO_SOURCES,
        flags: int = 0,
        value: Any = NO_VALUE,
        foldable: bool = False,  # noqa: FBT001, FBT002 - read at hundreds of call sites
        name: str | None = None,
    ) -> None:
        self.type = type
        self.nullable = nullable
        self.sources = sources
        self.flags = flags
        self.value = value
        self.foldable = foldable
        self.name = name


MAX_COLUMNS: Final = 150_000
"""Columns of one relation: a join of a table with itself, thirty times over, has no end else."""


class TooManyColumns(ValueError):
    """A relation with more columns than any table has."""

    def __init__(self) -> None:
        super().__init__(f"there are more than {MAX_COLUMNS:,} columns")


class Column(Expr):
    """A column of a relation.

    `ident` tells columns apart as Spark's expression ids do: two names for one attribute share
    it. `qualifier` is the lower-case path a query may write before the name, or empty. `hidden`
    columns (the other side of USING) answer to their qualifier and are left out of `*`. `open`
    columns are there only because an input table has them: nobody wrote their name. `place` is the
    node that named the column, and `named` is False when Spark had to make the name up.
    """

    __slots__ = ("hidden", "ident", "key", "named", "open", "outer", "place", "qualifier")

    def __init__(
        self,
        name: str,
        type: DataType,  # noqa: A002 - the noun of this package
        nullable: bool,  # noqa: FBT001 - read at hundreds of call sites
        sources: Sources,
        ident: int,
        qualifier: tuple[str, ...] = (),
    ) -> None:
        self.type = type
        self.nullable = nullable
        self.sources = sources
        self.flags = 0
        self.value = NO_VALUE
        self.foldable = False
        self.name = name
        self.key = name.lower()
        self.ident = ident
        self.qualifier = qualifier
        self.hidden = False
        self.outer = False
        self.open = False
        self.named = True
        self.place: Any = None

    def copy(
        self,
        name: str | None = None,
        ident: int | None = None,
        qualifier: tuple[str, ...] | None = None,
    ) -> "Column":
        """The same column, perhaps under another name, identity or qualifier."""
        # Slot by slot: the constructor would compute most of this again.
        twin = _blank(Column)
        twin.type = self.type
        twin.nullable = self.nullable
        twin.sources = self.sources
        twin.flags = self.flags
        twin.value = self.value
        twin.foldable = self.foldable
        if name is None:
            twin.name = self.name
            twin.key = self.key
        else:
            twin.name = name
            twin.key = name.lower()
        twin.ident = self.ident if ident is None else ident
        twin.qualifier = self.qualifier if qualifier is None else qualifier
        twin.hidden = self.hidden
        twin.outer = self.outer
        twin.open = self.open
        twin.named = self.named
        twin.place = self.place
        return twin

    def nulled(self) -> "Column":
        """The same column where a row may be missing: after an outer join, in a rollup."""
        if self.nullable:
            return self
        twin = self.copy()
        twin.nullable = True
        return twin


class FieldValue(Expr):
    """A field of a column, or of such a field: all its sources say which."""

    __slots__ = ()


def unknown(args: Iterable[Expr] = (), kind: int = EXPRESSION) -> Expr:
    """The expression whose type cannot be known; it silences what follows from it."""
    operands = list(args)
    return Expr(UNKNOWN, True, merge_sources(operands, kind), merge_flags(operands))


def lift(sources: Sources, kind: int) -> Sources:
    """The sources seen through an operation of at least `kind`."""
    for source in sources:
        if source & 7 < kind:
            return frozenset([s if s & 7 >= kind else (s & ~7) | kind for s in sources])
    return sources


def renamed_fields(sources: Sources, kind: DataType, named: DataType) -> Sources:
    """The sources of values whose fields get the names of another type, by their places.

    Where these are not their own a field is no longer what was called so: as after a cast.
    """
    if kind == named or str(kind).lower() == str(named).lower() or "struct<" not in str(kind):
        return sources
    return lift(sources, CAST)


def merge_sources(args: Iterable[Expr], kind: int) -> Sources:
    """The sources of a value computed from `args`."""
    found: Sources = NO_SOURCES
    for arg in args:
        sources = arg.sources
        if sources and sources is not found:
            found = found | sources if found else sources
    return lift(found, kind) if found else found


def merge_flags(args: Iterable[Expr]) -> int:
    flags = 0
    for arg in args:
        flags |= arg.flags
    return flags


def derived(
    type: DataType,  # noqa: A002 - the noun of this package
    nullable: bool,  # noqa: FBT001 - read at hundreds of call sites
    args: Iterable[Expr],
    kind: int = EXPRESSION,
) -> Expr:
    """An expression computed from others."""
    flags = 0
    foldable = True
    found: Sources = NO_SOURCES
    for arg in args:
        flags |= arg.flags
        foldable = foldable and arg.foldable
        sources = arg.sources
        if sources and sources is not found:
            found = found | sources if found else sources
    return Expr(type, nullable, lift(found, kind) if found else found, flags, NO_VALUE, foldable)
