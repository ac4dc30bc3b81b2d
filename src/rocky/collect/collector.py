"""The collector: one table at a time, files that nothing needs are recorded, then removed.

A file is recorded first. A collector killed in between leaves a file that is said to be gone, which
the next one removes; the other way round a file would be missing that no record explains.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from rocky.collect.decisions import Horizons, Kept, Removal, TableFacts, Verdict, decide
from rocky.collect.ledger_facts import LedgerFacts
from rocky.errors import LedgerLocked, StoreUnreadable, StoreUnwritable
from rocky.ledger import Ledger
from rocky.ledger.provenance import CollectedFile
from rocky.store.files import SUFFIX
from rocky.store.lifetimes import read_lifetimes
from rocky.store.objects import ObjectInfo
from rocky.store.sweep import list_files, remove_files
from rocky.store.warehouse import Table


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


class Collector:
    """Decides about tables of a warehouse by what one ledger said at one moment.

    With a `doubt` about the warehouse nothing in it is removed.
    """

    def __init__(self, known: LedgerFacts, horizons: Horizons, doubt: str | None = None) -> None:
        self._known = known
        self._horizons = horizons
        self._doubt = doubt

    def look(self, table: Table) -> Collected | None:
        """What would go; None when there is no such table. Nothing is claimed or changed."""
        for claim in self._known.living:
            if table.name.lower() in (each.lower() for each in claim.targets):
                return _left_alone(table, f"run `{claim.run_id}` is writing it")
        verdict = self._judge(table)
        return None if verdict is None else _outcome(table, verdict)

    def collect(self, table: Table, ledger: Ledger) -> Collected | None:
        """What went. The table is claimed meanwhile: no run of this ledger writes it."""
        try:
            with ledger.claim([table.name]):
                verdict = self._judge(table)
                return None if verdict is None else _carry_out(table, verdict, ledger)
        except LedgerLocked as locked:
            return _left_alone(table, str(locked).partition(" (process")[0])

    def _judge(self, table: Table) -> Verdict | None:
        try:
            lifetimes = read_lifetimes(table.log)
            data, staged = list_files(table)
        except StoreUnreadable as error:
            return Verdict(table.name, doubt=str(error))
        if lifetimes.latest is None and not data and not staged:
            return None
        if self._doubt is not None:
            return Verdict(table.name, doubt=self._doubt)
        known = self._known
        needs = known.needs.of(table.name, table.objects.place(""))
        facts = TableFacts(table.name, lifetimes, data, staged)
        return decide(facts, needs, known.ownership, self._horizons)


def _carry_out(table: Table, verdict: Verdict, ledger: Ledger) -> Collected:
    if not verdict.removals and not verdict.staged:
        return _outcome(table, verdict)
    collected_at = datetime.now(UTC)
    try:
        if _has_moved(table, verdict.latest):
            return _left_alone(table, "somebody is changing it")
        ledger.record_collected([_record(table, each, collected_at) for each in verdict.removals])
        # Again: a commit that brought an old file back would lose it.
        if _has_moved(table, verdict.latest):
            return _left_alone(table, "somebody is changing it")
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
    return _outcome(table, went)


def _outcome(table: Table, verdict: Verdict) -> Collected:
    return Collected(
        table.name,
        table.objects.place(""),
        verdict.removals,
        verdict.staged,
        verdict.kept,
        verdict.doubt,
    )


def _left_alone(table: Table, why: str) -> Collected:
    return Collected(table.name, table.objects.place(""), left_alone=why)


def _has_moved(table: Table, latest: int | None) -> bool:
    """Whether there is a version after the one that was decided by."""
    following = 0 if latest is None else latest + 1
    return table.objects.info(table.log.commit_path(following)) is not None


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
