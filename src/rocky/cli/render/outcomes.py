"""What became of a model, in a word for people.

The ledger and JSON say `skipped` of two things: a model that was held back because something it
reads failed, and one that a resumed run found built. People get a word for each.
"""

from typing import Final

from rocky.ledger.run_records import ModelExecution, ModelStatus
from rocky.operations.history import outcome_of

HELD_BACK: Final = "held back"
_WORDS: Final = {ModelStatus.SKIPPED.value: HELD_BACK}


def outcome_word(execution: ModelExecution) -> str:
    """As `built`, `reused`, `resumed`, `failed`, `interrupted`, `held` (reverted), `held back`."""
    word = outcome_of(execution)
    return _WORDS.get(word, word)
