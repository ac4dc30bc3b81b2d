"""Verdicts: what became of each model of a run that was built again from its record.

`row_exact` is no lesser proof of the rows, only of the bytes. A model that nobody could build again
is never taken for one that gave something else: the first is `non_replayable`, the second
`diverged`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from rocky.ledger.record import RunId

SOME_NON_REPLAYABLE: Final = 2
"""The exit code of a replay in which nothing diverged and not everything could be built again."""


class Verdict(StrEnum):
    """How a model's replay compares with its record."""

    BIT_EXACT = "bit_exact"
    ROW_EXACT = "row_exact"
    DIVERGED = "diverged"
    NON_REPLAYABLE = "non_replayable"


Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Differences:
    """The first rows that only one side has: `recorded` were written then, `replayed` now.

    A row that is there several times is shown as often as one side has it more.
    """

    recorded: tuple[Row, ...] = ()
    replayed: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelVerdict:
    """One model. `built_by` is the run whose record was replayed: not this one where it was reused.

    `reason` says why it could not be replayed, or what differs; `causes` what may have made it
    differ; `notes` what else there is to know. `failed` when building it again failed.
    """

    model: str
    target: str
    verdict: Verdict
    built_by: RunId
    reason: str | None = None
    causes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    differences: Differences | None = None
    recorded_files: tuple[str, ...] = ()
    replayed_files: tuple[str, ...] = ()
    recorded_rows_hash: str | None = None
    replayed_rows_hash: str | None = None
    duration_ms: int | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A step of the run that has no verdict, and why: a seed, a query without a table."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A run built again. `kept` is where, if it was to be kept."""

    run_id: RunId
    models: tuple[ModelVerdict, ...]
    left_out: tuple[LeftOut, ...] = ()
    kept: str | None = None

    def count(self, verdict: Verdict) -> int:
        """How many models got a verdict."""
        return sum(each.verdict is verdict for each in self.models)

    @property
    def exit_code(self) -> int:
        """0: all exact; 1: one diverged or failed; 2: none did, and some could not be replayed."""
        if any(each.failed or each.verdict is Verdict.DIVERGED for each in self.models):
            return 1
        return SOME_NON_REPLAYABLE if self.count(Verdict.NON_REPLAYABLE) else 0
