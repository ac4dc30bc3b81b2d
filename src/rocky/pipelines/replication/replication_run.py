"""A replication run: planned, copied, checked, recorded; or previewed, with nothing written.

One table's failure is its own: the others are copied and recorded, and the run ends as a partial
failure. Checks come after all copies and hold what the run has left against the sources. Tables
that had nothing new are looked at too: that nothing comes any more is what some checks are there
to find.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.analysis.disclosure import Disclosure, shown
from rocky.errors import NothingSelected, StoreUnreadable
from rocky.language.names import quote_name, quote_text
from rocky.ledger import open_history_reader
from rocky.ledger.pipeline_records import DriftRecord, RowCount
from rocky.ledger.pipeline_state import load_counts
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.readers.history import HistoryReader
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelExecution, ModelStatus
from rocky.pipelines.checks.evaluation import PipelineChecks
from rocky.pipelines.replication.copies import Copy
from rocky.pipelines.replication.copy_history import CopyHistory
from rocky.pipelines.replication.plan import Replication, ReplicationPlan, plan_replication
from rocky.pipelines.replication.routes import RoutedTable
from rocky.pipelines.report import CheckedTable, PipelineResult, SourceSide, UnreadableTable
from rocky.plan.refusals import refuse_unsupported
from rocky.plan.request import ADAPTIVE_MOST, LATEST, Limits, RunRequest
from rocky.project.configuration.blocks import Adapter
from rocky.project.configuration.pipelines import ReplicationPipeline
from rocky.project.configuration.strategies import Incremental
from rocky.project.models import Target
from rocky.run.execute.runner import run_plan
from rocky.run.outcomes import EndedSteps, PipelineContribution
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.pins import open_project_warehouse
from rocky.run.prepare.resources import RunParameters, RunResources
from rocky.run.prepare.session import RunSession, engine_opener

Histories = Mapping[str, tuple[RowCount, ...]]


class CopiedTables:
    """The tables of one run as its checks see them."""

    def __init__(self, resources: RunResources, plan: ReplicationPlan) -> None:
        self._resources = resources
        self._plan = plan

    def find(self, so_far: EndedSteps) -> list[CheckedTable | UnreadableTable]:
        """Every table that was copied or had nothing new; what failed is not looked at."""
        made = {each.step.key: each.watermark for each in so_far.outcomes if each.succeeded}
        copies = {each.routed.key: each for each in self._plan.copies if each.model.key in made}
        routed = [*(each.routed for each in copies.values()), *self._plan.unchanged]
        history = load_counts(
            self._resources.ledger.path, [each.target.full_name for each in routed]
        )
        tables = [
            self._checked(each, copies.get(each.key), made.get(each.key), history)
            for each in routed
        ]
        return [each for each in tables if each is not None]

    def _checked(
        self, routed: RoutedTable, copy: Copy | None, high: str | None, history: Histories
    ) -> CheckedTable | UnreadableTable | None:
        table = self._resources.warehouse.table(routed.target)
        try:
            snapshot = table.snapshot()
        except StoreUnreadable as error:
            return UnreadableTable(routed.target.full_name, str(error))
        if snapshot is None:
            return None
        names = {field.name.lower() for field in snapshot.schema}
        has_time = routed.timestamp_column.lower() in names
        return CheckedTable(
            routed.target,
            table,
            snapshot,
            self._source(copy, high) if copy is not None else None,
            routed.asset_key[0],
            routed.found.schema,
            routed.timestamp_column if has_time else None,
            tuple(each.name for each in routed.metadata),
            self._on_notice(routed.target, copy),
            history.get(routed.target.full_name, ()),
            unchanged=copy is None,
        )

    def _source(self, copy: Copy, high: str | None) -> SourceSide:
        declared = self._plan.run.project.sources[copy.model.sources[0].declared_name.lower()]
        pin = self._resources.sources.look(declared)
        where = None
        if pin is None and high is not None:
            # Rows that arrived after the copy began wait for the next one.
            name = quote_name(copy.routed.timestamp_column)
            where = f"{name} <= {quote_text(high)} OR {name} IS NULL"
        return SourceSide(declared, pin, where=where)

    def _on_notice(self, target: Target, copy: Copy | None) -> tuple[str, ...]:
        periods = list(self._plan.history.grace.get(target.key, ()))
        ended = {each.column for each in copy.notes.ended} if copy is not None else set()
        periods += copy.notes.grace if copy is not None else ()
        return tuple({each.column: each for each in periods if each.column not in ended})


_MOST_LOCAL_COPIES: Final = 8
"""A Spark on this machine has few cores: more tables at once only take turns."""


def open_replication(
    opened: RunSession, compilation: Compilation, name: str, pipeline: ReplicationPipeline
) -> Replication:
    """A pipeline where a run can begin."""
    resources = opened.resources
    return Replication(
        name,
        pipeline,
        compilation,
        resources.warehouse,
        resources.open_engine,
        {**opened.caller.environment, **opened.adapter.conf},
    )


def run_replication(
    opened: RunSession,
    compilation: Compilation,
    name: str,
    pipeline: ReplicationPipeline,
    request: RunRequest,
) -> PipelineResult:
    """Copy the tables of a pipeline that have something new.

    Raises RunRefused, NothingSelected, and as `run_plan` does.
    """
    refuse_unsupported(name, pipeline, request)
    replication = open_replication(opened, compilation, name, pipeline)
    resources = opened.resources
    with resources.ledger.reader() as reader:
        resumed, done = find_completed(reader, name, request.resume)
    with resources.ledger.lookups() as lookups:
        plan = plan_replication(replication, request, lookups, resources.clock(), done=done)
    checks = PipelineChecks(
        pipeline.checks,
        CopiedTables(resources, plan).find,
        resources.warehouse,
        plan.routing.known,
        plan.routing.schemas,
    )
    notes = PipelineContribution(
        name,
        {each.model.key: each.notes for each in plan.copies},
        tuple(each.target.full_name for each in plan.unchanged),
        plan.failed,
        ", ".join(request.filters) or None,
        resumed,
        request.idempotency_key,
        checks if pipeline.checks.enabled else None,
    )
    options = RunParameters(
        full_refresh=request.builds_whole,
        rebuild=request.rebuild,
        reuse=request.reuse,
        selection=request.filters,
        notes=notes,
        limits=replication_limits(opened, pipeline, request),
        start_anew=request.start_anew,
        force=request.force,
    )
    report = run_plan(
        plan.run, resources, options, listener=opened.caller.listener, stop=opened.stop
    )
    warned = replace(report, warnings=(*report.warnings, *plan.warnings))
    return PipelineResult("replication", warned, plan.excluded, checks.result)


def replication_limits(
    opened: RunSession, pipeline: ReplicationPipeline, request: RunRequest
) -> Limits:
    """How hard a run tries: as `[pipeline.X.execution]` says, unless the request does."""
    execution = pipeline.execution
    is_local = opened.adapter.remote is None and (opened.adapter.master or "local").startswith(
        "local"
    )
    return Limits(
        request.parallel or execution.concurrency,
        _MOST_LOCAL_COPIES if is_local else ADAPTIVE_MOST,
        execution.fail_fast,
        execution.error_rate_abort_pct,
    )


def find_completed(
    reader: HistoryReader, pipeline: str, resume: str | None
) -> tuple[RunId | None, dict[str, str]]:
    """The run to resume and the tables it has copied, by key. Raises NothingSelected."""
    if resume is None:
        return None, {}
    if resume == LATEST:
        found = next((each for each in reader.runs() if each.pipeline == pipeline), None)
        if found is None:
            raise NothingSelected(f"no run of pipeline `{pipeline}` to resume")
        run = reader.run(found.run_id)
    else:
        run = reader.find_run(resume)
    if run is None:
        raise NothingSelected(f"no run `{resume}` to resume; `rocky history` lists them")
    if run.pipeline != pipeline:
        raise NothingSelected(
            f"run `{run.run_id}` was one of pipeline `{run.pipeline}`, not of `{pipeline}`"
        )
    why = f"copied_by_{run.run_id}"
    return run.run_id, {
        each.model_name.lower(): why for each in run.models_executed if _is_copied(each)
    }


def _is_copied(execution: ModelExecution) -> bool:
    return execution.status in (ModelStatus.SUCCESS, ModelStatus.REUSED)


@dataclass(frozen=True, slots=True)
class CopyPreview:
    """What would happen to one table: `decision` in a word, `reason` in a sentence."""

    table: str
    source: str
    decision: str
    reason: str
    drift: tuple[DriftRecord, ...]


def preview_replication(
    compilation: Compilation,
    name: str,
    pipeline: ReplicationPipeline,
    adapter: Adapter,
    request: RunRequest,
    caller: Caller,
    *,
    prune: bool = True,
) -> tuple[ReplicationPlan, tuple[CopyPreview, ...]]:
    """What a run would do now. Without `prune` unchanged tables are looked at too."""
    root = compilation.project.root
    with ExitStack() as opened:
        lookups = open_lookup_reader(caller.state)
        if lookups is not None:
            opened.enter_context(lookups)
        replication = Replication(
            name,
            pipeline,
            compilation,
            open_project_warehouse(adapter, root, caller.environment),
            engine_opener(opened, compilation.project, adapter, caller),
            {**caller.environment, **adapter.conf},
        )
        done = find_resumed_tables(name, request, caller)
        plan = plan_replication(
            replication, request, lookups, datetime.now(UTC), done=done, prune=prune
        )
        exists = {
            each.routed.key: replication.warehouse.table(each.routed.target).snapshot() is not None
            for each in plan.copies
            if each.refusal is None
        }
    looking = Disclosure(compilation)
    prospects = [
        _preview_copy(each, plan.history, looking, exists=exists.get(each.routed.key, False))
        for each in plan.copies
    ]
    return plan, (*prospects, *_left_alone(plan))


def find_resumed_tables(name: str, request: RunRequest, caller: Caller) -> dict[str, str]:
    """The tables that a run which is to be resumed has copied. Raises NothingSelected."""
    if request.resume is None:
        return {}
    reader = open_history_reader(caller.state)
    if reader is None:
        raise NothingSelected(f"no run of pipeline `{name}` to resume")
    with reader:
        return find_completed(reader, name, request.resume)[1]


def _preview_copy(
    copy: Copy, history: CopyHistory, looking: Disclosure, *, exists: bool
) -> CopyPreview:
    routed, notes = copy.routed, copy.notes
    table, source = routed.target.full_name, routed.found.name
    if notes.refusal is not None:
        return CopyPreview(table, source, "fail", notes.refusal, ())
    if not exists:
        return CopyPreview(table, source, "load", "never copied", notes.drift)
    if notes.full_refresh is not None:
        return CopyPreview(table, source, "replace", notes.full_refresh, notes.drift)
    if isinstance(copy.model.strategy, Incremental):
        if routed.key not in history.watermarked:
            why = "no watermark is recorded: all rows are loaded in place of those there are"
            return CopyPreview(table, source, "load", why, notes.drift)
        last = history.last.get(routed.key)
        mark = last.watermark if last is not None else None
        (secrets,) = looking.in_stored(table, [routed.timestamp_column])
        above = f" above {shown(mark, secrets)}" if mark else ""
        return CopyPreview(table, source, "append", f"what is new{above}", notes.drift)
    if routed.strategy == "merge":
        keys = ", ".join(f"`{key}`" for key in routed.merge_keys)
        return CopyPreview(table, source, "merge", f"by {keys}", notes.drift)
    return CopyPreview(table, source, "load", "a full refresh", notes.drift)


def _left_alone(plan: ReplicationPlan) -> Sequence[CopyPreview]:
    return [
        CopyPreview(each.target or each.name, each.name, "leave", each.reason, ())
        for each in plan.excluded
    ]
