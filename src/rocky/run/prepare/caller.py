"""The caller: who asks for a run, from where and which commit, and what they bring along.

Values only: asking loads nothing heavy. Git is asked, never required: a project outside a
repository has no commit, and a `git` that cannot answer is the same as none.
"""

import os
import platform
import pwd
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rocky.errors import GitUnavailable, NotARepository
from rocky.ledger.run_records import RunRecord
from rocky.plan.kept_plan import AppliedPlan
from rocky.project.git import Repository, current_branch, find_commit, find_repository, is_dirty
from rocky.run.outcomes import Listener, SilentListener
from rocky.run.prepare.ci_identity import find_ci_identity
from rocky.state.events import SyncListener
from rocky.version import __version__

_TRIGGERS: Final = {
    word.lower(): word for word in ("Manual", "Sensor", "Schedule", "Ci", "Webhook")
}
_SOURCES: Final = ("cli", "ci", "dagster", "lsp", "http_api", "api")


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """What the ledger says about a run besides what it did."""

    trigger: str
    session_source: str
    hostname: str
    triggering_identity: str | None = None
    git_commit: str | None = None
    git_branch: str | None = None
    git_dirty: bool | None = None
    ci: Mapping[str, str] = field(default_factory=dict)

    def open_record(self, started_at: datetime, config_hash: str, warehouse: str) -> RunRecord:
        """The record of a run that begins, as far as it says who asked for it and where."""
        return RunRecord(
            started_at,
            self.trigger,
            config_hash,
            self.hostname,
            __version__,
            triggering_identity=self.triggering_identity,
            session_source=self.session_source,
            git_commit=self.git_commit,
            git_branch=self.git_branch,
            git_dirty=self.git_dirty,
            warehouse=warehouse,
            ci=self.ci,
        )


def observe_origin(root: Path, env: Mapping[str, str], *, session_source: str = "cli") -> RunOrigin:
    """What can be seen now. `ROCKY_RUN_TRIGGER` and `ROCKY_SESSION_SOURCE` win."""
    in_ci = _is_ci(env)
    trigger = _TRIGGERS.get(env.get("ROCKY_RUN_TRIGGER", "").lower(), "Ci" if in_ci else "Manual")
    source = env.get("ROCKY_SESSION_SOURCE", "").lower()
    if source not in _SOURCES:
        source = "ci" if in_ci and session_source == "cli" else session_source
    commit, branch, dirty = _ask_git(root)
    return RunOrigin(
        trigger,
        source,
        platform.node() or "unknown",
        find_person(env),
        commit,
        branch,
        dirty,
        find_ci_identity(env),
    )


_ACTORS: Final = (
    "GITHUB_ACTOR",
    "GITLAB_USER_LOGIN",
    "BUILD_REQUESTEDFOREMAIL",
    "BUILDKITE_BUILD_CREATOR_EMAIL",
    "CIRCLE_USERNAME",
    "BITBUCKET_STEP_TRIGGERER_UUID",
)
"""Who started a job, as systems for CI say: the user of the machine is the same for everybody."""


def _is_ci(env: Mapping[str, str]) -> bool:
    return env.get("CI", "").lower() not in ("", "0", "false")


def find_person(env: Mapping[str, str]) -> str | None:
    """Who is at work, as the machine says: it is recorded with a run, and is no proof."""
    actors = _ACTORS if _is_ci(env) else ()
    for name in ("ROCKY_IDENTITY", *actors, "USER", "USERNAME", "LOGNAME", "LNAME"):
        if env.get(name):
            return env[name]
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        # A user id without an entry, as in many containers.
        return None


_PROJECT_FILES: Final = (".sql", ".rocky", ".py", ".toml", ".csv")
"""What a project is made of. Tables and logs beside it may be unknown to git for good reasons."""


def _ask_git(root: Path) -> tuple[str | None, str | None, bool | None]:
    """The commit, the branch (none on a detached head), and whether files differ from it."""
    try:
        return _state_of(find_repository(root))
    except (GitUnavailable, NotARepository):
        return None, None, None


def _state_of(repository: Repository) -> tuple[str | None, str | None, bool]:
    commit = find_commit(repository, "HEAD")
    dirty = commit is None or is_dirty(repository, _PROJECT_FILES)
    return commit, current_branch(repository), dirty


def _ignore_warning(_warning: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Caller:
    """Where records go, who asks, and who listens. `spark` is the caller's own session.

    `synced` hears of every transfer of remote state, `warn` of what went wrong
    when the run itself was over. `applied` is the kept plan that is carried out, if one is.
    """

    state: Path
    circumstances: RunOrigin
    environment: Mapping[str, str] = field(repr=False)
    listener: Listener = field(default_factory=SilentListener)
    spark: Any = None
    synced: SyncListener | None = None
    warn: Callable[[str], None] = _ignore_warning
    applied: AppliedPlan | None = None
