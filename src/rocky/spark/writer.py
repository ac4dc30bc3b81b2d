"""The writer: a query's rows as Parquet files in a staging folder, written by Spark itself.

Spark's own writer is the fastest there is; what makes its bytes repeatable is that every setting
with a say in them is pinned here, as an option of the write, so that it holds on any Spark. Naming
the files by their bytes is the store's work, where the files are.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import Observation
from pyspark.sql import functions as f

from rocky.datatypes.types import ArrayType, DataType, MapType, StructField, StructType
from rocky.errors import ModelFailed
from rocky.spark.canonical import in_canonical_order
from rocky.spark.layout import Layout, Staged
from rocky.spark.rows_hash import ROWS, observed_columns, read_hash

OPTIONS: Final[Mapping[str, str]] = {
    "compression": "zstd",
    # Higher levels cost more time than they save bytes.
    "parquet.compression.codec.zstd.level": "1",
    # Small enough that thirty writers fit into a heap of one gigabyte: when they do not fit,
    # Parquet shrinks row groups, and bytes would depend on how many models run at once.
    "parquet.block.size": str(32 * 1024 * 1024),
    "parquet.page.size": str(1024 * 1024),
    "parquet.enable.dictionary": "true",
    "parquet.writer.version": "v1",
    # What is staged is complete when the job returns: nobody looks for a marker.
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
WRITER: Final = "spark-parquet zstd-1 row-group-32MiB page-1MiB v1"
PARTITION: Final = "__part_"


def write_staged(
    frame: Any, folder_uri: str, layout: Layout, schema: Sequence[StructField]
) -> Staged:
    """Run the query and stage its rows; their number and hash come from the same pass.

    Raises ModelFailed for a result without columns, and what Spark raises.
    """
    if not schema:
        raise ModelFailed("a table needs at least one column, and the query gives none")
    # The declared order and spelling of columns is what is hashed and stored.
    fields = tuple(schema)
    frame = frame.select(*[_checked(field).alias(field.name) for field in fields])
    parts = [f"{PARTITION}{place}" for place in range(len(layout.partition_columns))]
    for part, name in zip(parts, layout.partition_columns, strict=True):
        # A copy, because Spark leaves the columns it partitions by out of the files.
        frame = frame.withColumn(part, f.col(_quoted(name)))
    if layout.canonical:
        frame = in_canonical_order(frame, fields, layout.pieces, parts)
    observation = Observation(f"rocky-{uuid4().hex}")
    frame = frame.observe(observation, *observed_columns(fields))
    writer = frame.write.options(**OPTIONS).option("maxRecordsPerFile", layout.max_rows_per_file)
    (writer.partitionBy(*parts) if parts else writer).parquet(folder_uri)
    observed = observation.get
    return Staged(folder_uri, observed[ROWS] or 0, read_hash(observed))


def _checked(field: StructField) -> Any:
    """The column; where no footer could tell, a null that is not allowed stops the query."""
    column = f.col(_quoted(field.name))
    broken = _breaks(column, field.type)
    if not field.nullable and isinstance(field.type, ArrayType | MapType | StructType):
        broken = column.isNull() if broken is None else column.isNull() | broken
    if broken is None:
        return column
    message = f"column `{field.name}` holds a null where its type `{field.type}` allows none"
    return f.when(broken, f.raise_error(message)).otherwise(column)


def _breaks(column: Any, kind: DataType) -> Any | None:
    """Whether a value holds a null that its type does not allow; None when it cannot."""
    match kind:
        case ArrayType(element=element, contains_null=nullable):
            return _any_of(column, element, nullable=nullable)
        case MapType(value=value, contains_null=nullable):
            return _any_of(f.map_values(column), value, nullable=nullable)
        case StructType(fields=fields):
            found = None
            for field in fields:
                member = column.getField(field.name)
                inner = _breaks(member, field.type)
                if not field.nullable:
                    inner = member.isNull() if inner is None else member.isNull() | inner
                if inner is not None:
                    found = inner if found is None else found | inner
            return None if found is None else column.isNotNull() & found
        case _:
            return None


def _any_of(values: Any, kind: DataType, *, nullable: bool) -> Any | None:
    if nullable and _breaks(values, kind) is None:
        return None

    def breaks(one: Any) -> Any:
        inner = _breaks(one, kind)
        if nullable:
            return inner
        return one.isNull() if inner is None else one.isNull() | inner

    return f.coalesce(f.exists(values, breaks), f.lit(False))


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
