"""The user's cache: where a project's cache files lie, and the key that says who wrote them.

Files are in `rocky/projects/` of the user's cache folder, a folder for each project, and never in a
folder that git can carry. Each begins with a MAC of its content, of its name and of the project's
path, under a random key that only the user can read: it is checked before anything is parsed, and
a file that somebody else wrote is not there. Without a place or a key there is no cache, and
nothing fails.
"""

import contextlib
import hmac
import logging
import os
import stat
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from blake3 import blake3

from rocky.project.overlay import is_laid
from rocky.project.writable_folder import write_problem

logger = logging.getLogger(__name__)

KEY_FILE: Final = "key"
PROJECTS: Final = "projects"
_KEY_MAGIC: Final = b"rocky-key-1\n"
_KEY_BYTES: Final = 32
_MAGIC: Final = b"rocky-cache-2\n"
_MAC_BYTES: Final = 32
_HEAD: Final = len(_MAGIC) + _MAC_BYTES
_PRIVATE: Final = 0o700
_OTHERS: Final = 0o077
_ABANDONED_SECONDS: Final = 3600
"""A temporary file this much older belongs to a process that was killed."""
_UNUSED_SECONDS: Final = 60 * 24 * 3600
"""A project whose cache nobody wrote for this long has moved, or is gone."""


class CachePlace(NamedTuple):
    """The folder of a project's cache files; None when there is none, and then why."""

    folder: Path | None
    reason: str = ""


class CacheFile(NamedTuple):
    """What a cache file holds, and when it was written by the clock of its file system."""

    payload: memoryview
    saved: int


def cache_place(root: Path) -> CachePlace:
    """Where the cache files of a project lie. Nothing is made.

    There is none where git could carry it: whoever commits a file there could commit a key too.
    """
    home = _cache_home()
    if home is None:
        return CachePlace(None, "the user has no home folder")
    base = os.path.realpath(home / "rocky")
    whole = os.path.realpath(root)
    for top in _tops(whole):
        if base == top or base.startswith(f"{top.rstrip('/')}/"):
            return CachePlace(
                None, f"`{base}` lies in the repository of the project, where git could carry it"
            )
    name = blake3(os.fsencode(whole)).hexdigest(16)
    return CachePlace(Path(base) / PROJECTS / name)


def read_cache(root: Path, name: str) -> CacheFile | None:
    """What this user wrote under a name for a project; None when in doubt."""
    folder = cache_place(root).folder
    key = _read_key(folder.parent.parent) if folder is not None else None
    if folder is None or key is None:
        return None
    try:
        with (folder / name).open("rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            data = file.read() if stat.S_ISREG(found.st_mode) else b""
    except OSError:
        return None
    payload = memoryview(data)[_HEAD:]
    said = _MAGIC + _authenticate(key, root, name, payload)
    if not hmac.compare_digest(said, data[:_HEAD]):
        logger.debug("`%s` is not what this user wrote: it is made anew", folder / name)
        return None
    return CacheFile(payload, found.st_mtime_ns)


def write_cache(root: Path, name: str, payload: bytes) -> bool:
    """Replace what is kept under a name. False when it cannot be: the next command works anew."""
    if is_laid():
        return False
    place = cache_place(root)
    if place.folder is None:
        logger.debug("no cache: %s", place.reason)
        return False
    base = place.folder.parent.parent
    try:
        base.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        fresh = not place.folder.is_dir()
        place.folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        key = _read_key(base) or _make_key(base)
        head = _MAGIC + _authenticate(key, root, name, payload)
        _replace(place.folder / name, head, payload)
    except OSError as failure:
        logger.debug("no cache in `%s`: %s", place.folder, failure.strerror)
        return False
    _remove_abandoned(place.folder / name)
    if fresh:
        _remove_unused(base / PROJECTS, place.folder)
    return True


def is_writable(place: CachePlace) -> bool:
    """Whether a cache could be written there; a file is tried, and no folder is made."""
    return place.folder is not None and write_problem(place.folder) is None


def _cache_home() -> Path | None:
    # A command has one user, whatever environment a project is given.
    home = os.environ.get("XDG_CACHE_HOME", "")  # noqa: TID251
    # A relative path would mean a folder of whatever project the command was started in.
    if Path(home).is_absolute():
        return Path(home)
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return None


def _tops(root: str) -> list[str]:
    """The project's folder, and the tops of the working trees that it is in.

    Above a submodule there is another working tree that could carry what is in here.
    """
    found = [root]
    folder = root
    while True:
        git = f"{folder}/.git"
        if os.path.lexists(git):
            found.append(folder)
            if not _is_submodule(Path(git)):
                return found
        above = os.path.dirname(folder)  # noqa: PTH120 - a dozen times a command
        if above == folder:
            return found
        folder = above


def _is_submodule(git: Path) -> bool:
    """Whether a `.git` leads to a repository that is kept within another one's."""
    try:
        return git.is_file() and "/modules/" in git.read_text(errors="replace")
    except OSError:
        return False


def _authenticate(key: bytes, root: Path, name: str, payload: bytes | memoryview) -> bytes:
    whole = os.fsencode(os.path.realpath(root))
    return blake3(name.encode() + b"\0" + whole + b"\0", key=key).update(payload).digest()


def _read_key(base: Path) -> bytes | None:
    """The user's key; None when there is none, or when somebody else could know it."""
    try:
        handle = os.open(base / KEY_FILE, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(file.fileno())
        own = os.name != "posix" or (
            found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & _OTHERS
        )
        if not own or not stat.S_ISREG(found.st_mode):
            logger.debug("`%s` is not this user's alone: it is not used", base / KEY_FILE)
            return None
        data = file.read(len(_KEY_MAGIC) + _KEY_BYTES + 1)
    whole = data.startswith(_KEY_MAGIC) and len(data) == len(_KEY_MAGIC) + _KEY_BYTES
    return data[len(_KEY_MAGIC) :] if whole else None


def _make_key(base: Path) -> bytes:
    """A new key in place of none or of one that is not to be used. Raises OSError.

    It appears whole or not at all; of two processes that make the first one, both use the same.
    """
    key = os.urandom(_KEY_BYTES)
    handle, draft = tempfile.mkstemp(dir=base, prefix=f"{KEY_FILE}-", suffix=".tmp")
    path = base / KEY_FILE
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_KEY_MAGIC + key)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except OSError:
            # Either somebody was first, or what is there is no key, or this file system has no
            # links.
            first = _read_key(base)
            if first is not None:
                return first
            Path(draft).replace(path)
    finally:
        Path(draft).unlink(missing_ok=True)
    return key


def _replace(path: Path, head: bytes, payload: bytes) -> None:
    """Replace a file whole. Raises OSError."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(head)
            file.write(payload)
        Path(draft).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(draft).unlink()
        raise


def _remove_abandoned(path: Path) -> None:
    """Remove what killed processes left beside a file."""
    with contextlib.suppress(OSError):
        written = path.stat().st_mtime
        for each in path.parent.glob(f"{path.name}-*.tmp"):
            if each.stat().st_mtime < written - _ABANDONED_SECONDS:
                each.unlink()


def _remove_unused(projects: Path, new: Path) -> None:
    """Remove the folders of projects that nobody compiled for long before a new one was made."""
    with contextlib.suppress(OSError), os.scandir(projects) as folders:
        oldest = new.stat().st_mtime - _UNUSED_SECONDS
        for folder in folders:
            if folder.is_dir(follow_symlinks=False):
                _remove_folder(Path(folder.path), oldest)


def _remove_folder(folder: Path, oldest: float) -> None:
    with contextlib.suppress(OSError):
        # A folder is as young as the file written last, so most are told by their own time alone.
        if folder.lstat().st_mtime >= oldest:
            return
        files = list(folder.iterdir())
        # An empty one may be about to be written to, and leaves when it is as old.
        if max(each.lstat().st_mtime for each in [folder, *files]) < oldest:
            for each in files:
                each.unlink()
            folder.rmdir()
