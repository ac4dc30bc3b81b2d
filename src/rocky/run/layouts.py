"""Layouts: how a model's rows will be cut into files, decided from settings and pinned inputs only.

What a machine has (cores, memory, how busy it is) must not matter: the same inputs get the same
layout everywhere, or canonical files would differ between a laptop and a cluster.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from rocky.datatypes.types import StructField
from rocky.project import ModelFile
from rocky.project.settings import Store
from rocky.project.strategies import ContentAddressed, DeleteInsert, Merge, Snapshot
from rocky.spark.layout import TARGET_FILE_BYTES, Layout

CANONICAL_UP_TO_BYTES: Final = 1 << 30
"""With `canonical = "auto"`: inputs up to here. Sorting all columns costs up to 1.4 times a plain
write; below a gigabyte that is seconds, above it the price of equal bytes is the owner's choice."""

_KEYED_ROWS_PER_FILE: Final = 250_000
"""Rows a file of a table that is merged by key: a merge rewrites whole files, so they are small."""

_PIECES_WHEN_UNKNOWN: Final = 8
"""Canonical was asked for and nobody knows how large the inputs are: a constant, since equal
inputs must be cut equally, and more than one, since one task would sort everything."""


def choose_layout(
    model: ModelFile,
    columns: Sequence[StructField],
    project_store: Store,
    input_bytes: Iterable[int | None],
) -> Layout:
    """The layout of a model whose inputs are that large; None is an input of unknown size."""
    sizes = list(input_bytes)
    size = None if None in sizes else sum(each for each in sizes if each is not None)
    wanted = (model.settings.store or project_store).canonical
    canonical = (
        wanted if isinstance(wanted, bool) else size is not None and size <= CANONICAL_UP_TO_BYTES
    )
    clustered = cluster_columns_of(model, columns)
    layout = Layout(partition_columns_of(model, columns), canonical, _pieces(size))
    if isinstance(model.strategy, Merge | Snapshot):
        layout = replace(layout, max_rows_per_file=_KEYED_ROWS_PER_FILE)
    return replace(layout, cluster_by=clustered)


def partition_columns_of(model: ModelFile, columns: Sequence[StructField]) -> tuple[str, ...]:
    """The columns a table is partitioned by, spelt as the output spells them."""
    strategy = model.strategy
    named: tuple[str, ...] = ()
    if isinstance(strategy, DeleteInsert):
        named = strategy.partition_by
    elif isinstance(strategy, ContentAddressed):
        named = strategy.partition_columns
    if not named and model.settings.format_options is not None:
        named = model.settings.format_options.partition_by
    return _spelt(named, columns)


def cluster_columns_of(model: ModelFile, columns: Sequence[StructField]) -> tuple[str, ...]:
    """The columns whose neighbours should share a file: those that were asked for, or the key."""
    options, strategy = model.settings.format_options, model.strategy
    if options is not None and options.cluster_by:
        return _spelt(options.cluster_by, columns)
    if isinstance(strategy, Merge | Snapshot):
        return _spelt(strategy.unique_key, columns)
    return ()


def _spelt(names: Sequence[str], columns: Sequence[StructField]) -> tuple[str, ...]:
    spelling = {column.name.lower(): column.name for column in columns}
    return tuple(spelling.get(name.lower(), name) for name in names)


def _pieces(size: int | None) -> int:
    if size is None:
        return _PIECES_WHEN_UNKNOWN
    return max(1, -(-size // TARGET_FILE_BYTES))
