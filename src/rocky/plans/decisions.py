"""What would become of a step, in the words of the format."""

from rocky.run.forecast import Foreseen
from rocky.run.outlook import Outlook


def shown_steps(outlook: Outlook) -> list[Foreseen]:
    """What was asked for, and whatever else would have something to do."""
    return [each for each in outlook.forecast.steps if each.step.selected or not each.settled]


def decision_of(each: Foreseen, outlook: Outlook) -> str:
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


def reason_of(each: Foreseen) -> str:
    if each.idle:
        return "its file is loaded" if each.step.kind == "seed" else "no reader to be built"
    if each.decision is None and each.waits_for:
        return f"built {each.reason}"
    return each.reason


def may_be_built(each: Foreseen, outlook: Outlook) -> bool:
    """Whether a table would be written, or might be."""
    return each.step.kind != "inline" and decision_of(each, outlook) in ("build", "depends")
