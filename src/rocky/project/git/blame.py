"""Blame: the commit that last changed some lines of a file, and who made it.

Names and times in commits are what somebody typed: they say who answers for a line, and prove
nothing.
"""

from datetime import UTC, datetime
from typing import Final, NamedTuple

from rocky.project.git.program import ask_git
from rocky.project.git.repository import Repository

_UNCOMMITTED: Final = "0" * 40


class LineCommit(NamedTuple):
    """The newest commit among those that lines are from."""

    commit_id: str
    author: str
    at: datetime


def find_line_commit(repository: Repository, path: str, first: int, last: int) -> LineCommit | None:
    """Who last changed the lines of a file, counted from 1; None for what is in no commit.

    `path` is from the project's folder. Raises GitUnavailable.
    """
    answer = ask_git(
        repository.folder,
        "blame",
        "--no-textconv",
        "--line-porcelain",
        f"-L{first},{last}",
        "--",
        path,
    )
    if answer.code:
        return None
    found: list[LineCommit] = []
    commit = author = ""
    for line in answer.text.split("\n"):
        key, _, value = line.partition(" ")
        if not commit:
            commit = key
        elif key == "author":
            author = value
        elif key == "author-time":
            at = datetime.fromtimestamp(int(value), UTC)
            found.append(LineCommit(commit, author, at))
        elif line.startswith("\t"):
            commit = ""
    if any(each.commit_id == _UNCOMMITTED for each in found):
        return None
    return max(found, key=lambda each: each.at, default=None)
