"""A promotion as a run of production's ledger: begun, claimed, finished, whatever happens."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime

from rocky.errors import RockyError, StoreUnreadable, StoreUnwritable
from rocky.ledger.model_records import RunFindings
from rocky.ledger.record import RunId
from rocky.ledger.records import RunRecord, RunStatus, TotalsRecord
from rocky.run.anchoring import leave_anchor
from rocky.run.beginning import begin_run, is_unvouched
from rocky.run.opened import OpenedRun
from rocky.run.vouching import known_head
from rocky.version import __version__

Watch = Callable[[str], None]
"""Told of every step before it is taken, so that tests can stop at each."""


def nobody(_step: str) -> None:
    return None


@dataclass(slots=True)
class Work:
    """A promotion that has begun. `moved` counts the tables that were, for the run's totals."""

    opened: OpenedRun
    run_id: RunId
    now: datetime
    watch: Watch = nobody
    moved: int = 0


@contextmanager
def work_on(
    opened: OpenedRun,
    targets: Sequence[str],
    what: str,
    now: datetime,
    watch: Watch = nobody,
    *,
    finishing: bool = False,
) -> Iterator[Work]:
    """Inside, the tables are claimed and a run is recorded, which ends as the block does.

    Raises LedgerLocked when a run writes one of the tables, PromotionUnfinished while an earlier
    promotion is not, unless it is `finishing` that, and what a remote state raises.
    """
    around = opened.surroundings
    with ExitStack() as held:
        run_id = begin_run(around, _opening(opened, what, now), targets, held, finishing=finishing)
        if around.begun is not None:
            around.begun(run_id)
        work = Work(opened, run_id, now, watch)
        try:
            yield work
        except BaseException as error:
            said = str(error) if isinstance(error, RockyError) else type(error).__name__
            around.ledger.finish_run(
                run_id, RunStatus.FAILURE, around.clock(), reason=said or type(error).__name__
            )
            raise
        anchored = _anchor(work)
        found = RunFindings(TotalsRecord(models=work.moved))
        around.ledger.finish_run(
            run_id, RunStatus.SUCCESS, around.clock(), found=found, anchored=anchored
        )
        _anchor(work)


def _opening(opened: OpenedRun, what: str, now: datetime) -> RunRecord:
    who, project = opened.surroundings.circumstances, opened.project
    return RunRecord(
        now,
        who.trigger,
        project.config_hash.hex(),
        who.hostname,
        __version__,
        triggering_identity=who.triggering_identity,
        session_source=who.session_source,
        git_commit=who.git_commit,
        git_branch=who.git_branch,
        git_dirty=who.git_dirty,
        warehouse=opened.surroundings.warehouse.objects.place(""),
        selection=(what,),
        unvouched=is_unvouched(opened.surroundings) or None,
    )


def _anchor(work: Work) -> bool:
    """Whether the ledger's head was left with the tables; a warning where it could not be."""
    around = work.opened.surroundings
    if is_unvouched(around):
        return False
    try:
        return leave_anchor(
            around.warehouse,
            around.ledger,
            known_head(around),
            work.run_id,
            around.clock(),
            around.remote,
        )
    except (StoreUnreadable, StoreUnwritable) as error:
        work.opened.means.warn(
            f"the state of the ledger could not be left with the tables: {error}"
        )
        return False
