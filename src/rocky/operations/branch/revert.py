"""Production moved back to before a promotion, all tables or none."""

from dataclasses import dataclass
from datetime import UTC, datetime

from rocky.branches.promotion.revert import revert_tables
from rocky.operations.branch.lookup import refreshed_state
from rocky.operations.branch.production import actor_of, open_production, recover_and_tell
from rocky.operations.branch.promote import PromotionReport
from rocky.operations.state_change import load_sound_project
from rocky.operations.workspace import Workspace
from rocky.plan.adapters import main_adapter


@dataclass(frozen=True, slots=True)
class RevertRequest:
    """Which promotion, by its id, or by the name of a branch: then its newest; and why.

    With `discard_later` also where tables were changed since: what was made has to be made again.
    `adapter` is the one whose tables are meant.
    """

    promotion: str
    discard_later: bool = False
    message: str | None = None
    adapter: str | None = None


def revert(workspace: Workspace, request: RevertRequest) -> PromotionReport:
    """Take a promotion back; a revert can be taken back too, by its own id.

    Raises NothingSelected when there is none, PromotionRefused when it was reverted already, cannot
    be, or when tables were changed since, PromotionUndone, LedgerLocked and RunRefused.
    """
    workspace = workspace.on_production()
    project = load_sound_project(workspace, "reverted")
    refreshed_state(workspace)
    now = datetime.now(UTC)
    with open_production(workspace, project, main_adapter(project, request.adapter)[0]) as opened:
        # First: one that was interrupted is known only when it is finished.
        recover_and_tell(workspace, opened, now)
        actor = actor_of(workspace, opened, now, request.message)
        promotion = revert_tables(
            opened, request.promotion, actor, discard_later=request.discard_later
        )
    return PromotionReport(promotion, (), success=True)
