"""The Python way in: `open`, workspaces and branches with a method for each operation; projects."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rocky.api.arguments import path_of
from rocky.api.progress import offer_names, running_shell
from rocky.api.workspace import Workspace
from rocky.errors import InvalidRequest
from rocky.plan.arguments import refuse_unfit

if TYPE_CHECKING:
    from rocky.run.outcomes import Listener


__all__ = ["Workspace", "open"]

_HEARD: Final = ("queued", "started", "progress", "retried", "finished")
"""The methods of a listener."""


def open(  # noqa: A001 - as it is called: `rocky.open`
    path: str | Path | None = None,
    *,
    branch: str | None = None,
    state_path: str | Path | None = None,
    variables: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    mask_env: str | None = None,
    spark: Any = None,
    listener: "Listener | None" = None,
    progress: bool = True,
    warn: Callable[[str], None] | None = None,
) -> Workspace:
    """The workspace of a project: its folder or its `rocky.toml`. Nothing is read yet.

    Without a path it is the project of the working folder, or of the nearest above it. `branch`
    chooses the tables and the state of a branch. `variables` are the values of
    `@var(name)` in SQL, `env` those of `${VAR}` and of credentials; by default the process's.
    `mask_env` is the environment whose `[mask.ENV]` holds.
    `spark` is a session of yours, classic or Connect: it is used, and left as it was. `listener`
    hears the progress of runs; without one a notebook shows it, unless `progress` is False.
    `warn` hears a sentence about what went wrong beside the work.
    """
    for name, value, kind in (
        ("path", path, str | Path | None),
        ("branch", branch, str | None),
        ("state_path", state_path, str | Path | None),
        ("variables", variables, Mapping[str, str] | None),
        ("env", env, Mapping[str, str] | None),
        ("mask_env", mask_env, str | None),
        ("progress", progress, bool),
    ):
        refuse_unfit(name, value, kind)
    if spark is not None and not hasattr(spark, "sql"):
        raise InvalidRequest(f"`spark` is a session of Spark, not {spark!r}")
    if warn is not None and not callable(warn):
        raise InvalidRequest(f"`warn` is a function that is given a sentence, not {warn!r}")
    missing = [name for name in _HEARD if listener is not None and not hasattr(listener, name)]
    if missing:
        raise InvalidRequest(
            f"`listener` has no method `{missing[0]}`; it needs {', '.join(_HEARD)}"
        )
    if running_shell() is not None:
        offer_names(Workspace)
    opened = Workspace(
        path_of(path),
        path_of(state_path),
        variables or {},
        branch,
        environment=os.environ if env is None else env,
        spark=spark,
        mask_env=mask_env,
    )
    if listener is None and not progress:
        from rocky.run.outcomes import SilentListener  # noqa: PLC0415 - `import rocky` stays cheap

        listener = SilentListener()
    if listener is not None:
        opened = replace(opened, listener=listener)
    return opened if warn is None else replace(opened, warn=warn)
