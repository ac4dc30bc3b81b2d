"""Changes of a model's settings: strategy, format, partitions, classification, and the rest.

Texts about a model (intent, descriptions, comments, lint levels, unit tests) change nothing that
anybody reads and are no changes here.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rocky.changes.change import Change
from rocky.changes.rules import change_of
from rocky.diff.strategies import compare_strategies, shown_value
from rocky.project import ModelFile
from rocky.project.settings import FormatOptions, ModelSettings

_SETTINGS: Final = ("adapter", "skip", "retention", "governance")
"""Settings that can change rows, how long they stay, or who may read them."""

_OPERATION: Final = ("store", "freshness", "tests", "budget", "tags", "sources")
"""Settings of how runs go and of what is checked."""

_SHOWN: Final = frozenset({"adapter", "retention"})
"""Settings whose values are shown. The others are too long, or not for everybody."""

_NO_OPTIONS: Final = FormatOptions()


def compare_settings(before: ModelFile, after: ModelFile) -> Iterator[Change]:
    """What changed of a model's settings, folder defaults included."""
    old, new = before.settings, after.settings
    yield from compare_strategies(before.strategy, after.strategy)
    yield from _compare_layout(old, new)
    yield from compare_classification(old.classification, new.classification)
    for name in _SETTINGS:
        yield from _compare(name, old, new, "settings_changed")
    for name in _OPERATION:
        yield from _compare(name, old, new, "operation_changed")
    if before.pipeline != after.pipeline:
        yield change_of("operation_changed", None, before.pipeline, after.pipeline, "`pipeline`")


def _compare_layout(old: ModelSettings, new: ModelSettings) -> Iterator[Change]:
    if (old.format or "table") != (new.format or "table"):
        yield change_of("format_changed", None, old.format or "table", new.format or "table")
    before, after = old.format_options or _NO_OPTIONS, new.format_options or _NO_OPTIONS
    if _lowered(before.partition_by) != _lowered(after.partition_by):
        yield change_of(
            "partitioning_changed",
            None,
            shown_value(before.partition_by) or None,
            shown_value(after.partition_by) or None,
        )
    if before.table_properties != after.table_properties:
        yield change_of("settings_changed", detail="`table_properties`")
    if before.cluster_by != after.cluster_by:
        yield change_of("operation_changed", detail="`cluster_by`")


def _lowered(columns: Iterable[str]) -> list[str]:
    return [each.lower() for each in columns]


def _compare(name: str, old: ModelSettings, new: ModelSettings, rule: str) -> Iterator[Change]:
    before: Any = getattr(old, name)
    after: Any = getattr(new, name)
    if before != after:
        values = (shown_value(before), shown_value(after)) if name in _SHOWN else (None, None)
        yield change_of(rule, None, *values, f"`{name}`")


def compare_classification(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    """What changed of the marks on columns; names are compared without case."""
    old = {name.lower(): (name, tag) for name, tag in before.items()}
    new = {name.lower(): (name, tag) for name, tag in after.items()}
    for key, (name, tag) in old.items():
        if key not in new:
            yield change_of("classification_removed", name, tag, None)
        elif new[key][1] != tag:
            yield change_of("classification_changed", new[key][0], tag, new[key][1])
    for key, (name, tag) in new.items():
        if key not in old:
            yield change_of("classification_added", name, None, tag)
