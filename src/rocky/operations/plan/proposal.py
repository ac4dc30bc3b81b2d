"""A plan that was just made: the drafts of all its runs in one payload, with what they may cost.

The same function makes it when a plan is asked for and when a kept one is applied: that holds only
if it comes out again, word for word.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.canonical import canonical_json
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import placed_message
from rocky.operations.findings import describe_findings, refuse_errors
from rocky.operations.pipelines.choice import is_of_models, key_of_pipeline, pipelines_to_run
from rocky.operations.plan.draft import DraftRun, draft_models
from rocky.operations.plan.pipeline_drafts import PipelineDrafts
from rocky.operations.plan.report import (
    LeftOutModel,
    MaskAction,
    PlannedRun,
    SchemaChange,
    column_change,
    estimate_of,
)
from rocky.operations.report import encode_report
from rocky.operations.workspace import Workspace, caller_of, state_path
from rocky.plan.adapters import choose_adapter
from rocky.plan.budget import check_estimates
from rocky.plan.estimates import estimate_units, extents_of, units_of
from rocky.plan.kept_plan import RUN_KIND, KeptPlan, PlanDocument
from rocky.plan.refusals import config_findings, plan_checked
from rocky.plan.request import PARALLEL, PlanRequest, RunRequest, request_document
from rocky.plan.steps import RunPlan, Step
from rocky.project.project import mask_level
from rocky.run.engine.sources import Sources
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.missing_sources import beyond_reach, find_missing_sources
from rocky.version import __version__


@dataclass(frozen=True, slots=True)
class PlanProposal:
    """A plan that was just made, and what is shown of its runs."""

    stored: KeptPlan
    runs: tuple[PlannedRun, ...]

    @property
    def over_budget(self) -> bool:
        """Whether a budget that is set to be an error is exceeded by an estimate."""
        return any(run.budget.fails for run in self.runs)


def propose_plan(
    workspace: Workspace, compilation: Compilation, request: RunRequest, *, is_new: bool = False
) -> PlanProposal:
    """What a request would do now, pipeline by pipeline. Nothing is written.

    Raises ErrorsFound, and what looking at things raises; of a plan that `is_new`, StateLost: what
    a kept one was made for is compared, and that the state is gone is found so.
    """
    project = compilation.project
    caller = caller_of(workspace, project, state_path(workspace))
    names = pipelines_to_run(compilation, request)
    drafts: list[DraftRun] = []
    runs: list[PlannedRun] = []
    for name in names:
        own = request
        if len(names) > 1:
            key = key_of_pipeline(request.idempotency_key, name)
            own = replace(request, pipeline=name, idempotency_key=key)
        draft = _draft_run(compilation, name, own, caller, is_new=is_new)
        drafts.append(draft)
        runs.append(_plan_run(compilation, draft, own, caller))
    payload = {
        "rocky_version": __version__,
        "request": request_document(
            PlanRequest(request, workspace.branch_name, workspace.variables, workspace.mask_env)
        ),
        "config_hash": project.config_hash.hex(),
        "runs": [each.document for each in drafts],
    }
    outlook = {
        "runs": [_outlook(run) for run in runs],
        "has_budget_errors": any(run.budget.fails for run in runs),
    }
    stored = KeptPlan(
        RUN_KIND,
        _as_read(payload),
        datetime.now(UTC),
        caller.circumstances.triggering_identity,
        _as_read(outlook),
    )
    return PlanProposal(stored, tuple(runs))


def _draft_run(
    compilation: Compilation,
    name: str | None,
    request: RunRequest,
    caller: Caller,
    *,
    is_new: bool,
) -> DraftRun:
    if name is None or is_of_models(compilation.project.config.pipeline[name]):
        plan, errors = plan_checked(compilation, request)
        refuse_errors(compilation, errors)
        return draft_models(plan, request, caller, is_new=is_new)
    refuse_errors(compilation, config_findings(compilation))
    drafts = PipelineDrafts(compilation, name, request, caller)
    if is_new:
        drafts.refuse_lost_state()
    return drafts.draft()


def _plan_run(
    compilation: Compilation, draft: DraftRun, request: RunRequest, caller: Caller
) -> PlannedRun:
    """A draft with what it may take, and what of that exceeds its budget."""
    config = compilation.project.config
    units = draft.units
    if not units and draft.plan is not None:
        extents = extents_of(
            draft.plan,
            draft.builds,
            draft.relies_on or {},
            datetime.now(UTC),
            full_refresh=request.builds_whole,
        )
        units = units_of(draft.plan, draft.builds, extents)
    estimates = estimate_units(
        caller.state, units, config.cost.min_history_runs, request.parallel or PARALLEL
    )
    missing = _missing_sources(compilation, draft, request)
    return PlannedRun(
        type=draft.document["type"],
        statements=draft.statements,
        schema_changes=tuple(
            SchemaChange(model, column_change(change)) for model, change in draft.changes
        ),
        estimate=estimate_of(estimates),
        inputs_unreadable=tuple(draft.unreadable),
        pipeline=draft.pipeline,
        outlook=draft.outlook,
        verdict=draft.verdict,
        notes=draft.notes,
        left_out=_left_out(draft.plan),
        mask_actions=_mask_actions(draft.plan),
        budget=check_estimates(config.budget, units, estimates),
        diagnostics=describe_findings(missing, compilation.project.texts),
        findings=missing,
    )


def _left_out(plan: RunPlan | None) -> tuple[LeftOutModel, ...]:
    """What the run would go on without, and why."""
    found: list[LeftOutModel] = []
    if plan is None:
        return ()
    for each in plan.left_out:
        if each.finding is not None:
            reason = placed_message(each.finding, plan.project.texts)
        else:
            listed = ", ".join(f"`{step.name}`" for step in each.blocked_by)
            reason = f"waits for {listed}"
        found.append(LeftOutModel(each.step.name, reason))
    return tuple(found)


def _mask_actions(plan: RunPlan | None) -> tuple[MaskAction, ...]:
    """The columns that would be masked, in the order of the steps."""
    if plan is None:
        return ()
    level = mask_level(plan.project)
    return tuple(
        MaskAction(step.name, each.column, each.tags, each.strategy, level)
        for step in plan.steps
        for masks in (plan.compilation.masks.of(step.key), plan.compilation.masks.held(step.key))
        for each in masks.values()
    )


def _missing_sources(
    compilation: Compilation, draft: DraftRun, request: RunRequest
) -> tuple[Diagnostic, ...]:
    """Sources of models that are not there, and that no run of the project could still make."""
    if draft.plan is None or draft.plan.compilation is not compilation:
        return ()
    project = compilation.project
    adapter = choose_adapter(project, draft.plan, request.adapter)
    sources = Sources(project.root, adapter.conf)
    steps = _with_queries(draft.plan, draft.builds)
    return beyond_reach(find_missing_sources(project, steps, sources), project)


def _with_queries(plan: RunPlan, builds: Sequence[Step]) -> list[Step]:
    """Steps with the queries that they read."""
    queries = {step.key: step for step in plan.steps if step.kind == "inline"}
    found = list(builds)
    for step in found:
        found += [queries.pop(read.key) for read in step.reads if read.key in queries]
    return found


def _outlook(run: PlannedRun) -> dict[str, Any]:
    """What a run may take, as it is kept beside the payload."""
    estimate = encode_report(run.estimate)
    found: dict[str, Any] = {
        "models": estimate.pop("models"),
        "totals": estimate,
        "budget_diagnostics": [encode_report(each) for each in run.budget.findings],
        "budget_unchecked": list(run.budget.unchecked),
    }
    return found if run.pipeline is None else {"pipeline": run.pipeline, **found}


def _as_read(document: PlanDocument) -> dict[str, Any]:
    """A document as it comes back from its file, so that both can be compared."""
    found: dict[str, Any] = json.loads(canonical_json(document))
    return found
