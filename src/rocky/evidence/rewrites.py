"""Records that are written more than once, checked: each earlier entry is of what Rocky wrote then.

An entry has only the hash of a row, and the row stands as it was written last. But Rocky adds to
the record of a run and takes nothing away, so that what it was before can be made again from what
it is: as it began, then with its key and its engine. An entry with another hash is of a record that
said something else. So the entry that ends a run is its last, and none can be put on top. The row
of a branch changes when it is deleted, and is kept when another gets its name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, pairwise
from typing import Any, Final

from rocky.canonical import record_json
from rocky.errors import LedgerUnreadable
from rocky.evidence.findings import FindingCode, Findings
from rocky.ledger.branch_records import BRANCHES, ENDING, BranchStatus
from rocky.ledger.chain import Entry, value_hash
from rocky.ledger.readers.evidence import EvidenceReader
from rocky.ledger.record import key_of, load_json
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
_BEFORE_KEPT: Final = "0.1."
"""Versions that lost the row of a branch when another got its name."""
_ON_THE_WAY: Final = ("commit_key", "engine", "unchanged", "reason")
"""What a run may come to know after it began; of some it is asked why before they begin."""


def check_rewrites(reader: EvidenceReader, entries: Sequence[Entry], findings: Findings) -> None:
    """Report runs and branches whose earlier entries are of other records than those that stand."""
    kept_since = _check_runs(reader, _written(entries, _RUNS), findings)
    _check_branches(reader, _written(entries, BRANCHES), kept_since, findings)


def _check_runs(
    reader: EvidenceReader, written: Mapping[str, list[Entry]], findings: Findings
) -> int | None:
    """The first entry of a run whose Rocky kept the rows of former branches; None without one."""
    since: int | None = None
    for key, text in reader.rows(_RUNS):
        entries = written.get(key, [])
        document = _document(reader, _RUNS, key, text) if entries else None
        if document is None:
            continue
        if not str(document.get("rocky_version")).startswith(_BEFORE_KEPT):
            since = min(entries[0].seq, since or entries[0].seq)
        earlier = [each.value_hash for each in entries[:-1]]
        before = set(_before_the_end(document))
        findings.expect(
            before.issuperset(earlier),
            FindingCode.RECORD_CHANGED,
            f"{_RUNS} {key}",
            "it was written anew after it had ended, or begun otherwise: the chain has an earlier"
            " entry that is not of this record",
        )

    return since


def _check_branches(
    reader: EvidenceReader,
    written: Mapping[str, list[Entry]],
    kept_since: int | None,
    findings: Findings,
) -> None:
    known: dict[str, set[str | None]] = {}
    for key, text in reader.rows(BRANCHES):
        document = _document(reader, BRANCHES, key, text)
        if document is None:
            continue
        made = {name: value for name, value in document.items() if name not in ENDING}
        opened = record_json({**made, "status": BranchStatus.OPEN.value})
        known.setdefault(key, set()).add(value_hash(text))
        # A row that was kept for a later branch of the name explains what the name had before.
        name = key_of(str(document.get("name")).lower())
        known.setdefault(name, set()).update((value_hash(opened), value_hash(text)))
    for key, entries in written.items():
        for entry, following in pairwise(entries):
            is_early = kept_since is None or following.seq < kept_since
            findings.expect(
                is_early or entry.value_hash in known.get(key, ()),
                FindingCode.RECORD_CHANGED,
                f"{BRANCHES} {key}",
                "it was written anew and not only deleted: the chain has an earlier entry that is"
                " of no branch that is recorded",
            )


def _written(entries: Iterable[Entry], table: str) -> dict[str, list[Entry]]:
    """The entries that wrote each row of a table, oldest first."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.table == table and not entry.removed:
            found.setdefault(entry.key, []).append(entry)
    return found


def _document(reader: EvidenceReader, table: str, key: str, text: str) -> dict[str, Any] | None:
    try:
        return load_json(reader.path, table, key, text)
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
