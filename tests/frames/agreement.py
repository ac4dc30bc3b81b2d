"""How far frames without Spark agree with what Spark said of PySpark's own examples.

python -m tests.frames.agreement [NAME]    prints the figures and every difference
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql.connect.dataframe import DataFrame

from rocky.frames.frame_check import CheckedFrame, Frames
from rocky.frames.session import NeedsRows
from rocky.language.datatypes.text import field_to_json
from tests.frames.examples import Example, run, shown

ANSWERS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "examples.json").read_text(encoding="utf-8")
)
_OUTSIDE = frozenset(
    {
        "PATH_NOT_FOUND",  # a file that only the authors' machine has
        "_LEGACY_ERROR_TEMP_1329",  # a class of Java that only the authors' machine has
        "REQUIRES_SINGLE_PART_NAMESPACE",  # a catalogue that a table is written to
        "TABLE_OR_VIEW_NOT_FOUND",  # a table that is merged into
    }
)
"""Refusals that are about the machine and not about the code."""


@dataclass(slots=True)
class Tally:
    """Frames and refused statements by what became of them; `told` are those that differ."""

    counts: Counter[str] = field(default_factory=Counter)
    told: list[tuple[str, str, str, str]] = field(default_factory=list)

    def note(self, verdict: str, place: str, expected: str, actual: str) -> None:
        self.counts[verdict] += 1
        if verdict not in ("exact", "refused"):
            self.told.append((verdict, place, expected, actual))

    @property
    def accepted(self) -> int:
        """Frames that Spark takes and that can be known without running a job."""
        return sum(self.counts[each] for each in ("exact", "unknown", "wrong", "false reject"))

    @property
    def exact(self) -> float:
        return 100 * self.counts["exact"] / self.accepted

    @property
    def refused(self) -> float:
        known = self.counts["refused"] + self.counts["false accept"]
        return 100 * self.counts["refused"] / known if known else 100.0


def compare(example: Example, tally: Tally) -> None:
    """Hold one example against its recorded answer."""
    answer = ANSWERS[example.name]
    with Frames({}) as frames:

        def look(value: Any) -> CheckedFrame | None:
            return frames.check(value) if isinstance(value, DataFrame) else None

        done = run(example, frames.session, look)
    stopped = outside = False
    for at in range(len(example.statements)):
        place = f"{example.name} {at}"
        error = done.raised.get(at)
        stopped = stopped or isinstance(error, NeedsRows)
        here = {key: each for key, each in done.frames.items() if key.split(".")[0] == str(at)}
        condition = answer["refused"].get(str(at))
        if condition is not None:
            outside = outside or condition in _OUTSIDE
            wrong = any(each.errors for each in here.values())
            refuses = wrong or isinstance(error, PySparkException | TypeError | ValueError)
            verdict = "refused" if refuses else "outside" if outside else "false accept"
            tally.note(verdict, place, condition, repr(error))
        for key, expected in answer["frames"].items():
            if key.split(".")[0] == str(at):
                verdict, actual = _verdict(expected, here.get(key), stopped=stopped)
                tally.note(verdict, f"{place} ({key})", expected, actual or repr(error))


def _verdict(expected: str, found: CheckedFrame | None, *, stopped: bool) -> tuple[str, str]:
    if found is None:
        return ("needs rows" if stopped else "lost"), ""
    if expected.startswith("!"):
        return ("refused" if found.errors else "false accept"), ""
    if found.errors:
        # A table that an example has written, a function that SQL has made.
        missing = stopped and all(each.code in ("E002", "E006") for each in found.errors)
        text = "; ".join(each.message for each in found.errors)
        return ("needs rows" if missing else "false reject"), text
    actual = shown([field_to_json(each) for each in found.columns])
    if actual == expected and found.known:
        return "exact", actual
    if found.gaps or not found.known or "unknown" in actual:
        return "unknown", "; ".join(each.reason for each in found.gaps) or actual
    return "wrong", actual
