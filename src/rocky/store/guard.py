"""The guard: a file in a table's folder that keeps others from reading the folder as Parquet.

A table's folder holds the files of several versions, and only the log tells which are the table
now. Whoever reads the folder itself, or a glob of it, would get rows of all of them, in silence.
The guard is named like a data file and is none, so such a reader fails, and most say its name. It
comes first in the order of names, where readers look for the columns. Delta and Iceberg readers
never list a folder and do not meet it.
"""

from typing import Final

from rocky.store.objects import Objects

GUARD: Final = "0-read-this-table-with-a-delta-reader.parquet"
"""Before all hashes: `-` comes before `0`."""

_TEXT: Final = b"""This file is not Parquet, on purpose: it stops whoever reads the folder as such.

The other files here belong to several versions of one Delta table. Which of them are the table
now, only its log in `_delta_log` tells. Read the table with a Delta reader:

    spark.read.format("delta").load(FOLDER)      Spark, with Delta's connector
    deltalake.DeltaTable(FOLDER).to_pandas()     Python
    polars.read_delta(FOLDER)                    Polars
    SELECT * FROM delta_scan('FOLDER')           DuckDB

Where it is missing, the next commit to the table writes it again.
"""


def write_guard(objects: Objects, prefix: str) -> None:
    """Leave the guard in the folder of a table, before a commit to it. Raises `StoreUnwritable`.

    It is written anew each time. A VACUUM of others removes what no log names once it is old, and
    the guard must not be older than the files that the newest commit has left behind.
    """
    objects.put(f"{prefix}/{GUARD}", _TEXT)
