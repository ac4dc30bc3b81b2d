"""Runs from Python: a project built on Spark, the caller's own session included."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.api.branches import chosen_place
from rocky.compiler.passes import compile_project
from rocky.plan.request import RunRequest, plan_request
from rocky.project import Project
from rocky.run.outcomes import Listener, SilentListener
from rocky.run.outcomes import RunResult as RunReport
from rocky.run.prepare.caller import Caller, observe_origin
from rocky.run.project_run import run_request

__all__ = ["RunReport", "run_project"]


def run_project(  # noqa: PLR0913 - options by keyword, each with a default
    project: Project | Compilation,
    *,
    spark: Any = None,
    select: Sequence[str] = (),
    exclude: Sequence[str] = (),
    full_refresh: bool = False,
    force_rebuild: bool = False,
    reuse: bool = True,
    parallel: int = 4,
    branch: str | None = None,
    state_path: str | Path | None = None,
    listener: Listener | None = None,
    env: Mapping[str, str] | None = None,
) -> RunReport:
    """Build the selected models' tables. A model that fails is in the report, not raised.

    `spark` is a session of yours, classic or Connect: it is used, and left as it was. Without one
    the project's `[adapter]` says which Spark to start or to reach. What an earlier run built from
    the same code and inputs is reused, unless `reuse` is False; `force_rebuild` also builds again
    what an unfinished run has built. With a `branch` its tables are built, and production's stay
    as they are. Raises RunRefused when the
    selection has errors, and other RockyErrors when nothing could be run at all.
    """
    compilation = project if isinstance(project, Compilation) else compile_project(project)
    compilation, state = chosen_place(compilation, state_path, branch)
    root = compilation.project.root
    request = RunRequest(
        tuple(select),
        tuple(exclude),
        parallel=parallel,
        full_refresh=full_refresh,
        rebuild=force_rebuild,
        reuse=reuse,
    )
    environment = os.environ if env is None else env
    means = Caller(
        state,
        observe_origin(root, environment, session_source="api"),
        environment,
        listener or SilentListener(),
        spark,
    )
    return run_request(plan_request(compilation, request), request, means)
