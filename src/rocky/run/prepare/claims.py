"""Claims: a run begins with its record and its tables claimed; and what it says of the ledger.

Commits carry the ledger's head, and an anchor leaves it with the tables, so that a ledger that is
put back is found. Of a remote ledger, what the remote copy has is written: if this
process dies, that is all that anybody will find.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from rocky.errors import (
    ErasureUnfinished,
    PromotionUnfinished,
    RockyError,
    StoreUnreadable,
    StoreUnwritable,
    advise_on_write,
)
from rocky.ledger.chain import Head
from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunRecord, RunStatus, TotalsRecord
from rocky.ledger.writer import Ledger, RunFindings
from rocky.ledger.writer import newest_fence as _newest_fence
from rocky.plan.steps import RunPlan, Step
from rocky.plan.watermarks import NO_WATERMARK_FINDINGS, WatermarkFindings, check_watermarks
from rocky.project.models import Target
from rocky.project.writable_folder import write_problem
from rocky.run.materialize.seeds import refuse_shared_target, seed_target
from rocky.run.prepare.lost_state import find_lost_tables, is_known, refuse_lost
from rocky.run.prepare.pins import pipeline_inputs, target_of_table, warm_up
from rocky.run.prepare.resources import (
    RemoteState,
    RunClock,
    RunParameters,
    RunResources,
    publish_periodically,
)
from rocky.store.anchor import Anchor, renew_anchor, write_anchor
from rocky.store.delta.signature import FENCE, CommitAuthority, SigningKey
from rocky.store.journal import ERASURE_FOLDER, has_journal
from rocky.store.warehouse import Table, Warehouse


class BegunRun(NamedTuple):
    """A run that is recorded and holds its tables; `authority` is what it commits with.

    `check_unbroken` raises ClaimLost when its claim has lapsed at any time since: what moves
    several tables as one cannot go on then, whoever holds them now.
    """

    run_id: RunId
    authority: CommitAuthority
    check_unbroken: Callable[[], None] = lambda: None


def begin_run(
    resources: RunResources,
    record: RunRecord,
    tables: Sequence[Table],
    held: ExitStack,
    *,
    finishing: bool = False,
    newest_fence: int | None = None,
) -> BegunRun:
    """Record that a run begins, here and in the remote state, and claim the tables it will write.

    `newest_fence` is the highest token among the tables' commits, where somebody knows it already.
    Raises PromotionUnfinished while tables are half moved, and ErasureUnfinished while files of
    erased rows may be left, unless it is `finishing` that.
    """
    if not finishing and has_journal(resources.warehouse):
        raise PromotionUnfinished(
            "a promotion was interrupted and is not finished, so some tables may be moved and"
            " others not; `rocky branch recover` finishes or undoes it"
        )
    if not finishing:
        refuse_unfinished_erasure(resources.warehouse)
    remote, ledger = resources.remote, resources.ledger
    targets = [each.name for each in tables]
    in_tables = _fence_of(tables) if newest_fence is None else newest_fence
    newest = max(_newest_fence(ledger), in_tables)
    if remote is None or not remote.is_remote:
        # A ledger that was made anew counts from the start, its tables do not.
        next_fence = newest + 1
        run_id = ledger.begin_run(replace(record, fence=next_fence), targets)
        check = partial(ledger.check_claim, run_id)
        authority = CommitAuthority(_RunSigner(resources, run_id), next_fence, check)
        return BegunRun(run_id, authority, check)
    claim = held.enter_context(remote.claim(targets, newest))
    run_id = ledger.begin_run(replace(record, fence=claim.fence), targets)
    try:
        claim.name(run_id)
        # Whoever comes after this process has died must know that it was there.
        remote.publish(run_id)
    except RockyError as error:
        now = datetime.now(UTC)
        ledger.finish_run(run_id, RunStatus.FAILURE, now, reason=str(error))
        raise
    held.enter_context(publish_periodically(remote, ledger, run_id))
    authority = CommitAuthority(_RunSigner(resources, run_id), claim.fence, claim.check)
    return BegunRun(run_id, authority, claim.check_unbroken)


def refuse_unfinished_erasure(warehouse: Warehouse) -> None:
    """Raise ErasureUnfinished while somebody's rows are out of some tables and not of others."""
    if has_journal(warehouse, ERASURE_FOLDER):
        raise ErasureUnfinished(
            "an erasure was interrupted and is not finished, so rows and files may be left that are"
            " to go; `rocky erase --resume` finishes it"
        )


def _fence_of(tables: Sequence[Table]) -> int:
    """The highest fencing token among the commits of some tables.

    Of one that cannot be read nothing is known: whoever writes it is told, and only that fails.
    """
    found = (each for each in warm_up(tables) if each is not None)
    return max((each.transactions.get(FENCE, 0) for each in found), default=0)


class _RunSigner:
    """Signs the commits of a run. Threads may share it.

    The public key is recorded, and sent to a remote state, before the first signature: whoever
    comes after this process has died can tell its commits from others in its name.
    """

    def __init__(self, resources: RunResources, run_id: RunId) -> None:
        self._resources = resources
        self._run_id = run_id
        self._key = SigningKey()
        self._lock = Lock()
        self._is_recorded = False
        self._is_known = resources.remote is None or not resources.remote.is_remote

    def __call__(self, statement: bytes) -> str:
        with self._lock:
            if not self._is_recorded:
                self._resources.ledger.amend_run(self._run_id, commit_key=self._key.public)
                self._is_recorded = True
            remote = self._resources.remote
            # A publication that failed is tried again; the record is written once.
            if not self._is_known and remote is not None:
                remote.publish(self._run_id)
                self._is_known = True
        return self._key.sign(statement)


@contextmanager
def open_recorded_run(
    resources: RunResources,
    record: RunRecord,
    tables: Sequence[Table],
    warn: Callable[[str], None],
    *,
    finishing: bool = False,
    settling: bool = False,
    anew: bool = False,
) -> Iterator[tuple[BegunRun, Callable[[int], None]]]:
    """Inside, tables are claimed and a run that builds nothing is recorded; it ends as the block.

    Yields the run, and a function to say how many tables it has moved. Raises as `begin_run` does,
    and StateLost, unless it is `settling` what becomes of tables that the ledger does not know;
    `anew` if with that the anchor is to be the ledger's own again.
    """
    if not settling:
        refuse_lost(resources, tables)
    ledger, moved = resources.ledger, [0]
    told = replace(record, unvouched=is_remote_unreadable(resources) or None)
    with ExitStack() as held:
        begun = begin_run(resources, told, tables, held, finishing=finishing)
        run_id = begun.run_id
        if resources.on_begin is not None:
            resources.on_begin(run_id)
        try:
            yield begun, moved.append
        except BaseException as error:
            said = str(error) if isinstance(error, RockyError) else ""
            why = said or type(error).__name__
            ledger.finish_run(run_id, RunStatus.FAILURE, resources.clock(), reason=why)
            raise
        anchored = leave_anchor(resources, run_id, warn, anew=anew)
        ledger.finish_run(
            run_id,
            RunStatus.SUCCESS,
            resources.clock(),
            reason=record.reason,
            found=RunFindings(TotalsRecord(models=moved[-1])),
            anchored=anchored,
        )
        leave_anchor(resources, run_id, warn)


def leave_anchor(
    resources: RunResources, run_id: RunId, warn: Callable[[str], None], *, anew: bool = False
) -> bool:
    """Whether the ledger's head was left with the tables; a warning where it could not be."""
    if is_remote_unreadable(resources):
        return False
    head, now = visible_head(resources), resources.clock()
    try:
        return write_ledger_anchor(
            resources.warehouse,
            resources.ledger,
            head,
            run_id,
            now,
            resources.remote,
            anew=anew,
        )
    except (StoreUnreadable, StoreUnwritable) as error:
        warn(f"could not write the ledger's anchor to the warehouse: {error}")
        return False


def targets_of(plan: RunPlan) -> list[Target]:
    """The tables a run will write. Raises RockyError for a shared one."""
    project = plan.project
    return [
        refuse_shared_target(project.seeds[step.key], project)
        if step.kind == "seed"
        else project.models[step.key].target
        for step in plan.steps
        if step.kind != "inline"
    ]


def tables_of(plan: RunPlan, warehouse: Warehouse) -> list[Table]:
    """The tables of the project's own that a plan writes or reads."""
    models, sources = plan.project.models, plan.project.sources
    read = [models[key].target for key in plan.pinned]
    read += [target_of_table(sources[key]) for key in pipeline_inputs(plan, warehouse)]
    return [warehouse.table(each) for each in (*targets_of(plan), *read)]


def opening_record(
    plan: RunPlan, resources: RunResources, options: RunParameters, started_at: datetime
) -> RunRecord:
    """What is recorded of a run before it does anything."""
    opened = resources.circumstances.open_record(
        started_at, plan.project.config_hash.hex(), resources.warehouse.objects.place("")
    )
    catalogs = {
        plan.project.models[step.key].target.catalog
        for step in plan.selected
        if step.kind != "seed"
    }
    return replace(
        opened,
        target_catalog=catalogs.pop() if len(catalogs) == 1 else None,
        pipeline=options.notes.pipeline,
        selection=options.selection,
        full_refresh=options.full_refresh,
        started_anew=options.start_anew or None,
        resumed_from=options.notes.resumed_from,
        idempotency_key=options.notes.idempotency_key,
        filter=options.notes.filter,
        unchanged=len(options.notes.unchanged) or None,
        failed_sources=dict(options.notes.failed),
        unvouched=is_remote_unreadable(resources) or None,
        plan_id=resources.applied.plan_id if resources.applied is not None else None,
    )


def is_remote_unreadable(resources: RunResources) -> bool:
    """Whether the remote ledger could not be read."""
    return resources.remote is not None and resources.remote.is_unvouched


def ledger_statement(resources: RunResources) -> dict[str, str]:
    """What commits carry of the ledger."""
    if is_remote_unreadable(resources):
        return {}
    ledger = resources.ledger
    return {"ledgerHead": visible_head(resources).entry_hash, "ledgerId": ledger.ledger_id}


def visible_head(resources: RunResources) -> Head:
    """The ledger's head as others can find it."""
    remote = resources.remote
    published = remote.published_head if remote is not None else None
    return published or resources.ledger.head()


def write_ledger_anchor(
    warehouse: Warehouse,
    ledger: Ledger,
    head: Head,
    run_id: RunId,
    now: datetime | None = None,
    remote: RemoteState | None = None,
    *,
    anew: bool = False,
) -> bool:
    """Whether the head was left: not so when the tables know a later one than the ledger.

    A remote ledger may have newer entries, and other machines leave anchors too. `anew` if somebody
    has decided that what the ledger does not know counts no more.
    Raises StoreUnreadable, StoreUnwritable.
    """
    anchor = Anchor(head.entry_hash, head.seq, run_id, now or datetime.now(UTC))
    if anew:
        renew_anchor(
            warehouse,
            ledger.ledger_id,
            anchor,
            lambda found: is_known(Head(found.seq, found.head), ledger, remote),
        )
    return write_anchor(
        warehouse,
        ledger.ledger_id,
        anchor,
        lambda found: is_known(Head(found.seq, found.head), ledger, remote),
    )


def require_writable(plan: RunPlan, steps: Sequence[Step], warehouse: Warehouse) -> None:
    """Try to write where tables are about to be built. Raises StoreUnwritable.

    Before Spark starts, which takes long to find out. An object store answered at the run's begin.
    """
    project, tried = plan.project, set[Path]()
    for step in steps:
        if step.kind == "inline":
            continue
        is_seed = step.kind == "seed"
        target = (
            seed_target(project.seeds[step.key], project.config)
            if is_seed
            else project.models[step.key].target
        )
        folder = warehouse.objects.local_path(warehouse.table(target).prefix)
        while folder is not None and not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if folder is None or folder in tried:
            continue
        tried.add(folder)
        problem = write_problem(folder)
        if problem is not None:
            why = (problem.strerror or str(problem)).lower()
            advice = advise_on_write(problem, "make it writable, or name another `warehouse`")
            raise StoreUnwritable(
                f"`{step.name}` cannot be built: `{problem.filename}` cannot be written: {why};"
                f" {advice}"
            )


def look_at_watermarks(
    plan: RunPlan, resources: RunResources, run_id: RunId, times: RunClock
) -> WatermarkFindings:
    """What is known of the tables' watermarks once the run has begun, and whoever waits is told."""
    try:
        if resources.on_begin is not None:
            resources.on_begin(run_id)
        if is_remote_unreadable(resources):
            # The remote state cannot be read: the tables say how far they are.
            return NO_WATERMARK_FINDINGS
        with resources.ledger.lookups() as lookups:
            found = check_watermarks(plan, lookups, resources.warehouse)
            lost = find_lost_tables(plan, lookups, resources.warehouse)
            return replace(found, forgotten=(*found.forgotten, *lost))
    except BaseException as error:
        said = str(error) or type(error).__name__
        resources.ledger.finish_run(run_id, RunStatus.FAILURE, times.now(), reason=said)
        raise
