"""A run session: ledger, warehouse, sources and Spark, opened when needed and closed in the end.

Whatever can be refused without Spark is refused before Spark starts. An idempotency key is finished
by the last thing that can fail. The first Ctrl-C asks the run to stop, so that what is done can be
recorded; the second ends the process.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Lock
from types import FrameType
from typing import Any, Final

from rocky.errors import RockyError, RunSkipped, StateSyncFailed
from rocky.ledger import open_ledger
from rocky.ledger.copies import describe_copy
from rocky.ledger.idempotency import HeldKey, SkippedIdempotent, SkippedInFlight, claim_key
from rocky.ledger.record import RunId
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.project import require_branch_adapter
from rocky.project.secrets import Secrets, conf_secrets, text_without_secrets
from rocky.project.setting_places import placed_settings, with_places
from rocky.run.checksums import checksums_of
from rocky.run.engine.protocol import Engine
from rocky.run.engine.sources import Sources
from rocky.run.outcomes import Listener, StartListener, WaitListener
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.checkpoints import RecordedCheckpoints
from rocky.run.prepare.claims import write_ledger_anchor
from rocky.run.prepare.environment import observe_environment, predict_environment
from rocky.run.prepare.lost_state import refuse_new_ledger
from rocky.run.prepare.pins import open_project_warehouse
from rocky.run.prepare.resources import Expectation, RunResources, announcements_for
from rocky.run.run_log import RunLog
from rocky.spark.java import has_driver
from rocky.spark.source_files import hide_location
from rocky.spark.warmup import UNKNOWN_WORK, expecting
from rocky.state.session import Session, open_session
from rocky.store.warehouse import Table, Warehouse

Warn = Callable[[str], None]


@dataclass(slots=True)
class RunKey:
    """A run's key. `on_begin` is told its id; `succeeded` is said before the end, or it failed."""

    on_begin: Callable[[RunId], None] | None = None
    succeeded: bool = False


@contextmanager
def hold_key(
    key: str | None,
    claim: Callable[[str], HeldKey | SkippedIdempotent | SkippedInFlight],
    *,
    warn: Warn,
    is_lenient: bool = False,
) -> Iterator[RunKey]:
    """Inside, the key is this run's. Raises RunSkipped when another run has it, or had it.

    `is_lenient` lets a run stand whose key could not be finished because its server was away.
    """
    if key is None:
        yield RunKey()
        return
    claimed = claim(key)
    if isinstance(claimed, SkippedIdempotent | SkippedInFlight):
        raise RunSkipped(key, claimed.run_id, in_flight=isinstance(claimed, SkippedInFlight))
    held = RunKey(partial(_record_owner, claimed, warn))
    with claimed:
        try:
            yield held
        except BaseException:
            _finish_failed(claimed, warn)
            raise
        try:
            kept = claimed.finish(succeeded=held.succeeded)
        except StateSyncFailed as failure:
            if not is_lenient:
                raise
            warn(f"{failure}; another run with this key will run again")
        else:
            if not kept:
                warn(
                    f"the idempotency key `{key}` was taken over by another run, as if this one"
                    " had died"
                )


def _record_owner(claimed: HeldKey, warn: Warn, run_id: RunId) -> None:
    """Say whose key it is. That is for people: whether its run is alive is told otherwise."""
    try:
        claimed.record_run(run_id)
    except StateSyncFailed as failure:
        warn(f"{failure}; other machines are not told which run has it")


def _finish_failed(claimed: HeldKey, warn: Warn) -> None:
    try:
        claimed.finish(succeeded=False)
    except RockyError as failure:
        warn(str(failure))


EXIT_INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_interrupt(
    stop: threading.Event, leave: Callable[[int], None] = os._exit
) -> Iterator[None]:
    """Inside, the first SIGINT or SIGTERM sets `stop`; the next leaves with 130."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            leave(EXIT_INTERRUPTED)
        stop.set()

    before = {each: signal.signal(each, interrupted) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def raise_interrupt(_code: int) -> None:
    """Leave a run as Python leaves anything: whoever called may want to go on."""
    raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class RunSession:
    """A project ready to be run on an adapter."""

    project: Project
    adapter: Adapter
    resources: RunResources
    caller: Caller
    stop: Event
    key: RunKey = field(default_factory=RunKey)


@contextmanager
def open_run(
    project: Project,
    adapter: Adapter,
    caller: Caller,
    key: str | None = None,
    written: Callable[[Warehouse], Iterable[Table]] | None = None,
) -> Iterator[RunSession]:
    """Everything a run needs, closed in the end. `key` is its idempotency key.

    `written` are tables that no other project's runs write: where runs have and there is no ledger,
    none is begun. Raises RunSkipped, StateLost, NothingSelected for tables that a branch has not
    got, and what ledger and store raise.
    """
    require_branch_adapter(project, adapter)
    stop = Event()
    run_ids: list[RunId] = []
    warehouse = open_project_warehouse(adapter, project.root, caller.environment)
    with ExitStack() as opened:
        # A notebook that is interrupted twice must not lose its kernel.
        leave = raise_interrupt if caller.circumstances.session_source == "api" else os._exit
        opened.enter_context(stop_on_interrupt(stop, leave))
        session = _fetch_ledger(
            project, caller, lambda: refuse_new_ledger(written(warehouse) if written else ())
        )
        opened.callback(session.close)
        opened.callback(_tell_warnings, session, caller)
        state = project.config.state
        shared = session.keys(state.idempotency)
        keep = partial(
            hold_key, key, warn=caller.warn, is_lenient=state.on_upload_failure == "skip"
        )
        held = RunKey()
        if shared is not None:
            # Finished after the records were sent: only then others may rely on them.
            held = opened.enter_context(keep(shared.claim))
        # Sent back when the ledger is closed.
        opened.callback(_send_back, session, caller, warehouse, run_ids)
        ledger = opened.enter_context(
            open_ledger(caller.state, is_alive_elsewhere=session.is_alive)
        )
        if shared is None:
            held = opened.enter_context(
                keep(partial(claim_key, ledger, settings=state.idempotency))
            )
        checksums = checksums_of(project)
        opened.callback(checksums.save)
        expected = Expectation()
        resources = RunResources(
            warehouse.vouched_by(RecordedCheckpoints(ledger).vouch),
            ledger,
            caller.circumstances,
            engine_opener(opened, project, adapter, caller, expected),
            Sources(project.root, adapter.conf, checksums),
            partial(
                observe_environment,
                adapter=adapter,
                env=caller.environment,
                root=project.root,
                # Asked now: later it may be the one that this run started.
                own=caller.spark is None and adapter.remote is None and not has_driver(),
            ),
            predict_environment(adapter, caller.environment, project.root)
            if caller.spark is None
            else None,
            announce=announcements_for(adapter),
            remote=session,
            on_begin=partial(_note_begun, run_ids, held),
            applied=caller.applied,
            open_log=partial(RunLog, project.root, redact=_redactor(project, adapter)),
            expected=expected,
        )
        yield RunSession(project, adapter, resources, caller, stop, held)


def _fetch_ledger(project: Project, caller: Caller, confirm: Callable[[], None]) -> Session:
    """The ledger brought here from wherever it is kept; it may be kept here only.

    `confirm` is called before one is begun.
    """
    session = open_session(
        project.config.state, caller.state, caller.environment, listener=caller.synced
    )
    try:
        session.acquire(confirm)
        if not session.is_remote and describe_copy(caller.state) is None:
            confirm()
    except BaseException:
        session.close()
        raise
    return session


def _note_begun(run_ids: list[RunId], held: RunKey, run_id: RunId) -> None:
    run_ids.append(run_id)
    if held.on_begin is not None:
        held.on_begin(run_id)


def _send_back(
    session: Session, caller: Caller, warehouse: Warehouse, run_ids: Sequence[RunId]
) -> None:
    """Send the ledger to where it is kept, also after a run that failed: that too is recorded."""
    if run_ids and session.is_remote:
        session.finalize(run_ids[-1])
        with open_ledger(caller.state) as ledger:
            # What was not sent may yet be put on top of what others have sent.
            if session.published_head == ledger.head():
                write_ledger_anchor(warehouse, ledger, ledger.head(), run_ids[-1], remote=session)


def _tell_warnings(session: Session, caller: Caller) -> None:
    for warning in session.warnings:
        caller.warn(warning)


def _redactor(project: Project, adapter: Adapter) -> Callable[[str], str]:
    """What takes secrets out of a text: those of the adapter, and places of sources."""
    secrets, sources = conf_secrets(adapter.conf), tuple(project.sources.values())
    key = Secrets([project.config.governance.hash_key])

    def redact(text: str) -> str:
        text = key.scrub(secrets.scrub(text))
        for source in sources:
            text = hide_location(source, text)
        return text_without_secrets(text, ())

    return redact


def engine_opener(
    opened: ExitStack,
    project: Project,
    adapter: Adapter,
    caller: Caller,
    expected: Expectation | None = None,
) -> Callable[[], Engine]:
    """Spark, started by whoever asks first for the work that is `expected`; others get the same."""
    lock, started = Lock(), list[Engine]()

    def open_engine() -> Engine:
        with lock:
            if not started:
                # Knows pyspark, which a run that builds nothing must not load.
                from rocky.run.engine.spark import open_project_engine  # noqa: PLC0415

                start = _announced_start(adapter, caller.listener, caller.spark)
                work = UNKNOWN_WORK if expected is None else expected.work
                with placed_settings(project, adapter), start, expecting(work):
                    engine = open_project_engine(
                        adapter, project.root, caller.spark, project.functions
                    )
                    started.append(opened.enter_context(engine))
                    _hand_hash_key(project, started[0])
                    _tell_waits(opened, started[0], project, adapter, caller.listener)
            return started[0]

    return open_engine


def _hand_hash_key(project: Project, engine: Engine) -> None:
    key = project.config.governance.hash_key
    if key and project.config.governance.key_fingerprint is not None:
        engine.hashes.hold(key)


@contextmanager
def open_announced_engine(
    project: Project, adapter: Adapter, listener: Listener | None, spark: Any
) -> Iterator[Engine]:
    """Spark for what is no run; `listener` hears that it starts, `spark` is a session to use."""
    from rocky.run.engine.spark import open_project_engine  # noqa: PLC0415 - as above

    with ExitStack() as opened:
        with _announced_start(adapter, listener, spark):
            engine = opened.enter_context(
                open_project_engine(adapter, project.root, spark, project.functions)
            )
            _hand_hash_key(project, engine)
            _tell_waits(opened, engine, project, adapter, listener)
        yield engine


def _tell_waits(
    opened: ExitStack, engine: Engine, project: Project, adapter: Adapter, listener: object
) -> None:
    if isinstance(listener, WaitListener):
        hears = listener.engine_waiting
        opened.enter_context(
            engine.jobs.watched(lambda why: hears(with_places(why, project, adapter)))
        )


@contextmanager
def _announced_start(adapter: Adapter, listener: object, spark: Any) -> Iterator[None]:
    """Inside, Spark starts, and who listens hears of it; one that runs here already is no news."""
    remote = adapter.remote is not None
    running = spark is not None or (not remote and has_driver())
    if running or not isinstance(listener, StartListener):
        yield
        return
    began = time.monotonic()
    listener.engine_starting(remote=remote)
    yield
    listener.engine_started(int((time.monotonic() - began) * 1000))
