"""The ledger: what ran, what it read and wrote, what it cost. The only home of sqlite3."""

from rocky.ledger.database import STATE_FILE
from rocky.ledger.evidence_reader import EvidenceReader, open_evidence
from rocky.ledger.lookups import Lookups, open_lookups
from rocky.ledger.model_records import ModelRecords
from rocky.ledger.questions import RecordedExecution
from rocky.ledger.reader import LATEST, Reader, open_reader
from rocky.ledger.schema import SCHEMA_VERSION
from rocky.ledger.writer import Ledger, open_ledger

__all__ = [
    "LATEST",
    "SCHEMA_VERSION",
    "STATE_FILE",
    "EvidenceReader",
    "Ledger",
    "Lookups",
    "ModelRecords",
    "Reader",
    "RecordedExecution",
    "open_evidence",
    "open_ledger",
    "open_lookups",
    "open_reader",
]
