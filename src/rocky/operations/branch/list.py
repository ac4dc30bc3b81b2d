"""The branches there are, or what was promoted and reverted. Reads the state file only."""

from dataclasses import dataclass

from rocky.ledger.branch_records import BranchRecord, BranchStatus, PromotionRecord
from rocky.ledger.branches import load_branches, load_promotions
from rocky.operations.branch.lookup import refreshed_state
from rocky.operations.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ListRequest:
    """With `everything`, also branches that were deleted; `promotions` in place of branches."""

    everything: bool = False
    promotions: bool = False


@dataclass(frozen=True, slots=True)
class BranchesReport:
    """Branches, by name."""

    branches: tuple[BranchRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class PromotionsReport:
    """Promotions and reverts, oldest first."""

    promotions: tuple[PromotionRecord, ...]
    total: int


def list_branches(workspace: Workspace, request: ListRequest) -> BranchesReport | PromotionsReport:
    """What is recorded of branches. Raises LedgerUnreadable."""
    state = refreshed_state(workspace)
    if request.promotions:
        promotions = load_promotions(state)
        return PromotionsReport(promotions, len(promotions))
    found = tuple(
        each
        for each in load_branches(state)
        if request.everything or each.status is BranchStatus.OPEN
    )
    return BranchesReport(found, len(found))
