"""What pipelines remember between runs, as it is shown: columns on notice, counts, files, keys.

A file of an older version has all these tables; a key counts as in flight only while whoever
claimed it may still be at work.
"""

import json
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader
from rocky.ledger.idempotency import IN_FLIGHT, KEYS, is_over
from rocky.ledger.pipeline_records import GracePeriod, IdempotencyRecord, RowCount
from rocky.ledger.questions import Questions
from rocky.ledger.rows import load_record, unusable_row

_COUNTS = "check_history"


class CountedTable(NamedTuple):
    """A table, how many of its counts are kept, and the newest."""

    table: str
    counts: int
    last: RowCount


def open_remembered(path: Path, patience: float = READER_PATIENCE_SECONDS) -> "Remembered | None":
    """A reader, or None when there is no ledger yet. Raises LedgerUnreadable, LedgerLocked."""
    connection = connect_reader(path, patience)
    return Remembered(path, connection) if connection is not None else None


class Remembered(Questions):
    """Answers from a ledger. For one thread; others open their own."""

    def grace_periods(self) -> tuple[GracePeriod, ...]:
        """Columns that stay until their period ends, by table and column."""
        rows = self._ask("SELECT key, value FROM grace_periods ORDER BY key")
        return tuple(
            load_record(GracePeriod, self.path, "grace_periods", key, value) for key, value in rows
        )

    def counted_tables(self) -> tuple[CountedTable, ...]:
        """Tables whose rows were counted, by name."""
        rows = self._ask("SELECT key, value FROM check_history ORDER BY key")
        found = [(key, self._counts(key, value)) for key, value in rows]
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
        rows = self._ask("SELECT key, value FROM idempotency_keys ORDER BY key")
        keys = (load_record(IdempotencyRecord, self.path, KEYS, key, value) for key, value in rows)
        return tuple(
            each for each in keys if each.state == IN_FLIGHT and not is_over(self.path, each, now)
        )

    def _counts(self, key: str, value: str) -> list[RowCount]:
        try:
            document = json.loads(value)
            # An object would be gone through by its keys.
            found = [RowCount.from_json(each) for each in document]
        except (TypeError, ValueError) as wrong:
            raise unusable_row(self.path, _COUNTS, key, wrong) from wrong
        if not isinstance(document, list):
            raise unusable_row(self.path, _COUNTS, key, "not a JSON array")
        return found
