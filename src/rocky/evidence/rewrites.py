"""Records that are written more than once, checked: each earlier entry is of what Rocky wrote then.

An entry has only the hash of a row, and the row stands as it was written last. But Rocky adds to
the record of a run and takes nothing away, so that what it was before can be made again from what
it is: as it began, then with its key and its engine. An entry with another hash is of a record that
said something else. So the entry that ends a run is its last, and none can be put on top.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, Final

from rocky.canonical import record_json
from rocky.errors import LedgerUnreadable
from rocky.evidence.findings import FindingCode, Findings
from rocky.ledger.chain import Entry, value_hash
from rocky.ledger.readers.history import EvidenceReader
from rocky.ledger.record import load_json
from rocky.ledger.run_records import RunStatus

_RUNS: Final = "run_history"
_AT_THE_END: Final = frozenset(
    {
        "finished_at",
        "purpose",
        "totals",
        "budget_breaches",
        "check_outcomes",
        "anomalies",
        "anchored",
    }
)
_ON_THE_WAY: Final = ("commit_key", "engine", "unchanged", "reason")
"""What a run may come to know after it began; of some it is asked why before they begin."""


def check_rewrites(reader: EvidenceReader, entries: Sequence[Entry], findings: Findings) -> None:
    """Report runs whose earlier entries are of another record than the one that stands."""
    written = _written(entries, _RUNS)
    for key, text in reader.rows(_RUNS):
        *earlier, _ = written.get(key, [""])
        document = _document(reader, key, text) if earlier else None
        if document is None:
            continue
        before = set(_before_the_end(document))
        findings.expect(
            before.issuperset(earlier),
            FindingCode.RECORD_CHANGED,
            f"{_RUNS} {key}",
            "it was written anew after it had ended, or begun otherwise: the chain has an earlier"
            " entry that is not of this record",
        )


def _written(entries: Iterable[Entry], table: str) -> dict[str, list[str]]:
    """The hashes that each row of a table has had, oldest first."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        if entry.table == table and entry.value_hash is not None:
            found.setdefault(entry.key, []).append(entry.value_hash)
    return found


def _document(reader: EvidenceReader, key: str, text: str) -> dict[str, Any] | None:
    try:
        return load_json(reader.path, _RUNS, key, text)
    except LedgerUnreadable:
        # Reported where records are read.
        return None


def _before_the_end(document: Mapping[str, Any]) -> Iterator[str]:
    """The hashes that the record of a run can have had until it ended."""
    kept = {key: value for key, value in document.items() if key not in _AT_THE_END}
    begun = {**kept, "status": RunStatus.RUNNING.value, "models_executed": []}
    if "purpose" in document:
        begun["reason"] = document["purpose"]
    known = [each for each in _ON_THE_WAY if each in begun]
    sizes = range(len(known) + 1)
    for unknown in chain.from_iterable(combinations(known, size) for size in sizes):
        yield value_hash(record_json({key: begun[key] for key in begun if key not in unknown}))
