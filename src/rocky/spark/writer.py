"""The writer: a query's rows as Parquet files in a staging folder, written by Spark itself.

Spark's own writer is the fastest there is; what makes its bytes repeatable is that every setting
with a say in them is pinned here, as an option of the write, so that it holds on any Spark. One
cannot be an option: timestamps are INT96 unless the session says otherwise, so a session that does
not (`rocky.spark.settings`) is refused. Naming the files by their bytes is the store's work.

Rows are spread over a fixed number of files by their own hash and sorted by all columns, so cores,
adaptive execution and shuffle settings leave no trace in the bytes. The hash, not the columns, is
what rows are spread by: Spark drops a repartition by columns that a grouping spread already.

Nulls that footers cannot tell of (below an array, a map or a nullable struct) are checked in the
query that writes, so nothing is committed when one is found.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import Observation
from pyspark.sql import functions as f

from rocky.errors import InternalError, ModelFailed
from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from rocky.spark.frame import column_named, fields_of, readable_schema
from rocky.spark.hashed_parquet import hashes_while_writing, write_hashed
from rocky.spark.interface import Layout, Staged, storage_problems
from rocky.spark.rows_hash import LANES, ROWS, observed_columns, read_hash, row_hash

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


_UNORDERED: Final = ("variant", "void")


def spread_rows(
    frame: Any, fields: Sequence[StructField], pieces: int, partitions: Sequence[str] = ()
) -> Any:
    """The frame's rows, spread over `pieces` by their hash.

    With partition columns these alone decide: else every piece would hold a file of each partition.
    """
    by = [field for field in fields if field.name in partitions] or fields
    return frame.repartition(pieces, _spread(by)) if pieces > 1 else frame.repartition(1)


def _spread(fields: Sequence[StructField]) -> Any:
    """What decides on a row's piece: rows that differ may meet, so plain columns are enough."""
    plain = [column_named(field.name) for field in fields if _is_plain(field.type)]
    return f.xxhash64(*plain) if plain else row_hash(fields)


def sort_rows(frame: Any, fields: Sequence[StructField], first: Sequence[str] = ()) -> Any:
    """The rows of each piece sorted by the columns `first`, then so that only equal rows tie."""
    keys = [column_named(name) for name in first]
    keys += [_sort_key(field) for field in fields if not holds_kind(field.type, "map", *_UNORDERED)]
    if not all(_is_exact(field.type) for field in fields):
        # Zeros of either sign, maps in any order: values that differ and do not sort apart.
        keys += [row_hash(fields, lane, maps_in_order=True) for lane in LANES]
    return frame.sortWithinPartitions(*keys)


def _is_plain(kind: DataType) -> bool:
    return not isinstance(kind, ArrayType | MapType | StructType) and kind.kind not in _UNORDERED


def _sort_key(field: StructField) -> Any:
    column = column_named(field.name)
    if isinstance(field.type, StringType) and field.type.collation != "UTF8_BINARY":
        return column.cast("binary")
    return column


def _is_exact(kind: DataType) -> bool:
    """Whether two values that sort as equal have equal bytes."""
    match kind:
        case ArrayType(element=element):
            return _is_exact(element) and not _is_collated(element)
        case StructType(fields=fields):
            return all(_is_exact(field.type) and not _is_collated(field.type) for field in fields)
        case MapType():
            return False
        case _:
            return kind.kind not in ("float", "double", "variant")


def _is_collated(kind: DataType) -> bool:
    return isinstance(kind, StringType) and kind.collation != "UTF8_BINARY"


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
    given = {field.name.lower(): field for field in fields_of(frame)}
    # The declared order and spelling of columns is what is hashed and stored. No metadata: Spark
    # would write it into the files, and it tells where a column came from.
    rows = frame.select(
        *[
            checked_column(field, given[field.name.lower()]).alias(field.name, metadata={})
            for field in fields
        ]
    )
    parts = [f"{PARTITION}{place}" for place in range(len(layout.partition_columns))]
    for part, name in zip(parts, layout.partition_columns, strict=True):
        rows = rows.withColumn(part, _partition_text(name))
    if layout.canonical and layout.in_one_task and layout.pieces == 1:
        rows = rows.coalesce(1)
    elif layout.canonical:
        rows = spread_rows(rows, fields, layout.pieces, layout.partition_columns)
    elif parts:
        # Without this, every task would write a file of every partition it meets.
        rows = rows.hint("rebalance", *parts)
    native = hashes_while_writing(frame.sparkSession, fields)
    # Observed after the last shuffle: tasks before it may run twice, and their rows count twice.
    observation = Observation(f"rocky-{uuid4().hex}")
    if not native:
        rows = rows.observe(observation, *observed_columns(fields))
    if layout.canonical:
        rows = sort_rows(rows, fields, [*parts, *layout.cluster_by])
    elif layout.cluster_by:
        rows = rows.sortWithinPartitions(
            *[column_named(name) for name in (*parts, *layout.cluster_by)]
        )
    writer = rows.write.options(**OPTIONS).option("maxRecordsPerFile", layout.max_rows_per_file)
    writer = writer.option(_COMMITTER, "1" if folder_uri.startswith(_RENAMING) else "2")
    writer = writer.partitionBy(*parts) if parts else writer
    if native:
        return Staged(folder_uri, *write_hashed(frame.sparkSession, writer, folder_uri))
    writer.parquet(folder_uri)
    observed = observation.get or _read_back(frame.sparkSession, folder_uri, fields)
    return Staged(folder_uri, observed[ROWS] or 0, read_hash(observed))


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


def _partition_text(name: str) -> Any:
    """What a partition column's folder is called: Spark leaves out of files what it partitions by.

    Never null: for a string that may be null Spark adds a step that undoes the canonical order.
    """
    return f.coalesce(column_named(name).cast("string"), f.lit(_NULL_PARTITION))


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
