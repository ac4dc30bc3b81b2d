"""A run that only loads seeds: those that are named, or all."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from rocky.compiler.compilation import Compilation
from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected
from rocky.plan.steps import RunPlan, Step
from rocky.project import Project


def plan_seeds(compilation: Compilation, names: Sequence[str]) -> RunPlan:
    """One step a seed. A name may have `*` and `?`. Raises NothingSelected."""
    project = compilation.project
    if not project.seeds:
        raise NothingSelected("the project has no seeds; put a CSV with a header into `seeds/`")
    keys = {key for name in names for key in _select(name, project)} or set(project.seeds)
    steps = tuple(
        Step("seed", key, seed.name, (), (), 0)
        for key, seed in sorted(project.seeds.items())
        if key in keys
    )
    return RunPlan(compilation, steps, ())


def _select(name: str, project: Project) -> list[str]:
    wanted = name.replace("`", "").lower()
    found = [key for key in project.seeds if fnmatchcase(key, wanted)]
    if not found:
        known = [seed.name for seed in project.seeds.values()]
        hint = suggestion(name, known) or f"there are {len(known)}: `rocky list seeds`"
        raise NothingSelected(f"no seed `{name}`; {hint}")
    return found
