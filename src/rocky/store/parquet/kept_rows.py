"""Kept rows: those of a query that is evaluated once and read several times, as files.

They lie in a staging folder of the table that they are for, under the names that Spark gave them or
in one file of ours, and are never part of it. Only their footers are read: how many rows there are,
and where they lie. What a killed process leaves is swept with the rest of the staging folder.
"""

import io
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import pyarrow.parquet as pq
from obstore.exceptions import BaseError

from rocky.errors import StoreUnreadable
from rocky.language.datatypes.types import StructField
from rocky.language.functions.catalogue import SPARK_VERSION
from rocky.store.data_file import TAIL, DataFile, NotParquet, find_footer
from rocky.store.objects import open_object
from rocky.store.parquet.footer import parse_footer
from rocky.store.parquet.staging import open_staging
from rocky.store.parquet.statistics import stats_of
from rocky.store.warehouse import Table

logger = logging.getLogger(__name__)

_THREADS: Final = 8
_WRITER: Final = "org.apache.spark.version"


def find_kept(table: Table, folder: str, schema: Sequence[StructField]) -> tuple[DataFile, ...]:
    """The files below a staging folder that hold rows, each with its bounds as logs write them.

    Raises `StoreUnreadable`.
    """
    try:
        paths = open_staging(table).list_staged(folder)
        with ThreadPoolExecutor(_THREADS, "rocky-kept") as pool:
            found = list(pool.map(partial(_look_at, table, schema), paths))
    except (OSError, BaseError, NotParquet) as error:
        raise StoreUnreadable(
            f"could not read the rows that were kept for `{table.name}`: {error}"
        ) from error
    return tuple(file for file in found if file.rows)


def place_kept(table: Table, folder: str, rows: Any) -> None:
    """Keep the rows of an Arrow table in a staging folder. Raises `StoreUnwritable`."""
    data = io.BytesIO()
    # Spark reads days before 1582 by a setting from files that do not say that it wrote them.
    pq.write_table(rows.replace_schema_metadata({_WRITER: SPARK_VERSION}), data, store_schema=False)
    table.objects.put(f"{table.prefix}/{folder}/part-0.parquet", data.getvalue())


def drop_kept(table: Table, folder: str) -> None:
    """Remove kept rows that nobody reads any more."""
    try:
        open_staging(table).remove(folder)
    except (OSError, BaseError) as error:
        # They are in nobody's way, and a later sweep finds them.
        logger.warning("kept rows not removed: table=%s error=%s", table.name, error)


def _look_at(table: Table, schema: Sequence[StructField], path: str) -> DataFile:
    place = f"{table.prefix}/{path}"
    with open_object(table.objects, place) as opened:
        size = opened.seek(0, 2)
        start = find_footer(opened, size)
        opened.seek(start)
        footer = parse_footer(opened.read(size - TAIL - start))
    return DataFile(path, size, footer.rows, stats_of(footer, schema), {}, 0)
