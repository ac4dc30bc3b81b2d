"""What ran, newest first: runs, the executions of one model, or one run and why it failed.

Reads the state file only; of a run that failed it looks where its log is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from rocky.errors import InvalidRequest, NothingSelected, ProjectNotFound
from rocky.ledger import HistoryReader
from rocky.ledger.branch_records import PromotionRecord
from rocky.ledger.branches import load_promotions
from rocky.ledger.pipeline_records import AnomalyRecord, CheckOutcome, DriftRecord
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    BudgetBreach,
    EngineRecord,
    ModelExecution,
    ModelStatus,
    RunRecord,
    RunStatus,
    TotalsRecord,
)
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.records.outcome_words import HELD_BACK, outcome_of
from rocky.operations.records.run_lookup import locate_run
from rocky.operations.report import flat, hidden, same_fields
from rocky.operations.workspace import (
    Workspace,
    known_branch,
    load_workspace,
    model_named,
    open_history,
    project_location,
    state_path,
)
from rocky.plan.arguments import Count, Request

_LIMIT: Final = 20


@dataclass(frozen=True, slots=True)
class HistoryRequest(Request):
    """Which runs: at most `limit` that began at or after `since`; with a `model`, its executions.

    A `run`, by its id, the beginning of one or `latest`, is that one alone, with what became of its
    models and why it failed; it may be one of a branch. An `audit` adds who ran
    it, where and from which code.
    """

    model: str | None = None
    limit: Count = _LIMIT
    since: datetime | None = None
    audit: bool = False
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAudit:
    """Who ran it, how it was triggered, where, and from which code."""

    trigger: str
    config_hash: str
    triggering_identity: str | None = None
    session_source: str
    ci: Mapping[str, str] = field(default_factory=dict)
    git_commit: str | None = None
    git_branch: str | None = None
    git_dirty: bool | None = None
    target_catalog: str | None = None
    warehouse: str | None = None
    hostname: str
    rocky_version: str
    pipeline: str | None = None
    selection: tuple[str, ...]
    full_refresh: bool
    engine: EngineRecord | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSummary:
    """What a run did with one model, in short: its `outcome` is a word for people.

    `drift` is how the source of a copy differed from it.
    """

    model_name: str
    status: ModelStatus
    outcome: str
    duration_ms: int
    rows_affected: int | None = None
    cost_usd: float | None = None
    decision: str | None = None
    reason: str | None = None
    reused_from: RunId | None = None
    reuse_basis: str | None = None
    recipe_hash: str | None = None
    drift: tuple[DriftRecord, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One run. `duration_ms` is absent while it runs, and for ever when it died."""

    record: RunRecord = hidden()
    run_id: RunId
    started_at: datetime
    finished_at: datetime | None = None
    duration_ms: int | None = None
    status: RunStatus
    died: bool
    trigger: str
    pipeline: str | None = None
    filter: str | None = None
    resumed_from: RunId | None = None
    idempotency_key: str | None = None
    plan_id: str | None = None
    unchanged: int | None = None
    unchanged_since: RunId | None = None
    failed_sources: Mapping[str, str] | None = None
    check_outcomes: tuple[CheckOutcome, ...] = ()
    anomalies: tuple[AnomalyRecord, ...] = ()
    models_executed: int
    models: tuple[ModelSummary, ...]
    totals: TotalsRecord | None = None
    budget_breaches: tuple[BudgetBreach, ...] = ()
    audit: RunAudit | None = flat()


@dataclass(frozen=True, slots=True, repr=False)
class HistoryReport(Digested):
    """Runs, newest first."""

    count: int
    runs: tuple[RunSummary, ...]

    def digest(self) -> Digest:
        rows = [
            (each.run_id, each.status.value, each.trigger, each.models_executed, each.duration_ms)
            for each in self.runs
        ]
        newest = f", the newest {self.runs[0].status.value}" if self.runs else ""
        head = ("run", "status", "trigger", "models", "ms")
        return Digest(f"{counts(run=self.count)}{newest}", head, rows, len(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionSummary:
    """What one run did with the model, its `outcome` a word for people.

    `run` is there for an audit, while it is recorded.
    """

    run_id: RunId
    outcome: str
    execution: ModelExecution = flat(without=("model_name",))
    run: RunAudit | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ExecutionsReport(Digested):
    """The executions of one model, newest first.

    `unchanged_runs` have none: they go by what the newest of them found.
    """

    model: str
    count: int
    executions: tuple[ExecutionSummary, ...]
    unchanged_runs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedModel:
    """A model that failed. `error` begins with its place in the project, where it has one."""

    model_name: str
    error: str
    failure_kind: str | None = None
    attempts: int


@dataclass(frozen=True, slots=True)
class HeldModel:
    """A model that was held back; `reason` names what it waited for."""

    model_name: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunAccount(Digested):
    """One run: who ran which code, what became of each model, and why it failed, if it did.

    `branch` is the one whose ledger has it; absent for production. `promotion` is what it moved, of
    a promotion or a revert. `reason` is why it could not go on as a whole. `log` is where the
    stacks are, from the project's folder; absent where there are none, or on another machine.
    """

    run: RunSummary
    by: str | None = None
    git_commit: str | None = None
    git_dirty: bool | None = None
    branch: str | None = None
    promotion: PromotionRecord | None = None
    reason: str | None = None
    failed: tuple[FailedModel, ...]
    held_back: tuple[HeldModel, ...]
    interrupted: tuple[str, ...]
    log: str | None = None


def history(
    workspace: Workspace, request: HistoryRequest
) -> HistoryReport | ExecutionsReport | RunAccount:
    """What ran. Raises NothingSelected when nobody knows the model or the run asked for."""
    workspace = known_branch(workspace)
    if request.run is not None:
        return _account(workspace, request, request.run)
    if request.since is not None and request.since.tzinfo is None:
        raise InvalidRequest("`since` has no time zone: pass one, such as `datetime.UTC`")
    with open_history(workspace) as reader:
        if request.model is not None:
            return _executions(workspace, reader, request.model, request)
        runs = reader.runs(request.limit, request.since) if reader is not None else ()
    return HistoryReport(len(runs), tuple(_summary(each, audit=request.audit) for each in runs))


def _account(workspace: Workspace, request: HistoryRequest, wanted: str) -> RunAccount:
    for name, given in (
        ("model", request.model is not None),
        ("since", request.since is not None),
        ("limit", request.limit != _LIMIT),
    ):
        if given:
            raise InvalidRequest(f"a run is one alone: `{name}` has nothing to choose from")
    workspace, run = locate_run(workspace, wanted)
    executions = run.models_executed
    return RunAccount(
        run=_summary(run, audit=request.audit),
        by=run.triggering_identity,
        git_commit=run.git_commit,
        git_dirty=run.git_dirty,
        branch=workspace.branch_name,
        promotion=_promotion_of(workspace, run.run_id),
        reason=run.reason,
        failed=tuple(
            FailedModel(
                model_name=each.model_name,
                error=each.error or "no reason is recorded",
                failure_kind=each.failure_kind,
                attempts=max(1, len(each.attempts)),
            )
            for each in executions
            if each.status is ModelStatus.FAILED
        ),
        held_back=tuple(
            HeldModel(each.model_name, each.reason)
            for each in executions
            if outcome_of(each) == HELD_BACK
        ),
        interrupted=tuple(
            each.model_name for each in executions if each.status is ModelStatus.INTERRUPTED
        ),
        log=_log_of(workspace, run.run_id),
    )


def _promotion_of(workspace: Workspace, run_id: RunId) -> PromotionRecord | None:
    found = load_promotions(state_path(workspace))
    return next((each for each in found if each.run_id == run_id), None)


def _log_of(workspace: Workspace, run_id: RunId) -> str | None:
    # Here, because who asks for a list of runs does without the store.
    from rocky.run.run_log import log_path  # noqa: PLC0415

    root, _ = project_location(workspace)
    path = log_path(run_id)
    return path if (root / path).is_file() else None


def _executions(
    workspace: Workspace, reader: HistoryReader | None, model: str, request: HistoryRequest
) -> ExecutionsReport:
    # A deleted model has a history all the same, so the project is asked only about names that the
    # ledger has never heard.
    last = reader.last_execution(model) if reader is not None else None
    if last is not None:
        name = last.execution.model_name
    else:
        try:
            kept = workspace.compiled
            project = load_workspace(workspace) if kept is None else kept(workspace, True).project
            name = model_named(project, model).name
        except ProjectNotFound:
            raise NothingSelected(f"no model `{model}` has ever run") from None
    if reader is None:
        return ExecutionsReport(name, 0, ())
    found = reader.executions(name, request.limit, request.since)
    runs = {each.run_id: reader.run(each.run_id) for each in found} if request.audit else {}
    audits = {run_id: audit_of(run) for run_id, run in runs.items() if run is not None}
    return ExecutionsReport(
        name,
        len(found),
        tuple(
            ExecutionSummary(
                run_id=run_id, outcome=outcome_of(each), execution=each, run=audits.get(run_id)
            )
            for run_id, each in found
        ),
        len(reader.run_ids(unchanged_since=found[0].run_id)) if found else 0,
    )


def _summary(run: RunRecord, *, audit: bool) -> RunSummary:
    return RunSummary(
        record=run,
        duration_ms=run_duration_ms(run),
        died=run.died,
        models_executed=len(run.models_executed),
        models=tuple(_model(each) for each in run.models_executed),
        failed_sources=run.failed_sources or None,
        audit=audit_of(run) if audit else None,
        **same_fields(RunSummary, run, besides=_WORKED_OUT),
    )


_WORKED_OUT: Final = frozenset(
    ("record", "duration_ms", "died", "models_executed", "models", "failed_sources", "audit")
)


def _model(execution: ModelExecution) -> ModelSummary:
    same = same_fields(ModelSummary, execution, besides={"outcome"})
    return ModelSummary(outcome=outcome_of(execution), **same)


def audit_of(run: RunRecord) -> RunAudit:
    """The audit's part of a run's record."""
    return RunAudit(**same_fields(RunAudit, run))


def run_duration_ms(run: RunRecord) -> int | None:
    """How long a run took; None while it runs, and for ever when it died."""
    if run.finished_at is None:
        return None
    return (run.finished_at - run.started_at) // timedelta(milliseconds=1)
