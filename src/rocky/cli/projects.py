"""From `Settings` to a loaded or compiled project, and to the names people type.

This is where the environment enters: everything below is handed it.
"""

import atexit
import gc
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rocky.cli.options import Settings
from rocky.compiler.compilation import Compilation
from rocky.compiler.pipeline import compile_project
from rocky.diagnostics import Severity
from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected
from rocky.project import ModelFile, Project, load_project
from rocky.project.branching import on_branch

_MANY_OBJECTS: Final = 500_000


def load_chosen(settings: Settings, *, cache: bool = True) -> Project:
    """The project of `--config`, else the one here or in the nearest folder above.

    With `cache`, models that are as the last load left them are not read again.
    """
    _spare_collector()
    folder, config = chosen_place(settings)
    variables = settings.variables
    project = load_project(
        folder, env=os.environ, config=config, remember=cache, variables=variables
    )
    for name in variables:
        if name not in project.variables:
            raise NothingSelected(_unused_variable(name, project))
    if settings.branch is None:
        return project
    return on_branch(project, settings.branch, settings.branch_adapter)


def chosen_place(settings: Settings) -> tuple[Path, Path | None]:
    """The folder of the project, and its settings file when that was named."""
    if settings.config is None:
        return nearest_root(), None
    if settings.config.is_dir():
        return settings.config, None
    return settings.config.parent, settings.config


def _unused_variable(name: str, project: Project) -> str:
    known = sorted(project.variables)
    hint = suggestion(name, known)
    if hint is None:
        listed = ", ".join(f"`{each}`" for each in known)
        hint = f"they ask for {listed}" if known else "none asks for any"
    return f"no model asks for the variable `{name}`; {hint}"


def _spare_collector() -> None:
    """A command keeps what it loads until it ends: looking for garbage in it is a waste."""
    gc.set_threshold(_MANY_OBJECTS, 50, 100)
    # At exit the interpreter collects once more, all of a large project, for nobody.
    atexit.register(gc.freeze)


def compile_chosen(
    settings: Settings, *, jobs: int | None = None, cache: bool = True
) -> Compilation:
    return compile_project(load_chosen(settings, cache=cache), jobs=jobs, cache=cache)


def nearest_root() -> Path:
    """Where `rocky.toml` is; here when there is none, so that the message is about here."""
    here = Path()
    for folder in (here, *(Path(os.path.relpath(each)) for each in Path.cwd().parents)):
        if (folder / "rocky.toml").is_file():
            return folder
    return here


def model_named(project: Project, name: str) -> ModelFile:
    """The model that goes by a name or by its target's full name. Raises NothingSelected."""
    wanted = name.replace("`", "").lower()
    found = project.models.get(wanted)
    if found is None:
        found = next((each for each in project.models.values() if each.target.key == wanted), None)
    if found is None:
        raise NothingSelected(unknown_name("model", name, model_names(project)))
    return found


def model_names(project: Project) -> list[str]:
    return [model.name for model in project.models.values()]


def unknown_name(noun: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that nothing has."""
    names = list(known)
    hint = suggestion(name, names)
    if hint is None:
        hint = f"`rocky list` shows what there is ({len(names)} in all)" if names else "none exist"
    return f"no {noun} `{name}`; {hint}"


def broken_models(compilation: Compilation) -> set[str]:
    """The names of models that have errors of their own."""
    return {
        each.model
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR and each.model is not None
    }
