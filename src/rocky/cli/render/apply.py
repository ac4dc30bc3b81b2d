"""A plan that was applied, as programs see it."""

from typing import Any, Final

from rocky.plan.kept_plan import KeptPlan

_FINE: Final = frozenset({"Success", "SkippedIdempotent", "SkippedInFlight"})


def apply_document(plan: KeptPlan, result: dict[str, Any]) -> dict[str, Any]:
    """What `rocky apply -o json` prints: the plan, and what the run of it printed."""
    return {
        "plan_id": plan.plan_id,
        "plan_kind": plan.kind,
        "success": _succeeded(result),
        "result": result,
    }


def _succeeded(result: dict[str, Any]) -> bool:
    """Whether all runs ended well, and no budget that is an error was exceeded."""
    runs = result.get("pipelines", [result])
    return all(run.get("status") in _FINE and not _is_over_budget(run) for run in runs)


def _is_over_budget(run: dict[str, Any]) -> bool:
    return any(each["severity"] == "error" for each in run.get("budget_breaches", ()))
