"""What is said of each thing of a dbt project that was taken over, or was not."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["as_is", "rewritten", "needs_hand"]
ThingKind = Literal["model", "snapshot", "seed", "source", "test", "unit_test"]


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence about a thing, and the line of its dbt file it is about, where one is known."""

    text: str
    line: int | None = None
    needs_hand: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of one thing: its dbt `file`, and the file that was `written` for it, if any."""

    kind: ThingKind
    name: str
    file: str
    written: str | None = None
    verdict: Verdict = "as_is"
    remarks: tuple[Remark, ...] = ()


def judge(remarks: tuple[Remark, ...], *, changed: bool) -> Verdict:
    """A verdict by what there is to say."""
    if any(each.needs_hand for each in remarks):
        return "needs_hand"
    return "rewritten" if changed or remarks else "as_is"
