"""The chain, checked: each entry follows the one before, and anchors in warehouses are in it.

All rows are checked, whatever was asked for: a chain holds as a whole or not at all. Only a seal
lets rows be left out, see `rocky.evidence.sealed_chain`. A run moves the anchor when it begins and
when it ends. So whatever the newest anchor does not cover was written by a run that it saw begin,
or that could leave none: anything else was added later.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rocky.errors import StoreUnreadable
from rocky.evidence.chain_order import ChainOrder, is_upkeep
from rocky.evidence.findings import FindingCode, Findings
from rocky.ledger.chain import (
    BEFORE_FIRST,
    CHAIN_TABLE,
    CHAINED,
    LEDGER_ID,
    Entry,
    Head,
    MalformedEntry,
    check_entry,
    entry_key,
    parse_entry,
    value_hash,
)
from rocky.ledger.readers.evidence import EvidenceReader
from rocky.ledger.run_records import RunRecord, RunStatus
from rocky.store.anchor import Anchor, anchor_path, read_anchor
from rocky.store.warehouse import Warehouse

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
    heads: dict[int, str] = {}
    entries = list(follow_chain(reader.rows(CHAIN_TABLE), BEFORE_FIRST, heads, findings))
    check_rows(reader, entries, findings)
    return make_chain(heads, entries)


def follow_chain(
    rows: Iterable[tuple[str, str]], previous: Head, heads: dict[int, str], findings: Findings
) -> Iterator[Entry]:
    """The entries in some rows, which come after `previous`; their hashes are put into `heads`."""
    for key, text in rows:
        findings.checked["entries"] += 1
        try:
            entry = parse_entry(text)
        except MalformedEntry as wrong:
            why = f"it is not an entry: {wrong}"
            findings.add(FindingCode.CHAIN_BROKEN, f"{CHAIN_TABLE} {key}", why)
            continue
        if key != entry_key(entry.seq):
            why = "it is stored under another number than its own, so entries were moved"
            findings.add(FindingCode.CHAIN_BROKEN, f"{CHAIN_TABLE} {key}", why)
        broken = check_entry(entry, previous, text)
        if broken is not None:
            why = f"it {broken}: entries were changed, removed, added or moved"
            findings.add(FindingCode.CHAIN_BROKEN, f"{CHAIN_TABLE} {key}", why)
        previous = entry.head
        heads[entry.seq] = entry.entry_hash
        yield entry


def make_chain(heads: dict[int, str], entries: Iterable[Entry]) -> Chain:
    return Chain(heads, {entry_hash: seq for seq, entry_hash in heads.items()}, tuple(entries))


def check_rows(reader: EvidenceReader, entries: Iterable[Entry], findings: Findings) -> None:
    """Compare the rows that a reader has with the newest of the entries that are about each."""
    newest = {(entry.table, entry.key): entry for entry in entries}
    _check_first(newest, findings)
    _check_rows(reader, newest, findings)


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
            entry = newest.pop((table, key), None)
            if entry is None or entry.removed:
                why = "no entry of the chain is about it: it was put there by hand"
                findings.add(FindingCode.RECORD_UNCHAINED, f"{table} {key}", why)
            elif entry.value_hash != value_hash(text):
                why = "it is not what was recorded: the chain has another hash of it"
                findings.add(FindingCode.RECORD_CHANGED, f"{table} {key}", why)
    for (table, key), entry in newest.items():
        if not entry.removed:
            where, why = f"{table} {key}", "it was recorded and is gone"
            findings.add(FindingCode.RECORD_MISSING, where, why)


_SLACK: Final = timedelta(minutes=10)
"""How long after its end a run may take to leave its anchor."""


def check_anchor(
    warehouse: Warehouse,
    ledger_id: str,
    chain: Chain,
    order: ChainOrder,
    runs: Iterable[RunRecord],
    findings: Findings,
) -> int | None:
    """The number of an anchor that is in the chain; None where there is none that fits.

    `runs` are those that wrote here.
    """
    known: dict[str, RunRecord] = {run.run_id: run for run in runs}
    where = warehouse.objects.place(anchor_path(ledger_id))
    findings.checked["anchors"] += 1
    try:
        anchor = read_anchor(warehouse, ledger_id)
    except StoreUnreadable as wrong:
        if warehouse.objects.read(anchor_path(ledger_id)) is None:
            raise
        findings.add(FindingCode.RECORD_MALFORMED, where, str(wrong))
        return None
    if anchor is None:
        left = [run for run in known.values() if run.anchored]
        why = f"run `{left[0].run_id}` left an anchor here, and it is gone" if left else ""
        findings.expect(not left, FindingCode.ANCHOR_MISSING, where, why)
        return None
    if anchor.seq > max(chain.heads, default=0):
        findings.add(
            FindingCode.ANCHOR_AHEAD,
            where,
            f"the chain had {anchor.seq} entries when it was written and has"
            f" {max(chain.heads, default=0)} now: the ledger was rolled back to an older copy",
        )
        return None
    findings.expect(
        chain.heads.get(anchor.seq) == anchor.head,
        FindingCode.HEAD_UNKNOWN,
        where,
        f"entry {anchor.seq} of the chain has another hash now: the ledger was rewritten",
    )
    run = known.get(anchor.run_id)
    if run is None:
        why = f"it names run `{anchor.run_id}`, which the ledger does not have"
        findings.add(FindingCode.HEAD_UNKNOWN, where, why)
    else:
        findings.expect(
            _could_leave_anchor(run, anchor, order),
            FindingCode.HEAD_UNKNOWN,
            where,
            f"run `{run.run_id}` cannot have left it: not at this entry, or not at this time",
        )
    return anchor.seq


def anchored_by(warehouse: Warehouse, ledger_id: str) -> frozenset[str]:
    """The run that left the anchor of a ledger; none where there is no anchor to read."""
    try:
        anchor = read_anchor(warehouse, ledger_id)
    except StoreUnreadable:
        # Said where it is checked.
        return frozenset()
    return frozenset() if anchor is None else frozenset({anchor.run_id})


def _could_leave_anchor(run: RunRecord, anchor: Anchor, order: ChainOrder) -> bool:
    """Whether a run can have left an anchor, or upkeep that named it as the newest run."""
    if order.begun.get(run.run_id, 0) > anchor.seq or anchor.recorded_at < run.started_at:
        return False
    closed = order.closed.get(run.run_id, anchor.seq)
    late = run.finished_at is not None and anchor.recorded_at > run.finished_at + _SLACK
    overtaken = any(
        closed < order.begun[other] and end <= anchor.seq for other, end in order.closed.items()
    )
    return not (late or overtaken) or any(
        is_upkeep(entry) and closed < entry.seq <= anchor.seq for entry, _ in order.owners
    )


def check_covered(
    newest: int, order: ChainOrder, runs: Mapping[str, RunRecord], findings: Findings
) -> None:
    """What the newest anchor does not cover must be the work of runs that could not move it."""
    beyond = [(entry, runs.get(owner or "")) for entry, owner in order.owners if entry.seq > newest]
    added = [entry for entry, run in beyond if run is None or not _may_be_ahead(run, newest, order)]
    if added:
        findings.add(
            FindingCode.ANCHOR_BEHIND,
            f"{CHAIN_TABLE} {entry_key(added[0].seq)}",
            f"{len(added)} entries, first of `{added[0].table} {added[0].key}`, are newer than the"
            f" anchor, which ends at {newest}: records were added after the last run ended, or an"
            " older anchor was put back",
        )


def _may_be_ahead(run: RunRecord, newest: int, order: ChainOrder) -> bool:
    if order.closed.get(run.run_id, newest + 1) <= newest:
        return False
    if run.status is RunStatus.RUNNING or run.reason is not None or not run.anchored:
        return True
    # It saw the run begin; the run was killed before it could say that it had ended.
    return order.begun[run.run_id] <= newest
