"""Changes in words: one line each, without their table, and what they reach, grouped."""

from collections.abc import Iterable

from rocky.analysis.changes.change import Change, Reached
from rocky.diagnostics.render import counted


def describe_rule(change: Change) -> str:
    """A rule's name as words."""
    return change.rule.replace("_", " ")


def describe_change(change: Change) -> str:
    """A change in one line: the rule, the column, from what to what, and the detail."""
    words = describe_rule(change)
    if change.column is not None:
        words += f" `{change.column}`"
    moved = " -> ".join(each for each in (change.before, change.after) if each is not None)
    if moved:
        words += f": {moved}"
    return f"{words} ({change.detail})" if change.detail else words


def count_reached(change: Change) -> int:
    """How many columns a change reaches."""
    return len({(each.model, each.column) for each in change.reaches})


def describe_reach(change: Change) -> str:
    """How far a change reaches, in numbers; empty when it reaches nothing."""
    if not change.reaches:
        return ""
    models = {each.model for each in change.reaches}
    return f"{counted(count_reached(change), 'column')} in {counted(len(models), 'model')}"


def group_reached(reaches: Iterable[Reached]) -> dict[str, list[Reached]]:
    """What is reached, by model."""
    groups: dict[str, list[Reached]] = {}
    for each in reaches:
        groups.setdefault(each.model, []).append(each)
    return groups


def group_kinds(reaches: Iterable[Reached]) -> dict[str, list[str]]:
    """Columns of one model by how they are reached; those of which only rows are come last."""
    groups: dict[str, list[str]] = {}
    for each in sorted(reaches, key=lambda each: each.kind == "rows"):
        kind = f"{each.kind}, before" if each.side == "base" else each.kind
        groups.setdefault(kind, []).append(each.column)
    return groups
