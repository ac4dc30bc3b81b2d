"""The working tree: what differs from a commit, also what nobody has added yet."""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rocky.git.program import demand_git, split_names
from rocky.git.repository import Repository

_OWN: Final = (".rocky/", ".rocky-state.db")
"""What commands leave beside a project (cache, plans, state): no change of it."""
_CACHE: Final = ".rocky/cache/"

FileStatus = Literal["added", "removed", "modified", "renamed"]
_STATUSES: Final[dict[str, FileStatus]] = {"A": "added", "D": "removed", "R": "renamed"}


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of the project that differs. Paths are from the project's folder.

    A renamed one may also have changed a little; `base_path` is what it was called.
    """

    path: str
    status: FileStatus
    base_path: str | None = None


def is_dirty(repository: Repository, *, untracked: bool = True) -> bool:
    """Whether the project's folder is other than its last commit."""
    found = "normal" if untracked else "no"
    line = ("status", "--porcelain", "-z", f"--untracked-files={found}", "--", ".")
    told = split_names(demand_git(repository.folder, *line).out)
    own = tuple(f"?? {repository.prefix}{each}" for each in _OWN)
    return any(not each.startswith(own) for each in told)


def changed_files(repository: Repository, base: str) -> tuple[ChangedFile, ...]:
    """The files that differ between a commit and the working tree, sorted by path.

    Untracked ones count, ignored ones do not. A file that was moved without telling git is a
    rename all the same.
    """
    with tempfile.TemporaryDirectory(prefix="rocky-index-") as scratch:
        names = {"GIT_INDEX_FILE": str(_copy_index(repository, Path(scratch)))}
        where = ("--", ".")
        # Mentions untracked files in the copy of the index, so that a diff sees them.
        demand_git(repository.folder, "add", "--intent-to-add", *where, names=names)
        line = ("diff", "--name-status", "-z", "--find-renames", "--no-ext-diff", "--no-textconv")
        told = demand_git(
            repository.folder,
            *line,
            "--relative",
            "--ignore-submodules",
            base,
            *where,
            names=names,
        )
    found = [each for each in _parse(split_names(told.out)) if not each.path.startswith(_CACHE)]
    return tuple(sorted(found, key=lambda each: each.path))


def _copy_index(repository: Repository, scratch: Path) -> Path:
    own = repository.top / demand_git(repository.top, "rev-parse", "--git-path", "index").text
    copy = scratch / "index"
    if own.exists():
        shutil.copyfile(own, copy)
    return copy


def _parse(told: list[str]) -> list[ChangedFile]:
    """`M path`, `A path`, `R100 old new`: each word is an item of its own."""
    found: list[ChangedFile] = []
    words = iter(told)
    for word in words:
        status = _STATUSES.get(word[0], "modified")
        path = next(words)
        if status == "renamed":
            found.append(ChangedFile(next(words), status, path))
        else:
            found.append(ChangedFile(path, status))
    return found
