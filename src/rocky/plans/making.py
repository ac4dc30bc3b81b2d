"""Making a plan: the drafts of all its runs in one payload, with what they may cost beside it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rocky.compiler.compilation import Compilation
from rocky.diagnostics import Diagnostic
from rocky.evidence.hashes import canonical_json
from rocky.plan.refusals import config_findings, refusing_findings
from rocky.plans.budgets import PlanBudget, check_estimates
from rocky.plans.drafts import DraftRun, draft_models
from rocky.plans.estimates import Estimates, Unit, estimate_units, units_of
from rocky.plans.extents import extents_of
from rocky.plans.pipeline_drafts import PipelineDrafts
from rocky.plans.request_documents import Asked, asked_document
from rocky.plans.stored import RUN, StoredPlan
from rocky.run.applied import Document
from rocky.run.means import Means
from rocky.run.request import PARALLEL, RunRequest, plan_request
from rocky.version import __version__

Refuse = Callable[[Sequence[Diagnostic]], None]
"""Raises when there are errors for which nothing may start."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One run that is to be planned: of models where there is no `pipeline`."""

    request: RunRequest
    pipeline: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run of a plan, with what it may take and what of that exceeds its budget."""

    draft: DraftRun
    units: tuple[Unit, ...]
    estimates: Estimates
    budget: PlanBudget


@dataclass(frozen=True, slots=True)
class MadePlan:
    """A plan that was just made."""

    stored: StoredPlan
    runs: tuple[PlannedRun, ...]

    @property
    def over_budget(self) -> bool:
        """Whether a budget that is set to be an error is exceeded by an estimate."""
        return any(run.budget.fails for run in self.runs)


def make_plan(
    compilation: Compilation,
    asked: Asked,
    wanted: Sequence[Wanted],
    means: Means,
    refuse: Refuse,
) -> MadePlan:
    """What the runs would do now. Nothing is written. Raises what looking at things raises."""
    runs = tuple(_plan_run(compilation, each, means, refuse) for each in wanted)
    payload = {
        "rocky_version": __version__,
        "request": asked_document(asked),
        "config_hash": compilation.project.config_hash.hex(),
        "runs": [run.draft.document for run in runs],
    }
    stored = StoredPlan(
        RUN,
        _as_read(payload),
        datetime.now(UTC),
        means.circumstances.triggering_identity,
        _as_read(
            {
                "runs": [_outlook(run) for run in runs],
                "has_budget_errors": any(run.budget.fails for run in runs),
            }
        ),
    )
    return MadePlan(stored, runs)


def _plan_run(compilation: Compilation, wanted: Wanted, means: Means, refuse: Refuse) -> PlannedRun:
    request, config = wanted.request, compilation.project.config
    if wanted.pipeline is None:
        plan = plan_request(compilation, request)
        refuse(refusing_findings(plan))
        draft = draft_models(plan, request, means)
    else:
        refuse(config_findings(compilation))
        draft = PipelineDrafts(compilation, wanted.pipeline, request, means).draft()
    units = draft.units
    if not units and draft.plan is not None:
        extents = extents_of(
            draft.plan,
            draft.builds,
            draft.relies_on or {},
            datetime.now(UTC),
            full_refresh=request.full_refresh,
        )
        units = units_of(draft.plan, draft.builds, extents)
    estimates = estimate_units(
        means.state, units, config.cost.min_history_runs, request.parallel or PARALLEL
    )
    budget = check_estimates(config.budget, units, estimates)
    return PlannedRun(draft, units, estimates, budget)


def _outlook(run: PlannedRun) -> dict[str, Any]:
    """What a run may take, as it is kept beside the payload."""
    found: dict[str, Any] = {
        "models": {name: each.document() for name, each in sorted(run.estimates.models.items())},
        "totals": run.estimates.document(),
        "budget_diagnostics": [each.document() for each in run.budget.findings],
        "budget_unchecked": list(run.budget.unchecked),
    }
    name = run.draft.pipeline
    return found if name is None else {"pipeline": name, **found}


def _as_read(document: Document) -> dict[str, Any]:
    """A document as it comes back from its file, so that both can be compared."""
    found: dict[str, Any] = json.loads(canonical_json(document))
    return found
