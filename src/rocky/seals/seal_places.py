"""Where seals are kept: a file, a folder, or a commit of git's; and the list of who may seal.

Seals of a commit are judged by the list of that same commit, and its settings say where both are.
The working tree is written by whoever works here, also by somebody who would like another list, or
older seals; a commit is what was reviewed, and its name covers seals, list and settings alike.
"""

import errno
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from rocky.branches.approvals.policy import SignersFile, parse_signers
from rocky.errors import InvalidRequest, NothingSelected, ProjectNotFound, SignersUnusable
from rocky.project.configuration.config import DEFAULT_CONFIG
from rocky.project.git import Repository, find_own_repository, resolve_ref, show_file
from rocky.project.git.repository import full_name
from rocky.project.git.trees import show_files
from rocky.project.loader import CONFIG_NAME, load_config
from rocky.seals.seal_file import SUFFIX

_GIT: Final = re.compile(r"git:(?P<ref>[^:]+)(?::(?P<path>.+))?", re.DOTALL)
_LARGEST: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class SealedProject:
    """The project whose seals are looked for: its folder, and its settings file if it was named."""

    folder: Path
    config: Path | None
    environment: Mapping[str, str]


class _Places(NamedTuple):
    """Where a project's seals and its list of signers are, from its folder on."""

    seals: str
    signers: str


class SealCommit(NamedTuple):
    """Where seals were taken from: the repository, the reference that was named, its commit."""

    repository: str
    ref: str | None
    commit: str


@dataclass(frozen=True, slots=True)
class FoundSeals:
    """The files of seals by name, oldest entry first, and the list to judge them by.

    `commit` is where they are from, if from git; `unread` are files that cannot be seals, by name.
    """

    files: dict[str, bytes]
    signers: SignersFile
    commit: SealCommit | None = None
    unread: Mapping[str, str] = field(default_factory=dict)


def find_seals(sealed: str, project: SealedProject, own_signers: Path | None) -> FoundSeals:
    """The seals at a place: FILE, DIR or `git:REF[:PATH]`. `own_signers` is the reader's own list.

    Raises NothingSelected when there is none, SignersUnusable, InvalidRequest for a name that is no
    place, and what git raises.
    """
    if not sealed.startswith("git:"):
        files, unread = _load_files(Path(sealed))
        if own_signers is None:
            places = _find_places(project.folder, project.config, project.environment)
            own_signers = project.folder / places.signers
        return FoundSeals(files, load_signers(own_signers), unread=unread)
    named = _GIT.fullmatch(sealed)
    if named is None:
        raise InvalidRequest(f"`{sealed}` is not written `git:REF` or `git:REF:PATH`")
    repository = find_own_repository(project.folder)
    commit = resolve_ref(repository, named["ref"])
    place = SealCommit(str(repository.top), full_name(repository, named["ref"]), commit)
    places = _find_places_at(repository, commit, project)
    path = named["path"] or places.seals
    alone = show_file(repository, commit, path)
    if alone is not None:
        files = {path.rpartition("/")[2]: alone}
    else:
        files = _seals_among(show_files(repository, commit, path), f"`{path}` of `{named['ref']}`")
    if own_signers is not None:
        return FoundSeals(files, load_signers(own_signers), place)
    data = show_file(repository, commit, places.signers)
    if data is None:
        raise SignersUnusable(
            f"`{places.signers}` is not in `{named['ref']}`, so nobody may seal; name a list of"
            " your own with `--allowed-signers`"
        )
    return FoundSeals(files, parse_signers(data, f"`{places.signers}` of `{named['ref']}`"), place)


def _find_places_at(repository: Repository, commit: str, project: SealedProject) -> _Places:
    """What the settings of a commit say; without any, where things usually are."""
    name = CONFIG_NAME
    if project.config is not None:
        name = os.path.relpath(project.config, project.folder).replace(os.sep, "/")
    data = show_file(repository, commit, name)
    with TemporaryDirectory(prefix="rocky-seals-") as folder:
        if data is not None:
            Path(folder, CONFIG_NAME).write_bytes(data)
        return _find_places(Path(folder), None, project.environment)


def _find_places(folder: Path, config: Path | None, environment: Mapping[str, str]) -> _Places:
    """Raises SignersUnusable for errors in the settings: a default would decide who may seal."""
    try:
        found, errors = load_config(folder, env=environment, config=config)
    except ProjectNotFound:
        found, errors = DEFAULT_CONFIG, ()
    wrong = [each for each in errors if each.keys[:1] in ((), ("branch",), ("evidence",))]
    if wrong:
        raise SignersUnusable(f"who may seal is not known: {wrong[0].text}")
    return _Places(found.evidence.seal_dir, found.branch.approval.allowed_signers)


def load_signers(path: Path) -> SignersFile:
    """The list of signers in a file. Raises SignersUnusable."""
    try:
        return parse_signers(_read(path), f"`{path.name}`")
    except FileNotFoundError as failure:
        raise SignersUnusable(
            f"there is no `{path}`, which lists who may seal, with a line `EMAIL PUBLIC-KEY` for"
            " each; `rocky verify` takes another list by `--allowed-signers`"
        ) from failure
    except OSError as failure:
        raise SignersUnusable(f"`{path}` cannot be read: {failure.strerror}") from failure


def _load_files(place: Path) -> tuple[dict[str, bytes], dict[str, str]]:
    """The bytes of seals by name; and why others are none."""
    if not place.is_dir():
        if not place.exists():
            raise NothingSelected(f"there is no seal `{place}`, and no folder of that name")
        paths = [place]
    else:
        names = sorted(os.listdir(place))  # noqa: PTH208 - names alone
        paths = [place / each for each in names if each.endswith(SUFFIX)]
        if not paths:
            raise _no_seal(f"`{place}`")
    files: dict[str, bytes] = {}
    unread: dict[str, str] = {}
    for path in paths:
        try:
            files[path.name] = _read(path)
        except _NotAFile as wrong:
            unread[path.name] = str(wrong.strerror)
    return files, unread


class _NotAFile(OSError):
    """Something that is no file of a seal's size."""


def _read(path: Path) -> bytes:
    """A file's bytes. A pipe would keep the reader waiting, and a device has no end."""
    refused = _NotAFile(errno.EINVAL, "it is a pipe, a device or the like, and no file", str(path))
    if not stat.S_ISREG(path.stat().st_mode):
        raise refused
    # Without waiting: it may have been exchanged since.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:  # noqa: PTH123 - flags
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise refused
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise _NotAFile(errno.EFBIG, "it is too large for a seal", str(path))
    return data


def _seals_among(files: dict[str, bytes], where: str) -> dict[str, bytes]:
    found = {name: files[name] for name in sorted(files) if name.endswith(SUFFIX)}
    if not found:
        raise _no_seal(where)
    return found


def _no_seal(where: str) -> NothingSelected:
    return NothingSelected(f"there is no seal in {where}: `rocky seal` makes one")
