"""What pipelines remember between runs: row counts, loaded files, columns on notice, keys.

A row of counts is a JSON array, oldest count first, unlike all other rows: it is what people who
read the file by hand expect. Appending reads and writes in one transaction: two runs lose no
count. A row of a loaded file tells of a load, not of a table: once a load has replaced a table,
what was loaded before it is no longer there. A key counts as in flight only while whoever claimed
it may still be at work.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from rocky.canonical import record_json
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.idempotency import IN_FLIGHT, KEY_TABLE, is_key_free
from rocky.ledger.ledger_file import LedgerFile
from rocky.ledger.pipeline_records import GracePeriod, IdempotencyRecord, LoadedFile, RowCount
from rocky.ledger.readers.history import LedgerReader
from rocky.ledger.record import MalformedRecord, key_of, load_record, rows_below, unusable_row
from rocky.ledger.row_evidence import check_row, check_rows_below
from rocky.ledger.schema import RowWriter, has_chain

KEPT_COUNTS: Final = 30
"""How many counts of a table are kept."""
_COUNT_TABLE: Final = "check_history"
_COUNT_QUERY: Final = f"SELECT value FROM {_COUNT_TABLE} WHERE key = ?"  # noqa: S608 - one of our own names

Counts = tuple[RowCount, ...]


def load_counts(path: Path, tables: Iterable[str]) -> dict[str, Counts]:
    """The counts of each table, oldest first, by the names as given; without a ledger none.

    Raises LedgerUnreadable, also for a row that is no history or that somebody has changed or taken
    out: it must not pass for a first run.
    """
    names = tuple(tables)
    connection = connect_reader(path, READER_PATIENCE_SECONDS)
    if connection is None:
        return dict.fromkeys(names, ())
    found: dict[str, Counts] = {}
    try:
        with translated(path, writing=False):
            is_chained = has_chain(connection)
            for name in names:
                key = key_of(name.lower())
                if is_chained:
                    check_row(connection, path, _COUNT_TABLE, key)
                row = connection.execute(_COUNT_QUERY, (key,)).fetchone()
                found[name] = _parse_counts(path, key, row[0]) if row is not None else ()
    finally:
        connection.close()
    return found


def append_counts(ledger: LedgerFile, counts: Mapping[str, RowCount]) -> None:
    """Add a count to the history of each table, in one transaction."""
    if not counts:
        return
    with ledger.transaction() as rows:
        put_counts(rows, ledger.path, counts)


def put_counts(rows: RowWriter, path: Path, counts: Mapping[str, RowCount]) -> None:
    """The same within a transaction that is open."""
    for name, count in counts.items():
        key = key_of(name.lower())
        text = rows.find(_COUNT_TABLE, key)
        earlier = _parse_counts(path, key, text) if text is not None else ()
        kept = (*earlier, count)[-KEPT_COUNTS:]
        rows.put(_COUNT_TABLE, key, record_json([each.to_json() for each in kept]))


def _parse_counts(path: Path, key: str, text: Any) -> Counts:
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as wrong:
        raise unusable_row(path, _COUNT_TABLE, key, wrong) from wrong
    if not isinstance(document, list):
        raise unusable_row(path, _COUNT_TABLE, key, "not a JSON array")
    try:
        return tuple(RowCount.from_json(each) for each in document)
    except MalformedRecord as wrong:
        raise unusable_row(path, _COUNT_TABLE, key, wrong) from wrong


_FILE_TABLE: Final = "loaded_files"


def load_file_hashes(path: Path, tables: Iterable[str]) -> dict[str, frozenset[str]]:
    """The hashes of the files in each table, by the names as given; without a ledger none.

    Raises LedgerUnreadable, also for a row that cannot be read, or that somebody has changed or
    taken out: its file would be loaded again.
    """
    names = tuple(tables)
    connection = connect_reader(path, READER_PATIENCE_SECONDS)
    if connection is None:
        return dict.fromkeys(names, frozenset())
    try:
        with translated(path, writing=False):
            for name in names if has_chain(connection) else ():
                check_rows_below(connection, path, _FILE_TABLE, name.lower())
            found = {
                name: [
                    load_record(LoadedFile, path, _FILE_TABLE, key, value)
                    for key, value in rows_below(connection, _FILE_TABLE, key_of(name.lower()))
                ]
                for name in names
            }
    finally:
        connection.close()
    return {name: _in_table(files) for name, files in found.items()}


def _in_table(files: Iterable[LoadedFile]) -> frozenset[str]:
    listed = list(files)
    since = max((each.loaded_at for each in listed if each.replaced), default=None)
    return frozenset(
        each.blake3_hash for each in listed if since is None or each.loaded_at >= since
    )


class CountedTable(NamedTuple):
    """A table, how many of its counts are kept, and the newest."""

    table: str
    counts: int
    last: RowCount


class PipelineStateReader(LedgerReader):
    """Answers from a ledger. For one thread; others open their own."""

    def grace_periods(self) -> tuple[GracePeriod, ...]:
        """Columns that stay until their period ends, by table and column."""
        return self._all(GracePeriod, "grace_periods")

    def counted_tables(self) -> tuple[CountedTable, ...]:
        """Tables whose rows were counted, by name."""
        rows = self._ask("SELECT key, value FROM check_history ORDER BY key")
        found = [(key, _parse_counts(self.path, key, value)) for key, value in rows]
        return tuple(CountedTable(key, len(counts), counts[-1]) for key, counts in found if counts)

    def loaded_files(self) -> dict[str, int]:
        """How many files were loaded into each table."""
        rows = self._ask(
            "SELECT lower(json_extract(value, '$.table')), count(*) FROM loaded_files"
            " GROUP BY 1 ORDER BY 1"
        )
        return dict(rows)

    def keys_in_flight(self, now: datetime) -> tuple[IdempotencyRecord, ...]:
        """Idempotency keys whose run has not ended."""
        keys = self._all(IdempotencyRecord, KEY_TABLE)
        return tuple(
            each
            for each in keys
            if each.state == IN_FLIGHT and not is_key_free(self.path, each, now)
        )


open_pipeline_state_reader = PipelineStateReader.open
