"""A check of a ledger's chain, short enough to be seen to be right."""

import json
from pathlib import Path

from rocky.ledger import open_evidence_reader
from rocky.ledger.chain import (
    BEFORE_FIRST,
    CHAIN_TABLE,
    CHAINED,
    Entry,
    MalformedEntry,
    check_entry,
    entry_key,
    parse_entry,
    value_hash,
)
from rocky.ledger.readers.evidence import EvidenceReader


def chain_of(evidence: EvidenceReader) -> list[Entry]:
    """The entries of a ledger's chain."""
    return [parse_entry(text) for _, text in evidence.rows(CHAIN_TABLE)]


def pointers_to(evidence: EvidenceReader, digest: str) -> int:
    """How many records point at a file with these bytes: two or more where it was reused."""
    rows = evidence.rows("output_artifacts")
    return sum(json.loads(value)["blake3_hash"] == digest for _, value in rows)


def faults(path: Path) -> list[str]:
    """What is wrong with the chain of a ledger, and with its rows by the chain."""
    found, head = [], BEFORE_FIRST
    newest: dict[tuple[str, str], str | None] = {}
    with open_evidence_reader(path) as evidence:
        for key, text in evidence.rows(CHAIN_TABLE):
            try:
                entry = parse_entry(text)
            except MalformedEntry as wrong:
                found.append(f"entry {key}: {wrong}")
                continue
            if (wrong := check_entry(entry, head, text)) or key != entry_key(entry.seq):
                found.append(f"entry {key}: {wrong}")
            head = entry.head
            newest[entry.table, entry.key] = entry.value_hash
        stored = {(table, key): value for table in CHAINED for key, value in evidence.rows(table)}
        stored["metadata", "ledger_id"] = dict(evidence.rows("metadata"))["ledger_id"]
    for (table, key), digest in newest.items():
        value = stored.pop((table, key), None)
        if digest != (None if value is None else value_hash(value)):
            found.append(f"{table} {key} differs")
    return found + [f"{table} {key} is not chained" for table, key in stored]
