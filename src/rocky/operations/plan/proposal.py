"""A plan that was just made: the drafts of all its runs in one payload, with what they may cost.

A kept plan is checked by making it again: it holds only if it comes out word for word, and if no
run has carried it out already.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.canonical import canonical_json
from rocky.diagnostics import Diagnostic
from rocky.errors import PlanOutdated, RunRefused
from rocky.ledger import open_history_reader
from rocky.ledger.readers.lookup import open_lookup_reader
from rocky.ledger.run_records import RunStatus
from rocky.operations.plan.draft import DraftRun, draft_models
from rocky.operations.plan.pipeline_drafts import PipelineDrafts
from rocky.plan.budget import PlanBudget, check_estimates
from rocky.plan.comparison import ID_CHARS, compare_payloads, describe_outdated
from rocky.plan.estimates import Estimates, Unit, estimate_units, extents_of, units_of
from rocky.plan.kept_plan import RUN_KIND, KeptPlan, PlanDocument
from rocky.plan.refusals import config_findings, refusing_findings
from rocky.plan.request import PARALLEL, PlanRequest, RunRequest, plan_request, request_document
from rocky.run.prepare.caller import Caller
from rocky.version import __version__

Refuse = Callable[[Sequence[Diagnostic]], None]
"""Raises when there are errors for which nothing may start."""


@dataclass(frozen=True, slots=True)
class RunToPlan:
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
class PlanProposal:
    """A plan that was just made."""

    stored: KeptPlan
    runs: tuple[PlannedRun, ...]

    @property
    def over_budget(self) -> bool:
        """Whether a budget that is set to be an error is exceeded by an estimate."""
        return any(run.budget.fails for run in self.runs)


def propose_plan(
    compilation: Compilation,
    asked: PlanRequest,
    wanted: Sequence[RunToPlan],
    means: Caller,
    refuse: Refuse,
) -> PlanProposal:
    """What the runs would do now. Nothing is written. Raises what looking at things raises."""
    runs = tuple(_plan_run(compilation, each, means, refuse) for each in wanted)
    payload = {
        "rocky_version": __version__,
        "request": request_document(asked),
        "config_hash": compilation.project.config_hash.hex(),
        "runs": [run.draft.document for run in runs],
    }
    stored = KeptPlan(
        RUN_KIND,
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
    return PlanProposal(stored, runs)


def _plan_run(
    compilation: Compilation, wanted: RunToPlan, means: Caller, refuse: Refuse
) -> PlannedRun:
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


def _as_read(document: PlanDocument) -> dict[str, Any]:
    """A document as it comes back from its file, so that both can be compared."""
    found: dict[str, Any] = json.loads(canonical_json(document))
    return found


def check_kept_plan(stored: KeptPlan, now: PlanProposal, state: Path) -> None:
    """Raises PlanOutdated unless the plan would be made again, word for word.

    Raises RunRefused for a plan that is over budget, or that relies on what cannot be read: whether
    that moved nobody knows.
    """
    moves = compare_payloads(stored.payload, now.stored.payload)
    if moves:
        _check_unapplied(stored, state)
        raise PlanOutdated(describe_outdated(stored.plan_id, moves))
    short = stored.plan_id[:ID_CHARS]
    unreadable = [each for run in now.runs for each in run.draft.unreadable]
    if unreadable:
        listed = "".join(f"\n  {each}" for each in unreadable)
        raise RunRefused(
            f"plan `{short}` cannot be held to, so nothing was run:{listed}\n"
            "see to that, and make a new one with `rocky plan`"
        )
    if now.over_budget or _is_marked(stored):
        said = [each.message for run in now.runs for each in run.budget.findings]
        listed = "".join(f"\n  {each}" for each in said)
        raise RunRefused(
            f"plan `{short}` is over budget (E027), so nothing was run:{listed}\n"
            "build less, or raise the ceiling, and make a new one with `rocky plan`"
        )


def _check_unapplied(stored: KeptPlan, state: Path) -> None:
    """Raises PlanOutdated when a run has carried out the plan, and done so well."""
    lookups, reader = open_lookup_reader(state), open_history_reader(state)
    if lookups is None or reader is None:
        return
    with lookups, reader:
        for run_id in lookups.runs_of_plan(stored.plan_id):
            run = reader.run(run_id)
            if run is not None and run.status is RunStatus.SUCCESS:
                raise PlanOutdated(
                    f"plan `{stored.plan_id[:ID_CHARS]}` was already applied by `{run_id}`: nothing"
                    " was run; make a new one with `rocky plan`"
                )


def _is_marked(stored: KeptPlan) -> bool:
    return bool(stored.outlook.get("has_budget_errors"))
