"""The chain up to a sealed entry: every entry is hashed, and only the rows that count are compared.

Whoever keeps a seal keeps the hash of an entry, and each entry has the hash of the one before. So
all entries up to it are those that were there when it was sealed, or their hashes do not lead to
it, and nobody can make good a row that they have altered since: it can be compared later as well as
now. What counts for what came after are the rows of runs that others rest on, and the rows that are
not of a run. Rows of earlier runs that only found all as it was are not looked at.

Nothing is reported from here of what stands before the sealed entry. Where anything is not as it
should be nothing may be left out, and looking at all of it says what it is.
"""

from typing import Final, NamedTuple

from blake3 import blake3

from rocky.evidence.chain import Chain, check_rows, follow_chain, make_chain
from rocky.evidence.findings import Findings
from rocky.evidence.scope import Point
from rocky.ledger.chain import CHAIN_TABLE, GENESIS, STARTS, Entry, Head, entry_key, parse_entry
from rocky.ledger.readers.evidence import READ_BY_RUN, EvidenceReader

_HASHED_FROM: Final = len(STARTS) + len(GENESIS) + len('",')
_KEY_FROM: Final = _HASHED_FROM + len('"key":"')
_RUN: Final = "run-"


class NotAsSealed(Exception):
    """Something before a sealed entry is not as it should be; all of the ledger will say what."""


class SealedChain(NamedTuple):
    """A chain whose `entries` are those of `runs`, those after the point, and those of no run."""

    chain: Chain
    runs: frozenset[str]


def check_sealed_chain(reader: EvidenceReader, point: Point, findings: Findings) -> SealedChain:
    """The chain of a ledger that has a sealed entry. What does not fit after it is reported.

    Raises NotAsSealed.
    """
    heads: dict[int, str] = {}
    digest = str(point.entry_hash)
    later = reader.rows(CHAIN_TABLE, entry_key(point.seq))
    new = tuple(follow_chain(later, Head(point.seq, digest), {}, findings))
    runs = _find_runs(reader, point, new)
    entries = [*_pass_over(reader, point, runs, heads), *new]
    findings.checked["entries"] += len(heads)
    heads.update((entry.seq, entry.entry_hash) for entry in new)
    if heads.get(point.seq) != digest:
        raise NotAsSealed
    check_rows(reader.of_runs(runs), entries, findings)
    return SealedChain(make_chain(heads, entries), runs)


def _find_runs(reader: EvidenceReader, point: Point, new: tuple[Entry, ...]) -> frozenset[str]:
    """The runs whose rows are looked at.

    Those that others may rest on, those that anything was written or removed of since, and any that
    has a row and would have begun since.
    """
    touched = {entry.key.partition("|")[0] for entry in new if entry.key.startswith(_RUN)}
    last = _last_run(reader, point)
    since = {key.partition("|")[0] for table in READ_BY_RUN for key, _ in reader.rows(table, last)}
    if not all(run_id.startswith(_RUN) for run_id in since):
        # A key that is no text stands after all others, and is found by none.
        raise NotAsSealed
    return frozenset(touched | reader.rested_upon() | since)


def _last_run(reader: EvidenceReader, point: Point) -> str:
    """The run that the last entry of a run, up to a point, is about; the runs after it are new."""
    for width in (100, 10_000, point.seq):
        first = entry_key(max(0, point.seq - width))
        rows = reader.rows(CHAIN_TABLE, first, entry_key(point.seq))
        found = [entry for entry in map(_entry_of, rows) if entry.table in READ_BY_RUN]
        if found:
            return found[-1].key.partition("|")[0]
    return ""


def _pass_over(
    reader: EvidenceReader, point: Point, runs: frozenset[str], heads: dict[int, str]
) -> list[Entry]:
    """The entries up to a point that are of some runs, or of none. All are hashed.

    They are not taken apart for that: an entry whose hash the next one has is to the letter what
    was written, and has that of the one before at one place only, since quotes in a key are masked.
    """
    kept = []
    previous = GENESIS
    for number, row in enumerate(reader.rows(CHAIN_TABLE, until=entry_key(point.seq)), 1):
        key, text = row
        data = f"{{{text[_HASHED_FROM:]}".encode("utf-8", "surrogateescape")
        digest = blake3(data).hexdigest()
        if (
            not text.startswith(f'{STARTS}{digest}",')
            or f'"previous":"{previous}"' not in text
            or key != entry_key(number)
        ):
            raise NotAsSealed
        heads[number] = previous = digest
        named = text[_KEY_FROM : text.find('"', _KEY_FROM)]
        if not named.startswith(_RUN) or named.partition("|")[0] in runs:
            kept.append(_entry_of(row))
    return kept


def _entry_of(row: tuple[str, str]) -> Entry:
    try:
        return parse_entry(row[1])
    except ValueError as wrong:
        raise NotAsSealed from wrong
