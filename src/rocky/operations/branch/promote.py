"""Production moved to a branch's tables, all or none. Needs no Spark: nothing is built.

This is the one way to promote. Refused when the branch is no candidate or has nothing new, when its
tables are not what the code makes, when approvals are missing, void or stale, when its records do
not hold, when production has changed meanwhile, and when the change breaks readers.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from rocky.branches.approvals.readiness import Candidate
from rocky.branches.approvals.signatures import Signer
from rocky.branches.approvals.validity import RejectionReason
from rocky.branches.promotion.gate import PromotionClearance, clear_promotion
from rocky.branches.promotion.promotion import promote_tables
from rocky.errors import InvalidRequest
from rocky.ledger.branch_records import PromotionRecord
from rocky.operations.branch.change import choose_signer, keygen_of, open_change
from rocky.operations.branch.production import actor_of, open_production, recover_and_tell
from rocky.operations.warehouses import recorded_warehouses_of
from rocky.operations.workspace import Workspace, main_state_path
from rocky.plan.adapters import main_adapter
from rocky.project.project import branch_state


@dataclass(frozen=True, slots=True)
class PromoteRequest:
    """Which branch, and why.

    With `allow_breaking` it is promoted although readers break, if somebody signs the `message`:
    with a `key`, by a name among the signers.
    """

    name: str
    allow_breaking: bool = False
    message: str | None = None
    key: str | None = None
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class RejectedApproval:
    """A statement that did not count, and why."""

    approval_id: str
    reason: RejectionReason
    detail: str


@dataclass(frozen=True, slots=True)
class PromotionReport:
    """A promotion or a revert that was made, as it is recorded."""

    promotion: PromotionRecord
    approvals_rejected: tuple[RejectedApproval, ...]
    success: bool


def promote(workspace: Workspace, request: PromoteRequest) -> PromotionReport:
    """Promote a branch. Raises PromotionRefused, PromotionUndone, LedgerLocked, InvalidRequest.

    And as `open_change`: then production is as it was.
    """
    if not request.allow_breaking and (request.key, request.principal) != (None, None):
        raise InvalidRequest("`--key` and `--as` are for `--allow-breaking`, which signs")
    workspace = workspace.on_production()
    now = datetime.now(UTC)
    with open_change(workspace, request.name, now) as candidate:
        for warning in candidate.question.policy.warnings:
            workspace.warn(warning)
        cleared = _clear(workspace, request, candidate)
        project, adapter = candidate.compilation.project, candidate.record.adapter
        with open_production(workspace, project, adapter) as opened:
            recover_and_tell(workspace, opened, now)
            actor = actor_of(workspace, opened, now, request.message)
            promotion = promote_tables(opened, cleared, actor)
    rejected = tuple(
        RejectedApproval(each.approval_id, each.reason, each.detail)
        for each in cleared.approvals.rejected
    )
    return PromotionReport(promotion, rejected, success=True)


def _clear(
    workspace: Workspace, request: PromoteRequest, candidate: Candidate
) -> PromotionClearance:
    """Leave to promote it, if the gate gives it. Raises PromotionRefused."""
    project, record = candidate.compilation.project, candidate.record

    def find_signer() -> Signer:
        return choose_signer(workspace, candidate, request.key, request.principal, request.message)

    conf = main_adapter(project, record.adapter)[1].conf
    return clear_promotion(
        candidate,
        keygen_of(workspace),
        # Fetched already, when the branch was judged.
        branch_state(main_state_path(workspace), record.name),
        recorded_warehouses_of(workspace, project, [candidate.view.warehouse], conf),
        find_signer if request.allow_breaking else None,
    )
