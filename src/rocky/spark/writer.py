"""The writer: a query's rows as Parquet files in a staging folder, written by Spark itself.

Spark's own writer is the fastest there is; what makes its bytes repeatable is that every setting
with a say in them is pinned here, as an option of the write, so that it holds on any Spark. One
cannot be an option: timestamps are INT96 unless the session says otherwise, so a session that does
not (`rocky.spark.settings`) is refused. Naming the files by their bytes is the store's work.

Where the writer is ours (`rocky.spark.hashed_parquet`) and every expression is a text, the whole
write is one question to Spark's process; a column each takes longer than a small table's rows.

Nulls that footers cannot tell of (below an array, a map or a nullable struct) are checked in the
query that writes, so nothing is committed when one is found.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import Observation
from pyspark.sql import functions as f

from rocky.errors import InternalError, ModelFailed
from rocky.language.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)
from rocky.spark.canonical_order import (
    Expression,
    as_column,
    order_keys,
    reference,
    spread_key,
)
from rocky.spark.frame import column_named, fields_of, readable_schema
from rocky.spark.hashed_parquet import MOST_ROWS, Told, native_writer
from rocky.spark.interface import Layout, Staged, storage_problems
from rocky.spark.rows_hash import ROWS, observed_columns, read_hash

_NESTED = (ArrayType, MapType, StructType)


def checked_column(field: StructField, given: StructField) -> Any:
    """The column; a null in it that its type does not allow, and no footer counts, stops the query.

    `given` is the column as Spark knows it.
    """
    column = column_named(field.name)
    broken = _holds_null(column, field.type, given.type)
    if isinstance(field.type, _NESTED) and given.nullable and not field.nullable:
        broken = _either(column.isNull(), broken)
    if broken is None:
        return column
    message = f"column `{field.name}` holds a null where its type allows none"
    return f.when(broken, f.raise_error(f.lit(message))).otherwise(column)


def _holds_null(column: Any, wanted: DataType, given: DataType) -> Any | None:
    """Whether a value holds a null that its type does not allow; None when it cannot."""
    match wanted, given:
        case ArrayType(), ArrayType():
            may_hold = given.contains_null and not wanted.contains_null
            return _any_holds_null(column, wanted.element, given.element, may_hold=may_hold)
        case MapType(), MapType():
            values = f.map_values(column)
            may_hold = given.contains_null and not wanted.contains_null
            in_values = _any_holds_null(values, wanted.value, given.value, may_hold=may_hold)
            keys = _any_holds_null(f.map_keys(column), wanted.key, given.key, may_hold=False)
            return keys if in_values is None else _either(in_values, keys)
        case StructType(), StructType():
            found = None
            for ours, theirs in zip(wanted.fields, given.fields, strict=True):
                member = column.getField(theirs.name)
                inner = _holds_null(member, ours.type, theirs.type)
                if theirs.nullable and not ours.nullable:
                    inner = _either(member.isNull(), inner)
                if inner is not None:
                    found = _either(inner, found)
            return None if found is None else column.isNotNull() & found
        case _:
            return None


def _any_holds_null(
    values: Any, wanted: DataType, given: DataType, *, may_hold: bool
) -> Any | None:
    if not may_hold and _holds_null(values, wanted, given) is None:
        return None

    def breaks(one: Any) -> Any:
        inner = _holds_null(one, wanted, given)
        return _either(one.isNull(), inner) if may_hold else inner

    return f.coalesce(f.exists(values, breaks), f.lit(False))


def _either(one: Any, other: Any | None) -> Any:
    return one if other is None else one | other


OPTIONS: Final[Mapping[str, str]] = {
    "compression": "zstd",
    # Higher levels cost more time than they save bytes.
    "parquet.compression.codec.zstd.level": "1",
    # Small enough that thirty writers fit into a heap of one gigabyte: when they do not fit,
    # Parquet shrinks row groups, and bytes would depend on how many models run at once.
    "parquet.block.size": str(32 * 1024 * 1024),
    "parquet.block.row.count.limit": "20000000",
    "parquet.page.size": str(1024 * 1024),
    "parquet.page.row.count.limit": "20000",
    "parquet.enable.dictionary": "true",
    "parquet.dictionary.page.size": str(1024 * 1024),
    "parquet.writer.version": "v1",
    # The store reads bounds and null counts from the footers.
    "parquet.column.statistics.enabled": "true",
    "parquet.statistics.truncate.length": "2147483647",
    "parquet.columnindex.truncate.length": "64",
    "parquet.page.write-checksum.enabled": "true",
    "parquet.bloom.filter.enabled": "false",
    # What is staged is complete when the job returns: nobody looks for a marker.
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
PARTITION: Final = "__part_"
_NULL_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
# With 1, files appear in the folder when the job commits, never from a task that failed; but each
# is renamed once more, which an object store does by copying. What is lost or doubled either way
# is seen: the rows in the files must be as many as were observed.
_COMMITTER: Final = "mapreduce.fileoutputcommitter.algorithm.version"
_RENAMING: Final = ("/", "file:", "hdfs:", "abfs:", "abfss:")
_TIMESTAMPS: Final = ("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
_SIZED_STRING: Final = re.compile(r"\b(?:var)?char\(\d+\)")


def write_staged(
    frame: Any, folder_uri: str, layout: Layout, schema: Sequence[StructField]
) -> Staged:
    """Run the query and stage its rows; their number and hash come from the same pass.

    Raises ModelFailed when the columns are not those of the schema or cannot be stored, and what
    Spark raises.
    """
    fields = tuple(schema)
    _check_columns(frame, fields, layout)
    _check_session(frame)
    native = native_writer(frame.sparkSession, fields)
    parts = {
        f"{PARTITION}{place}": _partition_text(name)
        for place, name in enumerate(layout.partition_columns)
    }
    order = _order(fields, layout, parts)
    options = {
        **OPTIONS,
        MOST_ROWS: str(layout.max_rows_per_file),
        _COMMITTER: "1" if folder_uri.startswith(_RENAMING) else "2",
    }
    spread = spread_key(fields, layout.partition_columns) if layout.spread else None
    told = Told(layout, parts, order, options, spread)
    if native is not None and told.is_text and _is_as_declared(frame, fields):
        return native.write(frame, told, folder_uri, fields)
    rows = _declared(frame, fields)
    for part, text in parts.items():
        rows = rows.withColumn(part, as_column(text))
    if layout.canonical and layout.in_one_task and layout.pieces == 1:
        rows = rows.coalesce(1)
    elif layout.canonical and layout.pieces == 1:
        rows = rows.repartition(1)
    elif layout.spread:
        rows = rows.repartition(layout.pieces, as_column(spread))
    elif parts:
        # Without this, every task would write a file of every partition it meets.
        rows = rows.hint("rebalance", *parts)
    # Observed after the last shuffle: tasks before it may run twice, and their rows count twice.
    observation = Observation(f"rocky-{uuid4().hex}")
    if native is None:
        rows = rows.observe(observation, *observed_columns(fields))
    if order:
        rows = rows.sortWithinPartitions(*map(as_column, order))
    writer = rows.write.options(**options)
    writer = writer.partitionBy(*parts) if parts else writer
    if native is not None:
        return native.save(writer, folder_uri)
    writer.parquet(folder_uri)
    observed = observation.get or _read_back(frame.sparkSession, folder_uri, fields)
    return Staged(folder_uri, observed[ROWS] or 0, read_hash(observed))


def _order(
    fields: Sequence[StructField], layout: Layout, parts: Iterable[str]
) -> Sequence[Expression]:
    """What rows are sorted by before they are written."""
    if layout.canonical:
        return order_keys(fields, [*parts, *layout.cluster_by])
    return [reference(name) for name in (*parts, *layout.cluster_by)] if layout.cluster_by else []


def _is_as_declared(frame: Any, fields: Sequence[StructField]) -> bool:
    """Whether a frame's columns are those of the table already, with nothing to be checked."""
    given = fields_of(frame)
    return not any(each.metadata for each in frame.schema.fields) and all(
        ours.name == theirs.name
        and (
            not isinstance(ours.type, _NESTED)
            or (ours.type is theirs.type and ours.nullable >= theirs.nullable)
        )
        for ours, theirs in zip(fields, given, strict=True)
    )


def _declared(frame: Any, fields: Sequence[StructField]) -> Any:
    """The rows, checked, in the declared order and spelling: that is what is hashed and stored.

    No metadata: Spark would write it into the files, and it tells where a column came from.
    """
    given = {field.name.lower(): field for field in fields_of(frame)}
    return frame.select(
        *[
            checked_column(field, given[field.name.lower()]).alias(field.name, metadata={})
            for field in fields
        ]
    )


def keep_rows(frame: Any, folder_uri: str) -> None:
    """Run the query and write its rows as they come, to be read again and then forgotten."""
    _check_session(frame)
    committer = "1" if folder_uri.startswith(_RENAMING) else "2"
    frame.write.options(**OPTIONS).option(_COMMITTER, committer).parquet(folder_uri)


def _read_back(session: Any, folder_uri: str, fields: Sequence[StructField]) -> dict[str, Any]:
    """What would have been observed, from the files.

    A Connect server waits a tenth of a second for the figures of a write; a busy one sends none.
    """
    # Folders of partitions are no columns here: what they say is in the files too.
    reader = session.read.schema(readable_schema(fields)).option("recursiveFileLookup", "true")
    row = reader.parquet(folder_uri).select(*observed_columns(fields)).collect()[0]
    return dict(row.asDict())


def _partition_text(name: str) -> Expression:
    """What a partition column's folder is called: Spark leaves out of files what it partitions by.

    Never null: for a string that may be null Spark adds a step that undoes the canonical order.
    """
    column = reference(name)
    if isinstance(column, str):
        return f"coalesce(CAST({column} AS STRING), '{_NULL_PARTITION}')"
    return f.coalesce(column.cast("string"), f.lit(_NULL_PARTITION))


def _check_columns(frame: Any, fields: Sequence[StructField], layout: Layout) -> None:
    """Raise ModelFailed unless the frame has these columns and they can be stored."""
    problems = storage_problems(fields, layout.partition_columns)
    given = {field.name.lower(): field for field in fields_of(frame)}
    wanted = {field.name.lower(): field for field in fields}
    problems += [
        f"the query does not give column `{field.name}`"
        for key, field in wanted.items()
        if key not in given
    ]
    problems += [
        f"the query gives column `{field.name}`, which the table does not have"
        for key, field in given.items()
        if key not in wanted
    ]
    problems += [
        f"column `{field.name}` is a `{field.type}`, but the query gives a `{given[key].type}`"
        for key, field in wanted.items()
        if key in given and _shape(field.type) != _shape(given[key].type)
    ]
    if problems:
        raise ModelFailed("; ".join(problems))


def _shape(kind: DataType) -> str:
    """A type but for what may be null in it; Spark has no CHAR or VARCHAR inside a query."""
    return _SIZED_STRING.sub("string", kind.text.lower())


def _check_session(frame: Any) -> None:
    name, value = _TIMESTAMPS
    found = frame.sparkSession.conf.get(name)
    if found != value:
        raise InternalError(f"`{name}` is `{found}` in the session that writes, not `{value}`")
