"""A promotion that was interrupted, finished or undone; or given up, when its ledger is lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from rocky.branches.promotion.journal import RecoveredPromotion, forget_promotion
from rocky.operations.branch.production import open_production, recover_and_tell
from rocky.operations.state_change import load_sound_project
from rocky.operations.workspace import Workspace
from rocky.plan.adapters import main_adapter


@dataclass(frozen=True, slots=True)
class RecoverRequest:
    """`forget` is the run of one to give up; `adapter` the one whose tables are meant."""

    forget: str | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class RecoveredReport:
    """What came of one: `recorded_as` is who finished it, `reason` why it was undone."""

    promotion: str
    branch: str
    outcome: Literal["finished", "undone"]
    recorded_as: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What came of all that was interrupted, oldest first."""

    recovered: tuple[RecoveredReport, ...]

    @property
    def has_undone(self) -> bool:
        """Whether something could not be finished."""
        return any(each.outcome == "undone" for each in self.recovered)


@dataclass(frozen=True, slots=True)
class ForgottenReport:
    """A promotion that was given up, and for each of its tables whether it had been moved."""

    forgotten: str
    tables_moved: Mapping[str, bool]


def recover(workspace: Workspace, request: RecoverRequest) -> RecoveryReport | ForgottenReport:
    """Finish or undo what was interrupted.

    Raises LedgerLocked while whoever began it is at work, PromotionUnfinished for one of another
    ledger, and when one is to be forgotten that can be finished; NothingSelected, RunRefused.
    """
    workspace = workspace.on_production()
    project = load_sound_project(workspace, "recovered")
    with open_production(workspace, project, main_adapter(project, request.adapter)[0]) as opened:
        if request.forget is not None:
            return ForgottenReport(request.forget, forget_promotion(opened, request.forget))
        found = recover_and_tell(workspace, opened, datetime.now(UTC))
    return RecoveryReport(tuple(map(_recovered, found)))


def _recovered(found: RecoveredPromotion) -> RecoveredReport:
    return RecoveredReport(
        found.run_id,
        found.branch,
        "finished" if found.undone is None else "undone",
        None if found.record is None else found.record.run_id,
        found.undone,
    )
