"""How a result is cut into files, and what came out. Values only: no pyspark here."""

from dataclasses import dataclass
from typing import Final

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
    """

    partition_columns: tuple[str, ...] = ()
    canonical: bool = False
    pieces: int = 1
    max_rows_per_file: int = 8_000_000
    cluster_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Staged:
    """Files Spark wrote into a staging folder, not yet named by their bytes.

    `rows_hash` is 32 hex digits: a sum over rows, so that the hash of two parts together is the
    sum of their hashes modulo 2**128 (see `rocky.spark.rows_hash`).
    """

    folder: str
    rows: int
    rows_hash: str


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
