"""Git repositories made for one test, with the real program."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SOMEBODY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")


@dataclass(frozen=True)
class Repo:
    """A repository on disk."""

    root: Path

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *SOMEBODY, "-c", "commit.gpgsign=false", *arguments],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        )
        return done.stdout.strip()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, message: str = "a change", *options: str) -> str:
        """Commit everything; the commit's hash."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, *options)
        return self.git("rev-parse", "HEAD")


def make_repo(root: Path, files: Mapping[str, str | bytes] | None = None) -> Repo:
    """A repository on the branch `main`, with one commit when there are files."""
    root.mkdir(parents=True, exist_ok=True)
    repo = Repo(root)
    repo.git("init", "-q", "-b", "main")
    if files is not None:
        repo.write(files)
        repo.commit("first")
    return repo
