"""Staging: where Spark leaves the files of a write until they are named by their bytes.

In a folder a file gets its name by a hard link, in an object store by a copy made by the server;
either way the name appears with all the bytes behind it, and a file that has the name already is
never replaced by other bytes. Nothing is visible to readers before the commit that names the
files, so a process killed here leaves only files that nobody reads. Two files of equal bytes would
share one name and lose rows: the second one is salted, and so is one whose bytes the table already
has.

Partition values are read from the paths of staged files. Spark writes null and the empty string as
the same folder; the file is asked, which holds the partition columns too.
"""

import itertools
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, Protocol

import obstore
from blake3 import blake3
from obstore.exceptions import BaseError

from rocky.errors import RowsRefused, StoreUnreadable, StoreUnwritable
from rocky.language.datatypes.types import StructField
from rocky.store.data_file import (
    Address,
    DataFile,
    NotParquet,
    find_footer,
    name_of,
    path_of,
    read_pieces,
    salt_of,
    salted_chunks,
)
from rocky.store.folder import Escape, remove_tree, walk_folder
from rocky.store.objects import Objects, ask_again, open_object
from rocky.store.parquet.digest import FileDigest, LocalHasher, ObjectHasher
from rocky.store.parquet.footer import Footer, Leaf, null_violations, parse_footer
from rocky.store.parquet.statistics import stats_of
from rocky.store.rows_mark import rows_mark
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
        found = walk_folder(self.root, folder)
        # A link that somebody left among them is no data of ours.
        paths = (each.path for each in found if each.is_file)
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
            # What a try before this one has left goes; nothing is written through it.
            source.unlink(missing_ok=True)
            with source.open("xb") as opened:
                for piece in self._copy(staged, count):
                    opened.write(piece)
        # Over whatever has the name: it holds these bytes already, or it is damaged and healed.
        source.replace(target)
        found = target.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise Escape(f"`{target}` was exchanged for a link while it was placed")
        return found.st_size, found.st_mtime_ns // 1_000_000

    def remove(self, folder: str) -> None:
        remove_tree(self.root, folder)

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
            store, source = self.objects.store, f"{self.prefix}/{staged}"
            ask_again(lambda: obstore.copy(store, source, target))
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


_NULL_FOLDER: Final = "__HIVE_DEFAULT_PARTITION__"
_ESCAPED: Final = re.compile("%([0-9A-Fa-f]{2})")


def parse_partition_values(
    name: str, path: str, columns: Sequence[str], footer: Footer
) -> Mapping[str, str | None]:
    """The value of each partition column of the table `name` as Delta's log writes it."""
    by_number: dict[int, str | None] = {}
    for part in PurePosixPath(path).parts[:-1]:
        number, equals, value = part.removeprefix(PARTITION_FOLDER).partition("=")
        if part.startswith(PARTITION_FOLDER) and equals:
            by_number[int(number)] = None if value == _NULL_FOLDER else _unescape(value)
    values = {column: by_number[number] for number, column in enumerate(columns)}
    for column, found in values.items():
        if found is None and not _all_null(footer, column):
            raise RowsRefused(
                f"partition column `{column}` of `{name}` holds an empty string, which Delta cannot"
                " tell from null; write null, or another value, in its place"
            )
    return values


def _unescape(value: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)


def _all_null(footer: Footer, column: str) -> bool:
    leaf = footer.columns.fields.get(column)
    return isinstance(leaf, Leaf) and leaf.nulls == footer.rows


RunTasks = Callable[[Callable[[str], FileDigest], Sequence[str]], list[FileDigest]]
"""How a cluster maps a function over paths: on executors, where the data is."""


@dataclass(frozen=True, slots=True)
class _StagedFile:
    """A staged file, examined. `count` says which copy of its bytes gets the name `address`."""

    staged: str
    address: Address
    size: int
    footer: Footer
    count: int = 0


def place_files(
    table: Table,
    staging: str,
    schema: Sequence[StructField],
    partition_columns: Sequence[str],
    kept_paths: frozenset[str],
    *,
    hashes: Mapping[str, str] | None = None,
    run_tasks: RunTasks | None = None,
) -> tuple[DataFile, ...]:
    """The files of a write under their final names, sorted by path; files without rows are dropped.

    `kept_paths` are the paths the new files may not have: those that stay in the table beside them.
    `hashes` are those of the rows of staged files, by their paths below `staging`.
    Raises `RowsRefused` before anything is placed, and removes what was staged, when a column that
    `schema` requires holds nulls or a partition column holds what no partition can be named by.
    """
    files = open_staging(table)
    try:
        try:
            pieces = _examine(table.name, files, staging, run_tasks or _on_threads)
            _refuse_nulls(table.name, pieces, schema)
            values = {
                piece.staged: parse_partition_values(
                    table.name, piece.staged, partition_columns, piece.footer
                )
                for piece in pieces
            }
        except RowsRefused:
            files.remove(staging)
            raise
        named = _with_addresses(files, pieces, kept_paths)
        with _pool(len(named)) as pool:
            placed = list(pool.map(partial(_place, table.name, files), named))
        files.remove(staging)
    except (OSError, BaseError) as error:
        raise StoreUnwritable(f"cannot write files of `{table.name}`: {error}") from error
    marks = {
        f"{staging}/{path}": rows_mark(hashed, schema) for path, hashed in (hashes or {}).items()
    }
    return tuple(
        sorted(
            (
                DataFile(
                    path=path_of(piece.address),
                    size=piece.size + len(salt_of(piece.count)),
                    rows=piece.footer.rows,
                    stats=stats_of(piece.footer, schema, partition_columns),
                    partition_values=values[piece.staged],
                    modified_ms=modified_ms,
                    rows_mark=marks.get(piece.staged, ""),
                )
                for piece, modified_ms in zip(named, placed, strict=True)
            ),
            key=attrgetter("path"),
        )
    )


def _examine(name: str, files: Staging, staging: str, run_tasks: RunTasks) -> list[_StagedFile]:
    """The staged files that hold rows."""
    staged = files.list_staged(staging)
    threads = max(1, _cores() // max(1, len(staged)))
    pieces = []
    for path, examined in zip(staged, run_tasks(files.hasher(threads), staged), strict=True):
        digest, size, footer = examined
        try:
            piece = _StagedFile(path, Address(digest), size, parse_footer(footer))
        except NotParquet as error:
            raise StoreUnreadable(f"`{path}`, written for `{name}`, is damaged: {error}") from error
        if piece.footer.rows:
            pieces.append(piece)
    return pieces


def _refuse_nulls(name: str, pieces: Sequence[_StagedFile], schema: Sequence[StructField]) -> None:
    rows: Counter[tuple[str, ...]] = Counter()
    for piece in pieces:
        for violation in null_violations(piece.footer, schema):
            path = ".".join(violation.path)
            if violation.rows is None:
                raise RowsRefused(
                    f"`{path}` of `{name}` is NOT NULL, but its files do not count their nulls;"
                    " leave Parquet's column statistics on"
                )
            rows[violation.path] += violation.rows
    for violated, count in rows.most_common(1):
        held = "1 row holds" if count == 1 else f"{count} rows hold"
        refused = RowsRefused(f"`{'.'.join(violated)}` of `{name}` is NOT NULL, but {held} null")
        refused.column = violated[0]
        raise refused


def _with_addresses(
    files: Staging, pieces: Sequence[_StagedFile], kept_paths: frozenset[str]
) -> list[_StagedFile]:
    """Every piece with an address of its own.

    Pieces of equal bytes are told apart by salt in the order of their staged names, so a build that
    is repeated gives the same names.
    """
    used = set(map(name_of, kept_paths))
    named = []
    for address, equal in groupby(
        sorted(pieces, key=attrgetter("address", "staged")), attrgetter("address")
    ):
        waiting = list(equal)
        # Equal bytes have equal copies, whichever of the files they are made from.
        copies = chain([address], files.hash_copies(waiting[0].staged))
        for count, digest in enumerate(copies):
            path = path_of(Address(digest))
            if path not in used:
                used.add(path)
                named.append(replace(waiting.pop(0), address=Address(digest), count=count))
            if not waiting:
                break
    return named


def _place(name: str, files: Staging, piece: _StagedFile) -> int:
    """When the file that now has the piece's name was written, in milliseconds."""
    path = path_of(piece.address)
    size, modified_ms = files.place(piece.staged, path, piece.count)
    if size != piece.size + len(salt_of(piece.count)):
        raise StoreUnwritable(
            f"`{name}` already has a file `{path}` whose content does not match its name; restore"
            " or remove it"
        )
    return modified_ms


def _on_threads(function: Callable[[str], FileDigest], paths: Sequence[str]) -> list[FileDigest]:
    with _pool(len(paths)) as pool:
        return list(pool.map(function, paths))


def _pool(tasks: int) -> ThreadPoolExecutor:
    # Hashing leaves the interpreter's lock, and copies in an object store only wait.
    return ThreadPoolExecutor(min(max(tasks, 1), 2 * _cores()), "rocky-place")


def _cores() -> int:
    return os.cpu_count() or 1
