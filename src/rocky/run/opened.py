"""A run's surroundings, opened and closed: ledger, warehouse, sources, and Spark when it is needed.

Whatever can be refused without Spark is refused before Spark starts. A session that was handed in
is used and left as it was. A ledger that is kept elsewhere is fetched before anything is opened and
sent back after everything is closed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import Any

from rocky.lazy import load_attribute
from rocky.ledger import open_ledger
from rocky.ledger.idempotency import claim_key
from rocky.ledger.record import RunId
from rocky.project import Project
from rocky.project.adapter import Adapter
from rocky.project.branching import refuse_elsewhere
from rocky.remote.session import Session, open_session
from rocky.run.aftermath import announcements_for
from rocky.run.anchoring import leave_anchor
from rocky.run.checksums import Checksums
from rocky.run.engine import Engine
from rocky.run.environment import foresee_environment, observe_environment
from rocky.run.idempotent import HeldKey, held_key
from rocky.run.interrupts import stop_on_interrupt
from rocky.run.means import Means
from rocky.run.places import open_project_warehouse
from rocky.run.sources import Sources
from rocky.run.surroundings import Surroundings
from rocky.spark.drivers import has_driver
from rocky.store.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A project ready to be run on an adapter."""

    project: Project
    adapter: Adapter
    surroundings: Surroundings
    means: Means
    stop: Event
    key: HeldKey = field(default_factory=HeldKey)


@contextmanager
def open_run(
    project: Project, adapter: Adapter, means: Means, key: str | None = None
) -> Iterator[OpenedRun]:
    """Everything a run needs, closed in the end. `key` is its idempotency key.

    Raises RunSkipped, NothingSelected for tables that a branch has not got, and what ledger and
    store raise.
    """
    refuse_elsewhere(project, adapter)
    stop = Event()
    begun: list[RunId] = []
    warehouse = open_project_warehouse(adapter, project.root, means.environment)
    with ExitStack() as opened:
        opened.enter_context(stop_on_interrupt(stop))
        session = _fetched(project, means)
        opened.callback(session.close)
        opened.callback(_tell_warnings, session, means)
        state = project.config.state
        shared = session.keys(state.idempotency)
        keep = partial(held_key, key, warn=means.warn, is_lenient=state.on_upload_failure == "skip")
        held = HeldKey()
        if shared is not None:
            # Finished after the records were sent: only then others may rely on them.
            held = opened.enter_context(keep(shared.claim))
        # Sent back when the ledger is closed.
        opened.callback(_send_back, session, means, warehouse, begun)
        ledger = opened.enter_context(open_ledger(means.state, is_alive_elsewhere=session.is_alive))
        if shared is None:
            held = opened.enter_context(
                keep(partial(claim_key, ledger, settings=state.idempotency))
            )
        checksums = Checksums(project.root)
        opened.callback(checksums.save)
        surroundings = Surroundings(
            warehouse,
            ledger,
            means.circumstances,
            engine_opener(opened, adapter, project.root, means.spark),
            Sources(project.root, adapter.conf, checksums),
            partial(
                observe_environment,
                adapter=adapter,
                env=means.environment,
                root=project.root,
                # Asked now: later it may be the one that this run started.
                own=means.spark is None and adapter.remote is None and not has_driver(),
            ),
            foresee_environment(adapter, means.environment, project.root)
            if means.spark is None
            else None,
            announce=announcements_for(adapter),
            remote=session,
            begun=partial(_note_begun, begun, held),
            applied=means.applied,
        )
        yield OpenedRun(project, adapter, surroundings, means, stop, held)


def _fetched(project: Project, means: Means) -> Session:
    """The ledger brought here from wherever it is kept; it may be kept here only."""
    session = open_session(
        project.config.state, means.state, means.environment, listener=means.synced
    )
    try:
        session.acquire()
    except BaseException:
        session.close()
        raise
    return session


def _note_begun(begun: list[RunId], held: HeldKey, run_id: RunId) -> None:
    begun.append(run_id)
    if held.begun is not None:
        held.begun(run_id)


def _send_back(
    session: Session, means: Means, warehouse: Warehouse, begun: Sequence[RunId]
) -> None:
    """Send the ledger to where it is kept, also after a run that failed: that too is recorded."""
    if begun and session.is_remote:
        session.finalize(begun[-1])
        with open_ledger(means.state) as ledger:
            # What was not sent may yet be put on top of what others have sent.
            if session.published_head == ledger.head():
                leave_anchor(warehouse, ledger, ledger.head(), begun[-1], remote=session)


def _tell_warnings(session: Session, means: Means) -> None:
    for warning in session.warnings:
        means.warn(warning)


def engine_opener(
    opened: ExitStack, adapter: Adapter, root: Path, spark: Any
) -> Callable[[], Engine]:
    """Spark, started by whoever asks first; the others get the same."""
    lock, started = Lock(), list[Engine]()

    def open_engine() -> Engine:
        with lock:
            if not started:
                # Knows pyspark, which a run that builds nothing must not load.
                open_project_engine = load_attribute("rocky.run.opening", "open_project_engine")
                started.append(opened.enter_context(open_project_engine(adapter, root, spark)))
            return started[0]

    return open_engine
