"""Circumstances of a run: who, where, from which commit, for what reason.

Git is asked, never required: a project outside a repository has no commit, and a `git` that
cannot answer is the same as none. What is not known stays absent.
"""

import getpass
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocky.errors import GitUnavailable, NotARepository
from rocky.git import Repository, current_branch, find_commit, find_repository, is_dirty

_TRIGGERS: Final = {
    word.lower(): word for word in ("Manual", "Sensor", "Schedule", "Ci", "Webhook")
}
_SOURCES: Final = ("cli", "ci", "dagster", "lsp", "http_api", "api")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What the ledger says about a run besides what it did."""

    trigger: str
    session_source: str
    hostname: str
    triggering_identity: str | None = None
    git_commit: str | None = None
    git_branch: str | None = None
    git_dirty: bool | None = None


def observe_circumstances(
    root: Path, env: Mapping[str, str], *, session_source: str = "cli"
) -> Circumstances:
    """What can be seen now. `ROCKY_RUN_TRIGGER` and `ROCKY_SESSION_SOURCE` have the last word."""
    in_ci = env.get("CI", "").lower() not in ("", "0", "false")
    trigger = _TRIGGERS.get(env.get("ROCKY_RUN_TRIGGER", "").lower(), "Ci" if in_ci else "Manual")
    source = env.get("ROCKY_SESSION_SOURCE", "").lower()
    if source not in _SOURCES:
        source = "ci" if in_ci and session_source == "cli" else session_source
    commit, branch, dirty = _ask_git(root)
    return Circumstances(
        trigger, source, platform.node() or "unknown", _identity(env), commit, branch, dirty
    )


def _identity(env: Mapping[str, str]) -> str | None:
    for name in ("ROCKY_IDENTITY", "USER", "USERNAME"):
        if env.get(name):
            return env[name]
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A user id without an entry, as in many containers.
        return None


def _ask_git(root: Path) -> tuple[str | None, str | None, bool | None]:
    """The commit, the branch (none on a detached head), and whether files differ from it."""
    try:
        return _state_of(find_repository(root))
    except (GitUnavailable, NotARepository):
        return None, None, None


def _state_of(repository: Repository) -> tuple[str | None, str | None, bool]:
    dirty = is_dirty(repository, untracked=False)
    return find_commit(repository, "HEAD"), current_branch(repository), dirty
