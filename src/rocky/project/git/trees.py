"""Trees: a project's files as a commit has them, and how the working tree differs from one.

A snapshot is written as a checkout would write it, with line endings but without filters, through
an index of its own: `git archive` would be shorter, but leaves out what is marked `export-ignore`.
The working tree counts with what nobody has added yet.
"""

import os
import posixpath
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

from rocky.errors import GitUnavailable, UnknownRevision
from rocky.project.git.program import decode_name, demand_git, encode_name, split_names
from rocky.project.git.repository import Repository, find_commit

_LINK: Final = "120000"
_SUBMODULE: Final = "160000"
_INDEX: Final = ".rocky-snapshot-index"


class Entry(NamedTuple):
    """One path of a commit's tree."""

    mode: str
    object_id: str
    path: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A project at a commit. `folder` may not exist: then the commit has no such folder.

    `missing` are submodules that are not checked out here, so that nothing is known of them.
    """

    folder: Path
    missing: tuple[str, ...] = ()


def check_out(
    repository: Repository, commit: str, into: Path, *, also: Sequence[str] = ()
) -> Snapshot:
    """Write the project's folder at a commit below `into`, as deep as it is in the repository.

    What its symbolic links lead to and the paths in `also`, from the repository's top, come with
    it. A link out of the repository leads where it leads from the working tree.
    """
    checkout = _Checkout(repository, into.resolve())
    checkout.read(commit)
    try:
        checkout.write([repository.prefix.rstrip("/"), *also])
    finally:
        checkout.index.unlink(missing_ok=True)
    return Snapshot(into / repository.prefix, tuple(sorted(checkout.missing)))


def show_file(repository: Repository, commit: str, path: str) -> bytes | None:
    """The bytes of a project's file at a commit; None when the commit has no such file."""
    whole = posixpath.normpath(repository.path_of(path))
    found = demand_git(repository.top, "ls-tree", "-z", "--full-tree", commit, "--", whole)
    entries = [each for each in found.out.split(b"\0") if each]
    if not entries or b" blob " not in entries[0].partition(b"\t")[0]:
        return None
    object_id = entries[0].split()[2].decode()
    return demand_git(repository.top, "cat-file", "blob", object_id).out


def show_files(repository: Repository, commit: str, folder: str) -> dict[str, bytes]:
    """The bytes of the files right in a project's folder at a commit, by name."""
    whole = posixpath.normpath(repository.path_of(folder))
    below = () if whole == "." else (f"{whole}/",)
    listed = demand_git(repository.top, "ls-tree", "-z", "--full-tree", commit, "--", *below)
    ids: dict[str, bytes] = {}
    for each in listed.out.split(b"\0"):
        facts, _, path = each.partition(b"\t")
        if b" blob " in facts:
            ids[posixpath.basename(decode_name(path))] = facts.split()[2]
    asked = b"".join(each + b"\n" for each in ids.values())
    told = demand_git(repository.top, "cat-file", "--batch", stdin=asked).out if ids else b""
    found: dict[str, bytes] = {}
    for name in ids:
        # `<id> blob <size>`, the bytes, and an end of line.
        head, _, rest = told.partition(b"\n")
        words = head.split()
        if words[1:2] != [b"blob"]:
            raise GitUnavailable(f"git does not have `{name}` of `{commit}` here")
        size = int(words[2])
        found[name], told = rest[:size], rest[size + 1 :]
    return found


class _Checkout:
    """An index of its own, and what was written from it."""

    def __init__(self, repository: Repository, into: Path) -> None:
        self._repository = repository
        self._into = into
        self._written: set[str] = set()
        self._asked: set[str] = set()
        self.index = into / _INDEX
        self.missing: list[str] = []
        self._names = {
            "GIT_DIR": demand_git(repository.top, "rev-parse", "--absolute-git-dir").text,
            "GIT_WORK_TREE": str(into),
            "GIT_INDEX_FILE": str(self.index),
        }

    def read(self, commit: str) -> None:
        self._into.mkdir(parents=True, exist_ok=True)
        demand_git(self._into, "read-tree", commit, names=self._names)

    def write(self, paths: Iterable[str]) -> None:
        """Write paths, and those that links in them lead to, until nothing is new."""
        waiting = list(paths)
        while waiting:
            path = waiting.pop()
            if path in self._asked:
                continue
            self._asked.add(path)
            entries = [each for each in self._list(path) if each.path not in self._written]
            self._written.update(each.path for each in entries)
            self._write_files([each for each in entries if each.mode != _SUBMODULE])
            for entry in entries:
                if entry.mode == _SUBMODULE:
                    self._write_submodule(entry)
                elif entry.mode == _LINK:
                    waiting += self._follow(entry.path)

    def _list(self, path: str) -> list[Entry]:
        where = ["--", path] if path else []
        listed = demand_git(self._into, "ls-files", "-s", "-z", *where, names=self._names)
        found = []
        for each in listed.out.split(b"\0"):
            facts, _, name = each.partition(b"\t")
            if name:
                mode, object_id, _ = facts.decode().split(" ")
                found.append(Entry(mode, object_id, decode_name(name)))
        return found

    def _write_files(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        names = b"".join(encode_name(each.path) + b"\0" for each in entries)
        line = ("checkout-index", "--force", "--quiet", "-z", "--stdin")
        demand_git(self._into, *line, stdin=names, names=self._names)
        for each in entries:
            # Some versions of git end well although a file could not be written.
            if not os.path.lexists(self._into / each.path):
                raise GitUnavailable(f"git could not write `{each.path}` of the base")

    def _write_submodule(self, entry: Entry) -> None:
        """A submodule's files at the commit that this one names, from its own repository."""
        inner = Repository(self._repository.top / entry.path)
        if not (inner.top / ".git").exists():
            self.missing.append(entry.path)
            return
        if find_commit(inner, entry.object_id) is None:
            raise UnknownRevision(
                f"the submodule `{entry.path}` does not have the commit `{entry.object_id}`:"
                f" `git -C {entry.path} fetch` may bring it"
            )
        below = check_out(inner, entry.object_id, self._into / entry.path)
        self.missing += [f"{entry.path}/{each}" for each in below.missing]

    def _follow(self, path: str) -> list[str]:
        """What a link leads to within the repository. Rewrites links that would lead out of it."""
        link = self._into / path
        if not link.is_symlink():
            return []
        target = str(link.readlink())
        top = str(self._repository.top)
        whole = posixpath.normpath(posixpath.join(top, posixpath.dirname(path), target))
        inside = whole == top or whole.startswith(f"{top}/")
        if not inside or posixpath.isabs(target):
            # As it stands it would lead out of the snapshot, or back into the working tree.
            link.unlink()
            link.symlink_to(whole if not inside else f"{self._into}{whole[len(top) :]}")
        return [whole[len(top) + 1 :]] if inside else []


_OWN: Final = (".rocky/", ".rocky-state.db")
"""What commands leave beside a project (cache, plans, state): no change of it."""
CACHE_FOLDER: Final = ".rocky/cache"
"""Where earlier releases kept caches: what is left there untracked is no change either."""

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


def is_dirty(repository: Repository, suffixes: tuple[str, ...] = ("",)) -> bool:
    """Whether something in the project's folder is other than its last commit.

    Of files that git does not know only those with a name that ends so count.
    """
    line = ["status", "--porcelain", "-z", "--untracked-files=all"]
    # Not into submodules: their settings are their own.
    line += ["--ignore-submodules=dirty", "--", "."]
    told = split_names(demand_git(repository.folder, *line).out)
    own = tuple(f"?? {repository.prefix}{each}" for each in _OWN)
    return any(
        not each.startswith("?? ") or (each.endswith(suffixes) and not each.startswith(own))
        for each in told
    )


def changed_files(repository: Repository, base: str) -> tuple[ChangedFile, ...]:
    """The files that differ between a commit and the working tree, sorted by path.

    Untracked ones count, except in the folder of earlier caches; ignored ones do not. A file that
    was moved without telling git is a rename all the same.
    """
    with tempfile.TemporaryDirectory(prefix="rocky-index-") as scratch:
        names = {"GIT_INDEX_FILE": str(_copy_index(repository, Path(scratch)))}
        where = ("--", ".")
        # Mentions untracked files in the copy of the index, so that a diff sees them.
        demand_git(repository.folder, "add", "--intent-to-add", *where, names=names)
        _forget(repository, _untracked(repository, CACHE_FOLDER), names)
        line = ("diff", "--name-status", "-z", "--find-renames")
        told = demand_git(
            repository.folder,
            *line,
            "--relative",
            "--ignore-submodules",
            base,
            *where,
            names=names,
        )
    return tuple(sorted(_parse(split_names(told.out)), key=lambda each: each.path))


def tracked_files(repository: Repository, folder: str) -> tuple[str, ...]:
    """The files that git tracks in a folder of the project, as paths from the project's folder."""
    listed = demand_git(repository.folder, "ls-files", "-z", "--", folder)
    return tuple(split_names(listed.out))


def _untracked(repository: Repository, folder: str) -> tuple[str, ...]:
    listed = demand_git(repository.folder, "ls-files", "--others", "-z", "--", folder)
    return tuple(split_names(listed.out))


def _forget(repository: Repository, paths: Sequence[str], names: Mapping[str, str]) -> None:
    """Take paths out of an index."""
    if paths:
        given = b"".join(encode_name(each) + b"\0" for each in paths)
        line = ("update-index", "--force-remove", "-z", "--stdin")
        demand_git(repository.folder, *line, stdin=given, names=names)


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
