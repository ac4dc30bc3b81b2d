"""A branch from Python: made, compared, approved, promoted and deleted, through every gate."""

from typing import TYPE_CHECKING, Generic, TypeVar

from rocky.api.arguments import Names, name_arguments, names_of
from rocky.operations.workspace import Workspace

if TYPE_CHECKING:
    from rocky.branches.row_diff import OtherSide
    from rocky.operations.branch.approve import ApprovalReport, ApprovalsReport
    from rocky.operations.branch.diff import DataDiffReport
    from rocky.operations.branch.lifecycle import BranchReport, DeletionReport
    from rocky.operations.branch.promotion import PromotionReport
    from rocky.operations.branch.show import ViewReport

# ruff: noqa: PLC0415 - an operation is loaded when it is asked for: `import rocky` stays cheap

Place = TypeVar("Place", bound=Workspace)


@name_arguments
class Branch(Generic[Place]):
    """A branch of the tables of a workspace."""

    def __init__(self, workspace: Place, name: str) -> None:
        self._workspace, self.name = workspace, name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __dir__(self) -> list[str]:
        """What can be asked of it."""
        return sorted(["name", *(name for name in vars(Branch) if not name.startswith("_"))])

    def create(
        self,
        *,
        source: str | None = None,
        base: str | None = None,
        description: str | None = None,
        adapter: str | None = None,
    ) -> "BranchReport":
        """Make the branch of production, of another branch or of a run (`source`)."""
        from rocky.operations.branch.lifecycle import CreateRequest, create

        request = CreateRequest(self.name, source, base, description, adapter)
        return create(self._workspace, request)

    @property
    def workspace(self) -> Place:
        """The workspace on this branch: its runs build the branch's tables."""
        return self._workspace.on_branch(self.name)

    def show(self) -> "ViewReport":
        """The branch table by table, beside production."""
        from rocky.operations.branch.show import ShowRequest, show

        return show(self._workspace, ShowRequest(self.name))

    def diff(
        self,
        *models: str,
        key: Names = (),
        sample: int = 5,
        to: "OtherSide" = "production",
    ) -> "DataDiffReport":
        """The rows of the branch's tables beside production's."""
        from rocky.operations.branch.diff import DiffRequest, diff

        return diff(self._workspace, DiffRequest(self.name, models, names_of(key), sample, to))

    def rebase(self, *, base: str | None = None) -> "BranchReport":
        """Make the branch again from production as it is now."""
        from rocky.operations.branch.lifecycle import RebaseRequest, rebase

        return rebase(self._workspace, RebaseRequest(self.name, base))

    def approve(
        self,
        *,
        message: str | None = None,
        key: str | None = None,
        principal: str | None = None,
    ) -> "ApprovalReport":
        """Sign that the branch may be promoted as it is."""
        from rocky.operations.branch.approve import ApproveRequest, approve

        return approve(self._workspace, ApproveRequest(self.name, message, key, principal))

    def approvals(self) -> "ApprovalsReport":
        """Which approvals count, and why the others do not."""
        from rocky.operations.branch.approve import ApprovalsRequest, approvals

        return approvals(self._workspace, ApprovalsRequest(self.name))

    def promote(
        self,
        *,
        allow_breaking: bool = False,
        message: str | None = None,
        key: str | None = None,
        principal: str | None = None,
    ) -> "PromotionReport":
        """Move production to the branch's tables, all or none, through every gate."""
        from rocky.operations.branch.promotion import PromoteRequest, promote

        request = PromoteRequest(self.name, allow_breaking, message, key, principal)
        return promote(self._workspace, request)

    def delete(self) -> "DeletionReport":
        """Delete the branch and its tables; production is not touched."""
        from rocky.operations.branch.lifecycle import DeleteRequest, delete

        return delete(self._workspace, DeleteRequest(self.name))
