"""Marks: which incremental tables may go on from where they are, and which are loaded anew.

The ledger says whether to go on, the table says from where: its own mark moved in the commit that
brought the rows, while the ledger's may be behind after a crash. So a watermark that was deleted
from the ledger means that everything is loaded again, in place of what is there.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rocky.errors import LedgerUnreadable
from rocky.ledger.lookups import Lookups
from rocky.plan.steps import RunPlan
from rocky.project.strategies import Incremental, Microbatch

NO_WATERMARK: Final = "no watermark is recorded: all rows are loaded in place of those there are"


@dataclass(frozen=True, slots=True)
class Marks:
    """Keys of models to be loaded anew; and those whose watermark cannot be read, with why."""

    refreshed: frozenset[str] = frozenset()
    unreadable: Mapping[str, str] = field(default_factory=dict)

    def check(self, key: str) -> None:
        """Raises LedgerUnreadable: taking a watermark for none would load everything again."""
        if key in self.unreadable:
            raise LedgerUnreadable(self.unreadable[key])


NO_MARKS: Final = Marks()


def find_marks(plan: RunPlan, lookups: Lookups) -> Marks:
    """What the ledger says of the watermarks of a plan's tables."""
    wanted = {
        step.key: plan.project.models[step.key].target.full_name
        for step in plan.steps
        if step.kind == "build"
        and isinstance(plan.project.models[step.key].strategy, Incremental | Microbatch)
    }
    if not wanted:
        return Marks()
    known, unreadable = lookups.watermarked(wanted.values())
    return Marks(
        frozenset(
            key for key, name in wanted.items() if name not in known and name not in unreadable
        ),
        {key: unreadable[name] for key, name in wanted.items() if name in unreadable},
    )


def shown_mark(text: str | None, value: str) -> str:
    """A value as people read it: an instant as RFC 3339, anything else as Spark prints it."""
    kind = json.loads(text).get("type") if text else None
    if kind != "timestamp" or " " not in value:
        return value
    day, _, time = value.partition(" ")
    return f"{day}T{time}" if time[-1] == "Z" or "+" in time else f"{day}T{time}Z"
