"""The branch that a workspace names, looked up before anything is done on it."""

from rocky.operations.workspace import Workspace


def known_branch(workspace: Workspace, *, sure: bool = True) -> Workspace:
    """The workspace; a branch that nobody has looked up yet is, as `require_branch` does it."""
    if workspace.branch_name is None or workspace.branch_adapter is not None:
        return workspace
    # Only work on a branch pays for what knows branches.
    from rocky.operations.branch.lookup import require_branch  # noqa: PLC0415

    return require_branch(workspace, sure=sure)
