"""The file behind a ledger as one writer holds it: transactions, the chain's head, claims.

A transaction is one thread's at a time and holds SQLite's lock from its start, so that whatever is
looked at inside it (claims, the head, whether an id is free) still holds when it commits.
"""

import os
import platform
import sqlite3
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Final, Self, TypeVar

from rocky.errors import LedgerUnreadable, LedgerUnwritable
from rocky.ledger.chain import (
    BEFORE_FIRST,
    CHAIN_TABLE,
    Head,
    MalformedEntry,
    entry_key,
    parse_entry,
)
from rocky.ledger.claims import Claim, LocalClaim, hold_claim, refuse_claimed
from rocky.ledger.database import describe_file, transaction, translated
from rocky.ledger.readers.commits import CommitReader, open_lookup_reader
from rocky.ledger.readers.history import HistoryReader, open_history_reader
from rocky.ledger.record import RunId
from rocky.ledger.schema import RowWriter, load_head, load_ledger_id, refuse_foreign

R = TypeVar("R")
COLLECTOR: Final = "rocky gc"
_MANY_FREE: Final = 0.2
"""The share of a file's pages that must be free: to write it anew costs what is not."""


class LedgerFile:
    """One writer of a ledger's file; threads may share it, and processes have one each."""

    def __init__(self, path: Path, connection: sqlite3.Connection, patience: float) -> None:
        self.path = path
        self._connection = connection
        self._patience = patience
        self._file = describe_file(path)
        self._lock = Lock()
        self._claims: dict[RunId, LocalClaim] = {}
        self._idle: list[CommitReader] = []
        self._closed = False
        with translated(path, writing=False):
            self._ledger_id = load_ledger_id(connection)

    @property
    def ledger_id(self) -> str:
        """The ledger's own name, which its first entry has chained."""
        if self._ledger_id is None:
            raise LedgerUnreadable(f"the state file `{self.path}` has lost its `ledger_id`")
        return self._ledger_id

    def head(self) -> Head:
        """Where the chain ends at this moment."""
        with self._lock, translated(self.path, writing=False):
            return load_head(self._connection, self.path) or BEFORE_FIRST

    def knows(self, head: Head) -> bool:
        """Whether the chain has, or had, this head: not so when an older copy took its place."""
        with self._lock, translated(self.path, writing=False):
            row = self._connection.execute(
                f"SELECT value FROM {CHAIN_TABLE} WHERE key = ?",  # noqa: S608 - one of our own names
                (entry_key(head.seq),),
            ).fetchone()
        try:
            return row is not None and parse_entry(row[0]).head == head
        except MalformedEntry:
            # A record that cannot be read proves nothing.
            return False

    @contextmanager
    def claim(self, targets: Iterable[str], command: str = COLLECTOR) -> Iterator[LocalClaim]:
        """Keep runs from these tables, by full name, without being one.

        What deletes asks the claim before each deletion whether it still holds. Raises LedgerLocked
        when a living run, or another such command, has claimed one of them.
        """
        name = RunId(f"{command.replace(' ', '-')}-{uuid.uuid4().hex}")
        with self.transaction():
            held = self._hold(name, datetime.now(UTC), tuple(targets), command)
        try:
            yield held
        finally:
            held.release()

    def reader(self) -> HistoryReader:
        """A reader of the same file, with a connection of its own."""
        return self._there(open_history_reader(self.path))

    @contextmanager
    def lookups(self) -> Iterator[CommitReader]:
        """Look-ups in the same file, with a connection that no other thread has meanwhile.

        A run asks once or more for each of its models, so connections are kept for whoever asks
        next: to open one takes longer than most answers.
        """
        reader = self._idle_reader() or self._there(open_lookup_reader(self.path))
        try:
            yield reader
        except BaseException:
            reader.close()
            raise
        with self._lock:
            if not self._closed:
                self._idle.append(reader)
                return
        reader.close()

    def _idle_reader(self) -> CommitReader | None:
        """A reader that nobody uses, as fit as a new one; None when there is none."""
        with self._lock:
            reader = self._idle.pop() if self._idle else None
        if reader is None:
            return None
        # What another file says, or this one with other tables in it, is for a new one to judge.
        if describe_file(self.path) == self._file and reader.is_as_opened():
            return reader
        reader.close()
        return None

    @contextmanager
    def transaction(self) -> Iterator[RowWriter]:
        """Write rows, all of them or none."""
        with self._lock, translated(self.path, writing=True), transaction(self._connection):
            # SQLite writes on into a file that was deleted or replaced, and nobody would read it.
            if describe_file(self.path) != self._file:
                raise self._lost()
            # Again: a trigger may have been put in since the file was opened.
            refuse_foreign(self._connection, self.path)
            yield RowWriter(self._connection, self.path)

    def compact(self) -> int:
        """Write the file anew without its free pages, if they are many; how many bytes went.

        SQLite does so in one transaction: all rows stay, and a kill leaves the file as it was.
        Nobody else can write meanwhile. Who still reads keeps the file large until they are done.
        """
        with self._lock, translated(self.path, writing=True):
            if describe_file(self.path) != self._file:
                raise self._lost()
            refuse_foreign(self._connection, self.path)
            pages, free, size = (
                int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])
                for name in ("page_count", "freelist_count", "page_size")
            )
            if free < pages * _MANY_FREE:
                return 0
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            (left,) = self._connection.execute("PRAGMA page_count").fetchone()
        return (pages - int(left)) * size

    def close(self) -> None:
        """Give up the file. A run that was begun and not finished is a run that died."""
        for held in self._claims.values():
            held.release()
        self._claims.clear()
        with self._lock:
            self._closed = True
            for reader in self._idle:
                reader.close()
            self._idle.clear()
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hold(
        self, name: RunId, since: datetime, targets: tuple[str, ...], command: str | None = None
    ) -> LocalClaim:
        """Claim tables, within a transaction."""
        refuse_claimed(self.path, targets)
        claim = Claim(name, os.getpid(), platform.node(), since, targets, command)
        return hold_claim(self.path, claim)

    def _there(self, reader: R | None) -> R:
        if reader is None:
            raise self._lost()
        return reader

    def _lost(self) -> LedgerUnwritable:
        return LedgerUnwritable(
            f"the state file `{self.path}` was deleted or replaced while it was in use;"
            " put it back and run again"
        )
