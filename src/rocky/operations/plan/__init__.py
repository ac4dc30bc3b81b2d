"""Plan: a request goes in; what its run would do, and why, comes out and is saved as a file.

Nothing is run. The file is named by the hash of its content, and `apply` runs just that. What a
plan is, and its file, are in `rocky.plan`.
"""

from rocky.errors import RunRefused
from rocky.operations.plan.proposal import PlanProposal, propose_plan
from rocky.operations.plan.report import PlanReport, report_plan
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    known_branch,
    refresh_state,
    state_path,
)
from rocky.plan.kept_plan import save_plan
from rocky.plan.request import RunRequest, refuse_contradictions
from rocky.project import Project
from rocky.project.secrets import is_secret_name

__all__ = ["PlanReport", "plan", "preview_plan"]


def plan(workspace: Workspace, request: RunRequest) -> PlanReport:
    """What a request would do now; the plan is kept, and nothing else is written.

    Raises InvalidRequest, NothingSelected, ErrorsFound, RunRefused, and what looking at tables,
    sources and records raises.
    """
    project, proposal = _propose(workspace, request)
    return report_plan(save_plan(project.root, proposal.stored), proposal.runs, project.texts)


def preview_plan(workspace: Workspace, request: RunRequest) -> PlanReport:
    """The same, and the plan is not kept: its id names no file. Raises as `plan`."""
    project, proposal = _propose(workspace, request)
    return report_plan(proposal.stored, proposal.runs, project.texts)


def _propose(workspace: Workspace, request: RunRequest) -> tuple[Project, PlanProposal]:
    refuse_contradictions(request)
    _refuse_secrets(workspace)
    workspace = known_branch(workspace)
    refresh_state(workspace, state_path(workspace))
    compilation = compile_workspace(workspace, asker="person")
    proposal = propose_plan(workspace, compilation, request, is_new=True)
    return compilation.project, proposal


def _refuse_secrets(workspace: Workspace) -> None:
    """Raises RunRefused for a variable of models that is named like a secret.

    What it says decides what is built, so a plan has to hold it, and a plan is there to be read.
    """
    for name in workspace.variables:
        if is_secret_name(name):
            raise RunRefused(
                f"the variable `{name}` has the name of a secret, and a plan stores the"
                " values of `--var` in plain text: never pass a secret this way; if it is not a"
                " secret, rename the variable"
            )
