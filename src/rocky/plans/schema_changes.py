"""How the columns of tables would change: the live table against what its model now produces."""

from typing import Any

from rocky.changes.change import Change
from rocky.changes.columns import compare_columns
from rocky.changes.rules import worst_impact
from rocky.errors import StoreUnreadable
from rocky.plan.steps import RunPlan, Step
from rocky.store.warehouse import Warehouse


def schema_changes(plan: RunPlan, step: Step, warehouse: Warehouse) -> tuple[Change, ...]:
    """What building a step would do to its table's columns; nothing where there is no table.

    A table that cannot be read is not compared: that is said where it is looked at.
    """
    if step.kind != "build" or step.key not in plan.compilation.models:
        return ()
    model = plan.project.models[step.key]
    try:
        snapshot = warehouse.table(model.target).snapshot()
    except StoreUnreadable:
        return ()
    if snapshot is None:
        return ()
    return compare_columns(snapshot.schema, plan.compilation.models[step.key].columns)


def change_document(change: Change) -> dict[str, Any]:
    """A change as a plan keeps it."""
    facts = {
        "rule": change.rule,
        "impact": change.impact.value,
        "column": change.column,
        "before": change.before,
        "after": change.after,
        "detail": change.detail or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def verdict_of(changes: list[Change], *, unreadable: bool) -> str:
    """The worst that changes do: `breaking`, `warning`, `info`, `none`.

    `unknown` where a table could not be read: that is not the same as no change.
    """
    worst = worst_impact(changes)
    if unreadable and worst != "breaking":
        return "unknown"
    return "none" if worst is None else worst.value
