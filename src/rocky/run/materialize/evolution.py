"""Evolution: a table whose model has other columns than when its rows were written.

Columns may be added (rows already there have null in them) and types may widen. Wider values do
not read back from narrower files in every reader, so then all rows are written again, with the
same commit as the new ones. Anything else needs a full refresh, and says so.
"""

from collections.abc import Sequence
from typing import Final

from rocky.errors import ModelFailed
from rocky.language.datatypes.safe_casts import is_lossless
from rocky.language.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    array,
    map_of,
    struct,
)
from rocky.language.names import quote_name
from rocky.run.materialize.key_bounds import may_hold_null
from rocky.run.materialize.workspace import (
    NO_ROWS,
    StartingPoint,
    Workspace,
    add_hashes,
    subtract_hash,
)
from rocky.store.data_file import DataFile
from rocky.store.delta.schema import evolves
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot
from rocky.store.rows_mark import marked_hashes

_ADVICE: Final = "run with `--full-refresh` to rebuild the table"


def open_base(
    workspace: Workspace, snapshot: Snapshot, columns: tuple[StructField, ...] | None = None
) -> StartingPoint:
    """The table that the snapshot shows, in the columns the model has now.

    `columns` are those of the table where they are not the query's own. Raises ModelFailed when its
    rows cannot be kept.
    """
    columns = columns or workspace.columns
    _check_partitions(workspace, snapshot)
    schema, rewritten = _compare(workspace.build.model.name, snapshot, columns)
    if rewritten and snapshot.files:
        return _rewrite(workspace, snapshot, columns, rewritten)
    evolved = _described(snapshot.schema) != _described(schema)
    recorded = snapshot.configuration.get(ROWS_HASH)
    base = StartingPoint(snapshot, schema, columns, snapshot.files, recorded or "", evolved)
    hash_holds = recorded and _typed(snapshot.schema) == _typed(schema)
    return base if hash_holds else _hashed(workspace, base)


def hash_without(workspace: Workspace, base: StartingPoint, gone: Sequence[DataFile]) -> str:
    """The rows hash of the base without some of its files.

    Their rows are read for it, unless the log tells the hash of each.
    """
    if not gone:
        return base.rows_hash
    known = marked_hashes(gone, base.schema)
    if known is not None:
        return subtract_hash(base.rows_hash, add_hashes(known))
    view = workspace.bind_files("gone", base, gone)
    return subtract_hash(base.rows_hash, workspace.rows_hash(view, base.names))


def _hashed(workspace: Workspace, base: StartingPoint) -> StartingPoint:
    """The base with its rows hash: a null in an added column counts as any other null."""
    found = NO_ROWS
    if base.files:
        view = workspace.bind_files("before", base, base.files)
        found = workspace.rows_hash(view, base.names)
    return StartingPoint(base.snapshot, base.schema, base.columns, base.files, found, base.evolved)


def _rewrite(
    workspace: Workspace,
    snapshot: Snapshot,
    columns: tuple[StructField, ...],
    rewritten: frozenset[str],
) -> StartingPoint:
    """The rows of the table in wider types, as new files."""
    old = {field.name.lower(): field for field in snapshot.schema}
    read = tuple(
        StructField(field.name, old[field.name.lower()].type, nullable=True)
        if field.name in rewritten
        else field
        for field in columns
    )
    narrow = StartingPoint(snapshot, read, read, snapshot.files, "")
    view = workspace.bind_files("narrow", narrow, snapshot.files)
    selected = ", ".join(
        f"CAST({quote_name(field.name)} AS {field.type}) AS {quote_name(field.name)}"
        if field.name in rewritten
        else quote_name(field.name)
        for field in columns
    )
    written = workspace.write(
        f"SELECT {selected} FROM {view}", columns, workspace.build.layout, frozenset()
    )
    return StartingPoint(snapshot, columns, columns, written.files, written.rows_hash, evolved=True)


def _check_partitions(workspace: Workspace, snapshot: Snapshot) -> None:
    wanted = workspace.build.layout.partition_columns
    if snapshot.partition_columns != wanted:
        before = ", ".join(f"`{each}`" for each in snapshot.partition_columns) or "no column"
        now = ", ".join(f"`{each}`" for each in wanted) or "no column"
        raise ModelFailed(
            f"the table of model `{workspace.build.model.name}` is partitioned by {before}, and"
            f" its settings say {now}; {_ADVICE}"
        )


def _compare(
    model: str, snapshot: Snapshot, columns: tuple[StructField, ...]
) -> tuple[tuple[StructField, ...], frozenset[str]]:
    """The table's columns if it keeps its files, and those for which it cannot."""
    old = {field.name.lower(): field for field in snapshot.schema}
    names = {field.name.lower() for field in columns}
    for key, field in old.items():
        if key not in names:
            raise ModelFailed(
                f"column `{field.name}` is in the table of model `{model}` and no longer in its"
                f" query; {_ADVICE}"
            )
    schema, rewritten = [], set()
    for field in columns:
        before = old.get(field.name.lower())
        if before is None:
            _check_added(model, field, snapshot)
            schema.append(field)
            continue
        kept = _kept(before, field)
        schema.append(kept)
        if evolves((before,), (kept,)) is None:
            _check_required(model, before, field, snapshot)
        elif is_lossless(before.type, kept.type):
            # Wider, or spelt otherwise: not every reader finds such a column in the old files.
            rewritten.add(field.name)
        else:
            raise ModelFailed(
                f"column `{field.name}` of model `{model}` is `{before.type}` in its table and"
                f" `{field.type}` now, which cannot hold every value there is; {_ADVICE}"
            )
    return tuple(schema), frozenset(rewritten)


def _kept(before: StructField, now: StructField) -> StructField:
    """A column whose files stay: what could be null in them, still may be."""
    return StructField(now.name, _kept_type(before.type, now.type), before.nullable or now.nullable)


def _kept_type(before: DataType, now: DataType) -> DataType:
    match before, now:
        case ArrayType(), ArrayType():
            inner = _kept_type(before.element, now.element)
            return array(inner, before.contains_null or now.contains_null)
        case MapType(), MapType():
            key, value = _kept_type(before.key, now.key), _kept_type(before.value, now.value)
            return map_of(key, value, before.contains_null or now.contains_null)
        case StructType(), StructType():
            old = {field.name: field for field in before.fields}
            return struct(
                tuple(
                    _kept(old[field.name], field) if field.name in old else field
                    for field in now.fields
                )
            )
        case _:
            return now


def _check_added(model: str, field: StructField, snapshot: Snapshot) -> None:
    if not field.nullable and snapshot.rows:
        raise ModelFailed(
            f"column `{field.name}` of model `{model}` is new and never null, but the rows in its"
            f" table have no value for it; {_ADVICE}, or let it be null"
        )


def _check_required(
    model: str, before: StructField, field: StructField, snapshot: Snapshot
) -> None:
    if before.nullable and not field.nullable and may_hold_null(before.name, snapshot):
        raise ModelFailed(
            f"column `{field.name}` of model `{model}` is never null now, but rows in its table"
            f" may be; {_ADVICE}"
        )


def _typed(schema: tuple[StructField, ...]) -> list[tuple[str, DataType]]:
    return [(field.name, field.type) for field in schema]


def _described(schema: tuple[StructField, ...]) -> list[tuple[str, DataType, bool]]:
    return [(field.name, field.type, field.nullable) for field in schema]
