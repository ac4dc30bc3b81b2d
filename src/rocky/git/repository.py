"""Repositories: the one a project's folder is in, the commits that names stand for, the main line.

A project may be any folder of a repository, so `prefix` leads from the repository's top to it; git
speaks of paths from the top, Rocky of paths from the project. The main line is what everybody's
changes end up on. What is at the remote comes before what is here, because anybody can commit to
their own `main`, and its name is full, because a tag may also be called `origin/main`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from rocky.errors import GitUnavailable, NotARepository, UnknownRevision
from rocky.git.program import ask_git, demand_git

DEFAULT_BASES: Final = ("main", "master", "origin/HEAD", "origin/main", "origin/master")
_SHOWN_COMMIT: Final = 12
_UNSHALLOW: Final = (
    "this clone is shallow: `git fetch --unshallow`, or `fetch-depth: 0` in `actions/checkout`,"
    " brings the rest"
)


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a project is kept. `prefix` is empty, or the project's folder ending in `/`."""

    top: Path
    prefix: str = ""

    @property
    def folder(self) -> Path:
        """The project's folder."""
        return self.top / self.prefix

    def path_of(self, path: str) -> str:
        """From the repository's top, what is `path` from the project."""
        return f"{self.prefix}{path}"


def find_repository(folder: Path) -> Repository:
    """The repository whose working tree holds a folder. Raises NotARepository, GitUnavailable."""
    if not folder.is_dir():
        raise NotARepository(f"`{folder}` is not a folder")
    answer = ask_git(folder, "rev-parse", "--show-toplevel", "--show-prefix")
    if answer.code == 0:
        top, _, prefix = answer.text.partition("\n")
        return Repository(Path(top), prefix)
    if "not a git repository" in answer.err:
        raise NotARepository(
            f"`{folder}` is not in a git repository: `git init` and a commit give it a past"
        )
    if "work tree" in answer.err:
        raise NotARepository(f"`{folder}` is not in the working tree of a git repository")
    # Also a folder that git does not trust: it says how to trust it.
    raise GitUnavailable(f"git refuses `{folder}`: {answer.err.strip() or 'no reason'}")


def resolve_ref(repository: Repository, ref: str) -> str:
    """The commit that a branch, tag, hash or expression names, in full.

    Raises UnknownRevision; what could be read as an option is refused.
    """
    if not ref.strip() or ref.startswith("-") or any(ord(each) < ord(" ") for each in ref):
        raise UnknownRevision(f"`{ref}` is no name of a commit")
    found = find_commit(repository, ref)
    if found is None:
        raise UnknownRevision(_describe_unknown(repository, ref))
    return found


def find_commit(repository: Repository, ref: str) -> str | None:
    """The commit of a well-formed name; None when there is none."""
    answer = ask_git(repository.top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return answer.text if answer.code == 0 else None


def merge_base(repository: Repository, one: str, other: str) -> str:
    """The newest commit that both have in their past. Raises UnknownRevision."""
    answer = ask_git(repository.top, "merge-base", one, other)
    if answer.code == 0:
        return answer.text
    if answer.code != 1:
        raise GitUnavailable(f"`git merge-base` failed: {answer.reason}")
    hint = _UNSHALLOW if is_shallow(repository) else "`--exact` compares without one"
    shown = f"`{one[:_SHOWN_COMMIT]}` and `{other[:_SHOWN_COMMIT]}`"
    raise UnknownRevision(f"{shown} have no commit in common; {hint}")


def default_base(repository: Repository) -> str:
    """The name of the branch that changes are made against. Raises UnknownRevision.

    On that branch itself, or on no branch, one that is at another commit: compared with what is
    checked out, nothing ever changes.
    """
    known = {name: found for name in DEFAULT_BASES if (found := find_commit(repository, name))}
    if not known:
        tried = ", ".join(f"`{name}`" for name in DEFAULT_BASES)
        hint = _UNSHALLOW if is_shallow(repository) else "name the base"
        raise UnknownRevision(f"none of {tried} exists; {hint}")
    branch = current_branch(repository)
    if branch is not None and not _is_main(repository, branch):
        return next(iter(known))
    upstream = _upstream(repository)
    names = {} if upstream is None else {upstream: find_commit(repository, upstream)}
    head = resolve_ref(repository, "HEAD")
    for name, commit in (names | known).items():
        if commit != head:
            return name
    where = "no branch is checked out" if branch is None else f"`{branch}` is checked out"
    raise UnknownRevision(
        f"{where}, and every base there is to compare with is that same commit: name the base, as"
        " `HEAD~1` for what the last commit changed or `HEAD` for what is not committed"
    )


def _is_main(repository: Repository, branch: str) -> bool:
    """Whether changes are made against a branch, and not on it."""
    answer = ask_git(
        repository.top, "symbolic-ref", "--short", "--quiet", "refs/remotes/origin/HEAD"
    )
    return branch in ("main", "master") or answer.text == f"origin/{branch}"


def _upstream(repository: Repository) -> str | None:
    """What the branch that is checked out follows; None when it follows nothing."""
    answer = ask_git(
        repository.top, "rev-parse", "--abbrev-ref", "--verify", "--quiet", "@{upstream}"
    )
    return answer.text if answer.code == 0 and answer.text else None


def is_shallow(repository: Repository) -> bool:
    answer = ask_git(repository.top, "rev-parse", "--is-shallow-repository")
    return answer.text == "true"


def current_branch(repository: Repository) -> str | None:
    """The branch that is checked out; None on a detached head."""
    answer = ask_git(repository.top, "symbolic-ref", "--short", "--quiet", "HEAD")
    return answer.text if answer.code == 0 else None


def _describe_unknown(repository: Repository, ref: str) -> str:
    if ref == "HEAD":
        return "the repository has no commit yet: make one first"
    if is_shallow(repository):
        return f"no commit `{ref}` here; {_UNSHALLOW}"
    remote = f"origin/{ref}"
    if find_commit(repository, remote) is not None:
        return f"no commit `{ref}` here; did you mean `{remote}`?"
    branches = demand_git(
        repository.top, "for-each-ref", "--count=5", "--format=%(refname:short)", "refs/heads"
    ).text.split()
    listed = ", ".join(f"`{name}`" for name in branches) or "none"
    return f"no commit `{ref}` here; branches are {listed}, and `git fetch` brings those of others"


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
