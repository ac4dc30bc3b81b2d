"""The values that pass between a run and Spark. Values only: no pyspark here.

A write is asked for with a `Layout` and answers `Staged` files; jobs answer `Metrics`; what goes
wrong is a `Failure` of some kind. `storage_problems` says before anything runs which columns
cannot be stored: Spark's Parquet writer takes more than it or anybody else can read back (an array
of nulls of no type, for one), so its list decides, and says the way out in the query's own terms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from rocky.language.datatypes.types import ArrayType, DataType, MapType, StructField, StructType

TARGET_FILE_BYTES: Final = 128 * 1024 * 1024

WRITER: Final = "spark-parquet zstd-1 row-group-32MiB page-1MiB v1 timestamp-micros"
"""What wrote the bytes, but for the version of Spark: recorded with every run."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How rows become files.

    Canonical rows are spread by their own hash over `pieces` files and sorted by all columns, so
    that the bytes do not depend on cores, AQE or shuffle settings. `pieces` must then come from the
    inputs alone. Not canonical: rows are written as they come. Either way rows close together in
    `cluster_by` are close together in files, so that a merge or a filter touches few of them.
    `in_one_task` says that the task which sorts a single piece may make its rows too: of little
    data, that costs less than handing them over. `in_one_file` says that they will hardly be more
    than one file takes, so that the writer itself may sort them. The bytes are the same. With
    `by_files` rows are not spread: the query reads its input in as many pieces, each of them in one
    task, and what a piece gives is a file (`rocky.run.engine.input_pieces`). With `by_key` they are
    not spread either: the query hands its own rows over to as many tasks, by columns of its input.
    """

    partition_columns: tuple[str, ...] = ()
    canonical: bool = False
    pieces: int = 1
    max_rows_per_file: int = 8_000_000
    cluster_by: tuple[str, ...] = ()
    in_one_task: bool = False
    in_one_file: bool = False
    by_files: bool = False
    by_key: bool = False

    @property
    def spread(self) -> bool:
        """Whether rows go to the piece that their hash says."""
        return self.canonical and self.pieces > 1 and not self.arrives

    @property
    def arrives(self) -> bool:
        """Whether the query itself gives the rows of each piece in one task."""
        return self.by_files or self.by_key


@dataclass(frozen=True, slots=True)
class Staged:
    """Files Spark wrote into a staging folder, not yet named by their bytes.

    `rows_hash` is 32 hex digits: a sum over rows, so that the hash of two parts together is the
    sum of their hashes modulo 2**128 (see `rocky.spark.rows_hash`). `file_hashes` are those of each
    file, by its path below the folder, where the writer tells them.
    """

    folder: str
    rows: int
    rows_hash: str
    file_hashes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Metrics:
    """What Spark's tasks used, summed over the jobs of one tag. None: the engine cannot tell."""

    executor_run_ms: int | None = None
    executor_cpu_ms: int | None = None
    bytes_read: int | None = None
    rows_read: int | None = None
    shuffle_bytes: int | None = None
    spill_bytes: int | None = None
    peak_memory_bytes: int | None = None
    tasks: int | None = None


class FailureKind(Enum):
    """Why a query failed."""

    QUERY_REJECTED = "query_rejected"
    DATA_ERROR = "data_error"
    TRANSIENT = "transient"
    OUT_OF_MEMORY = "out_of_memory"
    DISK_FULL = "disk_full"
    MISSING_FILE = "missing_file"
    UNSEEN_FILE = "unseen_file"
    """One that this machine has, and those that the work is done on have not."""
    CORRUPT_FILE = "corrupt_file"
    PERMISSION = "permission"
    CANCELLED = "cancelled"
    CONNECTION_LOST = "connection_lost"
    UNKNOWN = "unknown"

    @property
    def retryable(self) -> bool:
        """Whether the same query can succeed a moment later with nothing changed by anybody."""
        return self is FailureKind.TRANSIENT


class QueryPlace(NamedTuple):
    """Where in a query Spark failed: code points from `start` up to `end`.

    `sql` is the whole query; a Connect server tells only the `fragment`.
    """

    start: int
    end: int
    fragment: str = ""
    sql: str | None = None


class CodePlace(NamedTuple):
    """A line of Python that a failure came through, and the columns of it, from 0, if known."""

    file: str
    line: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure, classified. `condition` is Spark's own name for it, if it has one.

    `query` is where in SQL it happened, `code` the lines of Python that it came through, the
    outermost first. `trace` is all that Spark said, for a log.
    """

    kind: FailureKind
    message: str
    condition: str | None = None
    query: QueryPlace | None = None
    code: tuple[CodePlace, ...] = ()
    trace: str = field(default="", repr=False, compare=False)

    @property
    def retryable(self) -> bool:
        return self.kind.retryable


_WAYS_OUT: Final = {
    "interval": "cast it to a day-time or a year-month interval",
    "time": "cast it to a string",
    "void": "give the null a type: `CAST(NULL AS STRING)`",
    "unknown": "cast it to the type it should have",
}
_NESTED: Final = (ArrayType, MapType, StructType)


def storage_problems(
    fields: Sequence[StructField], partition_columns: Sequence[str] = ()
) -> list[str]:
    """Why columns cannot be stored, one sentence each with the way out; none when they can."""
    if not fields:
        return ["a table needs at least one column, and the query gives none"]
    return [
        *_repeated(fields),
        *(problem for field in fields for problem in _unstorable(field.name, field.type)),
        *_unfit_partitions(fields, partition_columns),
    ]


def _repeated(fields: Sequence[StructField]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for each in fields:
        first = seen.setdefault(each.name.lower(), each.name)
        if first is not each.name:
            yield f"column `{each.name}` is there twice: names are compared without case"


def _unstorable(path: str, kind: DataType) -> Iterator[str]:
    match kind:
        case ArrayType(element=element):
            yield from _unstorable(f"{path}.element", element)
        case MapType(key=key, value=value):
            yield from _unstorable(f"{path}.key", key)
            yield from _unstorable(f"{path}.value", value)
        case StructType(fields=()):
            yield f"column `{path}` is a struct without fields, which Parquet cannot store: drop it"
        case StructType(fields=fields):
            for field in fields:
                yield from _unstorable(f"{path}.{field.name}", field.type)
        case _ if kind.kind in _WAYS_OUT:
            way_out = _WAYS_OUT[kind.kind]
            yield f"column `{path}` is of type `{kind}`, which cannot be stored: {way_out}"
        case _:
            pass


def _unfit_partitions(fields: Sequence[StructField], names: Sequence[str]) -> Iterator[str]:
    by_name = {field.name.lower(): field for field in fields}
    for name in names:
        field = by_name.get(name.lower())
        if field is None:
            yield f"there is no column `{name}` to partition by"
        elif isinstance(field.type, _NESTED) or field.type.kind in ("variant", "binary"):
            yield f"column `{name}` is a `{field.type}`, and tables are partitioned by plain values"
