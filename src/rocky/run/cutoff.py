"""Column cut-off: an input that changed only where nobody looks leaves its reader alone."""

from collections.abc import Callable, Sequence
from typing import Protocol

from rocky.ledger.provenance import InputIndexEntry
from rocky.ledger.records import ModelExecution
from rocky.plan.steps import Step
from rocky.run.inputs import MadeFrom

FindEntries = Callable[[Sequence[str]], dict[str, InputIndexEntry]]


class Cutoff(Protocol):
    """Finds a recorded result whose inputs differ only in columns that the model does not read."""

    def find(
        self, step: Step, made_from: MadeFrom, last: ModelExecution, entries: FindEntries
    ) -> InputIndexEntry | None: ...
