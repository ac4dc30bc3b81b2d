"""A plan as people and programs see it: what would become of each step, and why."""

from typing import Any, Final

from rocky.cli.render.tables import render_table
from rocky.run.forecast import Foreseen
from rocky.run.outlook import Outlook

_HEAD: Final = ("MODEL", "DECISION", "REASON")
_LISTED_AT_MOST: Final = 20
_LEFT_ALONE: Final = frozenset({"reuse", "resume", "skip"})

UNCERTAIN: Final = (
    "only the Spark that it runs on can say whether it is the one of before;"
    " what would be reused is built if it is not"
)


def render_plan(outlook: Outlook) -> str:
    """A table of the steps and a last line. In a large plan what would stay is only counted."""
    rows = [(each.step.name, _decision(each, outlook), _reason(each)) for each in _steps(outlook)]
    listed = rows
    if len(rows) > _LISTED_AT_MOST:
        listed = [row for row in rows if row[1] not in _LEFT_ALONE]
    parts = [render_table(_HEAD, listed, set())] if listed else []
    left = len(rows) - len(listed)
    if left and listed:
        parts.append(f"{left} more would be left alone: `rocky plan -o json` lists them")
    return "\n".join([*parts, _last_line(outlook)])


def plan_document(outlook: Outlook) -> dict[str, Any]:
    """What `rocky plan -o json` prints."""
    found: dict[str, Any] = {
        "certain": outlook.certain,
        "counts": _counts(outlook),
        "model_decisions": [_document(each, outlook) for each in _steps(outlook)],
    }
    return found if outlook.resumes is None else {**found, "resumes": outlook.resumes}


def _steps(outlook: Outlook) -> list[Foreseen]:
    """What was asked for, and whatever else would have something to do."""
    return [each for each in outlook.forecast.steps if each.step.selected or not each.settled]


def _document(each: Foreseen, outlook: Outlook) -> dict[str, Any]:
    taken = each.decision.taken if each.decision is not None else None
    reused = taken is not None and taken.basis != "resume"
    facts = {
        "model": each.step.name,
        "kind": each.step.kind,
        "decision": _decision(each, outlook),
        "reason": _reason(each),
        "reused_from": taken.run_id if taken is not None and reused else None,
        "basis": taken.basis if taken is not None and reused else None,
        "waits_for": list(each.waits_for) or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _decision(each: Foreseen, outlook: Outlook) -> str:
    """One of `build`, `reuse`, `resume`, `skip`, `bind`, and `depends` where it is open."""
    if each.step.kind == "inline":
        return "skip" if each.idle else "bind"
    if each.idle:
        return "skip"
    if each.decision is None:
        return "depends"
    if each.decision.taken is not None and not outlook.certain:
        return "depends"
    return each.decision.verdict


def _reason(each: Foreseen) -> str:
    if each.idle:
        return "its file is loaded" if each.step.kind == "seed" else "no reader to be built"
    if each.decision is None and each.waits_for:
        return f"built {each.reason}"
    return each.reason


def _counts(outlook: Outlook) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in _steps(outlook):
        word = _decision(each, outlook)
        counts[word] = counts.get(word, 0) + 1
    return counts


def _last_line(outlook: Outlook) -> str:
    words = {
        "build": "to build",
        "reuse": "to reuse",
        "resume": "built already",
        "skip": "unchanged",
        "bind": "to bind",
        "depends": "to be seen",
    }
    counts = _counts(outlook)
    said = ", ".join(f"{counts[word]} {text}" for word, text in words.items() if word in counts)
    resumes = f"; goes on with {outlook.resumes}" if outlook.resumes is not None else ""
    if not counts:
        return "nothing to do"
    return f"{said}{resumes}" if set(counts) - _LEFT_ALONE else f"{said}{resumes}: no Spark needed"
