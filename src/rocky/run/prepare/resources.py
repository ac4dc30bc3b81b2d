"""What a run works with: parameters that are asked, resources that are open, its own context.

`RemoteState` is what a run needs of remote state; `rocky.state` has the
answers. What is known there is all that anybody will find if this process dies.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event, Thread
from time import monotonic
from typing import Final, Protocol, Self
from uuid import uuid4

from rocky.analysis.disclosure import Disclosure
from rocky.errors import StateSyncFailed
from rocky.ledger.chain import Head
from rocky.ledger.claims import Claim
from rocky.ledger.record import RunId
from rocky.ledger.writer import Ledger
from rocky.plan.kept_plan import AppliedPlan
from rocky.plan.request import PARALLEL, Limits, Window
from rocky.plan.steps import RunPlan
from rocky.plan.watermarks import NO_WATERMARK, NO_WATERMARK_FINDINGS, WatermarkFindings
from rocky.project.configuration.blocks import Adapter
from rocky.run.checks.outcomes import CheckSelection, models_with_tests, sources_with_tests
from rocky.run.engine.protocol import Engine, EngineFacts
from rocky.run.engine.sources import Sources
from rocky.run.materialize.build import Materialize
from rocky.run.outcomes import NO_CONTRIBUTION, NO_NOTES, PipelineContribution, StepNotes
from rocky.run.prepare.caller import RunOrigin
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.known_inputs import MadeFrom
from rocky.run.run_log import RunLog, no_log
from rocky.spark.warmup import UNKNOWN_WORK, Work
from rocky.store.delta.signature import NO_AUTHORITY, CommitAuthority
from rocky.store.delta.snapshot import Snapshot
from rocky.store.iceberg import check_iceberg, publish_iceberg
from rocky.store.warehouse import Table, Warehouse

logger = logging.getLogger(__name__)

PIPELINE: Final = "pipeline"
"""What commitInfo calls the pipeline whose table it is."""
COPIED_FROM: Final = "copiedFrom"
"""What commitInfo calls the source that a table is a copy of."""
PUBLISH_INTERVAL_SECONDS: Final = 15.0
"""How often the records of a running run are sent to the remote state."""


class RemoteClaim(Protocol):
    """Tables that no other machine writes while this is held.

    `fence` is a token that no machine was given before; None where none could be asked for.
    """

    fence: int | None

    def name(self, run_id: str) -> None:
        """Say which run holds them, once that is known."""

    def check(self) -> None:
        """Raise ClaimLost when another machine has taken them over."""

    def check_unbroken(self) -> None:
        """Raise ClaimLost when the claim has lapsed at any time, whoever holds them now."""


class RemoteState(Protocol):
    """The remote copy of the ledger; a no-op where the state is local."""

    @property
    def is_remote(self) -> bool: ...

    @property
    def is_unvouched(self) -> bool:
        """Whether the remote copy could not be read, so that nobody knows what it holds."""

    @property
    def published_head(self) -> Head | None:
        """The last state of the ledger that others can find."""

    def knows(self, said: Head | str) -> bool:
        """Whether the ledger has this head, or this run, here or where it is kept."""

    def claim(
        self, targets: Sequence[str], newest: int | None = None
    ) -> AbstractContextManager[RemoteClaim]: ...

    def publish(self, run_id: str, *, required: bool = True) -> Head | None: ...

    def living_runs(self) -> tuple[Claim, ...]:
        """What runs on other machines have claimed, and those here that the remote copy knows."""


@contextmanager
def publish_periodically(remote: RemoteState, ledger: Ledger, run_id: RunId) -> Iterator[None]:
    """Inside, what is recorded is published from time to time: a run may take hours."""
    if not remote.is_remote:
        yield
        return
    over = Event()
    thread = Thread(
        target=_publish, args=(remote, ledger, run_id, over), name="rocky-publish", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _publish(remote: RemoteState, ledger: Ledger, run_id: RunId, over: Event) -> None:
    seen = ledger.head()
    while not over.wait(PUBLISH_INTERVAL_SECONDS):
        head = ledger.head()
        if head != seen:
            try:
                remote.publish(run_id, required=False)
            except StateSyncFailed as error:
                # Sent with the rest at the end, which fails the run if it must.
                logger.warning("records not published yet: run=%s why=%s", run_id, error)
            seen = head


@dataclass(frozen=True, slots=True)
class Announcement:
    """Who else is told of a table that was built or reused; being told twice does no harm.

    `tell_view` is told of a query by its name and answers why it cannot keep it, or None.
    """

    tell: Callable[[Engine | None, Table, Snapshot], None]
    needs_engine: bool = False
    tell_view: Callable[[Engine, tuple[str, str, str], str], str | None] | None = None


def announcements_for(adapter: Adapter) -> tuple[Announcement, ...]:
    """Who else is to know of a table. Raises ExtraMissing before anything has run."""
    found: list[Announcement] = []
    if adapter.iceberg:
        check_iceberg()
        found.append(Announcement(_publish_iceberg))
    if adapter.register:
        found.append(Announcement(_register, needs_engine=True, tell_view=_register_view))
    return tuple(found)


def _publish_iceberg(_engine: Engine | None, table: Table, snapshot: Snapshot) -> None:
    publish_iceberg(table, snapshot)


def _register(engine: Engine | None, table: Table, _snapshot: Snapshot) -> None:
    assert engine is not None
    engine.catalogue.register_table(table)


def _register_view(engine: Engine, name: tuple[str, str, str], sql: str) -> str | None:
    return engine.catalogue.register_view(name, sql)


@dataclass(frozen=True, slots=True)
class RunParameters:
    """What was asked of a run. `selection` is as it was typed, for the record.

    `rebuild` builds also what an earlier run has built; `reuse` False still continues where an
    unfinished run stopped. `windows` are those of the time-interval models, by key. `start_anew`
    builds tables that the ledger does not know, although runs have written them. With `test` the
    models are tested as they are built. With `force` nothing is held that was reverted.
    """

    parallel: int = PARALLEL
    full_refresh: bool = False
    rebuild: bool = False
    reuse: bool = True
    selection: tuple[str, ...] = ()
    windows: Mapping[str, Window] | None = None
    notes: PipelineContribution = NO_CONTRIBUTION
    limits: Limits | None = None
    start_anew: bool = False
    test: bool = False
    force: bool = False

    def has_tests(self, plan: RunPlan) -> bool:
        """Whether tests were asked for, and there are some."""
        wanted = CheckSelection()
        return self.test and bool(
            models_with_tests(plan, wanted) or sources_with_tests(plan, wanted)
        )


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class Expectation:
    """What Spark will have to do: noted when it is known, read when Spark starts."""

    work: Work = UNKNOWN_WORK


@dataclass(frozen=True, slots=True)
class RunResources:
    """What a run works with: where tables and records are, who asked, and how to start Spark.

    `open_engine` is called at most once, after everything that can be refused without Spark was,
    and only if something is to be built. `environment` is what Spark will be, if that is known
    before it starts; `observe` says what it is. `remote` is the
    remote copy of the ledger, if there is one. `on_begin` is told the id of the run. `applied` is
    the kept plan that the run must hold to, if there is one. `open_log` is where stacks go.
    `expected` is what whoever starts Spark is told of the work ahead. `disclosure` is that of the
    author's project, where what is run is generated from it.
    """

    warehouse: Warehouse
    ledger: Ledger
    circumstances: RunOrigin
    open_engine: Callable[[], Engine]
    sources: Sources
    observe: Callable[[EngineFacts], Environment]
    environment: Environment | None = None
    build_table: Materialize | None = None
    announce: tuple[Announcement, ...] = ()
    remote: RemoteState | None = None
    clock: Callable[[], datetime] = now
    on_begin: Callable[[RunId], None] | None = None
    applied: AppliedPlan | None = None
    open_log: Callable[[RunId], RunLog] = no_log
    expected: Expectation = field(default_factory=Expectation)
    disclosure: Disclosure | None = None


@dataclass(frozen=True, slots=True)
class RunContext:
    """What was asked of the whole run. `ledger_statement` is what commits say of the ledger.

    `authority` is what commits are made by. `nonce` tells this run from one on another machine that
    has the same id. `watermarks` say which tables have no watermark to go on from, `notes` what a
    pipeline adds, `remasked` which tables have rows that were masked otherwise.
    """

    run_id: RunId
    now: datetime
    full_refresh: bool = False
    windows: Mapping[str, Window] = field(default_factory=dict)
    announce: tuple[Announcement, ...] = ()
    ledger_statement: Callable[[], Mapping[str, str]] = dict
    authority: CommitAuthority = NO_AUTHORITY
    watermarks: WatermarkFindings = NO_WATERMARK_FINDINGS
    notes: Mapping[str, StepNotes] = field(default_factory=dict)
    pipeline: str | None = None
    remasked: Mapping[str, str] = field(default_factory=dict)
    nonce: str = field(default_factory=lambda: uuid4().hex)

    def refreshes(self, key: str) -> bool:
        """Whether a table is loaded whole, whatever its strategy."""
        return self.full_refresh or key in self.refreshed

    @property
    def refreshed(self) -> dict[str, str]:
        """Tables that are loaded whole although nobody asked for it, each with why."""
        noted = {key: each.full_refresh for key, each in self.notes.items() if each.full_refresh}
        unmarked = dict.fromkeys(self.watermarks.refreshed, NO_WATERMARK)
        return {**unmarked, **noted, **self.remasked}

    def window_of(self, key: str) -> Window:
        """The window of a time-interval model; other models have no use for one."""
        return self.windows.get(key, Window())

    def info_of(self, name: str, made_from: MadeFrom) -> dict[str, str]:
        """What the commits of a model say besides."""
        recipe = made_from.fingerprints.recipe
        source = self.notes.get(name.lower(), NO_NOTES).copied_from
        said = {
            "runId": self.run_id,
            "model": name,
            "recipeHash": recipe,
            PIPELINE: self.pipeline,
            COPIED_FROM: source,
        }
        return {key: value for key, value in said.items() if value is not None}


@dataclass(frozen=True, slots=True)
class RunClock:
    """A run's clock. Durations come from a clock that never goes back."""

    started_at: datetime
    now: Callable[[], datetime]
    _began: float

    @classmethod
    def begin(cls, clock: Callable[[], datetime]) -> Self:
        return cls(clock(), clock, monotonic())

    @property
    def elapsed_ms(self) -> int:
        return round((monotonic() - self._began) * 1000)
