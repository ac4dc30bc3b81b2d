"""A folder on a disk, gone into name by name and through no link.

Whoever may write a warehouse can put a symbolic link there, and a command that goes through it
reads, replaces or deletes what belongs to others. So no path below a root may go through one. What
is deleted is deleted by its name in a folder that was opened from the one above it, which nobody
can exchange meanwhile; a file that has further names (hard links) keeps them, and a folder where
another file system is mounted is not gone into.
"""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

_OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_NAMES: Final = frozenset({"", ".", ".."})
_MOUNT: Final = re.compile(r"^mnt_id:\s*(\d+)$", re.MULTILINE)
_LEADS_ELSEWHERE: Final = frozenset({errno.ELOOP, errno.EMLINK})


class FoundFile(NamedTuple):
    """What lies below a folder and is none: a file, or a link, which is not followed."""

    path: str
    size: int
    modified_ms: int
    is_file: bool


class Escape(OSError):
    """A path that does not stay below its root: through a link, a mount point or `..`."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.ELOOP, reason)


def refuse_escape(root: Path, path: str) -> None:
    """Raise `Escape` for a path that goes through a link, or ends in one. It need not exist."""
    here = str(root)
    for part in _parts(path):
        here = f"{here}/{part}"
        try:
            found = os.lstat(here)
        except (FileNotFoundError, NotADirectoryError):
            return
        if stat.S_ISLNK(found.st_mode):
            raise Escape(_linked(here))


def describe_file(root: Path, path: str) -> FoundFile | None:
    """The file at a path; None where there is none. Raises `Escape`, OSError."""
    refuse_escape(root, path)
    try:
        found = os.lstat(root / path)
    except FileNotFoundError:
        return None
    return _described(path, found) if stat.S_ISREG(found.st_mode) else None


def list_folders(root: Path, path: str) -> list[str]:
    """The paths of the folders directly in a folder, sorted; a link to one is none."""
    refuse_escape(root, path)
    try:
        with os.scandir(root / path) as entries:
            names = [each.name for each in entries if each.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(_join(path, name) for name in names)


def walk_folder(root: Path, path: str = "", after: str = "") -> Iterator[FoundFile]:
    """All files and links in a folder and below it; nothing where there is no such folder.

    Only those whose path is above `after`: of the others no more is asked than their names.
    """
    try:
        with _opened(root, path) as folder:
            yield from _walk(folder, path, after)
    except FileNotFoundError:
        return


def _walk(folder: int, path: str, after: str = "") -> Iterator[FoundFile]:
    below = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.name)
                continue
            if after and _join(path, entry.name) <= after:
                continue
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            yield _described(_join(path, entry.name), found)
    mount = _mount_of(folder) if below else None
    for name in below:
        try:
            opened = os.open(name, _OPEN_FOLDER, dir_fd=folder)
        except FileNotFoundError:
            continue
        try:
            if _mount_of(opened) == mount:
                yield from _walk(opened, _join(path, name), after)
            else:
                yield FoundFile(_join(path, name), 0, 0, is_file=False)
        finally:
            os.close(opened)


def remove_file(root: Path, path: str) -> None:
    """Remove one name. Raises FileNotFoundError, `Escape`, OSError."""
    above, _, name = path.rpartition("/")
    _parts(path)
    with _opened(root, above) as folder:
        os.unlink(name, dir_fd=folder)


def remove_empty_folders(root: Path, paths: Iterable[str]) -> None:
    """Remove those folders that are empty, the deepest first; others are left as they are."""
    for path in sorted(set(paths), key=lambda each: each.count("/"), reverse=True):
        above, _, name = path.rpartition("/")
        try:
            with _opened(root, above) as folder:
                os.rmdir(name, dir_fd=folder)
        except OSError:
            # Not empty, or gone: either way it is not ours to remove.
            continue


def remove_tree(root: Path, path: str) -> None:
    """Remove a folder with all that is in it: links as links. Raises `Escape`, OSError."""
    above, _, name = path.rpartition("/")
    try:
        with _opened(root, path) as folder:
            _empty(folder, str(root / path))
        with _opened(root, above) as folder:
            os.rmdir(name, dir_fd=folder)
    except FileNotFoundError:
        return


def _empty(folder: int, place: str) -> None:
    with os.scandir(folder) as entries:
        found = [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]
    for name, is_folder in found:
        if not is_folder:
            os.unlink(name, dir_fd=folder)
            continue
        opened = os.open(name, _OPEN_FOLDER, dir_fd=folder)
        try:
            if _mount_of(opened) != _mount_of(folder):
                raise Escape(f"another file system is mounted at `{place}/{name}`")
            _empty(opened, f"{place}/{name}")
        finally:
            os.close(opened)
        os.rmdir(name, dir_fd=folder)


def _mount_of(folder: int) -> tuple[int, str]:
    """What an opened folder is mounted by: its device, and on Linux the mount itself.

    A part of one file system that is mounted in another of its folders has the same device.
    """
    try:
        facts = Path(f"/proc/self/fdinfo/{folder}").read_text("ascii")
    except OSError:
        facts = ""
    found = _MOUNT.search(facts)
    return os.fstat(folder).st_dev, found[1] if found else ""


@contextmanager
def _opened(root: Path, path: str) -> Iterator[int]:
    """A folder below a root, opened. The root may be reached through links, nothing below it."""
    folder = _open_below(None, str(root), str(root))
    here = str(root)
    try:
        for part in _parts(path):
            here = f"{here}/{part}"
            below = _open_below(folder, part, here)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _open_below(folder: int | None, name: str, place: str) -> int:
    try:
        return os.open(name, _OPEN_FOLDER, dir_fd=folder)
    except NotADirectoryError:
        # Linux says so of a link too, where only a folder would do.
        if stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
            raise Escape(_linked(place)) from None
        raise
    except OSError as error:
        if error.errno in _LEADS_ELSEWHERE:
            raise Escape(_linked(place)) from error
        raise


def _parts(path: str) -> list[str]:
    parts = path.removesuffix("/").split("/") if path else []
    if not _NO_NAMES.isdisjoint(parts) or "\0" in path:
        raise Escape(f"`{path}` does not name a file below its folder")
    return parts


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _described(path: str, found: os.stat_result) -> FoundFile:
    is_file = stat.S_ISREG(found.st_mode)
    return FoundFile(path, found.st_size, found.st_mtime_ns // 1_000_000, is_file)


def _linked(place: str) -> str:
    return f"`{place}` is a symbolic link, and none is followed here"
