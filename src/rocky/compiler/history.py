"""History: the columns a snapshot's table has besides those of its query.

Readers see them, so they are part of the model's schema and lineage; its query does not give them.
"""

from dataclasses import replace
from typing import Final

from rocky.binder.expression import EXPRESSION, NO_SOURCES, Column, merge_sources
from rocky.binder.query import BoundQuery
from rocky.datatypes.types import BOOLEAN, STRING, TIMESTAMP, DataType, StructField
from rocky.project.strategies import HISTORY_COLUMNS, NOTES_THE_TIME, Snapshot, Strategy

_TYPES: Final[tuple[tuple[DataType, bool], ...]] = (
    (TIMESTAMP, False),
    (TIMESTAMP, True),
    (BOOLEAN, False),
    (STRING, False),
)


def with_history(bound: BoundQuery, strategy: Strategy) -> BoundQuery:
    """The bound query of a snapshot with the columns its table has in the end."""
    binding = bound.binding
    if not isinstance(strategy, Snapshot) or binding is None:
        return bound
    keys = [name.lower() for name in strategy.unique_key]
    dated = [strategy.updated_at.lower()] if strategy.updated_at else []
    if not dated:
        binding.mark_volatile(NOTES_THE_TIME)
    at = merge_sources([each for each in bound.columns if each.key in dated], EXPRESSION)
    row = merge_sources([each for each in bound.columns if each.key in keys], EXPRESSION) | at
    sources = (at, at, NO_SOURCES, row)
    added = (
        Column(name, kind, nullable, made_from, binding.fresh())
        for name, (kind, nullable), made_from in zip(HISTORY_COLUMNS, _TYPES, sources, strict=True)
    )
    return replace(bound, columns=(*bound.columns, *added))


def history_fields(strategy: Strategy) -> tuple[StructField, ...]:
    """The columns that a snapshot adds; none for any other strategy."""
    if not isinstance(strategy, Snapshot):
        return ()
    return tuple(
        StructField(name, kind, nullable)
        for name, (kind, nullable) in zip(HISTORY_COLUMNS, _TYPES, strict=True)
    )
