"""Repositories: the one a project's folder is in, its commits by their names, and who made them."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from rocky.errors import GitUnavailable, InvalidRequest, NotARepository, UnknownRevision
from rocky.project.git.program import ask_git, demand_git

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
    """The repository whose working tree holds a folder. Raises NotARepository, GitUnavailable.

    One that only its own settings make that of another folder (`core.worktree`) is refused: whoever
    can write a folder of a working tree could make one there that stands for the whole.
    """
    if not folder.is_dir():
        raise NotARepository(f"`{folder}` is not a folder")
    answer = ask_git(folder, "rev-parse", "--show-toplevel", "--show-prefix", "--absolute-git-dir")
    if answer.code == 0:
        top, _, rest = answer.text.partition("\n")
        prefix, _, git_dir = rest.partition("\n")
        if not _is_around(Path(top), folder, git_dir):
            raise GitUnavailable(
                f"`{git_dir}` was found from `{folder}`, and is the repository of `{top}` by its"
                " settings alone; remove it, or work in a clone"
            )
        return Repository(Path(top), prefix)
    if "not a git repository" in answer.err:
        raise NotARepository(
            f"`{folder}` is not in a git repository: `git init` and a commit start its history"
        )
    if "work tree" in answer.err:
        raise NotARepository(f"`{folder}` is not in the working tree of a git repository")
    # Also a folder that git does not trust: it says how to trust it.
    raise GitUnavailable(f"git refuses `{folder}`: {answer.err.strip() or 'no reason'}")


def _is_around(top: Path, folder: Path, git_dir: str) -> bool:
    """Whether a folder is in a working tree that names the repository git has found from there."""
    if not folder.resolve().is_relative_to(top.resolve()):
        return False
    named = top / ".git"
    if named.is_file():
        try:
            # As a submodule and a further working tree have it.
            named = (
                top / named.read_text("utf-8", "surrogateescape").partition("gitdir: ")[2].strip()
            )
        except OSError:
            return False
    return named.resolve() == Path(git_dir).resolve()


def resolve_ref(repository: Repository, ref: str) -> str:
    """The commit that a branch, tag, hash or expression names, in full.

    Raises UnknownRevision; what could be read as an option is refused, and so is a name that two
    references have: git would take the tag for the branch.
    """
    if not ref.strip() or ref.startswith("-") or any(ord(each) < ord(" ") for each in ref):
        raise UnknownRevision(f"`{ref}` does not name a commit")
    answer = ask_git(repository.top, "rev-parse", "--verify", f"{ref}^{{commit}}")
    if answer.code:
        raise UnknownRevision(_describe_unknown(repository, ref))
    # Whatever else is called so: a hash in full is that object, and HEAD is what is checked out.
    if _AMBIGUOUS in answer.err and ref != "HEAD" and not _HASH.fullmatch(ref):
        raise UnknownRevision(_describe_ambiguous(repository, ref))
    return answer.text


_AMBIGUOUS: Final = "is ambiguous"
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NAME: Final = re.compile(r"[^~^@]+")


def _describe_ambiguous(repository: Repository, ref: str) -> str:
    named = _NAME.match(ref)
    name = ref if named is None else named[0]
    kinds = (f"refs/{kind}/{name}" for kind in ("tags", "heads", "remotes"))
    found = demand_git(repository.top, "for-each-ref", "--format=%(refname)", *kinds).text.split()
    listed = " and ".join(f"`{each}`" for each in found if each.endswith(f"/{name}"))
    return (
        f"`{name}` is the name of several things{f', {listed}' if listed else ''}; name the one"
        " that is meant in full"
    )


def full_name(repository: Repository, ref: str) -> str | None:
    """The reference that a name stands for, as `refs/heads/main`; None for hashes and the like."""
    answer = ask_git(repository.top, "rev-parse", "--symbolic-full-name", ref)
    return answer.text or None if answer.code == 0 else None


def find_outer(repository: Repository) -> Repository | None:
    """The repository around one that has the same files; None when there is none.

    Then the inner one was made later in its working tree, and may be anybody's. A submodule is no
    such case, nor a clone in a folder that the outer one does not have.
    """
    top = repository.top
    while top.parent != top:
        try:
            around = find_repository(top.parent)
        except NotARepository:
            return None
        path = around.path_of(top.name)
        listed = ask_git(around.top, "ls-tree", "HEAD", "--", path)
        if listed.code == 0 and " tree " in listed.text:
            return around
        top = around.top
    return None


def find_own_repository(folder: Path) -> Repository:
    """The repository of a project, where it decides: who may seal, and who has to approve.

    Raises as `find_repository`, and InvalidRequest for one that was made inside of another.
    """
    repository = find_repository(folder)
    outer = find_outer(repository)
    if outer is not None:
        raise InvalidRequest(
            f"`{folder}` is in two repositories: `{outer.top}` has its files, and in the working"
            f" tree of that one somebody has made `{repository.top}`; remove the `.git` there, or"
            " work in a clone"
        )
    return repository


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


_ADDRESS: Final = re.compile(r"<([^<>\s]+)>")
_TRAILER: Final = re.compile(r"^co-authored-by:(.*)$", re.IGNORECASE | re.MULTILINE)


class Identity(NamedTuple):
    """Who git's settings say is at work. What is not set is None."""

    name: str | None
    email: str | None


def find_identity(repository: Repository) -> Identity:
    """`user.name` and `user.email`, as they hold in the repository."""
    return Identity(_setting(repository, "user.name"), _setting(repository, "user.email"))


class ChangeCommit(NamedTuple):
    """A commit that changes something, and the addresses that it names, in lower case.

    Of authors, committers and those in `Co-authored-by` lines: what somebody typed.
    """

    commit_id: str
    addresses: tuple[str, ...]


def authors_between(
    repository: Repository,
    base: str,
    head: str,
    path: str | None = None,
    *,
    apart_from: str | None = None,
) -> tuple[str, ...]:
    """The addresses in the commits that `commits_between` gives, sorted."""
    commits = commits_between(repository, base, head, path, apart_from=apart_from)
    return tuple(sorted({address for each in commits for address in each.addresses}))


def commits_between(
    repository: Repository,
    base: str,
    head: str,
    path: str | None = None,
    *,
    apart_from: str | None = None,
) -> tuple[ChangeCommit, ...]:
    """The commits of `head` that `base` has not and that change something.

    `path` is from the repository's top; None is the project's folder, an empty one the whole
    repository. One that changes nothing but what is below `apart_from` (from the project's folder
    on) does not count; nor does a merge in which every file is as one of the two sides has it.
    """
    where = repository.prefix.rstrip("/") if path is None else path
    line = [
        "log",
        "--full-history",
        "--encoding=UTF-8",
        "-c",
        "--name-only",
        "--no-renames",
        "--format=%x00%H%n%ae%n%ce%n%aE%n%cE%n%B%x00",
        f"{base}..{head}",
    ]
    listed = demand_git(repository.top, *line, "--", *([where] if where else [])).text
    spared = repository.path_of(apart_from.rstrip("/") + "/") if apart_from else None
    found = []
    _, *parts = listed.split("\0")
    for commit, names in zip(parts[::2], parts[1::2], strict=True):
        changed = [each for each in names.split("\n") if each]
        if all(spared is not None and each.startswith(spared) for each in changed):
            continue
        commit_id, *lines = commit.split("\n")
        typed = set(lines[:4])
        for credited in _TRAILER.findall("\n".join(lines[4:])):
            typed.update(_ADDRESS.findall(credited))
        addresses = {each.strip().lower() for each in typed} - {""}
        found.append(ChangeCommit(commit_id, tuple(sorted(addresses))))
    return tuple(found)


def read_commit(repository: Repository, commit_id: str) -> bytes:
    """A commit's object, byte for byte."""
    return demand_git(repository.top, "cat-file", "commit", commit_id).out


def _setting(repository: Repository, key: str) -> str | None:
    answer = ask_git(repository.top, "config", "--get", key)
    return answer.text.strip() or None if answer.code == 0 else None
