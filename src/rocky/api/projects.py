"""Projects from Python: loaded from a path, compiled.

The compiler itself never reads the environment; this is where `${VAR}` gets it from.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project as _compile_project
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
    return _load_project(
        Path(path), env=os.environ if env is None else env, variables=variables or {}
    )


def compile_project(
    project: Project, *, jobs: int | None = None, cache: bool = True
) -> Compilation:
    """Compile a loaded project. Mistakes in it are in `.diagnostics`, never raised."""
    return _compile_project(project, jobs=jobs, cache=cache)
