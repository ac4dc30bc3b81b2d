"""Changes of a model's strategy: another one, other keys, other steps."""

from collections.abc import Iterator
from typing import Any, Final

from rocky.changes.change import Change
from rocky.changes.rules import change_of
from rocky.project.strategies import Strategy

_STEPS: Final = frozenset({"lookback", "batch_size", "first_partition", "invalidate_hard_deletes"})
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
