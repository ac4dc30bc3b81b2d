"""The chain, checked: each entry follows the one before, each row is what its last entry says.

All rows are checked, whatever was asked for: a chain holds as a whole or not at all.
"""

from dataclasses import dataclass

from rocky.evidence.findings import FindingCode, Findings
from rocky.ledger.chain import (
    BEFORE_FIRST,
    CHAIN_TABLE,
    CHAINED,
    LEDGER_ID,
    Entry,
    MalformedEntry,
    check_entry,
    entry_key,
    parse_entry,
    value_hash,
)
from rocky.ledger.evidence_reader import EvidenceReader

_METADATA = "metadata"


@dataclass(frozen=True, slots=True)
class Chain:
    """The hashes of a chain's entries by number, the other way round, and all that make sense."""

    heads: dict[int, str]
    numbers: dict[str, int]
    entries: tuple[Entry, ...] = ()

    def has(self, head: object) -> bool:
        """Whether a hash is that of some entry."""
        return head in self.numbers


def check_chain(reader: EvidenceReader, findings: Findings) -> Chain:
    """The chain of a ledger; what does not fit in it, or in the rows it is about, is reported."""
    newest: dict[tuple[str, str], Entry] = {}
    heads: dict[int, str] = {}
    entries: list[Entry] = []
    previous = BEFORE_FIRST
    for key, text in reader.rows(CHAIN_TABLE):
        where = f"{CHAIN_TABLE} {key}"
        findings.checked["entries"] += 1
        try:
            entry = parse_entry(text)
        except MalformedEntry as wrong:
            findings.add(FindingCode.CHAIN_BROKEN, where, f"it is no entry: {wrong}")
            continue
        wrong_order = "it is stored under another number than its own, so entries were moved"
        findings.expect(key == entry_key(entry.seq), FindingCode.CHAIN_BROKEN, where, wrong_order)
        broken = check_entry(entry, previous)
        findings.expect(
            broken is None,
            FindingCode.CHAIN_BROKEN,
            where,
            f"it {broken}: entries were changed, removed, added or moved",
        )
        previous = entry.head
        heads[entry.seq] = entry.entry_hash
        newest[entry.table, entry.key] = entry
        entries.append(entry)
    _check_first(newest, findings)
    _check_rows(reader, newest, findings)
    numbers = {entry_hash: seq for seq, entry_hash in heads.items()}
    return Chain(heads, numbers, tuple(entries))


def _check_first(newest: dict[tuple[str, str], Entry], findings: Findings) -> None:
    findings.expect(
        next(iter(newest), None) == (_METADATA, LEDGER_ID),
        FindingCode.CHAIN_BROKEN,
        CHAIN_TABLE,
        "its first entry is not the ledger's id, so the beginning of the chain is gone",
    )


def _check_rows(
    reader: EvidenceReader, newest: dict[tuple[str, str], Entry], findings: Findings
) -> None:
    for table in (*CHAINED, _METADATA):
        for key, text in reader.rows(table):
            if table == _METADATA and key != LEDGER_ID:
                continue
            findings.checked["records"] += 1
            entry, where = newest.pop((table, key), None), f"{table} {key}"
            if entry is None or entry.removed:
                why = "no entry of the chain is about it: it was put there by hand"
                findings.add(FindingCode.RECORD_UNCHAINED, where, why)
            else:
                findings.expect(
                    entry.value_hash == value_hash(text),
                    FindingCode.RECORD_CHANGED,
                    where,
                    "it is not what was recorded: the chain has another hash of it",
                )
    for (table, key), entry in newest.items():
        if not entry.removed:
            where, why = f"{table} {key}", "it was recorded and is gone"
            findings.add(FindingCode.RECORD_MISSING, where, why)
