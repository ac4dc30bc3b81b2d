"""Lost state: tables and anchors that know of runs which the ledger does not have.

A ledger that was put back to an older copy, or that was begun anew over old tables, is whole in
itself; only the warehouse can tell. Going on would load incremental tables again, from sources that
may no longer have all rows. So a run is refused until somebody decides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rocky.errors import LedgerUnreadable, StateLost, StoreUnreadable
from rocky.ledger.chain import Head
from rocky.ledger.readers.commits import CommitReader, open_lookup_reader
from rocky.ledger.readers.heads import HeadsReader, open_heads_reader
from rocky.ledger.writer import Ledger, newest_fence
from rocky.plan.steps import RunPlan
from rocky.project.configuration.strategies import replaces_all
from rocky.run.prepare.pins import warm_up
from rocky.run.prepare.resources import PIPELINE, RemoteState, RunResources
from rocky.store.anchor import Anchor, anchor_path, read_anchor
from rocky.store.delta.signature import FENCE
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table, Warehouse

_LOOKED_AT: Final = 16
"""Commits that are looked at for one of a run: other tools may have written since."""
_LOST: Final = "it was lost, or is another project's"
WAYS_ON: Final = (
    "put the newest copy of the state back, or decide how to go on: `rocky state restore"
    " --from-tables -m WHY` takes watermarks, time intervals and loaded files from the tables and"
    " loads nothing again; `rocky run --start-anew` builds what it selects anew, from what the"
    " sources have today"
)


@dataclass(frozen=True, slots=True)
class RunCommit:
    """The newest commit of a table that a run has made, and what it says of itself."""

    table: Table
    snapshot: Snapshot
    version: int
    info: Mapping[str, Any]

    @property
    def run_id(self) -> str:
        return str(self.info["runId"])

    @property
    def model(self) -> str:
        return str(self.info.get("model"))

    @property
    def ledger_id(self) -> str | None:
        """The ledger that it vouches for; None for a run that could not reach its own."""
        said = self.info.get("ledgerId")
        return said if isinstance(said, str) else None


class StateView:
    """A ledger that is only looked at: as much of one as tells whether it was lost."""

    def __init__(self, path: Path, reader: HeadsReader) -> None:
        self.path = path
        self._reader = reader

    @property
    def ledger_id(self) -> str:
        found = self._reader.ledger_id
        if found is None:
            raise LedgerUnreadable(f"the state file `{self.path}` has lost its `ledger_id`")
        return found

    @property
    def newest_fence(self) -> int:
        return self._reader.newest_fence()

    def knows(self, head: Head) -> bool:
        """Whether its chain has this head."""
        return self._reader.has(head)

    def lookups(self) -> CommitReader:
        found = open_lookup_reader(self.path)
        assert found is not None, "it was there a moment ago"
        return found


def refuse_lost_preview(plan: RunPlan, warehouse: Warehouse, state: Path) -> None:
    """Raise StateLost where a run of a plan would be refused so; nothing is written.

    The state is the one that is here: whether it is the newest, who fetches it has to know.
    """
    models = plan.project.models
    built = [each.key for each in plan.steps if each.kind == "build"]
    tables = [warehouse.table(models[key].target) for key in (*plan.pinned, *built)]
    reader = open_heads_reader(state)
    if reader is None:
        refuse_begun_preview(tables)
        return
    with reader, _as_preview():
        if reader.is_chained:
            _refuse_unknown(warehouse, StateView(state, reader), None, tables, anchor=True)


def refuse_begun_preview(tables: Iterable[Table]) -> None:
    """The same where there is no ledger at all."""
    with _as_preview():
        refuse_new_ledger(tables)


@contextmanager
def _as_preview() -> Iterator[None]:
    try:
        yield
    except StateLost as lost:
        raise StateLost(f"a run would be refused: {lost}") from lost


def refuse_lost(resources: RunResources, tables: Sequence[Table], *, anchor: bool = True) -> None:
    """Raise StateLost if the warehouse knows of runs that the ledger has not: nothing is recorded.

    Asked are the ledger's own anchor, unless `anchor` is False, and some tables. While the remote
    state cannot be reached nobody can tell, and the settings have said how to go on.
    """
    remote, ledger = resources.remote, resources.ledger
    if remote is not None and remote.is_unvouched:
        return
    _refuse_unknown(resources.warehouse, ledger, remote, tables, anchor=anchor)


def _refuse_unknown(
    warehouse: Warehouse,
    ledger: Ledger | StateView,
    remote: RemoteState | None,
    tables: Sequence[Table],
    *,
    anchor: bool,
) -> None:
    if anchor:
        _refuse_anchor(warehouse, ledger, remote)
    unknown = find_unknown(newest_commits(tables), ledger, remote)
    first = next(unknown, None)
    if first is None:
        return
    others = sum(1 for _ in unknown)
    what = _LOST
    if first.ledger_id == ledger.ledger_id:
        unsent = ", or that run was not sent yet" if remote is not None and remote.is_remote else ""
        what = f"`{ledger.path.name}` was replaced by an older copy, or changed{unsent}"
    raise StateLost(_describe(first, others, what))


def refuse_lost_plan(plan: RunPlan, resources: RunResources, *, start_anew: bool) -> None:
    """The same for the models that a plan reads and builds; with `start_anew` those it only reads.

    A seed is made of its file alone: whoever wrote its table, it is that or is loaded.
    """
    built = [] if start_anew else [each.key for each in plan.steps if each.kind == "build"]
    targets = [plan.project.models[key].target for key in (*plan.pinned, *built)]
    refuse_lost(resources, list(map(resources.warehouse.table, targets)), anchor=not start_anew)


def find_lost_tables(plan: RunPlan, lookups: CommitReader, warehouse: Warehouse) -> list[str]:
    """What to warn of: tables that keep rows, were committed by recorded runs, and are not there.

    The store is asked what is there, not which tables cannot be read.
    """
    models = [plan.project.models[each.key] for each in plan.steps if each.kind == "build"]
    kept = [each for each in models if not replaces_all(each.strategy)]
    tables = [warehouse.table(each.target) for each in kept]
    warm_up(tables)
    found = []
    for model, table in zip(kept, tables, strict=True):
        with suppress(StoreUnreadable):
            # Whoever needs a table that cannot be read is told.
            recorded = (
                None
                if table.snapshot() is not None
                else lookups.newest_commit(model.name, table.name)
            )
            if recorded is not None:
                found.append(
                    f"`{table.name}` is gone: the state has its version"
                    f" {recorded.commit.version}, by run `{recorded.run_id}`, and there is no such"
                    " table; it is loaded anew from what its sources have today, and rows that"
                    " they no longer have are lost unless the table is put back"
                )
    return found


def refuse_new_ledger(tables: Iterable[Table]) -> None:
    """Raise StateLost if runs have written some tables and there is no ledger at all."""
    found = list(newest_commits(list(tables)))
    if found:
        raise StateLost(_describe(found[0], len(found) - 1, _LOST))


def find_unknown(
    commits: Iterable[RunCommit], ledger: Ledger | StateView, remote: RemoteState | None
) -> Iterator[RunCommit]:
    """Those of some tables that a run has committed which the ledger ought to have, and has not.

    It ought to where the commit vouches for this ledger and is later than all that it knows, and
    where nothing is known of the table.
    """
    listed = list(commits)
    with ledger.lookups() as lookups:
        known = lookups.known_runs(each.run_id for each in listed)
    suspects = [each for each in listed if each.run_id not in known]
    newest = _newest_fence(ledger) if suspects else 0
    is_remote, sure = remote is not None and remote.is_remote, False
    for each in suspects:
        own = each.ledger_id == ledger.ledger_id
        if own and each.snapshot.transactions.get(FENCE, 0) <= newest:
            # Nothing shows that it is later: whether it is foreign is for its readers to ask.
            continue
        with ledger.lookups() as lookups:
            recorded = lookups.newest_commit(each.model, each.table.name)
            if recorded is not None and not own:
                continue
            if recorded is not None and lookups.has_commit(
                each.model, each.table.name, each.version, each.table.log.commit_hash(each.version)
            ):
                continue
        # Another machine may have begun a run since the state was fetched.
        if is_remote and not sure and remote is not None and remote.knows(each.run_id):
            continue
        sure = True
        yield each


def _newest_fence(ledger: Ledger | StateView) -> int:
    return ledger.newest_fence if isinstance(ledger, StateView) else newest_fence(ledger)


def newest_commits(tables: Sequence[Table]) -> Iterator[RunCommit]:
    """Of each table the newest commit of a run; tables that no run has written are left out."""
    for table, snapshot in zip(tables, warm_up(tables), strict=True):
        if snapshot is None:
            continue
        try:
            found = _newest_commit(table, snapshot)
        except StoreUnreadable:
            # Whoever needs the table is told.
            continue
        if found is not None:
            yield found


def tables_of_pipeline(warehouse: Warehouse, pipeline: str) -> Iterator[Table]:
    """The tables of a warehouse that say they are a pipeline's; which it has, its sources say."""
    tables = list(warehouse.tables())
    for each in newest_commits(tables):
        if each.info.get(PIPELINE) == pipeline:
            yield each.table


def is_known(head: Head, ledger: Ledger | StateView, remote: RemoteState | None) -> bool:
    """Whether the ledger has a head, here or where it is kept."""
    return ledger.knows(head) or (remote is not None and remote.is_remote and remote.knows(head))


def _newest_commit(table: Table, snapshot: Snapshot) -> RunCommit | None:
    newest = snapshot.version
    if isinstance(snapshot.info.get("runId"), str):
        return RunCommit(table, snapshot, newest, snapshot.info)
    for version in range(newest, max(-1, newest - _LOOKED_AT), -1):
        if table.log.objects.info(table.log.commit_path(version)) is None:
            return None
        for action in table.log.read_commit(version):
            info = action.get("commitInfo")
            if isinstance(info, dict) and isinstance(info.get("runId"), str):
                return RunCommit(table, snapshot, version, info)
    return None


def _refuse_anchor(
    warehouse: Warehouse, ledger: Ledger | StateView, remote: RemoteState | None
) -> None:
    try:
        anchor = read_anchor(warehouse, ledger.ledger_id)
    except StoreUnreadable:
        # Said when the run leaves its own.
        return
    if anchor is None or is_known(Head(anchor.seq, anchor.head), ledger, remote):
        return
    raise StateLost(_describe_anchor(anchor, warehouse, ledger))


def _describe_anchor(anchor: Anchor, warehouse: Warehouse, ledger: Ledger | StateView) -> str:
    place = warehouse.objects.place(anchor_path(ledger.ledger_id))
    return (
        f"the warehouse has a later anchor than `{ledger.path.name}`: `{place}` is of run"
        f" `{anchor.run_id}`, entry {anchor.seq}, which the state does not have, so it was"
        f" replaced by an older copy, or changed. Nothing was read or written: {WAYS_ON}"
    )


def _describe(first: RunCommit, others: int, what: str) -> str:
    more = f", and {others} more table{'s' if others > 1 else ''} likewise" if others else ""
    return (
        f"`{first.table.name}` was written by run `{first.run_id}`, which the state does not"
        f" have{more}: {what}. Nothing was read or written: {WAYS_ON}"
    )
