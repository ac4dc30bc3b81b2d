"""Circumstances of a run: who, where, from which commit, for what reason.

Git is asked, never required: a project outside a repository has no commit, and a `git` that
cannot answer is the same as none. What is not known stays absent.
"""

import getpass
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TRIGGERS: Final = {
    word.lower(): word for word in ("Manual", "Sensor", "Schedule", "Ci", "Webhook")
}
_SOURCES: Final = ("cli", "ci", "dagster", "lsp", "http_api", "api")
_GIT_PATIENCE_SECONDS: Final = 10


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
    status = _ask_git(root, "status", "--porcelain", "--untracked-files=no", "--", ".")
    return Circumstances(
        trigger,
        source,
        platform.node() or "unknown",
        _identity(env),
        _ask_git(root, "rev-parse", "HEAD"),
        _branch(root),
        None if status is None else bool(status),
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


def _branch(root: Path) -> str | None:
    """The branch, or None on a detached head."""
    return _ask_git(root, "symbolic-ref", "--short", "--quiet", "HEAD") or None


def _ask_git(root: Path, *arguments: str) -> str | None:
    try:
        said = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_PATIENCE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return said.stdout.strip() if said.returncode == 0 else None
