"""A branch made anew of production as it is now; what it has built is dropped."""

from dataclasses import dataclass

from rocky.branches.clones import refuse_unfinished_promotion
from rocky.branches.lifecycle import BranchRequest, ParentCandidates, find_parent
from rocky.errors import PromotionRefused
from rocky.ledger.branch_records import PRODUCTION
from rocky.operations.branch.create import BranchReport, make_branch, origin_of
from rocky.operations.branch.delete import drop_branch
from rocky.operations.branch.lookup import branch_warehouses, find_branch, find_people, warehouse_of
from rocky.operations.state_change import load_sound_project
from rocky.operations.workspace import Workspace, main_state_path
from rocky.project.project import state_on_branch


@dataclass(frozen=True, slots=True)
class RebaseRequest:
    """Which branch, and what its code is compared with once merged."""

    name: str
    base: str | None = None


def rebase(workspace: Workspace, request: RebaseRequest) -> BranchReport:
    """Make a branch anew. Raises PromotionRefused, PromotionUnfinished, and as `create` does."""
    workspace = workspace.on_production()
    project = load_sound_project(workspace, "made")
    record = find_branch(workspace, request.name)
    if record.parent != PRODUCTION:
        raise PromotionRefused(f"branch `{record.name}` is not of production: delete and make it")
    people = find_people(workspace, project.root, request.base)
    origin = origin_of(workspace, project)
    first, *others = branch_warehouses(workspace, project, record.name, record.adapter)
    wanted = BranchRequest(
        record.name,
        # Who made it first is still whose it is.
        record.created_by,
        first,
        record.adapter,
        state_on_branch(project.config.state, record.name),
        record.description,
        people.base_commit,
        tuple(others),
    )
    production = warehouse_of(workspace, project, record.adapter)
    # Whatever can be refused is refused while the branch is still there.
    chosen = find_parent(None, ParentCandidates(production, main_state_path(workspace)))
    refuse_unfinished_promotion(chosen.parent.warehouse)
    drop_branch(workspace, project, record, people.who)
    return BranchReport(make_branch(workspace, wanted, origin, lambda: chosen))
