"""Check history: the row counts of a table's newest runs, one row of the ledger a table.

Unlike all other rows its value is a JSON array, oldest count first, which is what people who read
the file by hand expect. Appending reads and writes in one transaction: two runs lose no count.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.encoding import MalformedRecord, format_json
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.pipeline_records import RowCount
from rocky.ledger.rows import key_of, unusable_row
from rocky.ledger.transcript import Transcript

KEPT: Final = 30
"""How many counts of a table are kept."""
_TABLE: Final = "check_history"
_ASK: Final = f"SELECT value FROM {_TABLE} WHERE key = ?"  # noqa: S608 - one of our own names

Counts = tuple[RowCount, ...]


def load_counts(path: Path, tables: Iterable[str]) -> dict[str, Counts]:
    """The counts of each table, oldest first, by the names as given; without a ledger none.

    Raises LedgerUnreadable, also for a row that is no history: it must not pass for a first run.
    """
    names = tuple(tables)
    connection = connect_reader(path, READER_PATIENCE_SECONDS)
    if connection is None:
        return dict.fromkeys(names, ())
    found: dict[str, Counts] = {}
    try:
        with translated(path, writing=False):
            for name in names:
                key = key_of(name.lower())
                row = connection.execute(_ASK, (key,)).fetchone()
                found[name] = _parse(path, key, row[0]) if row is not None else ()
    finally:
        connection.close()
    return found


def append_counts(ledger: LedgerFile, counts: Mapping[str, RowCount]) -> None:
    """Add a count to the history of each table, in one transaction."""
    if not counts:
        return
    with ledger.transaction() as rows:
        put_counts(rows, ledger.path, counts)


def put_counts(rows: Transcript, path: Path, counts: Mapping[str, RowCount]) -> None:
    """The same within a transaction that is open."""
    for name, count in counts.items():
        key = key_of(name.lower())
        text = rows.find(_TABLE, key)
        earlier = _parse(path, key, text) if text is not None else ()
        kept = (*earlier, count)[-KEPT:]
        rows.put(_TABLE, key, format_json([each.to_json() for each in kept]))


def _parse(path: Path, key: str, text: Any) -> Counts:
    try:
        document = json.loads(text)
    except (TypeError, ValueError) as wrong:
        raise unusable_row(path, _TABLE, key, wrong) from wrong
    if not isinstance(document, list):
        raise unusable_row(path, _TABLE, key, "not a JSON array")
    try:
        return tuple(RowCount.from_json(each) for each in document)
    except MalformedRecord as wrong:
        raise unusable_row(path, _TABLE, key, wrong) from wrong
