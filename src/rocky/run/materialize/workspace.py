"""Workspace: the views of one build, the columns they agree on, the table before and after it.

All views begin with the build's own prefix and are gone when the workspace is closed. The model's
rows are the view `source`: Spark evaluates it again each time it is read, unless it is kept. Types
must be those the compiler promised; nullability is enforced when rows are written.

A strategy says which files the table holds in the end; what is added and removed is the difference
to the snapshot it started from. A table whose columns widened has been rewritten by then, so the
files of its starting point are not those of the snapshot: both go with the same commit.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from rocky.canonical import ascii_json
from rocky.errors import ModelFailed
from rocky.language.datatypes.parts import is_complete
from rocky.language.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from rocky.language.names import quote_name
from rocky.project.configuration.strategies import query_width
from rocky.run.engine.protocol import Frame, Kept, Written
from rocky.run.engine.sql import column_list
from rocky.run.materialize.build import Build
from rocky.run.materialize.promises import hold_promises
from rocky.spark.interface import Layout
from rocky.store.data_file import DataFile
from rocky.store.delta.change import Change, Committed, FilesRead, Operation
from rocky.store.delta.snapshot import MASKS, MASKS_ABOVE, ROWS_HASH, WATERMARK, Snapshot
from rocky.store.parquet.kept_rows import drop_kept

_MODULUS: Final = 1 << 128


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """What a strategy builds on. `evolved` when the table's columns are about to change.

    `columns` are the model's, which rows are held to when they are written; in `schema`, the
    table's, more may be null, because its files were written under an earlier promise.
    """

    snapshot: Snapshot
    schema: tuple[StructField, ...]
    columns: tuple[StructField, ...]
    files: tuple[DataFile, ...]
    rows_hash: str
    evolved: bool = False

    def seen_as(self, files: Sequence[DataFile]) -> Snapshot:
        """The table as if it held just these files."""
        return replace(self.snapshot, schema=self.schema, files=tuple(files))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.schema)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(file.path for file in self.files)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a table holds in the end, and what its commit says besides."""

    files: tuple[DataFile, ...]
    rows_hash: str
    watermark: str | None = None
    transaction: tuple[str, int] | None = None


def commit_replacement(
    build: Build,
    snapshot: Snapshot | None,
    schema: tuple[StructField, ...],
    outcome: Outcome,
) -> Committed:
    """One commit after which the table holds these files and no others.

    A table that was not there must still not be: then this is no replacement, and is refused.
    """
    return build.table.commit(
        Change(
            "OVERWRITE" if snapshot is None else "REPLACE",
            snapshot,
            schema,
            build.layout.partition_columns,
            outcome.files,
            properties=_properties(build, None, outcome),
            info=build.commit_info,
            transaction=outcome.transaction,
            authority=build.authority,
            comments=build.comments,
        )
    )


def commit_outcome(
    build: Build,
    operation: Operation,
    base: StartingPoint,
    outcome: Outcome,
    reads: FilesRead | None = None,
) -> Committed | None:
    """One commit that turns the base into the outcome; None when they are the same.

    It holds beside what others commit meanwhile, if that is none of what it `reads`.
    """
    before = {file.path: file for file in base.snapshot.files}
    after = {file.path: file for file in outcome.files}
    properties = _properties(build, base.snapshot, outcome)
    if before.keys() == after.keys() and not base.evolved and WATERMARK not in properties:
        return None
    return build.table.commit(
        Change(
            operation,
            base.snapshot,
            base.schema,
            base.snapshot.partition_columns,
            tuple(file for path, file in after.items() if path not in before),
            frozenset(before.keys() - after.keys()),
            properties,
            build.commit_info,
            outcome.transaction,
            build.authority,
            build.comments,
            reads,
        )
    )


def _properties(build: Build, snapshot: Snapshot | None, outcome: Outcome) -> Mapping[str, str]:
    """The table's properties after a commit: a watermark that no longer holds is emptied."""
    found = {ROWS_HASH: outcome.rows_hash}
    if build.masks.digest:
        found[MASKS] = build.masks.digest
    if build.masks.above or (snapshot is not None and MASKS_ABOVE in snapshot.configuration):
        found[MASKS_ABOVE] = ascii_json(build.masks.above)
    stale = snapshot is not None and snapshot.configuration.get(WATERMARK)
    if outcome.watermark or stale:
        found[WATERMARK] = outcome.watermark or ""
    return found


NO_ROWS: Final = "0" * 32
"""The hash of no rows at all."""


def add_hashes(hashes: Iterable[str]) -> str:
    """The hash of all rows together, from the hashes of disjoint parts."""
    return _hex(sum(int(each, 16) for each in hashes))


def subtract_hash(whole: str, part: str) -> str:
    """The hash of the rows that stay when a part is taken away."""
    return _hex(int(whole, 16) - int(part, 16))


def _hex(value: int) -> str:
    return f"{value % _MODULUS:032x}"


Agreed = list[tuple[str, StructField]]


def agree_columns(build: Build, given: Sequence[StructField]) -> Agreed:
    """For each output column of the query, the name it is given under and what it will be.

    No compiled columns at all means that the compiler could not list them: Spark's word is taken.
    Raises ModelFailed where the two differ.
    """
    width = query_width(build.model.strategy, len(build.columns))
    promised = build.columns[:width]
    hold_promises(build.model.name, build.contract, promised, given)
    if not build.columns:
        return [(field.name, field) for field in given]
    if build.query is None:
        given = _in_order(build, promised, given)
    if len(given) != len(promised):
        shown = ", ".join(f"`{field.name}`" for field in given)
        raise ModelFailed(
            f"model `{build.model.name}` was compiled to {len(promised)} columns,"
            f" but Spark gives {len(given)}: {shown}"
        )
    return [
        (theirs.name, _agreed(build, ours, theirs))
        for ours, theirs in zip(promised, given, strict=True)
    ]


def _in_order(
    build: Build, promised: Sequence[StructField], given: Sequence[StructField]
) -> list[StructField]:
    """The columns of a Python model in their declared order."""
    by_name = {field.name.lower(): field for field in given}
    wanted = {field.name.lower(): field.name for field in promised}
    missing = [name for key, name in wanted.items() if key not in by_name]
    extra = [field.name for key, field in by_name.items() if key not in wanted]
    if missing or extra:
        said = [f"does not give `{name}`" for name in missing]
        said += [f"gives `{name}`, which is not declared" for name in extra]
        raise ModelFailed(f"model `{build.model.name}` {'; '.join(said)}")
    return [by_name[key] for key in wanted]


def _agreed(build: Build, ours: StructField, theirs: StructField) -> StructField:
    if not is_complete(ours.type):
        return StructField(ours.name, theirs.type, ours.nullable or theirs.nullable)
    if not is_same_type(ours.type, theirs.type):
        word = "declares" if build.query is None else "was compiled to"
        raise ModelFailed(
            f"column `{ours.name}`: model `{build.model.name}` {word} `{ours.type}`,"
            f" but Spark gives `{theirs.type}`"
        )
    return ours


def is_same_type(ours: DataType, theirs: DataType) -> bool:
    """Whether two types hold the same values, whatever may be null in them."""
    match ours, theirs:
        case ArrayType(), ArrayType():
            return is_same_type(ours.element, theirs.element)
        case MapType(), MapType():
            return is_same_type(ours.key, theirs.key) and is_same_type(ours.value, theirs.value)
        case StructType(), StructType():
            return len(ours.fields) == len(theirs.fields) and all(
                mine.name.lower() == other.name.lower() and is_same_type(mine.type, other.type)
                for mine, other in zip(ours.fields, theirs.fields, strict=True)
            )
        case StringType(), StringType():
            # What a CHAR or VARCHAR is read from is a string.
            return ours.collation == theirs.collation
        case _:
            return ours is theirs


class Workspace:
    """The views of one build. Use `open_workspace`."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.source = f"{build.view}_source"
        self.columns: tuple[StructField, ...] = ()
        self._engine = build.engine
        self._bound: list[str] = []
        self._kept: list[str] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the source, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> StructField:
        """The column of the source that a setting means; the compiler has seen that it exists."""
        key = name.lower()
        return next(each for each in self.columns if each.name.lower() == key)

    def bind_source(self, query: str | None) -> None:
        """The model's rows as the view `source`, with the columns that were compiled."""
        frame = self._author_frame(query)
        agreed = agree_columns(self.build, self._engine.columns(frame))
        self.columns = tuple(field for _, field in agreed)
        if any(written != field.name for written, field in agreed):
            raw = self._bind(f"{self.build.view}_author", frame)
            renamed = ", ".join(
                f"{quote_name(written)} AS {quote_name(field.name)}" for written, field in agreed
            )
            frame = self._engine.frame(f"SELECT {renamed} FROM {raw}")
        masks = self.build.masks
        if masks.columns:
            # Whatever a strategy does from here on, it does with masked values.
            clear = self._bind(f"{self.build.view}_clear", frame)
            frame = self._engine.frame(f"SELECT {masks.apply(self.names)} FROM {clear}")
        self._bind(self.source, frame)

    def bind_sql(self, name: str, sql: str) -> str:
        """A view over a query."""
        return self._bind(f"{self.build.view}_{name}", self._engine.frame(sql))

    def bind_files(self, name: str, base: StartingPoint, files: Sequence[DataFile]) -> str:
        """A view over some files of the table, with the columns it will have."""
        view = f"{self.build.view}_{name}"
        self._engine.views.bind_table(view, self.build.table, base.seen_as(files))
        self._bound.append(view)
        return view

    def keep(self, view: str) -> None:
        """Evaluate a view only once: its rows are kept from the first time it is read.

        What does not fit into memory goes to disk. Dropping the view forgets them.
        """
        self._engine.frame(f"CACHE LAZY TABLE {view}")

    def keep_source(self) -> Kept:
        """Evaluate the model's rows, which are from now on what the view `source` reads.

        Unlike rows that Spark keeps they are never computed again, and their footers tell where
        they lie before anybody asks.
        """
        frame = self._engine.frame(f"SELECT * FROM {self.source}")
        kept = self._engine.views.bind_kept(
            self.source, frame, self.build.table, is_little=self.build.is_little
        )
        self._kept.append(kept.folder)
        return kept

    def ask(self, sql: str, limit: int = 1) -> list[tuple[Any, ...]]:
        """The first rows of a query."""
        return self._engine.rows(self._engine.frame(sql), limit)

    def write(
        self, sql: str, schema: tuple[StructField, ...], layout: Layout, kept_paths: frozenset[str]
    ) -> Written:
        """Write the rows of a query as files of the table, not yet committed."""
        frame = self._engine.frame(sql)
        return self._engine.write(frame, self.build.table, layout, schema, kept_paths)

    def rows_hash(self, view: str, names: Sequence[str]) -> str:
        """The hash of a view's rows, its columns in the order of `names`."""
        frame = self._engine.frame(f"SELECT {column_list(names)} FROM {view}")
        return self._engine.rows_hash(frame)

    def close(self) -> None:
        self._engine.views.unbind(self._bound)
        for folder in self._kept:
            drop_kept(self.build.table, folder)

    def _author_frame(self, query: str | None) -> Frame:
        build = self.build
        if query is not None:
            return self._engine.frame(query)
        return self._engine.python_frame(build.model, build.python_inputs or {})

    def _bind(self, view: str, frame: Frame) -> str:
        self._engine.views.bind_frame(view, frame)
        self._bound.append(view)
        return view


@contextmanager
def open_workspace(build: Build) -> Iterator[Workspace]:
    """A workspace whose views are gone afterwards."""
    workspace = Workspace(build)
    try:
        yield workspace
    except Exception as error:
        # A server that is lost must be known as such before it is asked to drop each view.
        build.engine.explain(error)
        raise
    finally:
        workspace.close()
