"""Why: what a run would do with one model now, for which reason, and what became of it last."""

from dataclasses import dataclass

from rocky.errors import InputNotBuilt, NothingSelected
from rocky.ledger.record import RunId
from rocky.operations.digest import Digested
from rocky.operations.plan import preview_plan
from rocky.operations.plan.report import ModelsOutlook, StepOutlook
from rocky.operations.records.history import ExecutionsReport, HistoryRequest, history
from rocky.operations.records.outcome_words import PLANNED, outcome_of
from rocky.operations.workspace import Workspace
from rocky.plan.arguments import Request
from rocky.plan.request import RunRequest


@dataclass(frozen=True, slots=True)
class WhyRequest(Request):
    """Which model."""

    model: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WhyReport(Digested):
    """What would be done and why; `last_...` is of its last execution, if there was one.

    Not `certain` where only Spark can say what would be found.
    """

    model: str
    decision: str
    outlook: str
    reason: str
    certain: bool
    reused_from: RunId | None = None
    basis: str | None = None
    waits_for: tuple[str, ...] = ()
    last_run: RunId | None = None
    last_outcome: str | None = None
    last_reason: str | None = None


def why(workspace: Workspace, request: WhyRequest) -> WhyReport:
    """Why a model would be built or reused. Raises NothingSelected, and as a plan."""
    found = _foresee(workspace, request.model)
    if found is None:
        raise NothingSelected(f"a run would not come to `{request.model}`")
    certain, step = found
    past = history(workspace, HistoryRequest(model=request.model, limit=1))
    newest = past.executions[0] if isinstance(past, ExecutionsReport) and past.count else None
    return WhyReport(
        model=step.model,
        decision=step.decision,
        outlook=PLANNED.get(step.decision, step.decision),
        reason=step.reason,
        certain=certain,
        reused_from=step.reused_from,
        basis=step.basis,
        waits_for=step.waits_for,
        last_run=None if newest is None else newest.run_id,
        last_outcome=None if newest is None else outcome_of(newest.execution),
        last_reason=None if newest is None else newest.execution.reason,
    )


def _foresee(workspace: Workspace, model: str) -> tuple[bool, StepOutlook] | None:
    try:
        foreseen = preview_plan(workspace, RunRequest((model,)))
    except InputNotBuilt:
        # Alone it is refused. A run of everything builds what it reads first, and comes to it.
        foreseen = preview_plan(workspace, RunRequest((f"+{model}",)))
    for run in foreseen.runs:
        if isinstance(run.outlook, ModelsOutlook):
            for step in run.outlook.model_decisions:
                if step.model.lower() == model.lower():
                    return run.outlook.certain, step
    return None
