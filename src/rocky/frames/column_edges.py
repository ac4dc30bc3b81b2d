"""Column edges: for each column of a bound query, the columns of tables that it is made from."""

from collections.abc import Iterable

from rocky.language.binder.expr import WHOLE
from rocky.language.binder.query import BoundQuery
from rocky.language.binder.scopes import Binding
from rocky.language.ir import LINEAGE_KINDS, Edge


def lineage_of(bound: BoundQuery) -> tuple[tuple[Edge, ...], ...]:
    """For each column of a query the columns of tables that it is made from."""
    return tuple(_edges(each.sources, bound.binding) for each in bound.columns)


def _edges(sources: Iterable[int], binding: Binding | None) -> tuple[Edge, ...]:
    """The columns a value is made from, each by the strongest way."""
    if binding is None:
        return ()
    strongest = {(each & WHOLE) >> 3: each & 7 for each in sorted(sources)}
    return tuple(
        Edge(*binding.origins[origin], LINEAGE_KINDS[kind])
        for origin, kind in sorted(strongest.items())
    )
