"""Collecting: table by table, files that nothing needs are recorded as removed, then removed.

A file is recorded first. A collector killed in between leaves a file that is said to be gone, which
the next one removes; the other way round a file would be missing that no record explains.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from rocky.collect.decisions import Horizons, Kept, Removal, TableFacts, Verdict, decide
from rocky.collect.ledger_facts import LedgerFacts, load_ledger_facts
from rocky.collect.retention import Retention, days_before
from rocky.errors import ChangeRefused, LedgerLocked, StoreUnreadable, StoreUnwritable
from rocky.ledger import Ledger, open_ledger
from rocky.ledger.provenance import CollectedFile
from rocky.store.files import SUFFIX
from rocky.store.lifetimes import read_lifetimes
from rocky.store.objects import ObjectInfo
from rocky.store.sweep import list_files, remove_files
from rocky.store.warehouse import Table, Warehouse

SETTLING: Final = timedelta(minutes=10)
"""How long a run may take from pinning what it reads until its claim shows that it lives."""

_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class Collected:
    """What became of one table. `removals` and `staged` are gone, or would be in a dry run.

    With a `left_alone` nothing was removed, and it says why. `failed` says what went wrong midway.
    """

    target: str
    warehouse: str
    removals: tuple[Removal, ...] = ()
    staged: tuple[ObjectInfo, ...] = ()
    kept: tuple[Kept, ...] = ()
    left_alone: str | None = None
    failed: str | None = None


@dataclass(frozen=True, slots=True)
class Collection:
    """What one collector did, table by table. `refused` says why it did not look at any."""

    tables: tuple[Collected, ...]
    retained_runs: int
    living_runs: tuple[str, ...]
    dry_run: bool
    refused: str | None = None


class Orders(NamedTuple):
    """What may go, as of when. Nothing is changed, in the ledger or on disk, in a dry run."""

    retention: Retention
    dry_run: bool
    now: datetime


def collect_files(
    state: Path,
    warehouses: Iterable[Warehouse],
    orders: Orders,
) -> Collection:
    """Remove what nothing needs from all tables that a ledger knows.

    Raises LedgerUnreadable, LedgerUnwritable, LedgerLocked; what goes wrong with one table is said
    in its place.
    """
    known = load_ledger_facts(state, orders.retention, orders.now)
    if known is None:
        return Collection((), 0, (), orders.dry_run)
    living = tuple(each.run_id for each in known.living)
    if known.branches:
        refused = f"what the branch `{known.branches[0]}` needs is not known to this Rocky"
        return Collection((), len(known.retained), living, orders.dry_run, refused)
    collector = Collector(known, orders)
    tables = [table for each in warehouses for table in _tables_of(each, known.targets)]
    found: list[Collected | None]
    if orders.dry_run:
        found = [collector.look(table) for table in tables]
    else:
        with open_ledger(state) as ledger:
            found = [collector.collect(table, ledger) for table in tables]
    there = tuple(each for each in found if each is not None)
    return Collection(there, len(known.retained), living, orders.dry_run)


class Collector:
    """Decides about tables by what one ledger said at one moment, and carries it out."""

    def __init__(self, known: LedgerFacts, orders: Orders) -> None:
        self._known = known
        self._orders = orders
        self._horizons = _horizons(known, orders)

    def look(self, table: Table) -> Collected | None:
        """What would go; None when there is no such table. Nothing is claimed or changed."""
        for claim in self._known.living:
            if table.name.lower() in (each.lower() for each in claim.targets):
                return self._left_alone(table, f"run `{claim.run_id}` is writing it")
        verdict = self._judge(table)
        return None if verdict is None else self._outcome(table, verdict)

    def collect(self, table: Table, ledger: Ledger) -> Collected | None:
        """What went. The table is claimed meanwhile: no run of this ledger writes it."""
        try:
            with ledger.claim([table.name]):
                verdict = self._judge(table)
                return None if verdict is None else self._carry_out(table, verdict, ledger)
        except LedgerLocked as locked:
            return self._left_alone(table, str(locked).partition(" (process")[0])

    def _judge(self, table: Table) -> Verdict | None:
        try:
            lifetimes = read_lifetimes(table.log)
            data, staged = list_files(table)
        except StoreUnreadable as error:
            return Verdict(table.name, doubt=str(error))
        if lifetimes.latest is None and not data and not staged:
            return None
        known = self._known
        needs = known.needs.of(table.name, table.objects.place(""))
        facts = TableFacts(table.name, lifetimes, data, staged)
        return decide(facts, needs, known.ownership, self._horizons)

    def _carry_out(self, table: Table, verdict: Verdict, ledger: Ledger) -> Collected:
        if not verdict.removals and not verdict.staged:
            return self._outcome(table, verdict)
        collected_at = datetime.now(UTC)
        try:
            if _has_moved(table, verdict.latest):
                return self._left_alone(table, "somebody is changing it")
            ledger.record_collected(
                [_record(table, each, collected_at) for each in verdict.removals]
            )
            # Again: a commit that brought an old file back would lose it.
            if _has_moved(table, verdict.latest):
                return self._left_alone(table, "somebody is changing it")
            files = [*(each.file for each in verdict.removals), *verdict.staged]
            gone = set(remove_files(table, files))
        except (StoreUnreadable, StoreUnwritable) as error:
            place = table.objects.place("")
            return Collected(table.name, place, kept=verdict.kept, failed=str(error))
        went = replace(
            verdict,
            removals=tuple(each for each in verdict.removals if each.file in gone),
            staged=tuple(each for each in verdict.staged if each in gone),
        )
        return self._outcome(table, went)

    def _outcome(self, table: Table, verdict: Verdict) -> Collected:
        return Collected(
            table.name,
            table.objects.place(""),
            verdict.removals,
            verdict.staged,
            verdict.kept,
            verdict.doubt,
        )

    def _left_alone(self, table: Table, why: str) -> Collected:
        return Collected(table.name, table.objects.place(""), left_alone=why)


def _has_moved(table: Table, latest: int | None) -> bool:
    """Whether there is a version after the one that was decided by."""
    following = 0 if latest is None else latest + 1
    return table.objects.info(table.log.commit_path(following)) is not None


def _horizons(known: LedgerFacts, orders: Orders) -> Horizons:
    retention, now = orders.retention, orders.now
    young = min(days_before(now, retention.min_age_days), now - SETTLING)
    foreign = min(days_before(now, retention.max_age_days), young)
    begun = min((claim.since for claim in known.living), default=None)
    return Horizons(
        _milliseconds(young),
        _milliseconds(foreign),
        None if begun is None else _milliseconds(begun - SETTLING),
    )


def _milliseconds(moment: datetime) -> int:
    return int((moment - datetime.fromtimestamp(0, UTC)) / timedelta(milliseconds=1))


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


def _record(table: Table, removal: Removal, collected_at: datetime) -> CollectedFile:
    name = removal.file.path.rpartition("/")[2]
    return CollectedFile(
        name.removesuffix(SUFFIX),
        table.objects.place(removal.file.path),
        table.name,
        removal.file.size,
        collected_at,
        removal.reason,
    )
