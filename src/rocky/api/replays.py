"""Replays from Python: a recorded run built again and compared, also on the caller's Spark."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocky.api.projects import load_project
from rocky.ledger import LATEST, STATE_FILE
from rocky.project import Project
from rocky.replay.execution import PARALLEL, ReplayOptions, replay_project_run
from rocky.replay.record import load_recorded_run
from rocky.replay.verdicts import ReplayReport


def replay_run(  # noqa: PLR0913 - options by keyword, each with a default
    project: Project | str | Path = ".",
    run_id: str = LATEST,
    *,
    spark: Any = None,
    models: Sequence[str] = (),
    parallel: int = PARALLEL,
    keep: str | Path | None = None,
    state_path: str | Path | None = None,
    env: Mapping[str, str] | None = None,
) -> ReplayReport:
    """Build a recorded run again from its record alone, in a scratch area, and compare.

    The project says how Spark is reached; its models are not read. `spark` is a session of yours:
    it is used, and left as it was. Raises NothingSelected for a run or a model that is not
    recorded, and other RockyErrors when nothing could be replayed at all.
    """
    environment = os.environ if env is None else env
    loaded = project if isinstance(project, Project) else load_project(project, env=environment)
    state = loaded.root / STATE_FILE if state_path is None else Path(state_path)
    orders = ReplayOptions(parallel, Path(keep) if keep is not None else None)
    return replay_project_run(
        loaded,
        load_recorded_run(state, run_id, models),
        orders,
        state=state,
        environment=environment,
        spark=spark,
    )
