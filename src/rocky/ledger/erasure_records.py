"""Erasures, as the ledger keeps them: certificates of rows that left tables for good.

A certificate says which files are gone, which commits of logs lost statistics, and what the rows of
each table hashed to before and after. Whose rows they were it says only by an HMAC, whose key is
not here: a ledger that named the person it has forgotten would not have forgotten.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from rocky.errors import LedgerUnreadable
from rocky.ledger.chain import CHAIN_TABLE, value_hash
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.record import Record, RunId, load_record
from rocky.ledger.row_evidence import KEY_OF_ENTRY, TABLE_OF_ENTRY
from rocky.ledger.schema import table_names

ERASURES: Final = "erasures"
ERASED: Final = "erase"
"""The `decision` of an execution that has taken rows out of all versions of a table."""


@dataclass(frozen=True, slots=True)
class ErasedFile(Record):
    """A data file that is gone, with `rows` of the subject; None where it could not be asked."""

    blake3_hash: str
    file_path: str
    size_bytes: int
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class RedactedCommit(Record):
    """A commit of a log that lost the statistics of erased files: its hash then and now."""

    version: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class RemovedCheckpoint(Record):
    """A checkpoint that is gone, because it repeated such statistics."""

    version: int
    blake3_hash: str


@dataclass(frozen=True, slots=True)
class ClearedVersion(Record):
    """A version that went whole, because it was written with other `masks` than now, or clear."""

    version: int
    rows_hash: str | None = None
    masks: str | None = None


@dataclass(frozen=True, slots=True)
class ErasedTable(Record):
    """What became of one table. `columns` carry the key; `rows` were in its newest version.

    Without a `to_version` the newest version had no such row, and only older files went. Without
    `columns` it does not carry the key, and all but what its newest build has left went; or, where
    versions were `cleared`, all that only those had.
    """

    target: str
    warehouse: str
    rows: int
    from_version: int
    columns: tuple[str, ...] = ()
    to_version: int | None = None
    rows_hash_before: str | None = None
    rows_hash_after: str | None = None
    files: tuple[ErasedFile, ...] = ()
    staged: int = 0
    commits: tuple[RedactedCommit, ...] = ()
    checkpoints: tuple[RemovedCheckpoint, ...] = ()
    cleared: tuple[ClearedVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class ErasureRecord(Record):
    """A certificate. `hmac` is HMAC-SHA-256 over column and values, by a key kept elsewhere.

    Both are empty where nobody's rows went, but versions that were masked otherwise than now.

    `left` are tables that may hold what was computed from such rows, or that could not be changed,
    and `sources` what is not Rocky's to change, each with what has to be done there. `recovers` is
    the run that began it and died. One that `completes` an earlier one says what went from tables
    that were left and have been built anew since.
    """

    run_id: RunId
    erased_at: datetime
    reason: str
    erased_by: str
    column: str
    hmac: str
    tables: tuple[ErasedTable, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    recovers: RunId | None = None
    completes: RunId | None = None


_ENTRIES: Final = (
    f"SELECT {KEY_OF_ENTRY}, json_extract(value, '$.value_hash') FROM {CHAIN_TABLE}"  # noqa: S608 - our own names
    f" WHERE {TABLE_OF_ENTRY} = '{ERASURES}'"
)


def load_certificates(connection: sqlite3.Connection, path: Path) -> tuple[ErasureRecord, ...]:
    """Every certificate, oldest first. Raises LedgerUnreadable for one that the chain has not.

    The chain is asked only where there is any: few ledgers have one, and most runs ask.
    """
    if ERASURES not in table_names(connection):
        return ()
    rows = connection.execute(f"SELECT key, value FROM {ERASURES} ORDER BY key").fetchall()  # noqa: S608 - one of our own names
    entries = dict(connection.execute(_ENTRIES).fetchall()) if rows else {}
    for key, value in rows:
        if entries.get(key) != value_hash(value):
            raise LedgerUnreadable(
                f"the certificate `{key}` in the state file `{path}` was changed by something other"
                " than Rocky; see what `rocky verify` finds"
            )
    return tuple(load_record(ErasureRecord, path, ERASURES, *row) for row in rows)


def load_erasures(path: Path) -> tuple[ErasureRecord, ...]:
    """Every certificate, oldest first; none without a ledger. Raises LedgerUnreadable."""
    connection = connect_reader(path, READER_PATIENCE_SECONDS)
    if connection is None:
        return ()
    try:
        with translated(path, writing=False):
            return load_certificates(connection, path)
    finally:
        connection.close()
