"""The writer: a query's rows as Parquet files in a staging folder, written by Spark itself.

Spark's own writer is the fastest there is; what makes its bytes repeatable is that every setting
with a say in them is pinned here, as an option of the write, so that it holds on any Spark. One
cannot be an option: timestamps are INT96 unless the session says otherwise, so a session that does
not (`rocky.spark.settings`) is refused. Naming the files by their bytes is the store's work.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import Observation
from pyspark.sql import functions as f

from rocky.datatypes.types import DataType, StructField
from rocky.errors import InternalError, ModelFailed
from rocky.spark.canonical import sort_rows, spread_rows
from rocky.spark.layout import Layout, Staged
from rocky.spark.names import column_named
from rocky.spark.nulls import checked_column
from rocky.spark.rows_hash import ROWS, observed_columns, read_hash
from rocky.spark.schemas import fields_of, readable_schema
from rocky.spark.storable import storage_problems

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
    if layout.canonical:
        rows = spread_rows(rows, fields, layout.pieces, layout.partition_columns)
    elif parts:
        # Without this, every task would write a file of every partition it meets.
        rows = rows.hint("rebalance", *parts)
    # Observed after the last shuffle: tasks before it may run twice, and their rows count twice.
    observation = Observation(f"rocky-{uuid4().hex}")
    rows = rows.observe(observation, *observed_columns(fields))
    if layout.canonical:
        rows = sort_rows(rows, fields, [*parts, *layout.cluster_by])
    elif layout.cluster_by:
        rows = rows.sortWithinPartitions(
            *[column_named(name) for name in (*parts, *layout.cluster_by)]
        )
    writer = rows.write.options(**OPTIONS).option("maxRecordsPerFile", layout.max_rows_per_file)
    writer = writer.option(_COMMITTER, "1" if folder_uri.startswith(_RENAMING) else "2")
    (writer.partitionBy(*parts) if parts else writer).parquet(folder_uri)
    observed = observation.get or _read_back(frame.sparkSession, folder_uri, fields)
    return Staged(folder_uri, observed[ROWS] or 0, read_hash(observed))


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
