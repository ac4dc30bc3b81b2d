"""Pipelines from Python: tables copied, loaded, snapshotted and checked."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.api.branches import chosen_place
from rocky.compiler.passes import compile_project
from rocky.errors import RunRefused
from rocky.pipelines.pipeline_run import run_pipeline as run_named
from rocky.pipelines.report import PipelineResult as PipelineReport
from rocky.plan.refusals import config_findings
from rocky.plan.request import RunRequest
from rocky.project import Project
from rocky.run.outcomes import Listener, SilentListener
from rocky.run.prepare.caller import Caller, observe_origin

__all__ = ["PipelineReport", "run_pipeline"]


def run_pipeline(  # noqa: PLR0913 - options by keyword, each with a default
    project: Project | Compilation,
    name: str,
    *,
    spark: Any = None,
    filters: Sequence[str] = (),
    full_refresh: bool = False,
    force_rebuild: bool = False,
    resume: str | None = None,
    idempotency_key: str | None = None,
    parallel: int | None = None,
    branch: str | None = None,
    state_path: str | Path | None = None,
    listener: Listener | None = None,
    env: Mapping[str, str] | None = None,
) -> PipelineReport:
    """Run a pipeline that is no set of models. A table that fails is in the report, not raised.

    `spark` is a session of yours, used and left as it was. `filters` choose tables, as
    `tenant=acme`; with a `branch` its tables are written. Raises RunRefused when `rocky.toml` has
    errors, RunSkipped when a run under the key was made or is going on, and other RockyErrors when
    nothing could be run at all.
    """
    compilation = project if isinstance(project, Compilation) else compile_project(project)
    wrong = config_findings(compilation)
    if wrong:
        raise RunRefused(f"the settings have errors: {wrong[0].message}")
    compilation, state = chosen_place(compilation, state_path, branch)
    root = compilation.project.root
    environment = os.environ if env is None else env
    request = RunRequest(
        parallel=parallel,
        full_refresh=full_refresh,
        rebuild=force_rebuild,
        filters=tuple(filters),
        resume=resume,
        idempotency_key=idempotency_key,
    )
    means = Caller(
        state,
        observe_origin(root, environment, session_source="api"),
        environment,
        listener or SilentListener(),
        spark,
    )
    return run_named(compilation, name, request, means)
