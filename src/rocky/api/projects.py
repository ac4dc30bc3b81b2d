"""Projects from Python: made from a template, loaded from a path, compiled; codes explained.

The compiler itself never reads the environment; this is where `${VAR}` gets it from.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from rocky.analysis.compilation import Compilation
from rocky.api.arguments import path_of
from rocky.operations.check.explain import CodesReport, ExplainReport, ExplainRequest
from rocky.operations.check.explain import explain as _explain
from rocky.operations.migration.import_dbt import ImportDbtReport, ImportDbtRequest
from rocky.operations.migration.import_dbt import import_dbt as _import_dbt
from rocky.operations.migration.template import (
    SHOP,
    InitReport,
    InitRequest,
    PlaygroundReport,
    PlaygroundRequest,
    init,
    playground,
)
from rocky.operations.pipeline_tables import see_pipelines
from rocky.operations.python_plans import compile_analysed
from rocky.plan.arguments import Count, refuse_unfit
from rocky.project import Project
from rocky.project import load_project as _load_project


def load_project(
    path: str | Path = ".",
    *,
    env: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
) -> Project:
    """The project at `path`: its folder or its `rocky.toml`. Raises ProjectNotFound.

    `env` gives `${VAR}` its values; by default the process's environment does.
    `variables` gives `@var(name)` in SQL its values.
    """
    refuse_unfit("path", path, str | Path)
    project = _load_project(
        Path(path), env=os.environ if env is None else env, variables=variables or {}
    )
    return see_pipelines(project)


def compile_project(
    project: Project, *, jobs: int | None = None, cache: bool = True
) -> Compilation:
    """Compile a loaded project. Mistakes in it are in `.diagnostics`, never raised."""
    refuse_unfit("jobs", jobs, Count | None)
    return compile_analysed(project, "person", jobs=jobs, cache=cache, portability=True)


def create_project(folder: str | Path = ".") -> InitReport:
    """Write the smallest useful project, as `rocky init`. Raises WouldOverwrite."""
    return init(InitRequest(path_of(folder)))


def create_playground(folder: str | Path, template: str = SHOP) -> PlaygroundReport:
    """Write a small project with data, as `rocky playground`. Raises WouldOverwrite."""
    return playground(PlaygroundRequest(path_of(folder), template))


def import_dbt(
    folder: str | Path,
    to: str | Path | None = None,
    *,
    manifest: str | Path | None = None,
    use_dbt: bool = True,
) -> ImportDbtReport:
    """Write a dbt project as one of Rocky's, as `rocky import-dbt`. Raises ImportRefused."""
    request = ImportDbtRequest(
        path_of(folder),
        None if to is None else path_of(to),
        None if manifest is None else path_of(manifest),
        use_dbt,
    )
    return _import_dbt(request, os.environ)


def explain(code: str | None = None) -> CodesReport | ExplainReport:
    """What a diagnostic code means; without one, all codes. Raises NothingSelected."""
    return _explain(ExplainRequest(code))
