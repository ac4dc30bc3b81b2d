"""Collecting: every table that a ledger knows, in the warehouses of a project.

All moments are as of when collecting began, however long it takes: whatever was the newest version
of a table at that moment or later stays, so runs that begin meanwhile lose nothing they read.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from rocky.collect.anchors import Anchors, doubt_about, load_anchors
from rocky.collect.branches import addresses_on_branches
from rocky.collect.collector import Collected, Collector
from rocky.collect.decisions import Horizons
from rocky.collect.leaving import newest_runs
from rocky.collect.ledger_facts import LedgerFacts, load_ledger_facts
from rocky.collect.retention import Retention, days_before
from rocky.errors import ChangeRefused, StoreUnreadable
from rocky.ledger import Ledger, open_ledger
from rocky.ledger.chain import Head
from rocky.store.anchors import Anchor, write_anchor
from rocky.store.journals import has_journal
from rocky.store.warehouse import Table, Warehouse

SETTLING: Final = timedelta(minutes=10)
"""How long a run may take from pinning what it reads until its claim shows that it lives."""

_PARTS: Final = 3


class Orders(NamedTuple):
    """What may go, as of when. Nothing is changed, in the ledger or on disk, in a dry run."""

    retention: Retention
    dry_run: bool
    now: datetime


@dataclass(frozen=True, slots=True)
class Collection:
    """What one collector did, table by table. `refused` says why it did not look at any."""

    tables: tuple[Collected, ...] = ()
    retained_runs: int = 0
    living_runs: tuple[str, ...] = ()
    dry_run: bool = False
    refused: str | None = None


def collect_files(state: Path, warehouses: Sequence[Warehouse], orders: Orders) -> Collection:
    """Remove what nothing needs from all tables that a ledger knows.

    Raises LedgerUnreadable, LedgerUnwritable, LedgerLocked, and StoreUnwritable when no anchor can
    be left; what goes wrong with one table is said in its place.
    """
    # Before the ledger is read: it may only be further on than its anchors.
    anchors = [load_anchors(each) for each in warehouses]
    numbers = {anchor.seq for each in anchors for anchor in each.of_ledger.values()}
    known = load_ledger_facts(state, orders.retention, orders.now, numbers)
    if known is None:
        return Collection(dry_run=orders.dry_run)
    found: list[Collected] = []
    refused = None
    try:
        known = known.with_shared(addresses_on_branches(warehouses, known.deleted_branches))
    except StoreUnreadable as error:
        refused = str(error)
    if any(map(has_journal, warehouses)):
        refused = "a promotion is not finished and needs its files: `rocky branch recover` first"
    if refused is not None:
        found = []
    elif orders.dry_run:
        found = _look(known, warehouses, anchors, orders)
    else:
        with open_ledger(state) as ledger:
            found = _collect(known, warehouses, anchors, orders, ledger)
    living = tuple(each.run_id for each in known.living)
    return Collection(tuple(found), len(known.retained), living, orders.dry_run, refused)


def _look(
    known: LedgerFacts,
    warehouses: Sequence[Warehouse],
    anchors: Sequence[Anchors],
    orders: Orders,
) -> list[Collected]:
    found = []
    for warehouse, anchored in zip(warehouses, anchors, strict=True):
        collector = _collector(known, anchored, orders)
        found += [collector.look(table) for table in _tables_of(warehouse, known.targets)]
    return [each for each in found if each is not None]


def _collect(
    known: LedgerFacts,
    warehouses: Sequence[Warehouse],
    anchors: Sequence[Anchors],
    orders: Orders,
    ledger: Ledger,
) -> list[Collected]:
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


def _collector(known: LedgerFacts, anchors: Anchors, orders: Orders) -> Collector:
    doubt = doubt_about(anchors, known.ownership.ledger_id, known.heads)
    return Collector(known, _horizons(known, anchors, orders), doubt)


def _horizons(known: LedgerFacts, anchors: Anchors, orders: Orders) -> Horizons:
    retention, now = orders.retention, orders.now
    young = min(days_before(now, retention.min_age_days), now - SETTLING)
    foreign = min(days_before(now, retention.max_age_days), young)
    if anchors.others_since(known.ownership.ledger_id, foreign):
        # Runs that we have no records of may have read whatever was the newest then.
        young = foreign
    begun = min((claim.since for claim in known.living), default=None)
    return Horizons(
        _milliseconds(young),
        _milliseconds(foreign),
        None if begun is None else _milliseconds(begun - SETTLING),
    )


def _milliseconds(moment: datetime) -> int:
    return int((moment - datetime.fromtimestamp(0, UTC)) / timedelta(milliseconds=1))


def _leave_anchor(warehouse: Warehouse, known: LedgerFacts, ledger: Ledger) -> None:
    """Note in the warehouse how far the ledger is now: an older copy must not hide what went."""
    head = ledger.head()
    # One that wrote here: another warehouse's run could not have left an anchor in this one.
    there = newest_runs(ledger).get(warehouse.objects.place(""))
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
