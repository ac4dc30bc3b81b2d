"""The report of one run: tables built, what failed, what was decided and why, what it cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from rocky.diagnostics import Code
from rocky.diagnostics.diagnostic import NO_TEXTS, Texts
from rocky.ledger.record import RunId
from rocky.ledger.run_records import (
    AttemptRecord,
    BudgetBreach,
    CostRate,
    MetricsRecord,
    ModelStatus,
    RunStatus,
)
from rocky.operations.digest import Digest, Digested
from rocky.operations.execution.test import DataTest, TestReport, UnitTest, report_tests
from rocky.operations.findings import Finding, describe_findings
from rocky.operations.records.outcome_words import count_outcomes, outcome_of
from rocky.operations.report import flat, hidden, same_fields
from rocky.run.engine.protocol import EngineEnd
from rocky.run.materialize.build import BuiltPartition
from rocky.run.outcomes import HookDelivery, RunResult, StepOutcome, is_left_alone


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMetadata:
    """How a table was made."""

    strategy: str | None = None
    target_table_full_name: str | None = None
    sql_hash: str | None = None
    recipe_hash: str | None = None
    input_hash: str | None = None
    watermark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Materialization:
    """A model that was built. `asset_key` is what orchestrators call its table."""

    asset_key: tuple[str, ...]
    model: str
    rows_copied: int | None = None
    rows_hash: str | None = None
    canonical: bool | None = None
    files: int | None = None
    commit_version: int | None = None
    started_at: datetime
    duration_ms: int
    bytes_scanned: int | None = None
    bytes_written: int | None = None
    cost_usd: float | None = None
    metadata: TableMetadata
    partitions: tuple[BuiltPartition, ...]
    metrics: MetricsRecord | None = None
    attempts: tuple[AttemptRecord, ...]


@dataclass(frozen=True, slots=True)
class ModelError:
    """A model that failed, and every attempt at it.

    `diagnostics` say what in the project it failed for, if it was that.
    """

    asset_key: tuple[str, ...]
    model: str
    error: str | None
    failure_kind: str
    attempts: tuple[AttemptRecord, ...]
    diagnostics: Sequence[Finding] = ()


@dataclass(frozen=True, slots=True)
class ContainedModel:
    """A model that was not built because others failed."""

    model: str
    blocked_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelDecision:
    """What happened to a model, and why. Its `outcome` is a word for people.

    A `status` of `skipped` is two things: `held back` because of another model, or `resumed`.
    """

    model: str
    status: ModelStatus
    outcome: str
    decision: str | None = None
    reason: str | None = None
    reused_from: RunId | None = None
    basis: str | None = None


@dataclass(frozen=True, slots=True)
class ModelCost:
    """What one model took."""

    model: str
    duration_ms: int
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSummary:
    """What a run took, together and model by model. What was not measured is absent."""

    adapter_type: str
    total_cost_usd: float | None = None
    total_duration_ms: int
    total_bytes_scanned: int | None = None
    total_bytes_written: int | None = None
    total_core_ms: int | None = None
    rate: CostRate | None = None
    per_model: tuple[ModelCost, ...]


@dataclass(frozen=True, slots=True)
class ExceededBudget:
    """A limit that was exceeded; one of severity `error` fails the run."""

    code: str
    severity: str
    breach: BudgetBreach = flat()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelsRun(Digested):
    """One run. `result` is all that the runner has to say of it, about files with these `texts`.

    `outcomes` counts models by what became of them; `tables_skipped` are those held back and those
    resumed together.
    `engine_end` is there when Spark ended in the middle of it, `log` when something failed.
    """

    result: RunResult = hidden()
    texts: Texts = hidden()
    run_id: RunId
    status: RunStatus
    started_at: datetime
    finished_at: datetime
    duration_ms: int
    pipeline: str | None = None
    tables_copied: int
    tables_reused: int
    tables_failed: int
    tables_skipped: int
    outcomes: Mapping[str, int]
    interrupted: bool
    resumed_from: RunId | None = None
    unchanged_since: RunId | None = None
    state_error: str | None = None
    seal: str | None = None
    seal_error: str | None = None
    governance_error: str | None = None
    hooks: tuple[HookDelivery, ...] = ()
    materializations: tuple[Materialization, ...]
    errors: tuple[ModelError, ...]
    contained: tuple[ContainedModel, ...]
    model_decisions: tuple[ModelDecision, ...]
    cost_summary: CostSummary
    budget_breaches: tuple[ExceededBudget, ...]
    budget_unchecked: tuple[str, ...]
    tests: TestReport | None = None
    engine_end: EngineEnd | None = None
    log: str | None = None

    @property
    def exit_code(self) -> int:
        """130 interrupted, 1 nothing built, over budget, not sent or sealed, 2 some failed."""
        return self.result.exit_code

    @property
    def is_done(self) -> bool:
        """Whether its tables are as they shall be, for those that read them: sealed or not."""
        return replace(self.result, seal_error=None, hooks=()).exit_code == 0

    @property
    def succeeded(self) -> bool:
        """Whether it ended well, exceeded no budget that is an error, and is sealed if it must."""
        good = self.status is RunStatus.SUCCESS and not self.result.budget.fails
        errors = (self.seal_error, self.governance_error, self.result.hook_error)
        return good and all(each is None for each in errors)

    def digest(self) -> Digest:
        built = {each.model: each for each in self.materializations}
        rows = [
            (
                each.model,
                each.outcome,
                *_made(built.get(each.model)),
                each.reason,
            )
            for each in self.model_decisions
        ]
        found = [finding for each in self.errors for finding in each.diagnostics]
        failed = "".join(f"; `{each.model}` failed: {each.error}" for each in self.errors[:1])
        counted = ", ".join(f"{count} {word}" for word, count in self.outcomes.items())
        title = (
            f"{self.status.value} in {self.duration_ms / 1000:.1f} s: {counted or 'nothing to do'}"
            f"{_tested(self.tests)} (run {self.run_id}){failed}"
        )
        head = ("model", "outcome", "rows", "seconds", "reason")
        return Digest(title, head, rows, len(rows), found)


_SHOWN_TESTS: Final = 3


def _tested(tests: TestReport | None) -> str:
    if tests is None:
        return ""
    said = f"; tests: {tests.summary.passed} passed, {tests.summary.failed} failed"
    every: list[UnitTest | DataTest] = [*tests.unit_tests, *tests.data_tests]
    failed = [f"`{each.name}` of `{each.model}`" for each in every if not each.passed]
    more = ", ..." if len(failed) > _SHOWN_TESTS else ""
    return f"{said}: {', '.join(failed[:_SHOWN_TESTS])}{more}" if failed else said


def _made(built: Materialization | None) -> tuple[int | None, str | None]:
    """The rows that were written, and how long it took."""
    return (None, None) if built is None else (built.rows_copied, f"{built.duration_ms / 1000:.1f}")


_SAME: Final = (
    "run_id", "status", "started_at", "finished_at", "pipeline", "resumed_from",
    "unchanged_since", "state_error", "seal", "seal_error", "governance_error", "hooks",
    "engine_end", "log",
)  # fmt: skip


def report_models(result: RunResult, texts: Texts = NO_TEXTS) -> ModelsRun:
    """The report of a run of models, whose files have these texts."""
    outcomes = result.outcomes
    statuses = [each.execution.status for each in outcomes]
    return ModelsRun(
        result=result,
        texts=texts,
        duration_ms=result.totals.duration_ms,
        tables_copied=sum(map(_has_new_table, outcomes)),
        tables_reused=statuses.count(ModelStatus.REUSED),
        tables_failed=statuses.count(ModelStatus.FAILED) + len(result.failed_sources),
        tables_skipped=statuses.count(ModelStatus.SKIPPED),
        outcomes=count_endings(result),
        interrupted=result.status is RunStatus.INTERRUPTED,
        materializations=tuple(
            _materialization(each)
            for each in outcomes
            if each.execution.status is ModelStatus.SUCCESS
        ),
        errors=tuple(_error(each, texts) for each in outcomes if each.execution.error),
        contained=tuple(
            ContainedModel(each.step.name, each.blocked_by) for each in outcomes if each.blocked_by
        ),
        model_decisions=tuple(_decision(each) for each in outcomes),
        cost_summary=_cost_summary(result),
        budget_breaches=tuple(
            ExceededBudget(Code.BUDGET_EXCEEDED.value, result.budget.severity_of(each), each)
            for each in result.budget.breaches
        ),
        budget_unchecked=result.budget.unchecked,
        tests=None if result.tests is None else report_tests(result.tests, len(outcomes)),
        **{name: getattr(result, name) for name in _SAME},
    )


def count_endings(result: RunResult) -> dict[str, int]:
    """How many models ended in each word; a source that could not be looked at has failed."""
    executions = (each.execution for each in result.outcomes)
    return count_outcomes(executions, len(result.failed_sources))


def _has_new_table(outcome: StepOutcome) -> bool:
    execution = outcome.execution
    made = execution.status is ModelStatus.SUCCESS and outcome.step.kind != "inline"
    return made and not is_left_alone(execution)


def _asset_key(outcome: StepOutcome) -> tuple[str, ...]:
    return tuple((outcome.execution.target or outcome.step.name).split("."))


def _materialization(outcome: StepOutcome) -> Materialization:
    execution = outcome.execution
    besides = frozenset({"asset_key", "model", "rows_copied", "metadata", "partitions"})
    return Materialization(
        asset_key=_asset_key(outcome),
        model=outcome.step.name,
        rows_copied=execution.rows_affected,
        metadata=TableMetadata(
            strategy=execution.strategy,
            target_table_full_name=execution.target,
            sql_hash=execution.sql_hash or None,
            recipe_hash=execution.recipe_hash,
            input_hash=execution.input_hash,
            watermark=outcome.watermark,
        ),
        partitions=outcome.partitions,
        **same_fields(Materialization, execution, besides),
    )


def _error(outcome: StepOutcome, texts: Texts) -> ModelError:
    execution = outcome.execution
    return ModelError(
        _asset_key(outcome),
        outcome.step.name,
        execution.error,
        execution.failure_kind or "unknown",
        execution.attempts,
        describe_findings(() if outcome.finding is None else (outcome.finding,), texts),
    )


def _decision(outcome: StepOutcome) -> ModelDecision:
    execution = outcome.execution
    return ModelDecision(
        outcome.step.name,
        execution.status,
        outcome_of(execution),
        execution.decision,
        execution.reason,
        execution.reused_from,
        execution.reuse_basis,
    )


def _cost_summary(result: RunResult) -> CostSummary:
    totals = result.totals
    return CostSummary(
        adapter_type="spark",
        total_cost_usd=totals.cost_usd,
        total_duration_ms=totals.duration_ms,
        total_bytes_scanned=totals.bytes_scanned,
        total_bytes_written=totals.bytes_written,
        total_core_ms=totals.core_ms,
        rate=result.rate,
        per_model=tuple(
            ModelCost(each.step.name, each.execution.duration_ms, each.execution.cost_usd)
            for each in result.outcomes
        ),
    )
