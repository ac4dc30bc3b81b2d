"""The transcript: rows written in one transaction, each with its entry in the chain.

The only place that writes rows of evidence. Entries are appended where the file's own lock is
held, so that two processes never continue from the same head.
"""

import json
import sqlite3
import uuid
from pathlib import Path
from typing import Final

from rocky.errors import LedgerUnreadable
from rocky.ledger.chain import (
    BEFORE_FIRST,
    CHAIN_TABLE,
    CHAINED,
    LEDGER_ID,
    Head,
    MalformedEntry,
    entry_key,
    format_entry,
    is_chained,
    make_entry,
    parse_entry,
    value_hash,
)
from rocky.ledger.rows import rows_below, unusable_row
from rocky.ledger.schema import KEY_OF_ENTRY, RELIED_UPON, TABLE_OF_ENTRY

_APPEND: Final = f"INSERT INTO {CHAIN_TABLE} VALUES (?, ?)"  # noqa: S608 - one of our own names


def load_head(connection: sqlite3.Connection, path: Path) -> Head | None:
    """Where the chain ends; None when it has no entry. Raises LedgerUnreadable."""
    row = connection.execute(
        f"SELECT key, value FROM {CHAIN_TABLE} ORDER BY key DESC LIMIT 1"  # noqa: S608 - one of our own names
    ).fetchone()
    if row is None:
        return None
    try:
        entry = parse_entry(row[1])
    except (MalformedEntry, TypeError) as wrong:
        raise unusable_row(path, CHAIN_TABLE, row[0], wrong) from wrong
    if row[0] != entry_key(entry.seq):
        raise unusable_row(path, CHAIN_TABLE, row[0], f"it says that it is number {entry.seq}")
    return entry.head


def load_ledger_id(connection: sqlite3.Connection) -> str | None:
    """The ledger's own name; None when it has none."""
    row = connection.execute("SELECT value FROM metadata WHERE key = ?", (LEDGER_ID,)).fetchone()
    try:
        found = json.loads(row[0]) if row is not None else None
    except (TypeError, ValueError):
        return None
    return found if isinstance(found, str) else None


def is_untouched(connection: sqlite3.Connection, table: str, key: str, value: str) -> bool:
    """Whether a row of a table that is relied upon is what its newest entry says."""
    row = connection.execute(
        f"SELECT json_extract(value, '$.value_hash') FROM {CHAIN_TABLE} WHERE {RELIED_UPON}"  # noqa: S608 - our own names
        f" AND {KEY_OF_ENTRY} = ? AND {TABLE_OF_ENTRY} = ? ORDER BY key DESC LIMIT 1",
        (key, table),
    ).fetchone()
    return row is not None and row[0] == value_hash(value)


class Transcript:
    """Writes rows within one write transaction, which must be open."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._head: Head | None = None

    def put(self, table: str, key: str, value: str) -> None:
        """Write a row, or replace it."""
        self._connection.execute(
            f"INSERT OR REPLACE INTO {table} VALUES (?, ?)",  # noqa: S608 - one of our own names
            (key, value),
        )
        if is_chained(table, key):
            self._append(table, key, value)

    def remove(self, table: str, key: str) -> None:
        """Remove a row that is there."""
        removed = self._connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))  # noqa: S608 - one of our own names
        if removed.rowcount and is_chained(table, key):
            self._append(table, key, None)

    def find(self, table: str, key: str) -> str | None:
        """A row's value as it is stored; None when there is none."""
        found = self._connection.execute(f"SELECT value FROM {table} WHERE key = ?", (key,))  # noqa: S608 - one of our own names
        row = found.fetchone()
        return None if row is None else str(row[0])

    def rows(self, table: str) -> list[tuple[str, str]]:
        """Keys and values of a table, by key."""
        found = self._connection.execute(f"SELECT key, value FROM {table} ORDER BY key")  # noqa: S608 - one of our own names
        return found.fetchall()

    def keys_below(self, table: str, first: str) -> list[str]:
        """The keys of a table that are `first|...`, in order."""
        return [key for key, _ in rows_below(self._connection, table, first)]

    def is_untouched(self, table: str, key: str, value: str) -> bool:
        """Whether a row is as Rocky wrote it, to be asked before its text is written on.

        The new entry would make good whatever somebody else has put there.
        """
        return is_untouched(self._connection, table, key, value)

    def begin_chain(self) -> None:
        """Name the ledger, and chain what an older Rocky has recorded, as it is and in key order.

        A chain that is there stays: making it anew would make good whatever was done to the rows.
        """
        if load_head(self._connection, self._path) is not None:
            return
        self._head = BEFORE_FIRST
        self.put("metadata", LEDGER_ID, f'"{uuid.uuid4().hex}"')
        for table in CHAINED:
            rows = self._connection.execute(f"SELECT key, value FROM {table} ORDER BY key")  # noqa: S608 - one of our own names
            for key, value in rows:
                self._append(table, key, value)

    def _append(self, table: str, key: str, value: str | None) -> None:
        head = self._head or self._load_head()
        entry = make_entry(head, table, key, value)
        self._connection.execute(_APPEND, (entry_key(entry.seq), format_entry(entry)))
        self._head = entry.head

    def _load_head(self) -> Head:
        head = load_head(self._connection, self._path)
        if head is None:
            # Beginning again would hide that all entries are gone.
            raise LedgerUnreadable(
                f"the state file `{self._path}` has lost its table `{CHAIN_TABLE}`;"
                " restore it from a copy"
            )
        return head
