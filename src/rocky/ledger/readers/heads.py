"""The heads reader: where the chain ends, and each model's newest recorded commit.

A run asks at its end, so no more is read than that, however long the history is.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from rocky.errors import LedgerUnreadable, RockyError
from rocky.ledger.chain import (
    CHAIN_TABLE,
    FENCE_COUNTER,
    Entry,
    Head,
    MalformedEntry,
    entry_key,
    parse_entry,
    value_hash,
)
from rocky.ledger.database import connect_reader, translated
from rocky.ledger.readers.history import LedgerReader
from rocky.ledger.row_evidence import KEY_OF_ENTRY, RELIED_UPON, TABLE_OF_ENTRY
from rocky.ledger.run_records import CommitRecord
from rocky.ledger.schema import COMMITTED, MODEL_OF_KEY, load_ledger_id, refuse_damaged

# From model to model by the index, and of each the newest row that has a commit.
_NEWEST: Final = f"""
WITH RECURSIVE models (name) AS (
  SELECT min({MODEL_OF_KEY}) FROM model_executions
  UNION ALL
  SELECT (SELECT min({MODEL_OF_KEY}) FROM model_executions WHERE {MODEL_OF_KEY} > models.name)
  FROM models WHERE models.name IS NOT NULL
)
SELECT key, value FROM models JOIN model_executions ON key = (
  SELECT key FROM model_executions WHERE {MODEL_OF_KEY} = models.name AND {COMMITTED}
  ORDER BY key DESC LIMIT 1
) WHERE models.name IS NOT NULL
"""  # noqa: S608 - our own expressions


class RecordedHead(NamedTuple):
    """A table's newest recorded commit, by the warehouse that the record names."""

    warehouse: str
    target: str
    commit: CommitRecord


class HeadsReader(LedgerReader):
    """Answers of one moment. For one thread."""

    @property
    def ledger_id(self) -> str | None:
        with translated(self.path, writing=False):
            return load_ledger_id(self._connection)

    def newest_fence(self) -> int:
        """The highest fencing token that the ledger knows of."""
        rows = self._ask("SELECT value FROM metadata WHERE key = ?", FENCE_COUNTER)
        return int(rows[0][0]) if rows else 0

    def head(self) -> Head | None:
        """Where the chain ends. Raises LedgerUnreadable when the last entry is none."""
        rows = self._ask(f"SELECT value FROM {CHAIN_TABLE} ORDER BY key DESC LIMIT 1")  # noqa: S608 - one of our own names
        return self._entry(rows[0][0]).head if rows else None

    def has(self, head: Head) -> bool:
        """Whether the chain has this entry."""
        rows = self._ask(
            f"SELECT value FROM {CHAIN_TABLE} WHERE key = ?",  # noqa: S608 - one of our own names
            entry_key(head.seq),
        )
        return bool(rows) and self._entry(rows[0][0]).head == head

    def has_only_runs_since(self, seq: int, run_id: str = "") -> bool:
        """Whether all that was recorded after an entry is that runs began and ended.

        Besides what is of one run. Whatever others do with a table, a source or a watermark leaves
        a row of another kind.
        """
        others = self._ask(
            f"SELECT 1 FROM {CHAIN_TABLE} WHERE key > ? AND {TABLE_OF_ENTRY} <> 'run_history'"  # noqa: S608 - our own names
            f" AND {KEY_OF_ENTRY} NOT LIKE ? LIMIT 1",
            entry_key(seq),
            f"{run_id}|%",
        )
        return not others

    def covers(self, head: Head, run_id: str) -> bool:
        """Whether all that a run has said of itself stands before this entry, or is it.

        Not so of a run that the chain does not have, or whose record is not what it says of it.
        """
        rows = self._ask(
            f"SELECT value FROM {CHAIN_TABLE} WHERE {RELIED_UPON} AND {KEY_OF_ENTRY} = ?"  # noqa: S608 - our own names
            f" AND {TABLE_OF_ENTRY} = 'run_history' ORDER BY key DESC LIMIT 1",
            run_id,
        )
        stored = self._ask("SELECT value FROM run_history WHERE key = ?", run_id)
        if not rows or not stored:
            return False
        newest = self._entry(rows[0][0])
        return newest.seq <= head.seq and newest.value_hash == value_hash(str(stored[0][0]))

    def newest_commits(self) -> Iterator[RecordedHead]:
        """Of each model that has a table, its newest recorded commit, by name of the model.

        Raises LedgerUnreadable where the index that finds them lacks some.
        """
        with translated(self.path, writing=False):
            refuse_damaged(self._connection, self.path, "model_executions")
        # A run's row is large, and many models' newest commits are of one run.
        warehouses: dict[str, str | None] = {}
        for key, value in self._ask(_NEWEST):
            run_id, execution = self._execution(key, value)
            if run_id not in warehouses:
                warehouses[run_id] = self._warehouse(run_id)
            place = warehouses[run_id]
            newest = max((*execution.adopted, *execution.commits), key=lambda each: each.version)
            # Early records do not say where their tables are.
            if execution.target is not None and place is not None:
                yield RecordedHead(place, execution.target, newest)

    def _warehouse(self, run_id: str) -> str | None:
        rows = self._ask(
            "SELECT json_extract(value, '$.warehouse') FROM run_history WHERE key = ?", run_id
        )
        return str(rows[0][0]) if rows and rows[0][0] is not None else None

    def _entry(self, value: str) -> Entry:
        try:
            return parse_entry(value)
        except MalformedEntry as wrong:
            raise LedgerUnreadable(
                f"the chain in `{self.path}` has an entry that is none ({wrong});"
                " `rocky verify` says more"
            ) from wrong


def open_heads_reader(path: Path) -> HeadsReader | None:
    """A reader of the heads at one moment, or None when there is no ledger yet.

    Raises LedgerUnreadable, LedgerLocked.
    """
    connection = connect_reader(path)
    if connection is None:
        return None
    try:
        with translated(path, writing=False):
            connection.execute("BEGIN")
            return HeadsReader(path, connection)
    except RockyError:
        connection.close()
        raise
