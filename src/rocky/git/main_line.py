"""The main line: what everybody's changes end up on, and the rules for changes are taken from.

What is at the remote comes before what is here: anybody can commit to their own `main`. Names are
full, because a tag or a local branch may also be called `origin/main`, and git would take that one.
"""

from typing import Final, NamedTuple

from rocky.errors import UnknownRevision
from rocky.git.program import ask_git
from rocky.git.repository import Repository, find_commit, is_shallow

_CHOSEN: Final = "refs/remotes/origin/HEAD"
"""What the remote says its main line is, as a name for another reference."""
_USUAL: Final = (
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
)
_HINT: Final = (
    "`git fetch origin` and `git remote set-head origin --auto` say what it is, and where there is"
    " no remote `git symbolic-ref refs/remotes/origin/HEAD refs/heads/NAME`"
)


class MainLine(NamedTuple):
    """The main line as people call it, and the commit it has come to."""

    name: str
    tip: str


def find_main_line(repository: Repository) -> MainLine:
    """What `origin/HEAD` leads to, else the first that exists of the usual names.

    As the remote was when it was last fetched from. Raises UnknownRevision.
    """
    # Only as a name for another: somebody may have pushed a branch that is called HEAD.
    chosen = ask_git(repository.top, "symbolic-ref", "--quiet", _CHOSEN)
    for name in (*([chosen.text] if chosen.code == 0 else []), *_USUAL):
        tip = find_commit(repository, name)
        if tip is not None:
            return MainLine(_shown(name), tip)
    tried = ", ".join(f"`{_shown(name)}`" for name in (_CHOSEN, *_USUAL))
    hint = "`git fetch --unshallow origin` brings it" if is_shallow(repository) else _HINT
    raise UnknownRevision(f"there is no main line: none of {tried} exists; {hint}")


def is_ancestor(repository: Repository, commit: str, of: str) -> bool:
    """Whether a commit is another, or in its past. What cannot be told is not."""
    return ask_git(repository.top, "merge-base", "--is-ancestor", commit, of).code == 0


def _shown(name: str) -> str:
    return name.removeprefix("refs/remotes/").removeprefix("refs/heads/")
