"""Changes of `rocky.toml` that are of no single table.

A setting is known by its path. Values are shown only of blocks that hold no addresses and no
secrets: a diff is read by more people than a configuration.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rocky.changes.change import Change
from rocky.changes.rules import change_of
from rocky.diff.strategies import shown_value
from rocky.project.config import Config

_WEIGHTY: Final = frozenset(
    {"adapter", "pipeline", "mask", "classifications", "role", "branch", "imports"}
)
"""Blocks that can change rows, where they are, who may read them, or who must agree."""

_OPERATIONAL: Final = {
    "adapter": frozenset({"retry", "master", "remote", "kind"}),
    "pipeline": frozenset({"schedule", "checks"}),
}
"""Settings of each adapter or pipeline that only say how, where or when work is done."""
_SETTING: Final = 2
"""Where in a path such a setting stands: behind the block and a name that somebody chose."""

_SHOWN: Final = frozenset(
    {"store", "reuse", "run", "gc", "resilience", "budget", "cost", "schema_evolution"}
    | {"freshness", "branch", "classifications", "mask", "lints"}
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
        values = (shown_value(one), shown_value(other)) if path[0] in _SHOWN else (None, None)
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
