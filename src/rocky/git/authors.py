"""Authors: who made the commits of a change, and who is at work here.

An author is who says so: git believes any name and address. Every address a commit carries counts,
as it stands and as `.mailmap` maps it, so that a mapping in the change cannot hide who made it.
"""

import re
from typing import Final, NamedTuple

from rocky.git.program import ask_git, demand_git
from rocky.git.repository import Repository

_ADDRESS: Final = re.compile(r"<([^<>\s]+)>")
_TRAILER: Final = re.compile(r"^co-authored-by:(.*)$", re.IGNORECASE | re.MULTILINE)


class Identity(NamedTuple):
    """Who git's settings say is at work. What is not set is None."""

    name: str | None
    email: str | None


def find_identity(repository: Repository) -> Identity:
    """`user.name` and `user.email`, as they hold in the repository."""
    return Identity(_setting(repository, "user.name"), _setting(repository, "user.email"))


def authors_between(
    repository: Repository,
    base: str,
    head: str,
    path: str | None = None,
    *,
    apart_from: str | None = None,
) -> tuple[str, ...]:
    """The addresses of all who made the commits of `head` that `base` has not, in lower case.

    Authors, committers and those in `Co-authored-by` lines. `path` is from the repository's top;
    None is the project's folder, an empty one the whole repository. Sorted. A commit that changes
    nothing, or nothing but what is below `apart_from` (from the project's folder on), has no
    author; nor has a merge in which every file is as one of the two sides has it.
    """
    where = repository.prefix.rstrip("/") if path is None else path
    line = [
        "log",
        "--full-history",
        "--encoding=UTF-8",
        "-c",
        "--name-only",
        "--no-renames",
        "--format=%x00%ae%n%ce%n%aE%n%cE%n%B%x00",
        f"{base}..{head}",
    ]
    listed = demand_git(repository.top, *line, "--", *([where] if where else [])).text
    spared = repository.path_of(apart_from.rstrip("/") + "/") if apart_from else None
    found: set[str] = set()
    _, *parts = listed.split("\0")
    for commit, names in zip(parts[::2], parts[1::2], strict=True):
        changed = [each for each in names.split("\n") if each]
        if all(spared is not None and each.startswith(spared) for each in changed):
            continue
        lines = commit.split("\n")
        found.update(lines[:4])
        for credited in _TRAILER.findall("\n".join(lines[4:])):
            found.update(_ADDRESS.findall(credited))
    return tuple(sorted({each.strip().lower() for each in found} - {""}))


def _setting(repository: Repository, key: str) -> str | None:
    answer = ask_git(repository.top, "config", "--get", key)
    return answer.text.strip() or None if answer.code == 0 else None
