"""Copies of a ledger's file: made while it is in use, checked, compared, put in its place.

A copy of the bytes of a live file is torn: SQLite keeps what is newest beside it. So copies are
made by SQLite itself, and a file is replaced only when nobody has it open.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.errors import LedgerLocked, LedgerUnreadable, LedgerUnwritable, advise_on_write
from rocky.ledger.chain import (
    BEFORE_FIRST,
    CHAIN_TABLE,
    Entry,
    Head,
    MalformedEntry,
    entry_key,
    parse_entry,
)
from rocky.ledger.database import connect_reader, connect_writer, translated
from rocky.ledger.record import unusable_row
from rocky.ledger.schema import (
    CHAINED_SINCE,
    load_head,
    load_ledger_id,
    refuse_damaged,
    stored_version,
)

_SIDE_FILES: Final = ("-wal", "-shm", "-journal")
_PATIENCE_SECONDS: Final = 2.0
"""How long a file that is to be replaced may be in use: a reader is done by then."""


@dataclass(frozen=True, slots=True)
class CopyFacts:
    """Whose ledger a file is and where its chain ends. An older Rocky's has no chain."""

    ledger_id: str | None
    head: Head
    version: int


def write_snapshot(path: Path, to: Path) -> None:
    """Copy a ledger as it is at one moment, also while runs write it. Raises as opening does."""
    source = connect_reader(path)
    if source is None:
        raise LedgerUnreadable(f"there is no state file `{path}` to copy")
    try:
        with translated(path, writing=False), translated(to, writing=True):
            copy = sqlite3.connect(to, isolation_level=None)
            try:
                # In one step: readers keep nobody from writing, and after a pause it begins anew.
                source.backup(copy)
                # One file: what is sent must not need a second one beside it.
                copy.execute("PRAGMA journal_mode = DELETE").fetchone()
            finally:
                copy.close()
    finally:
        source.close()


def inspect_copy(path: Path) -> CopyFacts:
    """What a file is, after all of it was checked. Raises LedgerUnreadable when it is damaged."""
    connection = connect_reader(path)
    if connection is None:
        raise LedgerUnreadable(f"`{path}` is empty, and not a state file")
    try:
        with translated(path, writing=False):
            refuse_damaged(connection, path)
            return _facts(connection, path)
    finally:
        connection.close()


def describe_copy(path: Path) -> CopyFacts | None:
    """What a file is by its first and last entry; None when there is none, or an empty one."""
    connection = connect_reader(path)
    if connection is None:
        return None
    try:
        with translated(path, writing=False):
            return _facts(connection, path)
    finally:
        connection.close()


def bring_forward(path: Path) -> CopyFacts:
    """Make an older Rocky's file one of this Rocky. Raises as opening does."""
    connect_writer(path).close()
    return inspect_copy(path)


def knows(path: Path, said: Head | str) -> bool:
    """Whether a file's chain has, or had, this head; of a run's id, whether that has begun."""
    with _entries(path) as entries:
        if isinstance(said, str):
            found = entries.execute("SELECT 1 FROM run_history WHERE key = ?", (said,))
            return found.fetchone() is not None
        return _head_at(entries, path, said.seq) == said


def common_head(ours: Path, theirs: Path) -> Head:
    """The last entry that two chains share; before the first when they share none."""
    with _entries(ours) as first, _entries(theirs) as second:
        with translated(ours, writing=False):
            ends = [
                (load_head(each, path) or BEFORE_FIRST).seq
                for each, path in ((first, ours), (second, theirs))
            ]
        # Each entry has the hash of the one before, so chains that part never meet again.
        shared, apart = 0, min(ends) + 1
        while apart - shared > 1:
            middle = (shared + apart) // 2
            same = _head_at(first, ours, middle) == _head_at(second, theirs, middle)
            shared, apart = (middle, apart) if same else (shared, middle)
        return _head_at(first, ours, shared) or BEFORE_FIRST


def replace_file(path: Path, new: Path) -> None:
    """Put a copy in a ledger's place, at once or not at all. Raises LedgerLocked while in use."""
    if path.exists() and path.stat().st_size:
        with translated(path, writing=True):
            connection = connect_writer(path, _PATIENCE_SECONDS)
            try:
                # Merges what lies beside the file; refused while anybody else has it open.
                mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
            finally:
                connection.close()
        if mode != "delete" or any(os.path.lexists(f"{path}{each}") for each in _SIDE_FILES):
            raise LedgerLocked(
                f"the state file `{path}` is in use, so the newer remote one cannot take its"
                " place; wait until the other command has ended"
            )
    try:
        _sync(new)
        new.replace(path)
        _sync(path.parent)
    except OSError as failure:
        raise LedgerUnwritable(
            f"the state file `{path}` cannot be replaced ({(failure.strerror or '').lower()});"
            f" {advise_on_write(failure, 'make it and its folder writable')}"
        ) from failure


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _facts(connection: sqlite3.Connection, path: Path) -> CopyFacts:
    version = stored_version(connection) or 0
    if version < CHAINED_SINCE:
        return CopyFacts(None, BEFORE_FIRST, version)
    head = load_head(connection, path) or BEFORE_FIRST
    return CopyFacts(load_ledger_id(connection), head, version)


@contextmanager
def _entries(path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect_reader(path)
    if connection is None:
        raise LedgerUnreadable(f"there is no state file `{path}`")
    try:
        with translated(path, writing=False):
            yield connection
    finally:
        connection.close()


def _head_at(connection: sqlite3.Connection, path: Path, seq: int) -> Head | None:
    entry = entry_at(connection, path, seq)
    return entry.head if entry is not None else None


def entry_at(connection: sqlite3.Connection, path: Path, seq: int) -> Entry | None:
    """The entry with a number; None when the chain has none. Raises LedgerUnreadable."""
    row = connection.execute(
        f"SELECT key, value FROM {CHAIN_TABLE} WHERE key = ?",  # noqa: S608 - one of our own names
        (entry_key(seq),),
    ).fetchone()
    if row is None:
        return None
    try:
        return parse_entry(row[1])
    except (MalformedEntry, TypeError) as wrong:
        raise unusable_row(path, CHAIN_TABLE, row[0], wrong) from wrong
