"""The ledger: what ran, what it read and wrote, what it cost. The only home of sqlite3."""

from rocky.ledger.database import STATE_FILE
from rocky.ledger.reader import LATEST, Reader, RecordedExecution, open_reader
from rocky.ledger.schema import SCHEMA_VERSION
from rocky.ledger.writer import Ledger, open_ledger

__all__ = [
    "LATEST",
    "SCHEMA_VERSION",
    "STATE_FILE",
    "Ledger",
    "Reader",
    "RecordedExecution",
    "open_ledger",
    "open_reader",
]
