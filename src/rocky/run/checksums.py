"""Checksums: the BLAKE3 of files, and whether a table's files still hold the bytes they had.

A hash is remembered as long as size, times and inode are the same. A change time cannot be set
back, so a file that was edited and given its old time is noticed; one that was looked at within
moments of its last change is not remembered, because a second change could have the same time.
What is written through a mapping of the file may change no time at all: only reading the bytes
again tells that, and whoever asks is told whether they were read.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import Final, NamedTuple

from blake3 import blake3
from msgspec.msgpack import Decoder

from rocky.project import Project
from rocky.project.cache import load_values, save_values
from rocky.store.delta.snapshot import Snapshot
from rocky.store.objects import FileLocation
from rocky.store.warehouse import Table

CHECKSUMS: Final = "checksums.bin"
_REMEMBERED: Final = Decoder(dict[str, tuple[int, int, int, int, str]])
_CHUNK: Final = 4 << 20
_STAMP: Final = b"checksums-1"
_SETTLED_NS: Final = 2_000_000_000
"""How long a file must have been as it is: file systems keep times as coarse as two seconds."""

HASHED_UP_TO_BYTES: Final = 16 << 30
"""What is larger is known by its list of files only: reading it twice would take too long."""

FileState = tuple[int, int, int, int]
"""Size, modification time, change time, inode."""


def state_of(path: str) -> FileState:
    """What tells a file from its later self without reading it."""
    found = os.stat(path)  # noqa: PTH116 - called for thousands of files
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def is_stable(state: FileState, now_ns: int) -> bool:
    """Whether a file that changed after `now_ns` would have another state."""
    return now_ns - max(state[1], state[2]) > _SETTLED_NS


def hash_file(path: str | Path) -> str:
    """The BLAKE3 of a file's bytes, in hex. Raises OSError.

    It is read, not mapped: a mapped file that somebody shortens meanwhile ends the process.
    """
    # In its own threads: a large file is hashed as fast as the disk gives it.
    hasher = blake3(max_threads=blake3.AUTO)
    chunk = bytearray(_CHUNK)
    view = memoryview(chunk)
    with Path(path).open("rb", buffering=0) as file:
        while size := file.readinto(chunk):
            hasher.update(view[:size])
    return hasher.hexdigest()


class Hashes(NamedTuple):
    """The hash of each file; `read` when all were read for it, and none was remembered."""

    values: tuple[str, ...]
    read: bool


class Checksums:
    """The hashes of a project's source files. Threads may share it.

    With `always`, files are read whenever they are asked for, and nothing is remembered.
    """

    def __init__(self, root: Path, *, always: bool = False) -> None:
        self.always: Final = always
        self._root = root
        self._lock = Lock()
        self._known: dict[str, tuple[int, int, int, int, str]] | None = None
        self._fresh = False

    def of(self, paths: Sequence[str]) -> tuple[str, ...]:
        """The hash of each file. Raises OSError for one that cannot be read."""
        return self.look(paths).values

    def look(self, paths: Sequence[str]) -> Hashes:
        """The hash of each file, and whether it was read. Raises OSError."""
        if self.always:
            return Hashes(tuple(map(hash_file, paths)), read=True)
        with self._lock:
            if self._known is None:
                self._known = load_values(self._root, CHECKSUMS, _STAMP, _REMEMBERED)
            found = [self._hash(path) for path in paths]
        return Hashes(tuple(each for each, _ in found), read=all(read for _, read in found))

    def save(self) -> None:
        """Keep what was found for the next run; losing it costs only time."""
        with self._lock:
            if self._fresh and self._known is not None:
                save_values(self._root, CHECKSUMS, _STAMP, self._known)
                self._fresh = False

    def _hash(self, path: str) -> tuple[str, bool]:
        """The hash of a file, and whether it was read."""
        assert self._known is not None
        # Before it is read: a change while it is read may have the time of the one before it.
        at, state = time_ns(), state_of(path)
        remembered = self._known.get(path)
        if remembered is not None and remembered[:4] == state:
            return str(remembered[4]), False
        digest = hash_file(path)
        if is_stable(state, at) and state_of(path) == state:
            self._known[path] = (*state, digest)
            self._fresh = True
        return digest, True


def checksums_of(project: Project) -> Checksums:
    """The hashes of a project's files, as `[reuse] sources` wants them."""
    return Checksums(project.root, always=project.config.reuse.sources == "bytes")


def missing_file(table: Table, snapshot: Snapshot) -> str | None:
    """A file of a snapshot that is not there, or not as long as it was."""
    sizes: dict[str, dict[str, int]] = {}
    for file in snapshot.files:
        place = table.place_of(file)
        # What lies elsewhere lies in the folder of another table, which is listed once as well.
        folder = place.path.removesuffix(f"/{file.name}")
        if folder not in sizes:
            sizes[folder] = {info.path: info.size for info in place.objects.list(folder)}
        if sizes[folder].get(place.path) != file.size:
            return file.path
    return None


def damaged_file(table: Table, snapshot: Snapshot) -> str | None:
    """A file of a snapshot that does not hold the bytes it is named by. All are read."""
    for file in snapshot.files:
        place = table.place_of(file)
        local = place.local
        try:
            digest = hash_file(local) if local is not None else _hash_object(place)
        except OSError:
            return file.path
        if digest != file.address:
            return file.path
    return None


def _hash_object(place: FileLocation) -> str | None:
    data = place.read()
    return None if data is None else blake3(data).hexdigest()
