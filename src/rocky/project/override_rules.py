"""Rules of strategies, keys and `table_overrides` of a replication pipeline."""

from typing import Final

from rocky.project.documents import Problem
from rocky.project.pipelines import ReplicationPipeline, TableOverride
from rocky.project.rules import Problems
from rocky.project.variables import Keys

_VIEWS: Final = ("view", "materialized_view")


def check_overrides(pipeline: ReplicationPipeline, at: Keys, problems: Problems) -> None:
    """Report strategies that cannot be, keys that are missing, and overrides that do nothing."""
    _check_strategy(pipeline.strategy, (*at, "strategy"), problems)
    seen: dict[tuple[str | None, str | None], int] = {}
    for index, override in enumerate(pipeline.table_overrides):
        here = (*at, "table_overrides", index)
        _check_match(override, here, seen, problems)
        seen.setdefault(_matched(override), index)
        if override.strategy is not None:
            _check_strategy(override.strategy, (*here, "strategy"), problems)
    _check_keys(pipeline, at, problems)


def _check_strategy(strategy: str, at: Keys, problems: Problems) -> None:
    if strategy in _VIEWS:
        problems.append(
            Problem(
                at,
                f"a copy has rows of its own and cannot be a `{strategy}`",
                "use `full_refresh`, or declare the source and select from it in a model",
            )
        )


def _matched(override: TableOverride) -> tuple[str | None, str | None]:
    connector, table = override.match
    return connector and connector.lower(), table and table.lower()


def _check_match(
    override: TableOverride,
    at: Keys,
    seen: dict[tuple[str | None, str | None], int],
    problems: Problems,
) -> None:
    first = seen.get(_matched(override))
    if not override.match.connector and not override.match.table:
        problems.append(
            Problem(
                (*at, "match"),
                "an override must say which tables it is for",
                "set `connector`, `table` or both",
            )
        )
    elif first is not None:
        problems.append(
            Problem((*at, "match"), f"override {first + 1} is for the same tables", "merge the two")
        )
    if all(value is None for value in override[1:]):
        problems.append(Problem(at, "this override changes nothing"))


def _check_keys(pipeline: ReplicationPipeline, at: Keys, problems: Problems) -> None:
    overrides = pipeline.table_overrides
    merging = [
        keys
        for keys, strategy in (
            ((*at, "strategy"), pipeline.strategy),
            *(
                ((*at, "table_overrides", index, "strategy"), each.strategy)
                for index, each in enumerate(overrides)
            ),
        )
        if strategy == "merge"
    ]
    given = [
        (at, "merge_keys", pipeline.merge_keys),
        (at, "merge_keys_fallback", pipeline.merge_keys_fallback),
    ]
    for index, each in enumerate(overrides):
        here = (*at, "table_overrides", index)
        given += [
            (here, "merge_keys", each.merge_keys or ()),
            (here, "merge_keys_fallback", each.merge_keys_fallback or ()),
        ]
    if merging and not any(keys for _, _, keys in given):
        problems.append(
            Problem(
                merging[0],
                "`merge` needs `merge_keys`: the columns by which a row is known",
                'for example `merge_keys = ["id"]`',
            )
        )
    for here, key, keys in given:
        if keys and not merging:
            problems.append(Problem((*here, key), f"`{key}` has no effect: no table is merged"))
    if merging and pipeline.merge_keys and pipeline.merge_keys_fallback:
        problems.append(
            Problem(
                (*at, "merge_keys_fallback"),
                "`merge_keys_fallback` has no effect beside `merge_keys`",
            )
        )
