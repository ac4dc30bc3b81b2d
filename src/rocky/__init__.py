"""Rocky: the typed graph between SQL and Spark.

The names below are the public API. They are loaded when first used, so that importing the package
(and `rocky --version`) stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rocky.version import __version__

if TYPE_CHECKING:
    from rocky.analysis.compilation import Compilation
    from rocky.api.pipelines import PipelineReport, run_pipeline
    from rocky.api.projects import compile_project, load_project
    from rocky.api.replays import replay_run
    from rocky.api.runs import RunReport, run_project
    from rocky.compiler.check import CheckedColumn, CheckedQuery, check_sql
    from rocky.diagnostics import Diagnostic
    from rocky.errors import RockyError
    from rocky.project import Project
    from rocky.replay.verdicts import ReplayReport

_HOMES = {
    "CheckedColumn": "rocky.compiler.check",
    "CheckedQuery": "rocky.compiler.check",
    "Compilation": "rocky.analysis.compilation",
    "Diagnostic": "rocky.diagnostics",
    "PipelineReport": "rocky.api.pipelines",
    "Project": "rocky.project",
    "ReplayReport": "rocky.replay.verdicts",
    "RockyError": "rocky.errors",
    "RunReport": "rocky.api.runs",
    "check_sql": "rocky.compiler.check",
    "compile_project": "rocky.api.projects",
    "load_project": "rocky.api.projects",
    "replay_run": "rocky.api.replays",
    "run_pipeline": "rocky.api.pipelines",
    "run_project": "rocky.api.runs",
}

__all__ = [
    "CheckedColumn",
    "CheckedQuery",
    "Compilation",
    "Diagnostic",
    "PipelineReport",
    "Project",
    "ReplayReport",
    "RockyError",
    "RunReport",
    "__version__",
    "check_sql",
    "compile_project",
    "load_project",
    "replay_run",
    "run_pipeline",
    "run_project",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        message = f"module `rocky` has no attribute `{name}`"
        raise AttributeError(message)
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found
