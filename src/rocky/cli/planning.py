"""From what was typed to a plan: one way for the command that makes it and for the applying one."""

import os
from collections.abc import Sequence
from dataclasses import replace

from rocky.cli.options import Settings
from rocky.cli.pipelines import is_of_models, key_of_pipeline, pipelines_to_run
from rocky.cli.refusing import refuse_errors
from rocky.cli.state_files import state_path
from rocky.compiler.compilation import Compilation
from rocky.diagnostics import Diagnostic
from rocky.errors import RunRefused
from rocky.plans.making import MadePlan, Wanted, make_plan
from rocky.plans.request_documents import Asked
from rocky.run.circumstances import observe_circumstances
from rocky.run.environment import is_secret_name
from rocky.run.means import Means
from rocky.run.request import RunRequest


def refuse_secrets(settings: Settings) -> None:
    """Raises RunRefused for a variable of models that is called as secrets are.

    What it says decides what is built, so a plan has to hold it, and a plan is there to be read.
    """
    for name in settings.variables:
        if is_secret_name(name):
            raise RunRefused(
                f"the variable `{name}` is called as a secret is, and a plan keeps what `--var`"
                " says in plain text: never pass a secret so; if it is none, call it something else"
            )


def plan_asked(settings: Settings, compilation: Compilation, request: RunRequest) -> MadePlan:
    """What a request would do now, pipeline by pipeline. Raises RockyError for compile errors."""
    project = compilation.project
    pipelines = project.config.pipeline
    wanted: list[Wanted] = []
    names = pipelines_to_run(project, request)
    for name in names:
        own = request
        if len(names) > 1 and name is not None:
            key = key_of_pipeline(request.idempotency_key, name)
            own = replace(request, pipeline=name, idempotency_key=key)
        of_models = name is None or is_of_models(pipelines[name])
        wanted.append(Wanted(own, None if of_models else name))
    means = Means(state_path(settings), observe_circumstances(project.root, os.environ), os.environ)
    asked = Asked(request, settings.branch, settings.variables)

    def refuse(errors: Sequence[Diagnostic]) -> None:
        refuse_errors(settings, compilation, errors)

    return make_plan(compilation, asked, wanted, means, refuse)
