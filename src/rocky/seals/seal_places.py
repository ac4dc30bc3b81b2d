"""Where seals are kept: a file, a folder, or a commit of git's; and the list of who may seal.

Seals of a commit are judged by the list of that same commit, and its settings say where both are.
The working tree is written by whoever works here, also by somebody who would like another list, or
older seals; a commit is what was reviewed, and its name covers seals, list and settings alike.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from rocky.branches.approvals.policy import SignersFile, parse_signers
from rocky.errors import InvalidRequest, NothingSelected, ProjectNotFound, SignersUnusable
from rocky.project.configuration.config import DEFAULT_CONFIG
from rocky.project.git import Repository, find_repository, resolve_ref, show_file
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


@dataclass(frozen=True, slots=True)
class FoundSeals:
    """The files of seals by name, oldest entry first, and the list to judge them by."""

    files: dict[str, bytes]
    signers: SignersFile


def find_seals(sealed: str, project: SealedProject, own_signers: Path | None) -> FoundSeals:
    """The seals at a place: FILE, DIR or `git:REF[:PATH]`. `own_signers` is the reader's own list.

    Raises NothingSelected when there is none, SignersUnusable, InvalidRequest for a name that is no
    place, and what git raises.
    """
    if not sealed.startswith("git:"):
        files = _load_files(Path(sealed))
        if own_signers is None:
            places = _find_places(project.folder, project.config, project.environment)
            own_signers = project.folder / places.signers
        return FoundSeals(files, load_signers(own_signers))
    named = _GIT.fullmatch(sealed)
    if named is None:
        raise InvalidRequest(f"`{sealed}` is not written `git:REF` or `git:REF:PATH`")
    repository = find_repository(project.folder)
    commit = resolve_ref(repository, named["ref"])
    places = _find_places_at(repository, commit, project)
    path = named["path"] or places.seals
    alone = show_file(repository, commit, path)
    if alone is not None:
        files = {path.rpartition("/")[2]: alone}
    else:
        files = _seals_among(show_files(repository, commit, path), f"`{path}` of `{named['ref']}`")
    if own_signers is not None:
        return FoundSeals(files, load_signers(own_signers))
    data = show_file(repository, commit, places.signers)
    if data is None:
        raise SignersUnusable(
            f"`{places.signers}` is not in `{named['ref']}`, so nobody may seal; name a list of"
            " your own with `--allowed-signers`"
        )
    return FoundSeals(files, parse_signers(data, f"`{places.signers}` of `{named['ref']}`"))


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
        return parse_signers(path.read_bytes(), f"`{path.name}`")
    except FileNotFoundError as failure:
        raise SignersUnusable(
            f"there is no `{path}`, which lists who may seal, with a line `EMAIL PUBLIC-KEY` for"
            " each; `rocky verify` takes another list by `--allowed-signers`"
        ) from failure
    except OSError as failure:
        raise SignersUnusable(f"`{path}` cannot be read: {failure.strerror}") from failure


def _load_files(place: Path) -> dict[str, bytes]:
    if not place.is_dir():
        if not place.exists():
            raise NothingSelected(f"there is no seal `{place}`, and no folder of that name")
        return {place.name: _read(place)}
    names = (each for each in os.listdir(place) if each.endswith(SUFFIX))  # noqa: PTH208 - names alone
    return _seals_among({each: _read(place / each) for each in names}, f"`{place}`")


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise OSError(0, "it is too large for a seal", str(path))
    return data


def _seals_among(files: dict[str, bytes], where: str) -> dict[str, bytes]:
    found = {name: files[name] for name in sorted(files) if name.endswith(SUFFIX)}
    if not found:
        raise NothingSelected(f"there is no seal in {where}: `rocky seal` makes one")
    return found
