"""A check of a ledger's chain, short enough to be seen to be right."""

from pathlib import Path

from rocky.ledger import open_evidence_reader
from rocky.ledger.chain import (
    BEFORE_FIRST,
    CHAIN_TABLE,
    CHAINED,
    MalformedEntry,
    check_entry,
    entry_key,
    parse_entry,
    value_hash,
)


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
            if (wrong := check_entry(entry, head)) or key != entry_key(entry.seq):
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
