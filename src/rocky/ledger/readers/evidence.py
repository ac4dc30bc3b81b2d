"""The evidence reader: the ledger as it is verified, and as retention decides by it.

It sees one moment from opening to closing, so that rows and chain belong together, and hands out
rows as they are stored, also those that make no sense.
"""

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rocky.errors import RockyError
from rocky.ledger.chain import CHAIN_TABLE
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.provenance import CollectedFile
from rocky.ledger.readers.history import LedgerReader, RecordedExecution
from rocky.ledger.record import RunId, load_record, run_id_at
from rocky.ledger.row_evidence import KEY_OF_ENTRY, RELIED_UPON, TABLE_OF_ENTRY
from rocky.ledger.schema import (
    COMMITTED,
    RUNNING,
    UNFINISHED,
    load_ledger_id,
    refuse_damaged,
    table_names,
)


def open_evidence_reader(
    path: Path, patience: float = READER_PATIENCE_SECONDS
) -> "EvidenceReader | None":
    """A reader of all evidence, or None when there is no ledger yet.

    Raises LedgerUnreadable, LedgerLocked.
    """
    connection = connect_reader(path, patience)
    if connection is None:
        return None
    # A text that is not UTF-8 is one that somebody changed; it must be read to be named.
    connection.text_factory = _decode
    try:
        with translated(path, writing=False):
            connection.execute("BEGIN")
            return EvidenceReader(path, connection)
    except RockyError:
        connection.close()
        raise


class EvidenceReader(LedgerReader):
    """All there is in a ledger at one moment. A file of an older Rocky has no chain.

    Of some `runs` alone, it has of the tables whose keys begin with a run only their rows.
    """

    def __init__(
        self, path: Path, connection: sqlite3.Connection, runs: frozenset[str] | None = None
    ) -> None:
        super().__init__(path, connection)
        self._runs = runs

    def of_runs(self, runs: frozenset[str]) -> "EvidenceReader":
        """The same moment, of some runs alone. It is closed with this one."""
        return EvidenceReader(self.path, self._connection, runs)

    def rested_upon(self) -> frozenset[str]:
        """The runs whose records others may rest on; of those that only found all as it was none.

        They have committed, built, promoted or erased something, or not ended; and the newest.
        """
        of_key = "substr(key, 1, instr(key, '|') - 1)"
        parts = [
            f"SELECT {of_key} FROM model_executions WHERE {COMMITTED}",  # noqa: S608 - our own expressions
            f"SELECT {of_key} FROM input_provenance",  # noqa: S608 - our own expressions
            f"SELECT key FROM run_history WHERE {UNFINISHED}",  # noqa: S608 - our own expressions
            f"SELECT key FROM run_history WHERE {RUNNING}",  # noqa: S608 - our own expressions
            "SELECT max(key) FROM run_history",
            # Only few rows have it, and what is large has many models.
            "SELECT json_extract(value, '$.unchanged_since') FROM run_history"
            " WHERE instr(value, '\"unchanged_since\"') > 0",
        ]
        with translated(self.path, writing=False):
            there = table_names(self._connection)
        parts += [f"SELECT key FROM {each}" for each in _BY_RUN if each in there]  # noqa: S608 - our own names
        found = self._ask(" UNION ".join(parts))
        return frozenset(str(run_id) for (run_id,) in found if run_id is not None)

    @property
    def ledger_id(self) -> str | None:
        with translated(self.path, writing=False):
            return load_ledger_id(self._connection)

    def refuse_damaged(self) -> None:
        """Raise LedgerUnreadable where SQLite finds its file not in order: an index may hide."""
        with translated(self.path, writing=False):
            refuse_damaged(self._connection, self.path)

    def rows(self, table: str, after: str = "", until: str = "") -> Iterator[tuple[str, str]]:
        """Keys and values of a table as they are stored, by key; none of a table it lacks.

        Only those with a key `after` one, or `until` one.
        """
        with translated(self.path, writing=False):
            there = table in table_names(self._connection)
        runs = self._runs if table in READ_BY_RUN else None
        bounds = [(f"key {sign} {_KEY}", key) for sign, key in ((">", after), ("<=", until)) if key]
        asked = [(" AND ".join(each for each, _ in bounds) or "TRUE", [key for _, key in bounds])]
        if runs is not None:
            # Each run is a range of the index over keys, so that others cost nothing.
            condition = f"key = {_KEY} OR (key >= {_KEY} AND key < {_KEY})"
            asked = [(condition, [each, f"{each}|", f"{each}}}"]) for each in sorted(runs)]
        for condition, keys in asked if there else ():
            sql = f"SELECT key, value FROM {table} WHERE {condition} ORDER BY key"  # noqa: S608 - our own names
            stored = self._stream(sql, *(each.encode("utf-8", "surrogateescape") for each in keys))
            yield from ((_text(key), _text(value)) for key, value in stored)

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(self._ask(f"SELECT count(*) FROM {table}")[0][0])  # noqa: S608 - one of our own names

    def entries_of_run(self, run_id: str) -> tuple[int, int] | None:
        """The numbers of the first and the last entry that a run wrote of itself; None of none."""
        found = self._ask(
            f"SELECT min(key), max(key) FROM {CHAIN_TABLE} WHERE {RELIED_UPON}"  # noqa: S608 - our own names
            f" AND {KEY_OF_ENTRY} = ? AND {TABLE_OF_ENTRY} = 'run_history'",
            run_id,
        )
        first, last = found[0]
        return None if first is None else (int(first), int(last))

    def runs_from(self, moment: datetime) -> Iterator[RunId]:
        """The runs that began at a moment or later."""
        found = self._ask(
            "SELECT key FROM run_history WHERE key >= ? ORDER BY key", run_id_at(moment)
        )
        return (RunId(_text(key)) for (key,) in found)

    def last_row(self, table: str) -> tuple[str, str] | None:
        """The row of a table with the highest key; None when it has none."""
        found = self._ask(f"SELECT key, value FROM {table} ORDER BY key DESC LIMIT 1")  # noqa: S608 - one of our own names
        return (_text(found[0][0]), _text(found[0][1])) if found else None

    def all_executions(self) -> Iterator[RecordedExecution]:
        """What every run did with each model, oldest run first."""
        return (self._execution(key, value) for key, value in self.rows("model_executions"))

    def collected(self) -> tuple[CollectedFile, ...]:
        """The files that were removed, in the order in which they were."""
        table = "collected_files"
        return tuple(load_record(CollectedFile, self.path, table, *row) for row in self.rows(table))


READ_BY_RUN: Final = frozenset(
    {"run_history", "model_executions", "output_artifacts", "input_provenance"}
)
"""The tables whose keys begin with a run, and that grow with each one."""
_BY_RUN: Final = ("promotions", "erasures")
_KEY: Final = "CAST(? AS TEXT)"
"""A key as bytes: one that somebody has put there may be no UTF-8."""


def _decode(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")


def _text(stored: Any) -> str:
    """A column's text. What is none becomes one that no hash in the chain is of."""
    return stored if isinstance(stored, str) else repr(stored)
