"""The compile cache: the records of bound models, kept from one compile to the next.

A record that is loaded is not yet believed: `rocky.compiler.schemas` decides whether it still
holds. The stamp only tells whether it was made by this compiler.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rocky.compiler.cache_files import load_values, save_values
from rocky.compiler.records import Record

RECORDS: Final = "compile.bin"


def load_records(root: Path, stamp: bytes) -> dict[str, Record]:
    """The records of the last compile with the same compiler and catalogue."""
    make = Record._make
    return {key: make(fields) for key, fields in load_values(root, RECORDS, stamp).items()}


def save_records(root: Path, stamp: bytes, records: Mapping[str, Record]) -> bool:
    """Replace the cache. False when the folder cannot be written: the next compile is cold."""
    values = {key: tuple(record) for key, record in records.items()}
    return save_values(root, RECORDS, stamp, values)
