"""Changes of settings: a model's strategy, layout and classification, and those of `rocky.toml`.

Texts about a model (intent, descriptions, comments, lint levels, unit tests) change nothing that
anybody reads and are no changes here. Values are shown only of blocks that hold no addresses and no
secrets: a diff is read by more people than a configuration.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rocky.analysis.changes.change import Change, change_of
from rocky.project import ModelFile
from rocky.project.configuration.classifications import joined_tags
from rocky.project.configuration.config import Config
from rocky.project.configuration.model import FormatOptions, ModelSettings
from rocky.project.configuration.strategies import Strategy
from rocky.project.toml.variables import written

_STEPS: Final = frozenset(
    {
        "lookback",
        "batch_size",
        "first_partition",
        "invalidate_hard_deletes",
        "null_updated_at",
    }
)
"""What a strategy can be told besides which rows are which. Anything else is a key."""

_KEYS: Final = frozenset({"unique_key", "update_columns"})
_COLUMNS: Final = _KEYS | {
    "timestamp_column",
    "time_column",
    "updated_at",
    "partition_by",
    "partition_columns",
}
"""Settings that name columns; of keys the order says nothing."""


def compare_strategies(before: Strategy, after: Strategy) -> Iterator[Change]:
    """What changed of a strategy, setting by setting."""
    if before.type != after.type:
        yield change_of("strategy_changed", None, before.type, after.type)
        return
    new = after._asdict()
    for name, value in before._asdict().items():
        if _compared(name, value) != _compared(name, new[name]):
            rule = "strategy_setting_changed" if name in _STEPS else "strategy_key_changed"
            yield change_of(rule, None, shown_value(value), shown_value(new[name]), f"`{name}`")


def _compared(name: str, value: Any) -> Any:
    """A setting as it is compared: columns without case, those of a key in any order."""
    if name not in _COLUMNS or value is None:
        return value
    names = [each.lower() for each in ((value,) if isinstance(value, str) else value)]
    return sorted(names) if name in _KEYS else names


def shown_value(value: Any) -> str | None:
    """A setting as it is shown; nothing for one that is not set."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list | frozenset | set):
        return ", ".join(str(each) for each in value)
    return str(value)


_SETTINGS: Final = ("adapter", "skip")
"""Settings that can change rows."""

_OPERATION: Final = ("store", "tests", "budget", "tags")
"""Settings of how runs go and of what is checked."""

_SHOWN: Final = frozenset({"adapter"})
"""Settings whose values are shown. The others are too long, or not for everybody."""

_NO_OPTIONS: Final = FormatOptions()


def compare_settings(before: ModelFile, after: ModelFile) -> Iterator[Change]:
    """What changed of a model's settings, folder defaults included."""
    old, new = before.settings, after.settings
    yield from compare_strategies(before.strategy, after.strategy)
    yield from _compare_layout(old, new)
    yield from compare_classification(old.classification, new.classification)
    yield from _compare_declassified(old, new)
    for name in _SETTINGS:
        yield from _compare(name, old, new, "settings_changed")
    for name in _OPERATION:
        yield from _compare(name, old, new, "operation_changed")
    if before.pipeline != after.pipeline:
        yield change_of("operation_changed", None, before.pipeline, after.pipeline, "`pipeline`")


def _compare_layout(old: ModelSettings, new: ModelSettings) -> Iterator[Change]:
    before, after = old.format_options or _NO_OPTIONS, new.format_options or _NO_OPTIONS
    if _lowered(before.partition_by) != _lowered(after.partition_by):
        yield change_of(
            "partitioning_changed",
            None,
            shown_value(before.partition_by) or None,
            shown_value(after.partition_by) or None,
        )
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


def _compare_declassified(old: ModelSettings, new: ModelSettings) -> Iterator[Change]:
    """Tags that are newly taken off, or not any more; who approved it, and why, is shown."""
    before = {(each.column.lower(), each.tag): each for each in old.declassify}
    after = {(each.column.lower(), each.tag): each for each in new.declassify}
    for key, said in after.items():
        if before.get(key) != said:
            why = f"approved by {written(said.approved_by)}: {written(said.reason)}"
            yield change_of("declassified", said.column, said.tag, None, why)
    for key, said in before.items():
        if key not in after:
            yield change_of("declassification_removed", said.column, None, said.tag)


def compare_classification(
    before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]]
) -> Iterator[Change]:
    """What changed of the marks on columns; names are compared without case."""
    old = {name.lower(): (name, tag) for name, tag in joined_tags(before).items()}
    new = {name.lower(): (name, tag) for name, tag in joined_tags(after).items()}
    for key, (name, tag) in old.items():
        if key not in new:
            yield change_of("classification_removed", name, tag, None)
        elif new[key][1] != tag:
            yield change_of("classification_changed", new[key][0], tag, new[key][1])
    for key, (name, tag) in new.items():
        if key not in old:
            yield change_of("classification_added", name, None, tag)


_WEIGHTY: Final = frozenset(
    {*("adapter", "pipeline", "branch", "imports"), *("mask", "classifications", "governance")}
)
"""Blocks that can change rows, where they are, who may see them, or who must agree."""

_OPERATIONAL: Final = {
    "adapter": frozenset({"master", "remote"}),
    "pipeline": frozenset({"checks"}),
}
"""Settings of each adapter or pipeline that only say how or where work is done."""
_SETTING: Final = 2
"""Where in a path such a setting stands: behind the block and a name that somebody chose."""

_SHOWN_BLOCKS: Final = frozenset(
    {"store", "reuse", "gc", "resilience", "budget", "cost", "schema_evolution"}
    | {"branch", "lints"}
)


def compare_configs(before: Config, after: Config) -> Iterator[Change]:
    """What changed of the project's settings, path by path."""
    if before == after:
        return
    old, new = dict(_leaves(before, ())), dict(_leaves(after, ()))
    for path in {**old, **new}:
        one, other = old.get(path), new.get(path)
        if path in old and path in new and one == other:
            continue
        weighty = path[0] in _WEIGHTY and not _is_operational(path)
        rule = "settings_changed" if weighty else "operation_changed"
        values = (
            (shown_value(one), shown_value(other)) if path[0] in _SHOWN_BLOCKS else (None, None)
        )
        yield change_of(rule, None, *values, f"`{'.'.join(path)}`")


def _is_operational(path: tuple[str, ...]) -> bool:
    known = _OPERATIONAL.get(path[0], frozenset())
    return len(path) > _SETTING and path[_SETTING] in known


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, (*path, str(key)))
    else:
        yield path, value
