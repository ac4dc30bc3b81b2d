"""How a run begins: its record opened, its tables claimed, here and wherever the ledger is kept."""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime

from rocky.errors import PromotionUnfinished, RockyError
from rocky.ledger.record import RunId
from rocky.ledger.records import RunRecord, RunStatus
from rocky.plan.steps import RunPlan
from rocky.run.published import published_meanwhile
from rocky.run.surroundings import RunOptions, Surroundings
from rocky.store.journals import has_journal
from rocky.version import __version__


def begin_run(
    surroundings: Surroundings,
    record: RunRecord,
    targets: Sequence[str],
    held: ExitStack,
    *,
    finishing: bool = False,
) -> RunId:
    """Record that a run begins, here and wherever else the ledger is kept.

    Raises PromotionUnfinished while tables are half moved, unless it is `finishing` that.
    """
    if not finishing and has_journal(surroundings.warehouse):
        raise PromotionUnfinished(
            "a promotion was interrupted and is not finished, so some tables may be moved and"
            " others not; `rocky branch recover` finishes or undoes it"
        )
    remote, ledger = surroundings.remote, surroundings.ledger
    if remote is None or not remote.is_remote:
        return ledger.begin_run(record, targets)
    claim = held.enter_context(remote.claim(targets))
    run_id = ledger.begin_run(record, targets)
    try:
        claim.name(run_id)
        # Whoever comes after this process has died must know that it was there.
        remote.publish(run_id)
    except RockyError as error:
        now = datetime.now(UTC)
        ledger.finish_run(run_id, RunStatus.FAILURE, now, reason=str(error))
        raise
    held.enter_context(published_meanwhile(remote, ledger, run_id))
    return run_id


def opening_record(
    plan: RunPlan, surroundings: Surroundings, options: RunOptions, started_at: datetime
) -> RunRecord:
    """What is recorded of a run before it does anything."""
    circumstances = surroundings.circumstances
    catalogs = {
        plan.project.models[step.key].target.catalog
        for step in plan.selected
        if step.kind != "seed"
    }
    return RunRecord(
        started_at=started_at,
        trigger=circumstances.trigger,
        config_hash=plan.project.config_hash.hex(),
        hostname=circumstances.hostname,
        rocky_version=__version__,
        triggering_identity=circumstances.triggering_identity,
        session_source=circumstances.session_source,
        git_commit=circumstances.git_commit,
        git_branch=circumstances.git_branch,
        git_dirty=circumstances.git_dirty,
        target_catalog=catalogs.pop() if len(catalogs) == 1 else None,
        warehouse=surroundings.warehouse.objects.place(""),
        pipeline=options.notes.pipeline,
        selection=options.selection,
        full_refresh=options.full_refresh,
        resumed_from=options.notes.resumed_from,
        idempotency_key=options.notes.idempotency_key,
        filter=options.notes.filter,
        unchanged=len(options.notes.unchanged) or None,
        failed_sources=dict(options.notes.failed),
        unvouched=is_unvouched(surroundings) or None,
        plan_id=surroundings.applied.plan_id if surroundings.applied is not None else None,
    )


def is_unvouched(surroundings: Surroundings) -> bool:
    """Whether the ledger that is kept elsewhere could not be read."""
    return surroundings.remote is not None and surroundings.remote.is_unvouched
