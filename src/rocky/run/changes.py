"""Changes: what is different from the last time a model was built, in a few words."""

from typing import Final

from rocky.ledger.questions import RecordedExecution
from rocky.ledger.records import ModelExecution, ModelStatus
from rocky.run.inputs import MadeFrom

_GOOD = frozenset({ModelStatus.SUCCESS, ModelStatus.REUSED})


NEVER_BUILT: Final = "never built"
FULL_REFRESH: Final = "a full refresh was asked for"
GENERATED: Final = "source:"
"""What the name of a pipeline's source begins with, so that no model can be called so."""


def describe_change(last: RecordedExecution | None, made_from: MadeFrom) -> str:
    """Why no recorded result fits what a model is made from now."""
    if last is None:
        return NEVER_BUILT
    execution = last.execution
    if execution.status not in _GOOD and execution.skip_hash is None:
        return f"`{last.run_id}` did not build it"
    if execution.skip_hash != made_from.fingerprints.skip_hash:
        return "its logic or settings changed"
    changed = _changed_inputs(execution, made_from)
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"`{changed[0].removeprefix(GENERATED)}` changed{more}"
    return "no earlier build can be vouched for"


def _changed_inputs(execution: ModelExecution, made_from: MadeFrom) -> list[str]:
    before = {each.name.lower(): each.identity for each in execution.inputs}
    return [
        each.name
        for each in made_from.inputs
        if before.get(each.name.lower()) != each.record.identity
    ]
