"""The ledger's file: opened, checked, created; what SQLite says turned into our conditions.

Reading uses a writable connection that is told not to write: SQLite's read-only mode leaves its
side files (`-wal`, `-shm`) lying about. Read-only mode is for files that cannot be written.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from rocky.errors import (
    LedgerLocked,
    LedgerUnreadable,
    LedgerUnwritable,
    RockyError,
    advise_on_write,
)
from rocky.ledger.claims import find_holders
from rocky.ledger.schema import (
    CHAINED_SINCE,
    SCHEMA_VERSION,
    TABLES,
    RowWriter,
    create_tables,
    load_ledger_id,
    refuse_foreign,
    stored_version,
    table_names,
)

STATE_FILE: Final = ".rocky-state.db"
"""The ledger's name beside `rocky.toml`, unless another is named."""

WRITER_PATIENCE_SECONDS: Final = 20.0
READER_PATIENCE_SECONDS: Final = 5.0

_IN_USE: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_OTHER_FILE: Final = "or name another file with `--state-path`"


def connect_writer(path: Path, patience: float = WRITER_PATIENCE_SECONDS) -> sqlite3.Connection:
    """A connection for writing; an absent or empty file becomes a ledger.

    Raises LedgerUnreadable, LedgerUnwritable, LedgerLocked. A file that is not ours is not touched.
    """
    _refuse_non_file(path)
    if not path.parent.is_dir():
        raise LedgerUnwritable(
            f"no folder `{path.parent}` for the state file; make it, {_OTHER_FILE}"
        )
    with translated(path, writing=True):
        connection = _connect(path, "rwc", patience)
        try:
            _check_schema(connection, path)
            # One writer and any number of readers at once; and a kill loses nothing committed.
            _keep_a_log(connection, patience)
            connection.execute("PRAGMA synchronous = FULL")
            with transaction(connection):
                # Again inside the lock: somebody else may have made the tables meanwhile.
                _check_schema(connection, path)
                _bring_forward(connection, path)
        except (sqlite3.Error, RockyError):
            connection.close()
            raise
    return connection


_LOG_MODE: Final = "wal"
_PAUSE_SECONDS: Final = 0.02


def _keep_a_log(connection: sqlite3.Connection, patience: float) -> None:
    """Make a file one with a write-ahead log, which it stays: it is asked first.

    For this change of mode SQLite needs the file alone, and gives up at once where it meets another
    that needs it too, whatever the patience of the connection.
    """
    deadline = monotonic() + patience
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != _LOG_MODE:
        try:
            connection.execute(f"PRAGMA journal_mode = {_LOG_MODE}").fetchone()
            # A file system that cannot have one keeps its mode and says so; that works as well.
            return
        except sqlite3.OperationalError as failure:
            if failure.sqlite_errorcode & 0xFF not in _IN_USE or monotonic() > deadline:
                raise
        sleep(_PAUSE_SECONDS)


def connect_reader(
    path: Path, patience: float = READER_PATIENCE_SECONDS
) -> sqlite3.Connection | None:
    """A connection that only reads, or None when there is no ledger: no file, or an empty one.

    Raises LedgerUnreadable, LedgerLocked.
    """
    if not _refuse_non_file(path):
        return None
    with translated(path, writing=False):
        connection = _connect_for_reading(path, patience)
        try:
            connection.execute("PRAGMA query_only = ON")
            if _check_schema(connection, path):
                return connection
        except (sqlite3.Error, RockyError):
            connection.close()
            raise
        connection.close()
    return None


def find_version(path: Path, patience: float = READER_PATIENCE_SECONDS) -> int | None:
    """The schema's version in a file, also one that is newer than ours; None when there is none.

    Raises LedgerUnreadable, also for a database that is no ledger, and LedgerLocked.
    """
    if not _refuse_non_file(path):
        return None
    with translated(path, writing=False), closing(_connect_for_reading(path, patience)) as file:
        version = stored_version(file)
        if version is None and table_names(file):
            raise _foreign(path)
        return version


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction: the lock is taken at once, so that it cannot fail half way."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # On a full disk SQLite has rolled back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def translated(path: Path, *, writing: bool) -> Iterator[None]:
    """Turns SQLite's errors into ours."""
    try:
        yield
    except sqlite3.Error as failure:
        raise _condition(path, failure, writing=writing) from failure


def _condition(path: Path, failure: sqlite3.Error, *, writing: bool) -> RockyError:
    # The low byte is the error, the rest says more about it.
    code = getattr(failure, "sqlite_errorcode", 0) & 0xFF
    if code in _IN_USE:
        return LedgerLocked(
            f"the state file `{path}` is locked by {_holder_of(path)};"
            f" wait until that has ended, {_OTHER_FILE}"
        )
    if code == sqlite3.SQLITE_FULL:
        return LedgerUnwritable(f"no space left for the state file `{path}`: make room, then retry")
    unwritable = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR)
    if writing and code in unwritable:
        cause = _try_beside(path)
        said = f"{failure}" if cause is None else (cause.strerror or f"{cause}").lower()
        advice = "make it and its folder writable"
        if cause is not None:
            advice = advise_on_write(cause, advice)
        return LedgerUnwritable(
            f"the state file `{path}` cannot be written ({said}); {advice}, {_OTHER_FILE}"
        )
    if code == sqlite3.SQLITE_CANTOPEN:
        return _unreadable(path, str(failure))
    if code == sqlite3.SQLITE_NOTADB:
        return LedgerUnreadable(f"`{path}` is not a state file; move it away, {_OTHER_FILE}")
    return LedgerUnreadable(
        f"the state file `{path}` cannot be read ({failure}); restore it from a copy, {_OTHER_FILE}"
    )


_PROBE_BYTES: Final = 64 * 1024


def _try_beside(path: Path) -> OSError | None:
    """What the system says to a file beside the state file: SQLite keeps it to itself."""
    try:
        with tempfile.TemporaryFile(dir=path.parent) as file:
            # As much as SQLite wants at once, and on the disk: a page may still fit where it fails.
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as failure:
        return failure
    return None


def _holder_of(path: Path) -> str:
    """Who writes, as far as claims tell: of several at work any may be the one."""
    known = find_holders(path)
    if not known:
        return "another process"
    return known[0] if len(known) == 1 else f"one of {', '.join(known)}"


def _unreadable(path: Path, why: str) -> LedgerUnreadable:
    return LedgerUnreadable(
        f"the state file `{path}` cannot be read ({why}); make it readable, {_OTHER_FILE}"
    )


def _foreign(path: Path) -> LedgerUnreadable:
    return LedgerUnreadable(
        f"`{path}` is a database, but not a state file of Rocky; {_OTHER_FILE[3:]}"
    )


def _refuse_non_file(path: Path) -> bool:
    """Whether there is a file with something in it. Raises LedgerUnreadable when in doubt."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    except OSError as failure:
        raise _unreadable(path, (failure.strerror or "").lower()) from failure
    if path.is_dir():
        raise LedgerUnreadable(f"`{path}` is a folder, not a state file; {_OTHER_FILE[3:]}")
    return found.st_size > 0


def _connect(path: Path, mode: str, patience: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )


def _connect_for_reading(path: Path, patience: float) -> sqlite3.Connection:
    modes = ["rw", "ro"]
    if not any(os.path.lexists(f"{path}-{side}") for side in ("wal", "journal")):
        # Nobody writes, and we may not even keep SQLite's side files in that folder. Nor is there a
        # journal, which says that the file is not yet what it is to be.
        modes.append("ro&immutable=1")
    failures: list[sqlite3.Error] = []
    for mode in modes:
        try:
            connection = _connect(path, mode, patience)
        except sqlite3.OperationalError as failure:
            failures.append(failure)
            continue
        try:
            # Opening is lazy: only a question shows whether the file can be used.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return connection
        except sqlite3.Error as failure:
            connection.close()
            code = failure.sqlite_errorcode & 0xFF
            if code not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            failures.append(failure)
    raise failures[0]


def _check_schema(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file holds a ledger that we understand; False when it holds nothing at all."""
    names = table_names(connection)
    if not names:
        return False
    version = stored_version(connection) if "metadata" in names else None
    if version is None:
        raise _foreign(path)
    if version > SCHEMA_VERSION:
        raise LedgerUnreadable(
            f"`{path}` was written by a newer Rocky (schema {version}, this one knows up to"
            f" {SCHEMA_VERSION}); upgrade Rocky, {_OTHER_FILE}"
        )
    refuse_foreign(connection, path)
    lost = sorted(set(TABLES) - names)
    if lost and version == SCHEMA_VERSION:
        raise LedgerUnreadable(
            f"the state file `{path}` has lost its table `{lost[0]}`;"
            f" restore it from a copy, {_OTHER_FILE}"
        )
    return True


def _bring_forward(connection: sqlite3.Connection, path: Path) -> None:
    """Make what a new or older file lacks: tables, and a chain."""
    before = stored_version(connection)
    create_tables(connection)
    if before is None or before < CHAINED_SINCE:
        RowWriter(connection, path).begin_chain()
    if load_ledger_id(connection) is None:
        raise LedgerUnreadable(
            f"the state file `{path}` has lost its `ledger_id`; restore it from a copy,"
            f" {_OTHER_FILE}"
        )


def describe_file(path: Path) -> tuple[int, int] | None:
    """What tells a file from one that took its place; None when there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
