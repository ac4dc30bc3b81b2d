"""What a run is asked for, and what it works with. Values only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from rocky.ledger.record import RunId
from rocky.ledger.writer import Ledger
from rocky.run.applied import AppliedPlan
from rocky.run.build import Window
from rocky.run.building import Materialize
from rocky.run.circumstances import Circumstances
from rocky.run.engine import Engine, EngineFacts
from rocky.run.environment import Environment
from rocky.run.notes import NO_PIPELINE, PipelineNotes
from rocky.run.published import RemoteState
from rocky.run.request import PARALLEL
from rocky.run.sources import Sources
from rocky.run.step_results import Announcement
from rocky.run.throttle import Limits
from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What was asked of a run. `selection` is as it was typed, for the record.

    `rebuild` builds also what an earlier run has built; `reuse` False still goes on where an
    unfinished run stopped. `windows` are those of the time-interval models, by key.
    """

    parallel: int = PARALLEL
    full_refresh: bool = False
    rebuild: bool = False
    reuse: bool = True
    selection: tuple[str, ...] = ()
    windows: Mapping[str, Window] | None = None
    notes: PipelineNotes = NO_PIPELINE
    limits: Limits | None = None


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run works with: where tables and records are, who asked, and how to start Spark.

    `open_engine` is called at most once, after everything that can be refused without Spark was,
    and only if something is to be built. `environment` is what Spark will be, if that is known
    before it starts; `observe` says what it is. `remote` is the
    ledger as it is kept elsewhere, if it is. `begun` is told the id of the run. `applied` is the
    kept plan that the run must hold to, if there is one.
    """

    warehouse: Warehouse
    ledger: Ledger
    circumstances: Circumstances
    open_engine: Callable[[], Engine]
    sources: Sources
    observe: Callable[[EngineFacts], Environment]
    environment: Environment | None = None
    build_table: Materialize | None = None
    announce: tuple[Announcement, ...] = ()
    remote: RemoteState | None = None
    clock: Callable[[], datetime] = now
    begun: Callable[[RunId], None] | None = None
    applied: AppliedPlan | None = None
