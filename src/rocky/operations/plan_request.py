"""From what was typed to a plan: one way for the command that makes it and for the applying one."""

from collections.abc import Sequence
from dataclasses import replace

from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Diagnostic
from rocky.errors import RunRefused
from rocky.operations.pipelines import is_of_models, key_of_pipeline, pipelines_to_run
from rocky.operations.plan.proposal import PlanProposal, RunToPlan, propose_plan
from rocky.operations.refusals import refuse_errors
from rocky.operations.workspace import Workspace, means_of, state_path
from rocky.plan.request import PlanRequest, RunRequest
from rocky.project.secrets import is_secret_name


def refuse_secrets(workspace: Workspace) -> None:
    """Raises RunRefused for a variable of models that is called as secrets are.

    What it says decides what is built, so a plan has to hold it, and a plan is there to be read.
    """
    for name in workspace.variables:
        if is_secret_name(name):
            raise RunRefused(
                f"the variable `{name}` is called as a secret is, and a plan keeps what `--var`"
                " says in plain text: never pass a secret so; if it is none, call it something else"
            )


def plan_asked(workspace: Workspace, compilation: Compilation, request: RunRequest) -> PlanProposal:
    """What a request would do now, pipeline by pipeline. Raises RockyError for compile errors."""
    project = compilation.project
    pipelines = project.config.pipeline
    wanted: list[RunToPlan] = []
    names = pipelines_to_run(project, request)
    for name in names:
        own = request
        if len(names) > 1 and name is not None:
            key = key_of_pipeline(request.idempotency_key, name)
            own = replace(request, pipeline=name, idempotency_key=key)
        of_models = name is None or is_of_models(pipelines[name])
        wanted.append(RunToPlan(own, None if of_models else name))
    means = means_of(workspace, project, state_path(workspace))
    asked = PlanRequest(request, workspace.branch, workspace.variables)

    def refuse(errors: Sequence[Diagnostic]) -> None:
        refuse_errors(compilation, errors)

    return propose_plan(compilation, asked, wanted, means, refuse)
