"""A build: everything a strategy needs to bring one table up to date, and what it did.

A strategy is a function `Build -> Built`: it writes with the engine, makes one commit a change and
never touches the ledger. How rows are cut into files depends on settings and pinned inputs alone,
never on the machine, or canonical files would differ between a laptop and a cluster.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol

from rocky.diagnostics import Diagnostic
from rocky.language.datatypes.types import StructField
from rocky.plan.request import NO_WINDOW, Window
from rocky.project import ModelFile
from rocky.project.configuration.model import Store
from rocky.project.configuration.strategies import (
    ContentAddressed,
    DeleteInsert,
    FullRefresh,
    MaterializedView,
    Merge,
    Snapshot,
    Strategy,
)
from rocky.project.contracts import Contract
from rocky.run.engine.input_pieces import PIECE_BYTES, SizedFile, count_pieces, split_files
from rocky.run.engine.protocol import Classify, Engine, PythonCode
from rocky.run.materialize.mask_sql import NO_MASK_SQL, MaskSql
from rocky.spark.interface import TARGET_FILE_BYTES, Layout
from rocky.store.delta.change import Committed
from rocky.store.delta.comments import Comments
from rocky.store.delta.signature import NO_AUTHORITY, CommitAuthority
from rocky.store.warehouse import Table


class BuiltModel(PythonCode, Protocol):
    """What a strategy asks of a model, be it a file of the project or a record of one.

    `text` and `imports` are what a Python model is run from; `path` says where it stood.
    """

    @property
    def name(self) -> str: ...
    @property
    def strategy(self) -> Strategy: ...


@dataclass(frozen=True, slots=True)
class Build:
    """One model to build.

    `query` is the author's SQL with every table name bound to a view, or None for a Python model,
    which is called with `python_inputs` (parameter name -> view). `columns` are the compiled output
    columns. `info` is for commitInfo, beside what `ledger_statement` says at that moment.
    `classify` says what an error in a part of the build means, and where in the project it is.
    `masks` stand in the place of columns before anything is written.
    `is_little` when the query reads few bytes and makes no more of them. `token` is equal in every
    attempt of this model in this run and different elsewhere: the transaction id of appends. `view`
    is a prefix no other build uses. `contract` is what the model promises.
    """

    model: BuiltModel
    columns: tuple[StructField, ...]
    table: Table
    query: str | None
    engine: Engine
    layout: Layout
    info: Mapping[str, str]
    token: str
    view: str
    now: datetime
    full_refresh: bool = False
    window: Window = NO_WINDOW
    python_inputs: Mapping[str, str] | None = None
    ledger_statement: Callable[[], Mapping[str, str]] = dict
    authority: CommitAuthority = NO_AUTHORITY
    comments: Comments | None = None
    classify: Classify | None = None
    contract: Contract | None = None
    masks: MaskSql = NO_MASK_SQL
    is_little: bool = False

    @property
    def commit_info(self) -> Mapping[str, str]:
        """What the next commit says of itself."""
        return {**self.info, **self.ledger_statement()}


@dataclass(frozen=True, slots=True)
class BuiltPartition:
    """A time interval that was built."""

    key: str
    rows: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did. `commits` is empty when there was nothing to do.

    `rows` counts rows written. `sql` is the text handed to Spark, whose hash the ledger keeps.
    `finding` is why the first interval that failed did.
    """

    sql: str
    commits: tuple[Committed, ...]
    rows: int
    rows_hash: str | None
    action: str
    watermark: str | None = None
    partitions: tuple[BuiltPartition, ...] = ()
    finding: Diagnostic | None = None


Materialize = Callable[[Build], Built]
"""What brings a table up to date: `rocky.run.materialize.strategy.materialize`."""


CANONICAL_UP_TO_BYTES: Final = 1 << 30
"""With `canonical = "auto"`: inputs up to here. Sorting all columns costs up to 1.4 times a plain
write; below a gigabyte that is seconds, above it the price of equal bytes is the owner's choice."""

ONE_TASK_BYTES: Final = 16 << 20
"""Inputs up to here are sorted by the task that makes the rows. Handing them to another task costs
a quarter of the write; making them in several wins little, because such inputs are read by few."""

_MAKES_ROWS: Final = re.compile(
    r"\b(?:range|sequence)\s*\(|\brecursive\b|\bcross\s+join\b", re.IGNORECASE
)
_WORD: Final = re.compile(r"\w+")
_FROM_INPUTS_ALONE: Final = (FullRefresh, ContentAddressed, MaterializedView)

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
    functions: Collection[str] = (),
    files: Callable[[], Sequence[SizedFile]] = tuple,
) -> Layout:
    """The layout of a model whose inputs are that large; None is an input of unknown size.

    `functions` are those that the project declares, in lower case; `files` tells those of the
    driving table, if the query is row-wise and that is read as a list of files.
    """
    size = _size_of(input_bytes)
    wanted = (model.settings.store or project_store).canonical
    canonical = (
        wanted if isinstance(wanted, bool) else size is not None and size <= CANONICAL_UP_TO_BYTES
    )
    clustered = cluster_columns_of(model, columns)
    layout = Layout(partition_columns_of(model, columns), canonical, _pieces(size))
    if isinstance(model.strategy, Merge | Snapshot):
        layout = replace(layout, max_rows_per_file=_KEYED_ROWS_PER_FILE)
    layout = replace(layout, cluster_by=clustered)
    alone = canonical and isinstance(model.strategy, _FROM_INPUTS_ALONE)
    if not alone or size is None or not _costs_by_size(model, functions):
        return layout
    if size <= ONE_TASK_BYTES:
        return replace(layout, in_one_task=True, in_one_file=True)
    if layout.partition_columns:
        return layout
    # The task that reads a row may write it: handing rows to others costs half a write.
    read = files()
    for pieces in (count_pieces(read), layout.pieces):
        if split_files(read, pieces) is not None:
            return replace(layout, pieces=pieces, by_files=True)
    return replace(layout, in_one_task=layout.pieces == 1 and bool(read))


_IN_ORDER: Final = frozenset(
    {
        *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal"),
        *("string", "char", "varchar", "binary", "date", "timestamp", "timestamp_ntz"),
    }
)
"""Types whose values any rows can be sorted by."""


def arrive_by_key(
    layout: Layout,
    model: ModelFile,
    columns: Sequence[StructField],
    input_bytes: Iterable[int | None],
    order: Sequence[str],
) -> Layout:
    """The layout of a model whose query hands its rows over, if that can serve its files too.

    `order` is what the query puts rows in: sorted by that first, they are hardly sorted again.
    There are as many pieces as a task can sort.
    """
    size = _size_of(input_bytes)
    if not layout.spread or layout.partition_columns or size is None:
        return layout
    if not isinstance(model.strategy, _FROM_INPUTS_ALONE):
        return layout
    # A name of what is read may be that of something else in the result.
    given = {each.name.lower() for each in columns if each.type.kind in _IN_ORDER}
    kept = [name for name in dict.fromkeys(order) if name in given]
    first = layout.cluster_by or _spelt(kept, columns)
    pieces = max(2, -(-size // PIECE_BYTES))
    return replace(layout, pieces=pieces, cluster_by=first, by_key=True)


def reads_little(
    model: ModelFile, input_bytes: Iterable[int | None], functions: Collection[str] = ()
) -> bool:
    """Whether a model's query costs little, because its inputs are small and decide on the cost."""
    size = _size_of(input_bytes)
    return size is not None and size <= ONE_TASK_BYTES and _costs_by_size(model, functions)


def _size_of(input_bytes: Iterable[int | None]) -> int | None:
    """The bytes of all inputs together; None where nobody knows those of one."""
    sizes = list(input_bytes)
    return None if None in sizes else sum(each for each in sizes if each is not None)


def _costs_by_size(model: ModelFile, functions: Collection[str]) -> bool:
    """Whether what a query costs follows from the size of its inputs.

    Not where it calls one of the `functions`, which may do anything, or makes rows.
    """
    return (
        not model.is_python
        and not may_make_rows(model.sql)
        and not any(word in functions for word in _WORD.findall(model.sql.lower()))
    )


def may_make_rows(sql: str) -> bool:
    """Whether a query may make many rows of few."""
    return _MAKES_ROWS.search(sql) is not None


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
