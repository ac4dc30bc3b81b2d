"""Whether a kept plan still holds: compared with the one that would be made now."""

from pathlib import Path

from rocky.errors import PlanOutdated, RunRefused
from rocky.ledger import open_reader
from rocky.ledger.lookups import open_lookups
from rocky.ledger.records import RunStatus
from rocky.plans.comparison import compare_payloads
from rocky.plans.making import MadePlan
from rocky.plans.stored import StoredPlan
from rocky.run.holding import SHORT, describe_outdated


def check_plan(stored: StoredPlan, now: MadePlan, state: Path) -> None:
    """Raises PlanOutdated unless the plan would be made again, word for word.

    Raises RunRefused for a plan that is over budget, or that relies on what cannot be read: whether
    that moved nobody knows.
    """
    moves = compare_payloads(stored.payload, now.stored.payload)
    if moves:
        _check_unapplied(stored, state)
        raise PlanOutdated(describe_outdated(stored.plan_id, moves))
    short = stored.plan_id[:SHORT]
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


def _check_unapplied(stored: StoredPlan, state: Path) -> None:
    """Raises PlanOutdated when a run has carried out the plan, and done so well."""
    lookups, reader = open_lookups(state), open_reader(state)
    if lookups is None or reader is None:
        return
    with lookups, reader:
        for run_id in lookups.runs_of_plan(stored.plan_id):
            run = reader.run(run_id)
            if run is not None and run.status is RunStatus.SUCCESS:
                raise PlanOutdated(
                    f"plan `{stored.plan_id[:SHORT]}` was already applied by `{run_id}`: nothing"
                    " was run; make a new one with `rocky plan`"
                )


def _is_marked(stored: StoredPlan) -> bool:
    return bool(stored.outlook.get("has_budget_errors"))
