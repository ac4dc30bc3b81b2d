"""Garbage collection: data files that nothing needs are recorded as removed, then removed.

A file is recorded first. A collector killed in between leaves a file that is said to be gone, which
the next one removes; the other way round a file would be missing that no record explains. All
moments are as of when collecting began: whatever was the newest version of a table at that moment
or later stays, and so does every file that a branch refers to.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from rocky.errors import (
    ChangeRefused,
    ClaimLost,
    LedgerLocked,
    StoreUnreadable,
    StoreUnwritable,
)
from rocky.evidence.retention.decisions import (
    FileRemoval,
    Horizons,
    KeptFile,
    Retention,
    TableDecision,
    TableFacts,
    days_before,
    decide_files,
)
from rocky.evidence.retention.ledger_facts import (
    LedgerFacts,
    WarehouseAnchors,
    find_doubt,
    load_anchors,
    load_ledger_facts,
    newest_run_by_warehouse,
)
from rocky.ledger import Ledger, open_ledger
from rocky.ledger.chain import Head
from rocky.ledger.provenance import CollectedFile
from rocky.store.anchor import Anchor, write_anchor
from rocky.store.data_file import SUFFIX, name_of
from rocky.store.file_usage import (
    RemovalFence,
    branches_of,
    has_moved,
    list_files,
    load_shared,
    read_lifetimes,
    remove_files,
)
from rocky.store.journal import ERASURE_FOLDER, has_journal
from rocky.store.objects import ObjectInfo
from rocky.store.warehouse import Table, Warehouse


def addresses_on_branches(
    warehouses: Sequence[Warehouse], deleted: Collection[str]
) -> frozenset[str]:
    """The addresses of all files that branches refer to, also branches no record tells of.

    `deleted` are the places of branches that are no more: remains of one that cannot be read need
    nothing. What can be read may be a new branch in the making. Raises `StoreUnreadable` when it
    cannot be told.
    """
    found: set[str] = set()
    for warehouse in warehouses:
        for branch in branches_of(warehouse):
            try:
                shared = load_shared(branch)
            except StoreUnreadable:
                if branch.objects.place("") not in deleted:
                    raise
                continue
            found |= {name_of(uri).removesuffix(SUFFIX) for uri in shared}
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class CollectedTable:
    """What became of one table. `removals` and `staged` are gone, or would be in a dry run.

    With a `left_alone` nothing was removed, and it says why. `failed` says what went wrong midway,
    `claim_lost` that the table was no longer the collector's: it has stopped there.
    """

    target: str
    warehouse: str
    removals: tuple[FileRemoval, ...] = ()
    staged: tuple[ObjectInfo, ...] = ()
    kept: tuple[KeptFile, ...] = ()
    left_alone: str | None = None
    failed: str | None = None
    claim_lost: str | None = None


class Collector:
    """Decides about tables of a warehouse by what one ledger said at one moment.

    With a `doubt` about the warehouse nothing in it is removed.
    """

    def __init__(self, known: LedgerFacts, horizons: Horizons, doubt: str | None = None) -> None:
        self._known = known
        self._horizons = horizons
        self._doubt = doubt

    def look(self, table: Table) -> CollectedTable | None:
        """What would go; None when there is no such table. Nothing is claimed or changed."""
        for claim in self._known.living:
            if table.name.lower() in (each.lower() for each in claim.targets):
                return _left_alone(table, f"run `{claim.run_id}` is writing it")
        verdict = self._judge(table)
        return None if verdict is None else _outcome(table, verdict)

    def collect(self, table: Table, ledger: Ledger) -> CollectedTable | None:
        """What went. The table is claimed meanwhile: no run of this ledger writes it."""
        try:
            with ledger.claim([table.name]) as claim:
                verdict = self._judge(table)
                if verdict is None:
                    return None
                fence = RemovalFence(table, verdict.latest, claim.check)
                return _remove_table_files(table, verdict, ledger, fence)
        except LedgerLocked as locked:
            return _left_alone(table, str(locked).partition(" (process")[0])

    def _judge(self, table: Table) -> TableDecision | None:
        try:
            lifetimes = read_lifetimes(table.log)
            data, staged = list_files(table)
            if lifetimes.latest is None and not data and not staged:
                return None
            doubt = self._doubt
            if doubt is None and lifetimes.latest is not None:
                doubt = self._known.commits.find_doubt(table, lifetimes.latest)
        except StoreUnreadable as error:
            return TableDecision(table.name, doubt=str(error))
        if doubt is not None:
            return TableDecision(table.name, doubt=doubt)
        known = self._known
        needs = known.needs.of(table.name, table.objects.place(""))
        facts = TableFacts(table.name, lifetimes, data, staged)
        return decide_files(facts, needs, known.ownership, self._horizons)


def _remove_table_files(
    table: Table, verdict: TableDecision, ledger: Ledger, fence: RemovalFence
) -> CollectedTable:
    if not verdict.removals and not verdict.staged:
        return _outcome(table, verdict)
    collected_at = datetime.now(UTC)
    try:
        if has_moved(table, verdict.latest):
            return _left_alone(table, "somebody is changing it")
        ledger.record_collected([_record(table, each, collected_at) for each in verdict.removals])
        # Again: a commit that brought an old file back would lose it.
        if has_moved(table, verdict.latest):
            return _left_alone(table, "somebody is changing it")
        files = [*(each.file for each in verdict.removals), *verdict.staged]
        removal = remove_files(table, files, fence)
    except (StoreUnreadable, StoreUnwritable) as error:
        place = table.objects.place("")
        return CollectedTable(table.name, place, kept=verdict.kept, failed=str(error))
    gone = set(removal.gone)
    went = replace(
        verdict,
        removals=tuple(each for each in verdict.removals if each.file in gone),
        staged=tuple(each for each in verdict.staged if each in gone),
    )
    found = _outcome(table, went)
    if isinstance(removal.failure, ClaimLost):
        return replace(found, claim_lost=str(removal.failure))
    return replace(found, failed=None if removal.failure is None else str(removal.failure))


def _outcome(table: Table, verdict: TableDecision) -> CollectedTable:
    return CollectedTable(
        table.name,
        table.objects.place(""),
        verdict.removals,
        verdict.staged,
        verdict.kept,
        verdict.doubt,
    )


def _left_alone(table: Table, why: str) -> CollectedTable:
    return CollectedTable(table.name, table.objects.place(""), left_alone=why)


def _record(table: Table, removal: FileRemoval, collected_at: datetime) -> CollectedFile:
    name = removal.file.path.rpartition("/")[2]
    return CollectedFile(
        name.removesuffix(SUFFIX),
        table.objects.place(removal.file.path),
        table.name,
        removal.file.size,
        collected_at,
        removal.reason,
    )


CLAIM_DELAY: Final = timedelta(minutes=10)
"""How long a run may take from pinning what it reads until its claim shows that it lives."""

_PARTS: Final = 3


class CollectionRequest(NamedTuple):
    """What may go, as of when. Nothing is changed, in the ledger or on disk, in a dry run."""

    retention: Retention
    dry_run: bool
    now: datetime


@dataclass(frozen=True, slots=True)
class CollectionReport:
    """What one collector did, table by table. `refused` says why it did not look at any."""

    tables: tuple[CollectedTable, ...] = ()
    retained_runs: int = 0
    living_runs: tuple[str, ...] = ()
    dry_run: bool = False
    refused: str | None = None


def collect_files(
    state: Path, warehouses: Sequence[Warehouse], orders: CollectionRequest
) -> CollectionReport:
    """Remove what nothing needs from all tables that a ledger knows.

    Raises LedgerUnreadable, LedgerUnwritable, LedgerLocked, and StoreUnwritable when no anchor can
    be left; what goes wrong with one table is said in its place.
    """
    # Before the ledger is read: it may only be further on than its anchors.
    anchors = [load_anchors(each) for each in warehouses]
    numbers = {anchor.seq for each in anchors for anchor in each.of_ledger.values()}
    known = load_ledger_facts(state, orders.retention, orders.now, numbers)
    if known is None:
        return CollectionReport(dry_run=orders.dry_run)
    found: list[CollectedTable] = []
    refused = None
    try:
        known = known.with_shared(addresses_on_branches(warehouses, known.deleted_branches))
    except StoreUnreadable as error:
        refused = str(error)
    if any(map(has_journal, warehouses)):
        refused = "a promotion is not finished and needs its files: `rocky branch recover` first"
    if any(has_journal(each, ERASURE_FOLDER) for each in warehouses):
        refused = "an erasure is not finished: `rocky erase --resume` first"
    if refused is not None:
        found = []
    elif orders.dry_run:
        found = _preview_tables(known, warehouses, anchors, orders)
    else:
        with open_ledger(state) as ledger:
            found = _collect_tables(known, warehouses, anchors, orders, ledger)
    living = tuple(each.run_id for each in known.living)
    return CollectionReport(tuple(found), len(known.retained), living, orders.dry_run, refused)


def _preview_tables(
    known: LedgerFacts,
    warehouses: Sequence[Warehouse],
    anchors: Sequence[WarehouseAnchors],
    orders: CollectionRequest,
) -> list[CollectedTable]:
    found = []
    for warehouse, anchored in zip(warehouses, anchors, strict=True):
        collector = _collector(known, anchored, orders)
        found += [collector.look(table) for table in _tables_of(warehouse, known.targets)]
    return [each for each in found if each is not None]


def _collect_tables(
    known: LedgerFacts,
    warehouses: Sequence[Warehouse],
    anchors: Sequence[WarehouseAnchors],
    orders: CollectionRequest,
    ledger: Ledger,
) -> list[CollectedTable]:
    found = []
    for warehouse, anchored in zip(warehouses, anchors, strict=True):
        collector = _collector(known, anchored, orders)
        tables = _tables_of(warehouse, known.targets)
        before = ledger.head()
        found += [collector.collect(table, ledger) for table in tables]
        # What was recorded counts, also where a removal failed after that.
        if ledger.head() != before:
            _leave_anchor(warehouse, known, ledger)
    return [each for each in found if each is not None]


def _collector(
    known: LedgerFacts, anchors: WarehouseAnchors, orders: CollectionRequest
) -> Collector:
    doubt = find_doubt(anchors, known.ownership.ledger_id, known.heads)
    return Collector(known, _horizons(known, anchors, orders), doubt)


def _horizons(known: LedgerFacts, anchors: WarehouseAnchors, orders: CollectionRequest) -> Horizons:
    retention, now = orders.retention, orders.now
    young = min(days_before(now, retention.min_age_days), now - CLAIM_DELAY)
    foreign = min(days_before(now, retention.max_age_days), young)
    if anchors.others_since(known.ownership.ledger_id, foreign):
        # Runs that we have no records of may have read whatever was the newest then.
        young = foreign
    begun = min((claim.since for claim in known.living), default=None)
    return Horizons(
        _milliseconds(young),
        _milliseconds(foreign),
        None if begun is None else _milliseconds(begun - CLAIM_DELAY),
    )


def _milliseconds(moment: datetime) -> int:
    return int((moment - datetime.fromtimestamp(0, UTC)) / timedelta(milliseconds=1))


def _leave_anchor(warehouse: Warehouse, known: LedgerFacts, ledger: Ledger) -> None:
    """Note in the warehouse how far the ledger is now: an older copy must not hide what went."""
    head = ledger.head()
    # One that wrote here: another warehouse's run could not have left an anchor in this one.
    there = newest_run_by_warehouse(ledger).get(warehouse.objects.place(""))
    newest = there or max(known.ownership.runs, default="")
    anchor = Anchor(head.entry_hash, head.seq, newest, datetime.now(UTC))
    write_anchor(
        warehouse, ledger.ledger_id, anchor, lambda found: ledger.knows(Head(found.seq, found.head))
    )


class _Name(NamedTuple):
    catalog: str
    schema: str
    table: str


def _tables_of(warehouse: Warehouse, targets: Iterable[str]) -> list[Table]:
    """The places of tables, by full name; those of other warehouses have no files here."""
    found: list[Table] = []
    odd = set()
    for target in targets:
        parts = target.split(".")
        if len(parts) == _PARTS:
            with suppress(ChangeRefused):
                # A name that no folder can have is a table's that was never written.
                found.append(warehouse.table(_Name(*parts)))
        else:
            odd.add(target)
    if odd:
        # A part has a dot in it: only the folders tell where one part ends.
        found += [table for table in warehouse.tables() if table.name in odd]
    return found
