"""The ledger's tables. Each is `key TEXT, value TEXT`, so that `sqlite3` alone can read it.

A value is JSON, and the file itself refuses anything else. Indexes look inside: for the runs that
say they are running, the executions of one model, the files with the same bytes, and the entries of
rows that are relied upon.
"""

import json
import sqlite3
from typing import Final

from rocky.ledger.chain import CHAIN_TABLE, CHAINED

SCHEMA_VERSION: Final = 4

CHAINED_SINCE: Final = 2
"""The first version with a chain; files of older ones are chained when they are next written."""

TABLES: Final = (*CHAINED, "run_progress", "idempotency_keys", "metadata", CHAIN_TABLE)

RUNNING: Final = "json_extract(value, '$.status') = 'Running'"
"""The condition of the index over running runs, word for word: SQLite compares expressions."""
MODEL_OF_KEY: Final = "substr(key, instr(key, '|') + 1)"
"""The model in a key `run|model`."""

HASH_OF_ARTIFACT: Final = "json_extract(value, '$.blake3_hash')"
"""The hash in a row of `output_artifacts`."""

TABLE_OF_ENTRY: Final = "json_extract(value, '$.table')"
KEY_OF_ENTRY: Final = "json_extract(value, '$.key')"
RELIED_UPON: Final = f"{TABLE_OF_ENTRY} IN ('run_history', 'input_index', 'input_provenance')"
"""Entries of rows that something is done by, so that they are compared with the chain first."""

UNFINISHED: Final = "json_extract(value, '$.reason') IS NOT NULL"
"""The condition of the index over runs that died or gave up: only these have a reason."""

_INDEXES: Final = (
    f"CREATE INDEX IF NOT EXISTS runs_unfinished ON run_history (key) WHERE {UNFINISHED}",
    f"CREATE INDEX IF NOT EXISTS runs_running ON run_history (key) WHERE {RUNNING}",
    f"CREATE INDEX IF NOT EXISTS executions_by_model ON model_executions ({MODEL_OF_KEY}, key)",
    f"CREATE INDEX IF NOT EXISTS artifacts_by_hash ON output_artifacts ({HASH_OF_ARTIFACT})",
    f"CREATE INDEX IF NOT EXISTS entries_by_row ON {CHAIN_TABLE}"
    f" ({KEY_OF_ENTRY}, {TABLE_OF_ENTRY}, key) WHERE {RELIED_UPON}",
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make all tables and stamp the version; what is there stays."""
    for name in TABLES:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {name}"
            " (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL CHECK (json_valid(value)))"
        )
    for index in _INDEXES:
        connection.execute(index)
    connection.execute(
        "INSERT INTO metadata VALUES ('schema_version', ?)"
        " ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
        (str(SCHEMA_VERSION),),
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
    except (TypeError, ValueError):
        return None
    return version if isinstance(version, int) else None
