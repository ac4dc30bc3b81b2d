"""Loaded files: which files a table holds, as the ledger says, by the hashes of their bytes.

A row tells of a load, not of a table: once a load has replaced a table, what was loaded before it
is no longer there.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.pipeline_records import LoadedFile
from rocky.ledger.rows import key_of, load_record, rows_below

_TABLE: Final = "loaded_files"


def load_loaded(path: Path, tables: Iterable[str]) -> dict[str, frozenset[str]]:
    """The hashes of the files in each table, by the names as given; without a ledger none.

    Raises LedgerUnreadable, also for a row that cannot be read: its file would be loaded again.
    """
    names = tuple(tables)
    connection = connect_reader(path, READER_PATIENCE_SECONDS)
    if connection is None:
        return dict.fromkeys(names, frozenset())
    try:
        with translated(path, writing=False):
            found = {
                name: [
                    load_record(LoadedFile, path, _TABLE, key, value)
                    for key, value in rows_below(connection, _TABLE, key_of(name.lower()))
                ]
                for name in names
            }
    finally:
        connection.close()
    return {name: _still_there(files) for name, files in found.items()}


def _still_there(files: Iterable[LoadedFile]) -> frozenset[str]:
    listed = list(files)
    since = max((each.loaded_at for each in listed if each.replaced), default=None)
    return frozenset(
        each.blake3_hash for each in listed if since is None or each.loaded_at >= since
    )
