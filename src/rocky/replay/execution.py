"""Execution: the models of a recorded run built again, each by itself, and compared.

Each model reads the inputs that were recorded, not what another replay has just made, so one that
diverged does not make its readers diverge, and any order will do. What cannot be built again is
found out first: if that is everything, Spark is never started.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import Final

from rocky.ledger.provenance import CollectedFile
from rocky.replay.binding import Binder, batches_of
from rocky.replay.candidates import Candidate, by_settings, prepare_candidate
from rocky.replay.comparing import Rebuilt, compare
from rocky.replay.reads import Finder
from rocky.replay.recipe import RecordedFile
from rocky.replay.recorded import RecordedModel, RecordedRun
from rocky.replay.scratch import Scratch, open_scratch
from rocky.replay.trust import NotReplayable
from rocky.replay.verdicts import LeftOut, ModelVerdict, ReplayReport, Verdict
from rocky.run.build import Build, Built
from rocky.run.building import Materialize
from rocky.run.engine import Engine
from rocky.run.failures import CAUGHT, classify_step_failure
from rocky.run.materialize.table import materialize
from rocky.run.pinning import PinnedTable
from rocky.run.scheduler import Job, Watcher, run_jobs
from rocky.run.step_failures import StepFailure
from rocky.store.cloning import clone_table
from rocky.store.warehouse import Warehouse

PARALLEL: Final = 2
"""Models at once unless told."""

_OF_THE_MODEL: Final = frozenset(
    {"data_error", "query_rejected", "model_failed", "rejected", "interval_failed"}
)
"""Failures that are an answer: the same build did not fail when it was recorded."""


Told = Callable[[ModelVerdict], None]
"""Who hears of a verdict as soon as there is one; one at a time."""


def _tell_nobody(_: ModelVerdict) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a replay works with.

    `open_engine` is given the settings that were recorded, and says beside the engine which of them
    it could not set again.
    """

    warehouse: Warehouse
    root: Path
    open_engine: Callable[
        [Mapping[str, str]], AbstractContextManager[tuple[Engine, tuple[str, ...]]]
    ]
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    collected: Callable[[], tuple[CollectedFile, ...]] = tuple
    build_table: Materialize = materialize


@dataclass(frozen=True, slots=True)
class Orders:
    """What was asked of a replay: how many models at once, what to keep, where to run."""

    parallel: int = PARALLEL
    keep: Path | None = None
    adapter: str | None = None


def execute_replay(
    recorded: RecordedRun,
    ground: Ground,
    orders: Orders = Orders(),  # noqa: B008 - frozen
    stop: Event | None = None,
    told: Told = _tell_nobody,
) -> ReplayReport:
    """Build the models of a run again and compare. Raises when nothing could be run at all."""
    finder = Finder(ground.warehouse, ground.root, ground.options, ground.collected)
    verdicts: dict[str, ModelVerdict] = {}
    candidates: list[Candidate] = []
    left_out: list[LeftOut] = []
    for place, model in enumerate(recorded.models):
        if model.without_table is not None:
            left_out.append(LeftOut(model.name, model.without_table))
            continue
        try:
            candidates.append(prepare_candidate(place, model, recorded.run, finder))
        except NotReplayable as refusal:
            verdicts[model.name] = _refused(model, str(refusal))
            told(verdicts[model.name])
    if candidates:
        with open_scratch(ground.warehouse, orders.keep) as scratch:
            replay = _Replay(ground, finder, scratch, stop or Event(), told)
            verdicts |= replay.build(candidates, orders.parallel)
    models = tuple(verdicts[each.name] for each in recorded.models if each.name in verdicts)
    kept = str(orders.keep) if orders.keep is not None and candidates else None
    return ReplayReport(recorded.run.run_id, models, tuple(left_out), kept)


def _refused(model: RecordedModel, reason: str, *, failed: bool = False) -> ModelVerdict:
    return ModelVerdict(
        model.name,
        model.execution.target or "",
        Verdict.NON_REPLAYABLE,
        model.built_by,
        reason=reason,
        failed=failed,
    )


class _Replay(Watcher):
    """A replay on its way."""

    def __init__(
        self, ground: Ground, finder: Finder, scratch: Scratch, stop: Event, told: Told
    ) -> None:
        self._ground = ground
        self._finder = finder
        self._scratch = scratch
        self._stop = stop
        self._told = told
        self._lock = Lock()
        self._engine: Engine | None = None
        self._lost: tuple[str, ...] = ()
        self._verdicts: dict[str, ModelVerdict] = {}

    def build(self, candidates: Sequence[Candidate], parallel: int) -> dict[str, ModelVerdict]:
        """Build and compare all candidates. Raises KeyboardInterrupt when it was to stop."""
        for alike in by_settings(candidates):
            settings = alike[0].environment.settings
            with self._ground.open_engine(settings) as (self._engine, self._lost):
                for batch in batches_of((each, each.reads) for each in alike):
                    self._build_batch(batch.members, parallel)
        return self._verdicts

    def cancel(self, job: str) -> None:
        assert self._engine is not None
        try:
            self._engine.jobs.cancel(job)
        except CAUGHT:
            # A Spark that is gone has nothing left to cancel.
            return

    def _build_batch(self, candidates: Sequence[Candidate], parallel: int) -> None:
        assert self._engine is not None
        by_id = {each.view: each for each in candidates}
        binder = Binder(self._engine)

        def work(job: str) -> bool:
            verdict = self._judge(by_id[job], binder)
            with self._lock:
                self._verdicts[verdict.model] = verdict
                self._told(verdict)
            return True

        try:
            run_jobs(
                [Job(each) for each in by_id],
                work,
                parallel=parallel,
                stop=self._stop,
                watcher=self,
            )
        finally:
            binder.close()
        if self._stop.is_set():
            raise KeyboardInterrupt

    def _judge(self, candidate: Candidate, binder: Binder) -> ModelVerdict:
        engine = self._engine
        assert engine is not None
        try:
            with engine.jobs.tagged(candidate.view):
                return compare(self._rebuild(candidate, binder), engine)
        except CAUGHT as error:
            return _failed(candidate, classify_step_failure(error, engine.explain))

    def _rebuild(self, candidate: Candidate, binder: Binder) -> Rebuilt:
        engine, record = self._engine, candidate.record
        assert engine is not None
        began = monotonic()
        table = self._scratch.warehouse.table(candidate.recipe.target)
        if candidate.start is not None:
            clone_table(candidate.start.table, candidate.start.snapshot, table)
        binder.bind(candidate.reads)
        built = self._ground.build_table(self._assemble(candidate, engine))
        snapshot = table.snapshot()
        return Rebuilt(
            candidate.model,
            record,
            PinnedTable(table, snapshot) if snapshot is not None else None,
            partial(self._finder.find_output, record),
            (*self._lost, *candidate.environment.differences(engine.facts)),
            round((monotonic() - began) * 1000),
            candidate.view,
            _troubles(built),
        )

    def _assemble(self, candidate: Candidate, engine: Engine) -> Build:
        recipe, record = candidate.recipe, candidate.record
        ending = "sql" if recipe.python is None else "py"
        path = f"{recipe.name}.{ending}"
        return Build(
            model=RecordedFile(recipe.name, path, recipe.strategy, recipe.python or ""),
            columns=recipe.columns,
            table=self._scratch.warehouse.table(recipe.target),
            query=recipe.query,
            engine=engine,
            layout=recipe.layout,
            info={"model": recipe.name, "replayOf": record.run_id},
            token=f"replay/{record.run_id}/{recipe.name.lower()}",
            view=candidate.view,
            now=record.now,
            full_refresh=record.full_refresh,
            window=recipe.window,
            python_inputs=record.parameters if recipe.query is None else None,
        )


def _troubles(built: Built) -> tuple[str, ...]:
    return tuple(
        f"interval `{each.key}` failed: {each.error}"
        for each in built.partitions
        if each.error is not None
    )


def _failed(candidate: Candidate, failure: StepFailure) -> ModelVerdict:
    model = candidate.model
    if failure.kind not in _OF_THE_MODEL:
        return _refused(model, f"it could not be built: {failure.message}", failed=True)
    return ModelVerdict(
        model.name,
        candidate.record.target,
        Verdict.DIVERGED,
        model.built_by,
        reason=f"it was built then and fails now: {failure.message}",
        failed=True,
    )
