"""Row evidence: what the chain says of single rows that something is about to be done by.

A row that was never written and a row that somebody has taken out look the same in their table. The
chain tells them apart: the newest entry of a row that Rocky removed says so. Only rows are compared
with their entries here, quickly; whether the chain itself is whole is for `rocky.evidence` to say.

Row and entry are asked for in one statement, so that both are of one moment while others write.
"""

import sqlite3
from pathlib import Path
from typing import Any, Final

from rocky.errors import LedgerUnreadable
from rocky.ledger.chain import CHAIN_TABLE, value_hash
from rocky.ledger.record import range_below

TABLE_OF_ENTRY: Final = "json_extract(value, '$.table')"
KEY_OF_ENTRY: Final = "json_extract(value, '$.key')"
_HASH_OF_ENTRY: Final = "json_extract(value, '$.value_hash')"

RELIED_UPON: Final = f"{TABLE_OF_ENTRY} IN ('run_history', 'input_index', 'input_provenance')"
"""Entries of rows that something is done by, so that they are compared with the chain first."""

REMEMBERED: Final = (
    "watermarks",
    "partitions",
    "grace_periods",
    "loaded_files",
    "check_history",
    "branches",
    "promotions",
)
"""The tables that say how things stand: a row that is gone would pass for one that never was."""

OF_REMEMBERED: Final = "{} IN ({})".format(
    TABLE_OF_ENTRY, ", ".join(f"'{each}'" for each in REMEMBERED)
)
"""Their entries, as the condition of an index: word for word, SQLite compares expressions."""

_NEWEST: Final = (
    f"(SELECT {_HASH_OF_ENTRY} FROM {CHAIN_TABLE} WHERE {{}}"  # noqa: S608 - our own names
    f" AND {TABLE_OF_ENTRY} = :table AND {KEY_OF_ENTRY} = :key ORDER BY key DESC LIMIT 1)"
)
_NEWEST_RELIED_UPON: Final = f"SELECT {_NEWEST.format(RELIED_UPON)}"
_ROW: Final = f"SELECT (SELECT value FROM {{}} WHERE key = :key), {_NEWEST.format(OF_REMEMBERED)}"  # noqa: S608 - our own names
# Beside max() SQLite takes the other columns from the row that has it.
_ROWS: Final = (
    f"SELECT key, value, NULL, NULL FROM {{}} WHERE key >= :first AND key < :after"  # noqa: S608 - our own names
    f" UNION ALL SELECT {KEY_OF_ENTRY}, NULL, {_HASH_OF_ENTRY}, max(key) FROM {CHAIN_TABLE}"
    f" WHERE {OF_REMEMBERED} AND {TABLE_OF_ENTRY} = :table"
    f" AND {KEY_OF_ENTRY} >= :first AND {KEY_OF_ENTRY} < :after GROUP BY {KEY_OF_ENTRY}"
)
_ALL_KEYS: Final = ("", "\U0010ffff")


def is_untouched(connection: sqlite3.Connection, table: str, key: str, value: str) -> bool:
    """Whether a row of a table that is relied upon is what its newest entry says."""
    asked = {"table": table, "key": key}
    (said,) = connection.execute(_NEWEST_RELIED_UPON, asked).fetchone()
    return said is not None and said == value_hash(value)


def check_row(connection: sqlite3.Connection, path: Path, table: str, key: str) -> None:
    """Raise LedgerUnreadable unless a remembered row is what its newest entry says.

    That there is none must be so because there never was one, or because Rocky removed it.
    """
    row, said = connection.execute(_ROW.format(table), {"table": table, "key": key}).fetchone()
    _compare(path, table, key, row, said)


def check_rows_below(connection: sqlite3.Connection, path: Path, table: str, first: str) -> None:
    """The same of all rows whose keys are `first|...`, and of those that were there once."""
    _check_range(connection, path, table, range_below(first))


def check_table(connection: sqlite3.Connection, path: Path, table: str) -> None:
    """The same of all rows of a table."""
    _check_range(connection, path, table, _ALL_KEYS)


def check_unindexed(connection: sqlite3.Connection, path: Path, table: str) -> None:
    """The same for a table whose entries have no index of their own: all of the chain is read."""
    stored = dict(connection.execute(f"SELECT key, value FROM {table}"))  # noqa: S608 - one of our own names
    said = {
        key: digest
        for key, digest, _ in connection.execute(
            f"SELECT {KEY_OF_ENTRY}, {_HASH_OF_ENTRY}, max(key) FROM {CHAIN_TABLE}"  # noqa: S608 - our own names
            f" WHERE {TABLE_OF_ENTRY} = ? GROUP BY {KEY_OF_ENTRY}",
            (table,),
        )
    }
    for key in sorted({*stored, *said}):
        _compare(path, table, key, stored.get(key), said.get(key))


def _check_range(
    connection: sqlite3.Connection, path: Path, table: str, keys: tuple[str, str]
) -> None:
    asked = {"table": table, "first": keys[0], "after": keys[1]}
    stored, said = dict[str, Any](), dict[str, str | None]()
    for key, value, digest, number in connection.execute(_ROWS.format(table), asked):
        if number is None:
            stored[key] = value
        else:
            said[key] = digest
    for key in sorted({*stored, *said}):
        _compare(path, table, key, stored.get(key), said.get(key))


def _compare(path: Path, table: str, key: str, value: Any, said: str | None) -> None:
    """`said` is the hash in the newest entry: None where there is none, or the row was removed."""
    found = None if value is None else value_hash(value) if isinstance(value, str) else ""
    if found == said:
        return
    what = "is gone" if found is None else "was put in" if said is None else "was changed"
    raise LedgerUnreadable(
        f"the record `{key}` in `{table}` {what}: something other than Rocky did that to the state"
        f" file `{path}`, so nothing is done by it; see what `rocky verify` finds, and restore the"
        " file from a copy"
    )
