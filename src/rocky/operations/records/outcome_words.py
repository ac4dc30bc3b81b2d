"""What became of a model, and what would become of it, each in a word that means one thing.

The ledger and the `status` of JSON say `skipped` of two things: a model that was held back because
something it reads failed, and one that a resumed run found built. Whatever people read, and every
`outcome` of JSON, has a word for each; progress and reports count by the same words.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from rocky.ledger.run_records import ModelExecution, ModelStatus

HELD_BACK: Final = "held back"
UNCHANGED: Final = "unchanged"
"""A seed that is loaded, or a query that no build reads."""
AS_BEFORE: Final = "rows as before"
"""Of a table that was built and written nothing to: it has these rows already."""
MOVED: Final = {
    "clone": "cloned",
    "promote": "promoted",
    "revert": "moved back",
    "compact": "compacted",
    "expire": "expired",
    "erase": "erased",
}
"""Tables that were written without a build: the outcome by the decision."""
OUTCOMES: Final = (
    "built",
    *MOVED.values(),
    "reused",
    "resumed",
    UNCHANGED,
    "failed",
    "held",
    HELD_BACK,
    "interrupted",
)
"""In the order in which they are counted."""
PLANNED: Final = {
    "build": "to build",
    "reuse": "to reuse",
    "resume": "built already",
    "hold": "held",
    "skip": UNCHANGED,
    "bind": "to bind",
    "depends": "to be seen",
}
"""What a plan foresees, by its decision; `to be seen` is what the rows of an input decide."""
_SKIPPED: Final = {"resume": "resumed", "hold": "held"}


def is_as_before(execution: ModelExecution) -> bool:
    """Whether a build found the rows that its table has, and wrote nothing."""
    return outcome_of(execution) == "built" and execution.action == "unchanged"


def outcome_of(execution: ModelExecution) -> str:
    """As `built`, `reused`, `resumed`, `failed`, `interrupted`, `held` (reverted), `held back`."""
    decision = execution.decision or ""
    if execution.status is ModelStatus.SUCCESS:
        return UNCHANGED if decision == "skip" else MOVED.get(decision, "built")
    if execution.status is ModelStatus.SKIPPED:
        return _SKIPPED.get(decision, HELD_BACK)
    return execution.status.value


def count_outcomes(
    executions: Iterable[ModelExecution], never_begun: int = 0, unchanged: int = 0
) -> dict[str, int]:
    """How many ended in each word, in order; what could not even begin has failed.

    `unchanged` are tables that had nothing new and so no execution.
    """
    counts = Counter(map(outcome_of, executions))
    counts["failed"] += never_begun
    counts[UNCHANGED] += unchanged
    return {word: counts[word] for word in OUTCOMES if counts[word]}
