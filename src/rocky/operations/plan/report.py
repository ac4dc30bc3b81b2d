"""The report of a plan: what becomes of each step and why, and what it may take."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rocky.analysis.changes.change import Change, Impact
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import NO_TEXTS, Texts
from rocky.ledger.record import RunId
from rocky.operations.digest import Digest, Digested
from rocky.operations.findings import Finding
from rocky.operations.records.outcome_words import PLANNED
from rocky.operations.report import flat, hidden
from rocky.pipelines.replication.replication_run import CopyPreview
from rocky.plan.budget import BudgetFinding, PlanBudget
from rocky.plan.estimates import Estimate, EstimatedTotals, Estimates
from rocky.plan.kept_plan import KeptPlan


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL that would be handed on: `purpose` is `build`, `bind`, `copy`."""

    purpose: str
    target: str
    sql: str


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """How a column of a table would change."""

    rule: str
    impact: Impact
    column: str | None = None
    before: str | None = None
    after: str | None = None
    detail: str | None = None


def column_change(change: Change) -> ColumnChange:
    """A change without the readers that it reaches."""
    return ColumnChange(
        change.rule,
        change.impact,
        change.column,
        change.before,
        change.after,
        change.detail or None,
    )


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """How building a model would change its table."""

    model: str
    change: ColumnChange = flat()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEstimate:
    """What a run may take if all that may be built is built: together, and model by model."""

    totals: EstimatedTotals = flat()
    models: Mapping[str, Estimate]


def estimate_of(found: Estimates) -> RunEstimate:
    """What is estimated of a run."""
    return RunEstimate(totals=found.totals, models=found.models)


@dataclass(frozen=True, slots=True)
class StepOutlook:
    """What would happen to a step: `depends` where that is decided when its inputs are built."""

    model: str
    kind: str
    decision: str
    reason: str
    reused_from: RunId | None = None
    basis: str | None = None
    waits_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelsOutlook:
    """What would become of models.

    Not `certain` where only Spark can say what it is: what would be reused is built if it is
    another. `resumes` is the unfinished run that would be continued.
    """

    models: tuple[str, ...]
    execution_layers: tuple[tuple[str, ...], ...]
    certain: bool
    counts: Mapping[str, int]
    model_decisions: tuple[StepOutlook, ...]
    resumes: RunId | None = None


@dataclass(frozen=True, slots=True)
class CopiesOutlook:
    """What would become of tables that are copied."""

    tables: tuple[CopyPreview, ...]
    failed_sources: Mapping[str, str]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableOutlook:
    """What would happen to a table that is followed, or checked at a `version`."""

    table: str
    decision: str
    reason: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class LoadOutlook:
    """What would happen to the files of a table, which are identified by their hashes."""

    table: str
    decision: str
    reason: str
    files: Mapping[str, str]
    files_to_load: int


@dataclass(frozen=True, slots=True)
class TablesOutlook:
    """What would become of tables that are followed, loaded or checked."""

    tables: tuple[TableOutlook | LoadOutlook, ...]


Outlook = ModelsOutlook | CopiesOutlook | TablesOutlook


@dataclass(frozen=True, slots=True)
class MaskAction:
    """A column that would be written masked, by what and for which tags; `level` is where it holds.

    `resolved_strategy` is that of the environment the plan was made for.
    """

    model: str
    column: str
    tags: tuple[str, ...]
    resolved_strategy: str
    level: str


@dataclass(frozen=True, slots=True)
class LeftOutModel:
    """A model that has an error or stands on one, of a plan that goes on without it."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRun:
    """A run of a plan. `verdict` is the worst that it does to the columns of tables.

    `notes` are for people, and so is `budget`: what of the estimates exceeds a limit. `diagnostics`
    are sources that are not there; `findings` are the same as they are shown.
    """

    type: str
    statements: tuple[Statement, ...]
    schema_changes: tuple[SchemaChange, ...]
    estimate: RunEstimate
    inputs_unreadable: tuple[str, ...]
    pipeline: str | None = None
    outlook: Outlook = flat()
    verdict: str = hidden()
    notes: tuple[str, ...] = hidden()
    budget: PlanBudget = hidden()
    diagnostics: Sequence[Finding] = ()
    left_out: tuple[LeftOutModel, ...] = ()
    mask_actions: tuple[MaskAction, ...] = ()
    findings: tuple[Diagnostic, ...] = hidden()


@dataclass(frozen=True, slots=True, repr=False)
class PlanReport(Digested):
    """A plan that is kept: of one run, or of several pipelines in the order they would be run.

    `texts` are those that findings point into.
    """

    plan_id: str
    plan_kind: str
    created_at: datetime
    budget_diagnostics: tuple[BudgetFinding, ...]
    budget_unchecked: tuple[str, ...]
    has_budget_errors: bool
    breaking_verdict: str
    texts: Texts = hidden()
    run: PlannedRun | None = flat()
    pipelines: tuple[PlannedRun, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether a run of it would fail for what is known now: budgets, sources not there."""
        return self.has_budget_errors or any(run.findings for run in self.runs)

    @property
    def runs(self) -> tuple[PlannedRun, ...]:
        """The runs of the plan, in order."""
        return self.pipelines if self.run is None else (self.run,)

    def digest(self) -> Digest:
        rows = [row for run in self.runs for row in _outlook_rows(run.outlook)]
        found = [finding for run in self.runs for finding in run.diagnostics]
        decided = Counter(decision for _, decision, _ in rows)
        said = ", ".join(f"{number} {word}" for word, number in decided.items())
        title = f"plan {self.plan_id}: {said or 'nothing to do'}"
        if self.has_budget_errors:
            title += "; over budget"
        if self.breaking_verdict == "breaking":
            title += "; breaking changes"
        return Digest(title, ("what", "decision", "reason"), rows, len(rows), found)


def _outlook_rows(outlook: Outlook) -> list[tuple[str, str, str]]:
    if isinstance(outlook, ModelsOutlook):
        return [
            (each.model, PLANNED.get(each.decision, each.decision), each.reason)
            for each in outlook.model_decisions
        ]
    return [(each.table, each.decision, each.reason) for each in outlook.tables]


def report_plan(kept: KeptPlan, runs: Sequence[PlannedRun], texts: Texts = NO_TEXTS) -> PlanReport:
    """The report of a plan that is kept, of files with these texts."""
    one = runs[0] if len(runs) == 1 else None
    return PlanReport(
        kept.plan_id,
        kept.kind,
        kept.created_at,
        tuple(each for run in runs for each in run.budget.findings),
        tuple(each for run in runs for each in run.budget.unchecked),
        any(run.budget.fails for run in runs),
        _worst_verdict(runs),
        texts,
        one,
        tuple(runs) if one is None else (),
    )


def _worst_verdict(runs: Sequence[PlannedRun]) -> str:
    found = {run.verdict for run in runs}
    order = ("breaking", "unknown", "warning", "info")
    return next((each for each in order if each in found), "none")
