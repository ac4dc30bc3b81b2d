"""The ledger: what ran, what it read and wrote, what it cost. The only home of sqlite3."""

from rocky.ledger.database import STATE_FILE
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.readers.evidence import EvidenceReader, open_evidence_reader
from rocky.ledger.readers.history import (
    LATEST,
    HistoryReader,
    RecordedExecution,
    open_history_reader,
)
from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.schema import SCHEMA_VERSION
from rocky.ledger.writer import Ledger, ModelRecords, open_ledger

__all__ = [
    "LATEST",
    "SCHEMA_VERSION",
    "STATE_FILE",
    "EvidenceReader",
    "HistoryReader",
    "Ledger",
    "LookupReader",
    "ModelRecords",
    "RecordedExecution",
    "open_evidence_reader",
    "open_history_reader",
    "open_ledger",
    "open_lookup_reader",
]
