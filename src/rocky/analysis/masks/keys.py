"""The columns that a strategy goes by, which a mask could make useless."""

from collections.abc import Iterator
from typing import NamedTuple

from rocky.analysis.column_masks import MaskProblem, TableMasks
from rocky.project import ModelFile
from rocky.project.configuration.strategies import (
    ContentAddressed,
    DeleteInsert,
    Incremental,
    Merge,
    Microbatch,
    Snapshot,
    TimeInterval,
)


class UsedColumn(NamedTuple):
    """A column and what it is for. `needs_order` where it says what is newer than what."""

    name: str
    role: str
    needs_order: bool = False


def used_columns(model: ModelFile) -> Iterator[UsedColumn]:
    """The columns that decide which rows of a model's table are replaced, or are new."""
    strategy = model.strategy
    match strategy:
        case Merge():
            yield from (UsedColumn(each, "a key of the merge") for each in strategy.unique_key)
        case Snapshot():
            yield from (UsedColumn(each, "a key of the snapshot") for each in strategy.unique_key)
            if strategy.updated_at is not None:
                yield UsedColumn(strategy.updated_at, "the time of changes", needs_order=True)
        case DeleteInsert():
            yield from (
                UsedColumn(each, "what partitions are replaced by")
                for each in strategy.partition_by
            )
        case Incremental():
            yield UsedColumn(strategy.timestamp_column, "the watermark", needs_order=True)
        case Microbatch():
            yield UsedColumn(strategy.timestamp_column, "the watermark", needs_order=True)
        case TimeInterval():
            yield UsedColumn(strategy.time_column, "what intervals are cut by", needs_order=True)
        case _:
            return


def told_columns(model: ModelFile) -> Iterator[tuple[str, str]]:
    """The columns whose values are in records and in the names of folders, and what they are."""
    strategy, options = model.strategy, model.settings.format_options
    yield from ((each.name, each.role) for each in used_columns(model) if each.needs_order)
    partitions = options.partition_by if options is not None else ()
    if isinstance(strategy, DeleteInsert):
        partitions = (*partitions, *strategy.partition_by)
    elif isinstance(strategy, ContentAddressed):
        partitions = (*partitions, *strategy.partition_columns)
    yield from ((name, "what the table is partitioned by") for name in dict.fromkeys(partitions))


def strategy_problems(model: ModelFile, key: str, masks: TableMasks) -> Iterator[MaskProblem]:
    """Columns that a strategy goes by and cannot, masked as they are."""
    for name, role, needs_order in used_columns(model):
        mask = masks.get(name.lower())
        if mask is None or (mask.distinct and not needs_order):
            continue
        help_text = (
            "use another column, or `none` for its tag"
            if needs_order
            else "use `hash`, which keeps different values apart"
        )
        yield MaskProblem(
            "key",
            key,
            mask.column,
            mask.tags[0],
            f"`{mask.column}` is {role}, and masked by `{mask.strategy}` it cannot be",
            help_text,
        )


def told_problems(model: ModelFile, key: str, masks: TableMasks) -> Iterator[MaskProblem]:
    """Columns whose clear values would be in the ledger, which is not restricted."""
    for name, role in told_columns(model):
        mask = masks.get(name.lower())
        if mask is not None:
            yield MaskProblem(
                "key",
                key,
                mask.column,
                mask.tags[0],
                f"`{mask.column}` is {role}, and records would tell its clear values",
                "use another column, or `none` for its tag",
            )
