"""The ledger's tables, and the only way in which their rows are written.

Each table is `key TEXT, value TEXT`, so that `sqlite3` alone can read it. A value is JSON, and the
file itself refuses anything else. Indexes look inside: for the runs that say they are running, the
executions of one model, those of them that record commits, the files with the same bytes, and the
entries of rows that are relied upon. A question that no index answers costs more with each run.

A `RowWriter` writes rows within one transaction, each row of evidence with its entry in the chain.
Entries are appended where the file's own lock is held, so that two processes never continue from
the same head.
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
)
from rocky.ledger.record import rows_below, unusable_row
from rocky.ledger.row_evidence import (
    KEY_OF_ENTRY,
    OF_REMEMBERED,
    RELIED_UPON,
    REMEMBERED,
    TABLE_OF_ENTRY,
    check_row,
    is_untouched,
)

SCHEMA_VERSION: Final = 6

CHAINED_SINCE: Final = 2
"""The first version with a chain; files of older ones are chained when they are next written."""

TABLES: Final = (*CHAINED, "run_progress", "idempotency_keys", "metadata", CHAIN_TABLE)

RUNNING: Final = "json_extract(value, '$.status') = 'Running'"
"""The condition of the index over running runs, word for word: SQLite compares expressions."""
MODEL_OF_KEY: Final = "substr(key, instr(key, '|') + 1)"
"""The model in a key `run|model`."""

HASH_OF_ARTIFACT: Final = "json_extract(value, '$.blake3_hash')"
"""The hash in a row of `output_artifacts`."""

UNFINISHED: Final = "json_extract(value, '$.reason') IS NOT NULL"
"""The condition of the index over runs that died or gave up: only these have a reason."""

COMMITTED: Final = (
    "(json_extract(value, '$.commits') IS NOT NULL OR json_extract(value, '$.adopted') IS NOT NULL)"
)
"""Executions that record commits. Most do not: nothing had changed, and nothing was built."""
MADE_ANEW: Final = "instr(value, '\"version\":0')"
"""Executions that record the first commit of a table."""
CHECKPOINTED: Final = "instr(value, '\"checkpoint_blake3\"')"
"""Executions that record a checkpoint."""
TARGET_OF_EXECUTION: Final = "lower(json_extract(value, '$.target'))"
"""The table that an execution is about, in the lower case of SQLite: of ASCII alone."""

_TABLE: Final = "{} (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL CHECK (json_valid(value)))"
_INDEXES: Final = (
    f"runs_unfinished ON run_history (key) WHERE {UNFINISHED}",
    f"runs_running ON run_history (key) WHERE {RUNNING}",
    f"executions_by_model ON model_executions ({MODEL_OF_KEY}, key)",
    f"executions_committed ON model_executions ({MODEL_OF_KEY}, key) WHERE {COMMITTED}",
    # Of one table in the order in which they were written.
    f"executions_anew ON model_executions ({TARGET_OF_EXECUTION}) WHERE {MADE_ANEW}",
    f"executions_checkpointed ON model_executions ({TARGET_OF_EXECUTION}) WHERE {CHECKPOINTED}",
    f"artifacts_by_hash ON output_artifacts ({HASH_OF_ARTIFACT})",
    f"entries_by_row ON {CHAIN_TABLE} ({KEY_OF_ENTRY}, {TABLE_OF_ENTRY}, key) WHERE {RELIED_UPON}",
    f"entries_of_remembered ON {CHAIN_TABLE}"
    f" ({TABLE_OF_ENTRY}, {KEY_OF_ENTRY}, key) WHERE {OF_REMEMBERED}",
)

# As SQLite keeps it. Of its own it adds an index for each primary key, which has no text.
_SCHEMA: Final = frozenset(
    {
        *(f"CREATE TABLE {_TABLE.format(name)}" for name in TABLES),
        *(f"CREATE INDEX {index}" for index in _INDEXES),
        # What `ANALYZE` counts: it makes questions faster and changes no answer.
        "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
        "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    }
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make all tables and stamp the version; what is there stays."""
    for name in TABLES:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE.format(name)}")
    for index in _INDEXES:
        connection.execute(f"CREATE INDEX IF NOT EXISTS {index}")
    connection.execute(
        "INSERT INTO metadata VALUES ('schema_version', ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
        (str(SCHEMA_VERSION),),
    )


def refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Raise LedgerUnreadable for a trigger, a view, a table or an index that is not Rocky's.

    A trigger writes when Rocky does, and a view or an index may answer in a table's place.
    """
    for kind, name, text in connection.execute("SELECT type, name, sql FROM sqlite_master"):
        own = kind == "index" and text is None and str(name).startswith("sqlite_autoindex_")
        if not own and text not in _SCHEMA:
            raise LedgerUnreadable(
                f"the state file `{path}` has the {kind} `{name}`, which Rocky did not make;"
                " restore the file from a copy, or remove it and see what `rocky verify` finds"
            )


def refuse_damaged(connection: sqlite3.Connection, path: Path, table: str = "") -> None:
    """Raise LedgerUnreadable where SQLite finds its file, or all of a table, not in order.

    An index that lacks rows hides them. Rows that hold no JSON are for the chain to show, and are
    not asked about: SQLite tells of a hundred faults, and these must not take the place of others.
    """
    asked = f"PRAGMA integrity_check({table})" if table else "PRAGMA integrity_check"
    connection.execute("PRAGMA ignore_check_constraints = ON")
    try:
        told = connection.execute(asked).fetchall()
    finally:
        connection.execute("PRAGMA ignore_check_constraints = OFF")
    for (said,) in told:
        if said != "ok":
            what = " ".join(said.split())
            raise LedgerUnreadable(
                f"the state file `{path}` is damaged ({what}); restore it from a copy"
            )


def table_names(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in rows}


def stored_version(connection: sqlite3.Connection) -> int | None:
    """The schema's version in the file; None when it says none, so that it is not a ledger."""
    columns = {row[1] for row in connection.execute("PRAGMA table_info(metadata)")}
    if not {"key", "value"} <= columns:
        return None
    row = connection.execute("SELECT value FROM metadata WHERE key = 'schema_version'").fetchone()
    try:
        version = json.loads(row[0]) if row is not None else None
    except (TypeError, ValueError, RecursionError):
        return None
    return version if isinstance(version, int) else None


def definitions_version(connection: sqlite3.Connection) -> int:
    """A number that SQLite changes with every table, index, view or trigger that is made."""
    return int(connection.execute("PRAGMA schema_version").fetchone()[0])


def has_chain(connection: sqlite3.Connection) -> bool:
    """Whether a file has a chain: not so until a newer Rocky has written to it."""
    return (stored_version(connection) or 0) >= CHAINED_SINCE


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
    except (TypeError, ValueError, RecursionError):
        return None
    return found if isinstance(found, str) else None


class RowWriter:
    """Writes rows within one write transaction, which must be open."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._head: Head | None = None

    def put(self, table: str, key: str, value: str) -> None:
        """Write a row, or replace it.

        Raises LedgerUnreadable where a remembered row is not what its newest entry says, or is gone
        without one: the new entry would make good whatever somebody else has done to it.
        """
        if table in REMEMBERED:
            check_row(self._connection, self._path, table, key)
        self._connection.execute(
            f"INSERT OR REPLACE INTO {table} VALUES (?, ?)",  # noqa: S608 - one of our own names
            (key, value),
        )
        if is_chained(table, key):
            self._append(table, key, value)

    def remove(self, table: str, key: str) -> None:
        """Remove a row that is there. Raises LedgerUnreadable as `put` does."""
        if table in REMEMBERED and self.find(table, key) is not None:
            check_row(self._connection, self._path, table, key)
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
