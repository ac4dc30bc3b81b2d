"""Rocky: the typed graph between SQL and Spark.

The names below are the public API. They are loaded when first used, so that importing the package
(and `rocky --version`) stays cheap.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from rocky.version import __version__

if TYPE_CHECKING:
    from rocky.analysis.compilation import Compilation
    from rocky.api import Workspace, open  # noqa: A004 - as it is called
    from rocky.api.branch import Branch
    from rocky.api.projects import (
        compile_project,
        create_playground,
        create_project,
        explain,
        import_dbt,
        load_project,
    )
    from rocky.api.reports import to_dict, to_json
    from rocky.compiler.check import CheckedColumn, CheckedQuery, check_sql
    from rocky.diagnostics import Diagnostic
    from rocky.errors import RockyError
    from rocky.frames.frame_check import CheckedFrame, Frames, check
    from rocky.plan.request import RunRequest, Window
    from rocky.project import Project

# ruff: noqa: PLC0415 - a name's module is loaded when the name is first used

__all__ = [
    "Branch",
    "CheckedColumn",
    "CheckedFrame",
    "CheckedQuery",
    "Compilation",
    "Diagnostic",
    "Frames",
    "Project",
    "RockyError",
    "RunRequest",
    "Window",
    "Workspace",
    "__version__",
    "check",
    "check_sql",
    "compile_project",
    "create_playground",
    "create_project",
    "explain",
    "import_dbt",
    "load_project",
    "open",
    "to_dict",
    "to_json",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        message = f"module `rocky` has no attribute `{name}`"
        raise AttributeError(message)
    found = getattr(_home_of(name), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names alone: packages are there once somebody has imported them."""
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Give a notebook `%%rocky` and `%rocky_project`; `%load_ext rocky` calls it."""
    from rocky.api.magics import Magics

    Magics(shell).register()


def _home_of(name: str) -> ModuleType:  # noqa: PLR0911 - one return a module
    """The module that a public name is defined in."""
    # Imports and no names of modules, so that types and import contracts see them.
    match name:
        case "RockyError":
            from rocky import errors

            return errors
        case "Diagnostic":
            from rocky import diagnostics

            return diagnostics
        case "CheckedColumn" | "CheckedQuery" | "check_sql":
            from rocky.compiler import check

            return check
        case "CheckedFrame" | "Frames" | "check":
            from rocky.frames import frame_check

            return frame_check
        case "Compilation":
            from rocky.analysis import compilation

            return compilation
        case "Project":
            from rocky import project

            return project
        case "RunRequest" | "Window":
            from rocky.plan import request

            return request
        case "Branch":
            from rocky.api import branch

            return branch
        case "to_dict" | "to_json":
            from rocky.api import reports

            return reports
        case "Workspace" | "open":
            from rocky import api

            return api
        case _:
            from rocky.api import projects

            return projects
