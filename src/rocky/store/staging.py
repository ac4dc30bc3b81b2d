"""Staging: where Spark leaves the files of a write until they are named by their bytes.

A table lies in a folder or in an object store. In a folder a file gets its name by a hard link, in
an object store by a copy made by the server; either way the name appears with all the bytes behind
it, and a file that has the name already is never replaced by other bytes.
"""

import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, Protocol

import obstore
from blake3 import blake3

from rocky.store.hashing import LocalHasher, ObjectHasher
from rocky.store.objects import Objects
from rocky.store.opening import open_object
from rocky.store.salt import find_footer, read_pieces, salt_of, salted_chunks
from rocky.store.warehouse import Table

PARTITION_FOLDER: Final = "__part_"
"""The writer partitions by duplicates of the partition columns: `__part_0=...`."""


class Staging(Protocol):
    """The files of one table: paths are relative to it, with `/` between their parts."""

    def list_staged(self, folder: str) -> list[str]:
        """The data files below a staging folder, sorted."""

    def hasher(self, threads: int) -> LocalHasher | ObjectHasher:
        """What examines a file; it may be sent to an executor."""

    def hash_copies(self, path: str) -> Iterator[str]:
        """The hex BLAKE3 of copy 1 of a file, of copy 2, and so on without end."""

    def place(self, staged: str, name: str, count: int) -> tuple[int, int]:
        """Give copy `count` of a staged file its name. Its size and time in milliseconds.

        A file that has the name already gets a new time, so that nobody sweeps it as a leftover
        before it is committed.
        """

    def remove(self, folder: str) -> None:
        """Remove a staging folder and all that is in it."""


def is_data_file(path: str, folder: str) -> bool:
    """Whether a path below a staging folder is data, and not what committers leave there."""
    parts = PurePosixPath(path).relative_to(folder).parts
    return parts[-1].endswith(".parquet") and not any(
        part[0] in "_." and not part.startswith(PARTITION_FOLDER) for part in parts
    )


@dataclass(frozen=True, slots=True)
class FolderStaging:
    """A table in a folder."""

    root: Path

    def list_staged(self, folder: str) -> list[str]:
        files = (self.root / folder).rglob("*.parquet")
        paths = (file.relative_to(self.root).as_posix() for file in files)
        return sorted(path for path in paths if is_data_file(path, folder))

    def hasher(self, threads: int) -> LocalHasher:
        return LocalHasher(str(self.root), threads)

    def hash_copies(self, path: str) -> Iterator[str]:
        with (self.root / path).open("rb") as opened:
            yield from _copy_digests(opened, (self.root / path).stat().st_size)

    def place(self, staged: str, name: str, count: int) -> tuple[int, int]:
        source, target = self.root / staged, self.root / name
        if count:
            source = source.with_suffix(f".{count}")
            with source.open("wb") as opened:
                for piece in self._copy(staged, count):
                    opened.write(piece)
        # Over whatever has the name: it holds these bytes already, or it is damaged and healed.
        source.replace(target)
        found = target.stat()
        return found.st_size, found.st_mtime_ns // 1_000_000

    def remove(self, folder: str) -> None:
        if (self.root / folder).exists():
            shutil.rmtree(self.root / folder)

    def _copy(self, path: str, count: int) -> Iterator[bytes]:
        file = self.root / path
        with file.open("rb") as opened:
            yield from salted_chunks(opened, file.stat().st_size, count)


@dataclass(frozen=True, slots=True)
class ObjectStaging:
    """A table in an object store; `prefix` is its path there."""

    objects: Objects
    prefix: str

    def list_staged(self, folder: str) -> list[str]:
        return sorted(path for path in self._below(folder) if is_data_file(path, folder))

    def hasher(self, threads: int) -> ObjectHasher:  # noqa: ARG002 - a stream has one
        location = self.objects.location
        prefix = f"{location.prefix}/{self.prefix}".lstrip("/")
        return ObjectHasher(location.bucket, prefix, dict(location.settings))

    def hash_copies(self, path: str) -> Iterator[str]:
        with open_object(self.objects, f"{self.prefix}/{path}") as opened:
            yield from _copy_digests(opened, self._size(path))

    def place(self, staged: str, name: str, count: int) -> tuple[int, int]:
        target = f"{self.prefix}/{name}"
        if count:
            with obstore.open_writer(self.objects.store, target) as opened:
                for piece in self._copy(staged, count):
                    opened.write(piece)
        else:
            obstore.copy(self.objects.store, f"{self.prefix}/{staged}", target)
        placed = self.objects.info(target)
        if placed is None:
            raise FileNotFoundError(f"`{self.objects.place(target)}` vanished after it was written")
        return placed.size, placed.modified_ms

    def remove(self, folder: str) -> None:
        self.objects.delete([f"{self.prefix}/{path}" for path in self._below(folder)])

    def _below(self, folder: str) -> list[str]:
        start = len(self.prefix) + 1
        return [found.path[start:] for found in self.objects.list(f"{self.prefix}/{folder}")]

    def _copy(self, path: str, count: int) -> Iterator[bytes]:
        with open_object(self.objects, f"{self.prefix}/{path}") as opened:
            yield from salted_chunks(opened, self._size(path), count)

    def _size(self, path: str) -> int:
        found = self.objects.info(f"{self.prefix}/{path}")
        if found is None:
            raise FileNotFoundError(f"`{self.objects.place(f'{self.prefix}/{path}')}` is missing")
        return found.size


def _copy_digests(opened: BinaryIO, size: int) -> Iterator[str]:
    # Copies differ only from the footer on, so what is before it is hashed once.
    at = find_footer(opened, size)
    before = blake3()
    for piece in read_pieces(opened, 0, at):
        before.update(piece)
    footer = b"".join(read_pieces(opened, at, size))
    for number in itertools.count(1):
        hasher = before.copy()
        hasher.update(salt_of(number))
        hasher.update(footer)
        yield hasher.hexdigest()


def open_staging(table: Table) -> Staging:
    """Where the files of a table are staged and placed."""
    folder = table.objects.local_path(table.prefix)
    return FolderStaging(folder) if folder else ObjectStaging(table.objects, table.prefix)
