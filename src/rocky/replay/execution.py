"""Execution: the models of a recorded run built again, each by itself, and compared.

Each model reads the inputs that were recorded, not what another replay has just made, so one that
diverged does not make its readers diverge, and any order will do. What cannot be built again is
found out first: if that is everything, Spark is never started. The project is asked only for what a
record cannot hold: how Spark is reached, and with which keys.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import Any, Final

from rocky.analysis.disclosure import Disclosure
from rocky.ledger import open_evidence_reader
from rocky.ledger.provenance import CollectedFile
from rocky.ledger.run_records import RunRecord
from rocky.plan.adapters import find_adapter
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.python_imports import find_imports
from rocky.project.setting_places import placed_settings
from rocky.replay.candidates import (
    InputFinder,
    ReplayCandidate,
    group_by_settings,
    prepare_candidate,
)
from rocky.replay.comparison import RebuiltModel, compare_rebuilt
from rocky.replay.recipe import RecordedFile, restore_settings
from rocky.replay.record import NotReplayable, RecordedModel, RecordedRun
from rocky.replay.scratch import InputViews, Scratch, open_scratch, split_batches
from rocky.replay.verdicts import LeftOut, ModelVerdict, ReplayReport, Verdict
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure, hide_words
from rocky.run.engine.protocol import Engine, StepFailure
from rocky.run.execute.scheduler import Job, Watcher, run_jobs
from rocky.run.materialize.build import Build, Built, Materialize
from rocky.run.materialize.strategy import materialize
from rocky.run.outcomes import Listener
from rocky.run.prepare.pins import PinnedTable, open_project_warehouse
from rocky.run.prepare.session import open_announced_engine, stop_on_interrupt
from rocky.store.anchor import find_recorded_warehouse
from rocky.store.clone import clone_table
from rocky.store.warehouse import Warehouse, open_warehouse

PARALLEL: Final = 2
"""Models at once unless told."""

_MODEL_FAILURES: Final = frozenset(
    {"data_error", "query_rejected", "model_failed", "rejected", "interval_failed"}
)
"""Failures that are an answer: the same build did not fail when it was recorded."""


_OTHER_KEY: Final = (
    "its values were hashed with a key that `hash_key` in `[governance]` does not have now"
)

OnVerdict = Callable[[ModelVerdict], None]
"""Who hears of a verdict as soon as there is one; one at a time."""


def _ignore_verdict(_: ModelVerdict) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class ReplayContext:
    """What a replay works with.

    `open_engine` is given the settings that were recorded, and says beside the engine which of them
    it could not set again. `functions` are the digests of those that are declared now, `hash_key`
    the fingerprint of the key that masks would hash with. `disclosure` says which values
    may be shown; without one all may.
    """

    warehouse: Warehouse
    root: Path
    open_engine: Callable[
        [Mapping[str, str]], AbstractContextManager[tuple[Engine, tuple[str, ...]]]
    ]
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    collected: Callable[[], tuple[CollectedFile, ...]] = tuple
    build_table: Materialize = materialize
    functions: Mapping[str, str] = field(default_factory=dict)
    hash_key: str | None = None
    disclosure: Disclosure | None = None


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """What was asked of a replay: how many models at once, what to keep, where to run."""

    parallel: int = PARALLEL
    keep: Path | None = None
    adapter: str | None = None


def execute_replay(
    recorded: RecordedRun,
    ground: ReplayContext,
    orders: ReplayOptions = ReplayOptions(),  # noqa: B008 - frozen
    stop: Event | None = None,
    told: OnVerdict = _ignore_verdict,
) -> ReplayReport:
    """Build the models of a run again and compare. Raises when nothing could be run at all."""
    finder = InputFinder(
        ground.warehouse, ground.root, ground.options, ground.collected, ground.functions
    )
    verdicts: dict[str, ModelVerdict] = {}
    candidates: list[ReplayCandidate] = []
    left_out: list[LeftOut] = []
    for place, model in enumerate(recorded.models):
        if model.without_table is not None:
            left_out.append(LeftOut(model.name, model.without_table))
            continue
        try:
            prepared = prepare_candidate(place, model, recorded.run, finder)
        except NotReplayable as refusal:
            verdicts[model.name] = _refused(model, str(refusal))
            told(verdicts[model.name])
            continue
        if prepared.recipe.hash_keys - {ground.hash_key}:
            verdicts[model.name] = _refused(model, _OTHER_KEY)
            told(verdicts[model.name])
        else:
            candidates.append(prepared)
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
        self,
        ground: ReplayContext,
        finder: InputFinder,
        scratch: Scratch,
        stop: Event,
        told: OnVerdict,
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

    def build(
        self, candidates: Sequence[ReplayCandidate], parallel: int
    ) -> dict[str, ModelVerdict]:
        """Build and compare all candidates. Raises KeyboardInterrupt when it was to stop."""
        for alike in group_by_settings(candidates):
            settings = alike[0].environment.settings
            with self._ground.open_engine(settings) as (self._engine, self._lost):
                for batch in split_batches((each, each.reads) for each in alike):
                    self._build_batch(batch.members, parallel)
        return self._verdicts

    def cancel(self, job: str) -> None:
        assert self._engine is not None
        try:
            self._engine.jobs.cancel(job)
        except STEP_ERRORS:
            # A Spark that is gone has nothing left to cancel.
            return

    def _build_batch(self, candidates: Sequence[ReplayCandidate], parallel: int) -> None:
        assert self._engine is not None
        by_id = {each.view: each for each in candidates}
        binder = InputViews(self._engine)

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

    def _judge(self, candidate: ReplayCandidate, binder: InputViews) -> ModelVerdict:
        engine = self._engine
        assert engine is not None
        try:
            with engine.jobs.tagged(candidate.view):
                rebuilt = self._rebuild(candidate, binder)
                return compare_rebuilt(rebuilt, engine, self._ground.disclosure)
        except STEP_ERRORS as error:
            failure = classify_step_failure(error, engine.explain)
            return _failed(candidate, hide_words(failure, self._ground.disclosure))

    def _rebuild(self, candidate: ReplayCandidate, binder: InputViews) -> RebuiltModel:
        engine, record = self._engine, candidate.record
        assert engine is not None
        began = monotonic()
        table = self._scratch.warehouse.table(candidate.recipe.target)
        if candidate.start is not None:
            clone_table(candidate.start.table, candidate.start.snapshot, table)
        layout = candidate.recipe.layout
        binder.bind(candidate.reads, layout.pieces if layout.by_files else 0)
        built = self._ground.build_table(self._assemble(candidate, engine))
        snapshot = table.snapshot()
        return RebuiltModel(
            candidate.model,
            record,
            PinnedTable(table, snapshot) if snapshot is not None else None,
            partial(self._finder.find_output, record),
            (*self._lost, *candidate.environment.differences(engine.facts)),
            round((monotonic() - began) * 1000),
            candidate.view,
            _troubles(built),
        )

    def _assemble(self, candidate: ReplayCandidate, engine: Engine) -> Build:
        recipe, record = candidate.recipe, candidate.record
        ending = "sql" if recipe.python is None else "py"
        path = f"{recipe.name}.{ending}"
        # A record has the text of a model, and of what it imports only the digest.
        imports = find_imports(self._ground.root, path, recipe.python or "")
        return Build(
            model=RecordedFile(recipe.name, path, recipe.strategy, recipe.python or "", imports),
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
            masks=recipe.masks,
        )


def _troubles(built: Built) -> tuple[str, ...]:
    return tuple(
        f"interval `{each.key}` failed: {each.error}"
        for each in built.partitions
        if each.error is not None
    )


def _failed(candidate: ReplayCandidate, failure: StepFailure) -> ModelVerdict:
    model = candidate.model
    if failure.kind not in _MODEL_FAILURES:
        return _refused(model, f"it could not be built: {failure.message}", failed=True)
    return ModelVerdict(
        model.name,
        candidate.record.target,
        Verdict.DIVERGED,
        model.built_by,
        reason=f"it was built then and fails now: {failure.message}",
        failed=True,
    )


def replay_project_run(  # noqa: PLR0913 - who asks, who is told, and on what
    project: Project,
    recorded: RecordedRun,
    orders: ReplayOptions,
    *,
    state: Path,
    environment: Mapping[str, str],
    spark: Any = None,
    told: OnVerdict = lambda _: None,
    listener: Listener | None = None,
    disclosure: Disclosure | None = None,
) -> ReplayReport:
    """Build a recorded run again.

    `told` hears of each verdict as soon as there is one, `listener` that Spark starts. `spark` is
    the caller's own session, which is left as it was.
    """
    chosen, warehouse = find_replay_warehouse(project, recorded.run, orders.adapter, environment)

    @contextmanager
    def opened(settings: Mapping[str, str]) -> Iterator[tuple[Engine, tuple[str, ...]]]:
        restored, lost = restore_settings(chosen, environment, settings, project.root)
        # Nobody else is to hear of the tables of a scratch area.
        unheard = restored._replace(register=False)
        with (
            placed_settings(project, chosen),
            open_announced_engine(project, unheard, listener, spark) as engine,
        ):
            yield engine, lost

    def collected() -> tuple[CollectedFile, ...]:
        evidence = open_evidence_reader(state)
        if evidence is None:
            return ()
        with evidence:
            return evidence.collected()

    functions = {key: each.signature.digest.hex() for key, each in project.functions.items()}
    ground = ReplayContext(
        warehouse,
        project.root,
        opened,
        chosen.conf,
        collected,
        functions=functions,
        hash_key=project.config.governance.key_fingerprint,
        disclosure=disclosure,
    )
    stop = Event()
    with stop_on_interrupt(stop):
        return execute_replay(recorded, ground, orders, stop, told)


def find_replay_warehouse(
    project: Project, run: RunRecord, name: str | None, environment: Mapping[str, str]
) -> tuple[Adapter, Warehouse]:
    """The adapter to run on, and the warehouse in which the run left its tables.

    Without a name it is the adapter whose warehouse that is. A project may have been moved since,
    with its tables: where nothing is left, they are in the adapter's own. Raises NothingSelected.
    """
    named = project.config.adapter.values()
    chosen = [find_adapter(project, name)] if name is not None else list(named)
    opened = [(each, open_project_warehouse(each, project.root, environment)) for each in chosen]
    adapter, own = opened[0]
    if run.warehouse is None:
        return adapter, own

    def reopen(place: str) -> Warehouse:
        return open_warehouse(place, base=project.root, options={**environment, **adapter.conf})

    found = find_recorded_warehouse(
        run.warehouse, [each for _, each in opened], reopen, project.root
    )
    return next((each for each in opened if each[1] is found), (adapter, found))
