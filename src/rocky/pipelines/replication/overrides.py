"""Overrides: other settings for some tables, field by field, the most specific rule first.

A rule for one table of one connector goes before one for a pattern of its tables, that before one
for the whole connector, and that before one for a table of any connector. Of equals the first wins.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from rocky.pipelines.replication.filters import matches_glob
from rocky.project.pipelines import OverrideMatch, ReplicationPipeline, TableOverride

_WILD: Final = frozenset("*?")


@dataclass(frozen=True, slots=True)
class Settings:
    """How one table is copied. `rules` are the indexes of the overrides that matched it."""

    strategy: str
    timestamp_column: str
    merge_keys: tuple[str, ...]
    enabled: bool
    rules: frozenset[int] = frozenset()


def resolve_settings(pipeline: ReplicationPipeline, schema: str, table: str) -> Settings:
    """The settings of one table."""
    if not pipeline.table_overrides:
        keys = pipeline.merge_keys or pipeline.merge_keys_fallback
        return Settings(pipeline.strategy, pipeline.timestamp_column, keys, enabled=True)
    matching = sorted(
        (_rank(rule.match), index)
        for index, rule in enumerate(pipeline.table_overrides)
        if _matches(rule.match, schema, table)
    )
    rules = [pipeline.table_overrides[index] for _, index in matching]
    enabled = _first(rules, "enabled")
    given = (
        _first(rules, "merge_keys"),
        pipeline.merge_keys,
        _first(rules, "merge_keys_fallback"),
        pipeline.merge_keys_fallback,
    )
    return Settings(
        _first(rules, "strategy") or pipeline.strategy,
        _first(rules, "timestamp_column") or pipeline.timestamp_column,
        next((each for each in given if each), ()),
        True if enabled is None else enabled,
        frozenset(index for _, index in matching),
    )


def override_warnings(pipeline: ReplicationPipeline, used: frozenset[int]) -> tuple[str, ...]:
    """The overrides that matched no table."""
    return tuple(
        f"override {index + 1} ({_shown(rule.match)}) matches no table"
        for index, rule in enumerate(pipeline.table_overrides)
        if index not in used
    )


def _first(rules: Sequence[TableOverride], name: str) -> Any:
    values = (getattr(rule, name) for rule in rules)
    return next((value for value in values if value is not None), None)


def _rank(match: OverrideMatch) -> int:
    if match.connector is None:
        return 3
    if match.table is None:
        return 2
    return 1 if _WILD & set(match.table) else 0


def _matches(match: OverrideMatch, schema: str, table: str) -> bool:
    if match.connector is not None and match.connector.lower() != schema.lower():
        return False
    return match.table is None or matches_glob(match.table, table)


def _shown(match: OverrideMatch) -> str:
    parts = (("connector", match.connector), ("table", match.table))
    return ", ".join(f"{name} `{value}`" for name, value in parts if value is not None)
