"""Refusals: the findings for which a run must not start.

Nothing is written unless all that was selected, and all it stands on, compiled: an error in a model
further up means that the types below it are guesses.
"""

from rocky.compiler.compilation import Compilation
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.lineage.models import reach_models
from rocky.plan.steps import RunPlan
from rocky.project import SeedTable, setting_place


def refusing_findings(plan: RunPlan) -> tuple[Diagnostic, ...]:
    """The errors in the selected models, in what they read, and in `rocky.toml`."""
    compilation, project = plan.compilation, plan.project
    keys = [step.key for step in plan.steps if step.kind != "seed"]
    above = reach_models(compilation.upstream, [project.models[key].name for key in keys])
    wanted = {name.lower() for name in above}
    paths = {project.config_path}
    for step in plan.steps:
        if step.kind == "seed":
            paths.update(_seed_paths(project.seeds[step.key]))
    for key in wanted:
        if key in project.models:
            model = project.models[key]
            paths.update(path for path in (model.path, model.settings_path) if path)
        if key in project.sources:
            paths.add(project.sources[key].file)
        if key in project.seeds:
            paths.update(_seed_paths(project.seeds[key]))
    found = [
        each
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR
        and (
            (each.model is not None and each.model.lower() in wanted)
            or (each.model is None and each.path in paths)
            or (
                # A clash of two models is reported at one of them and concerns both.
                each.code is Code.DUPLICATE_TARGET
                and any(label.path in paths for label in each.labels)
            )
        )
    ]
    if plan.cycle and not any(each.code is Code.DEPENDENCY_CYCLE for each in found):
        found.append(_waiting_for_each_other(plan))
    return tuple(found)


def config_findings(compilation: Compilation) -> tuple[Diagnostic, ...]:
    """The errors in `rocky.toml`, for which no pipeline may start."""
    path = compilation.project.config_path
    return tuple(
        each
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR and each.model is None and each.path == path
    )


def _seed_paths(seed: SeedTable) -> set[str]:
    return {path for path in (seed.path, seed.file, seed.sidecar_path) if path}


def _waiting_for_each_other(plan: RunPlan) -> Diagnostic:
    """A cycle that only `depends_on` closes: no query reads in a circle, so nobody found it."""
    models = [plan.project.models[key] for key in plan.cycle if key in plan.project.models]
    listed = ", ".join(f"`{model.name}`" for model in models)
    path, span = setting_place(models[0], plan.project.texts, ("depends_on",))
    return Diagnostic(
        Code.DEPENDENCY_CYCLE,
        f"{listed} wait for each other",
        span,
        path,
        help="remove one of the names in `depends_on`",
        model=models[0].name,
    )
