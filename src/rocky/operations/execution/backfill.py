"""Computing the time intervals of a model again, between two times, and those of its readers.

It is made of runs, each of some intervals, which pass every gate that a run passes. What is done is
told by what they recorded, so that asking again goes on with the rest.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import reach_models
from rocky.compiler.fingerprints import fingerprints_of
from rocky.errors import InvalidRequest
from rocky.ledger.record import RunId
from rocky.ledger.run_records import PartitionRecord, PartitionStatus
from rocky.operations.digest import Digested
from rocky.operations.execution.run import run_compiled
from rocky.operations.execution.run_report import ModelsRun
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    known_branch,
    model_named,
    open_history,
)
from rocky.plan.adapters import choose_adapter
from rocky.plan.arguments import Request
from rocky.plan.backfill import (
    ComputedIntervals,
    Recorded,
    WholeTable,
    keys_in,
    runs_for,
    span_between,
)
from rocky.plan.intervals import Interval, interval_of, key_of
from rocky.plan.request import RunRequest, Window
from rocky.plan.selectors import select_models
from rocky.plan.steps import plan_steps
from rocky.project import ModelFile
from rocky.project.configuration.blocks import Adapter
from rocky.project.configuration.strategies import TimeInterval
from rocky.run.prepare.pins import open_project_warehouse

_PARTIAL: Final = 2
_INTERRUPTED: Final = 130
IntervalStatus = Literal["done", "computed", "failed", "pending"]
OnInterval = Callable[["BackfillInterval"], None]
"""Who hears of an interval as soon as its run has ended."""


@dataclass(frozen=True, slots=True)
class BackfillRequest(Request):
    """A time-interval model, and from which interval to which, both included.

    Without an `end` up to now. With `downstream` also what reads it. In a `dry_run` nothing is
    computed. With `force` also what is done already.
    """

    model: str
    start: str
    end: str | None = None
    downstream: bool = False
    dry_run: bool = False
    force: bool = False
    adapter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillInterval:
    """One interval of one model: `done` before, `computed` or `failed` now, or still `pending`."""

    model: str
    interval: str
    status: IntervalStatus
    rows: int | None = None
    run_id: RunId | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class BackfillReport(Digested):
    """The intervals in the order in which they are computed, and the runs that did it.

    `readers` are other models that read them, which the last run has built.
    """

    dry_run: bool
    intervals: tuple[BackfillInterval, ...]
    run_ids: tuple[RunId, ...]
    readers: tuple[str, ...]
    exit_code: int


def backfill(
    workspace: Workspace, request: BackfillRequest, on_interval: OnInterval = lambda _: None
) -> BackfillReport:
    """Compute intervals that are not done. An interval that fails is in the report, not raised.

    Raises InvalidRequest for a model without time intervals, NothingSelected, RockyError for what
    is no interval of it, and what keeps a run from starting.
    """
    workspace = known_branch(workspace)
    compilation = compile_workspace(workspace, asker="person")
    model = model_named(compilation.project, request.model)
    strategy = _strategy_of(model)
    end = request.end or key_of(datetime.now(UTC), strategy.granularity)
    span = span_between(request.start, end, strategy.granularity)
    if span.end <= span.start:
        raise InvalidRequest(f"`--to` {end} comes before `--from` {request.start}")
    return _Backfill(workspace, compilation, request, model, span, on_interval).carry_out()


def _strategy_of(model: ModelFile) -> TimeInterval:
    if isinstance(model.strategy, TimeInterval):
        return model.strategy
    raise InvalidRequest(
        f"model `{model.name}` has no time intervals: its strategy is `{model.strategy.type}`;"
        f" `rocky run {model.name} --full-refresh` builds all of it"
    )


class _Backfill:
    """A backfill on its way."""

    def __init__(
        self,
        workspace: Workspace,
        compilation: Compilation,
        request: BackfillRequest,
        model: ModelFile,
        span: Interval,
        on_interval: OnInterval,
    ) -> None:
        self._workspace = workspace
        self._compilation = compilation
        self._request = request
        self._model = model
        self._span = span
        self._hear = on_interval
        self._before: dict[str, Recorded] = {}
        self._open: list[tuple[str, Interval]] = []
        self._found: list[BackfillInterval] = []
        self._run_ids: list[RunId] = []
        self._codes: set[int] = set()
        self._spark = ExitStack()

    def carry_out(self) -> BackfillReport:
        """Compute a model's intervals, and, if that is asked, what reads them."""
        model = self._model
        models = [model]
        if self._request.downstream:
            keys = select_models(self._compilation, (f"{model.name}+",))
            found = (self._compilation.project.models[key] for key in keys)
            models += [each for each in found if each.key != model.key]
        with self._spark:
            waiting: list[ModelFile] = []
            for each in models:
                if not isinstance(each.strategy, TimeInterval):
                    waiting.append(each)
                    continue
                above = self._models_above(each)
                if any(other.key in above for other in waiting):
                    self._build(waiting)
                    waiting = []
                self._fill(each, [found for key, found in self._before.items() if key in above])
                self._before[each.key] = self._recorded(each)
            self._build(waiting)
        return BackfillReport(
            self._request.dry_run,
            tuple(self._found),
            tuple(self._run_ids),
            tuple(each.name for each in models if not isinstance(each.strategy, TimeInterval)),
            self._exit_code,
        )

    def _models_above(self, model: ModelFile) -> set[str]:
        """The keys of all that a model reads, however far up."""
        found = reach_models(self._compilation.upstream, [model.name])
        return {name.lower() for name in found}

    @property
    def _is_whole(self) -> bool:
        """Whether all so far is done or computed: else nothing that reads it is begun."""
        whole = all(each.status in ("done", "computed") for each in self._found)
        return whole and self._codes <= {0}

    def _build(self, models: Sequence[ModelFile]) -> None:
        """Build readers without time intervals, if all that they may read is done."""
        if models and self._is_whole and not self._request.dry_run:
            names = tuple(each.name for each in models)
            self._run(RunRequest(names, adapter=self._request.adapter))
        with open_history(self._workspace) as reader:
            for each in models:
                runs = () if reader is None else reader.executions(each.name)
                changed = (found.run_id for found in runs if found.execution.commits)
                self._before[each.key] = WholeTable(next(changed, ""))

    @property
    def _exit_code(self) -> int:
        if _INTERRUPTED in self._codes:
            return _INTERRUPTED
        failed = any(each.status == "failed" for each in self._found)
        if self._codes <= {0} and not failed:
            return 0
        return _PARTIAL if any(each.status == "computed" for each in self._found) else 1

    def _fill(self, model: ModelFile, reads: Sequence[Recorded]) -> None:
        """Compute what is not done of a model, if what it reads is."""
        strategy = _strategy_of(model)
        keys, recorded = keys_in(self._span, strategy.granularity), self._recorded(model)
        code = fingerprints_of(self._compilation, [model.key])[model.key].skip_hash
        begins = self._is_whole and not self._request.dry_run
        left = []
        for key in keys:
            waits = self._waits(model, interval_of(key, strategy.granularity))
            if self._request.force or waits or not recorded.is_done(key, code, reads):
                left.append(key)
                continue
            record = recorded.records[key]
            self._tell(model, key, "done", record)
        for together in runs_for(left, strategy):
            if begins and _INTERRUPTED not in self._codes:
                self._compute(model, together)
            else:
                for key in together:
                    self._tell(model, key, "pending")

    def _waits(self, model: ModelFile, span: Interval) -> bool:
        """Whether something that an interval reads is still to be computed."""
        above = self._models_above(model) if self._open else ()
        return any(
            key in above and open_span.start < span.end and span.start < open_span.end
            for key, open_span in self._open
        )

    def _compute(self, model: ModelFile, keys: Sequence[str]) -> None:
        """Compute neighbouring intervals in one run."""
        window = Window(start=keys[0], end=keys[-1], lookback=0)
        request = RunRequest((model.name,), window=window, adapter=self._request.adapter)
        run_id = self._run(request)
        records = self._recorded(model).records
        for key in keys:
            record = records.get(key)
            if record is None or record.run_id != run_id:
                status: IntervalStatus = "pending" if _INTERRUPTED in self._codes else "failed"
                self._tell(model, key, status, error=self._why_not(model, run_id))
            else:
                computed = record.status is PartitionStatus.COMPUTED
                self._tell(model, key, "computed" if computed else "failed", record)

    def _why_not(self, model: ModelFile, run_id: RunId | None) -> str | None:
        """Why a run has computed no interval of a model, as it is recorded."""
        with open_history(self._workspace) as reader:
            last = None if reader is None else reader.last_execution(model.name)
        if last is None or last.run_id != run_id:
            return None
        return last.execution.error or last.execution.reason

    def _run(self, request: RunRequest) -> RunId | None:
        self._keep_spark()
        report = run_compiled(self._workspace, self._compilation, request)
        self._codes.add(report.exit_code)
        if not isinstance(report.run, ModelsRun):
            return None
        self._run_ids.append(report.run.run_id)
        return report.run.run_id

    def _tell(
        self,
        model: ModelFile,
        key: str,
        status: IntervalStatus,
        record: PartitionRecord | None = None,
        error: str | None = None,
    ) -> None:
        told = BackfillInterval(model=model.name, interval=key, status=status, error=error)
        if record is not None:
            told = replace(told, rows=record.row_count, run_id=record.run_id, error=record.error)
        self._found.append(told)
        if status in ("failed", "pending"):
            self._open.append((model.key, interval_of(key, _strategy_of(model).granularity)))
        self._hear(told)

    def _recorded(self, model: ModelFile) -> ComputedIntervals:
        """What the ledger has of a model's intervals now; nothing of a table that is gone."""
        grain, root = _strategy_of(model).granularity, self._compilation.project.root
        environment = self._workspace.environment
        warehouse = open_project_warehouse(self._adapter_of(model), root, environment)
        if not warehouse.holds(model.target):
            return ComputedIntervals(grain, {}, {})
        with open_history(self._workspace) as reader:
            if reader is None:
                return ComputedIntervals(grain, {}, {})
            records = {each.partition_key: each for each in reader.partitions(model.name)}
            executions = reader.executions(model.name)
            codes = {str(each.run_id): each.execution.skip_hash for each in executions}
        return ComputedIntervals(grain, records, codes)

    def _keep_spark(self) -> None:
        """One Spark serves all runs, from the first on."""
        if self._workspace.spark is not None or self._run_ids:
            return
        from rocky.spark.session import connect_spark  # noqa: PLC0415 - a dry run does without

        root = self._compilation.project.root
        self._spark.callback(connect_spark(self._adapter_of(self._model), root).close)

    def _adapter_of(self, model: ModelFile) -> Adapter:
        plan = plan_steps(self._compilation, [model.key])
        return choose_adapter(plan.project, plan, self._request.adapter)
