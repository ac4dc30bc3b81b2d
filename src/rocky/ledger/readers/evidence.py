"""The evidence reader: the ledger as it is verified, every row and every entry at one moment.

From opening to closing it is one snapshot: a run that writes meanwhile changes nothing here, so
rows and chain belong together. Rows are handed out as they are stored, also those that make no
sense, so that what is wrong with them can be said.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from rocky.errors import RockyError
from rocky.ledger.database import READER_PATIENCE_SECONDS, connect_reader, translated
from rocky.ledger.provenance import CollectedFile
from rocky.ledger.readers.history import LedgerReader, RecordedExecution
from rocky.ledger.record import Record, load_record
from rocky.ledger.schema import load_ledger_id, table_names

R = TypeVar("R", bound=Record)


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
    """All there is in a ledger at one moment. A file of an older Rocky has no chain."""

    @property
    def ledger_id(self) -> str | None:
        with translated(self.path, writing=False):
            return load_ledger_id(self._connection)

    def rows(self, table: str) -> Iterator[tuple[str, str]]:
        """Keys and values of a table as they are stored, by key; none of a table it lacks."""
        with translated(self.path, writing=False):
            there = table in table_names(self._connection)
        if there:
            stored = self._stream(f"SELECT key, value FROM {table} ORDER BY key")  # noqa: S608 - one of our own names
            yield from ((_text(key), _text(value)) for key, value in stored)

    def all_executions(self) -> Iterator[RecordedExecution]:
        """What every run did with each model, oldest run first."""
        return (self._execution(key, value) for key, value in self.rows("model_executions"))

    def collected(self) -> tuple[CollectedFile, ...]:
        """The files that were removed, in the order in which they were."""
        return tuple(self._records(CollectedFile, "collected_files"))

    def _records(self, kind: type[R], table: str) -> Iterator[R]:
        return (load_record(kind, self.path, table, key, value) for key, value in self.rows(table))


def _decode(stored: bytes) -> str:
    return stored.decode("utf-8", "surrogateescape")


def _text(stored: Any) -> str:
    """A column's text. What is none becomes one that no hash in the chain is of."""
    return stored if isinstance(stored, str) else repr(stored)
