"""Sources as they are found without Spark: files listed and hashed, versions of Delta logs.

That is what a result can be traced to, and what tells an unchanged source from a changed one before
Spark starts. What only Spark can reach (other formats, object stores) is pinned by Spark when it is
bound; a Delta table that our log reader does not understand is left to Delta's own connector.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import Any, Final
from urllib.parse import unquote

from rocky.canonical import canonical_json, text_hash
from rocky.errors import SourceUnreadable, StoreUnreadable
from rocky.language.datatypes.text import field_to_json
from rocky.ledger.provenance import SourceFile
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import Substituted, written
from rocky.run.checksums import (
    HASHED_UP_TO_BYTES,
    Checksums,
    FileState,
    Hashes,
    is_stable,
    state_of,
)
from rocky.run.engine.protocol import SourcePin
from rocky.spark.source_files import (
    hide_location,
    is_remote,
    pin_local_files,
    source_label,
    source_location,
)
from rocky.store.data_file import DataFile, is_addressed
from rocky.store.delta.log import Log
from rocky.store.delta.snapshot import Snapshot
from rocky.store.location import locate
from rocky.store.objects import Objects, open_objects
from rocky.store.objects import locate_file as place_of_file

_VERSION: Final = "versionasof"
_HASH_LENGTH: Final = 16
_NULL: Final = "__HIVE_DEFAULT_PARTITION__"


class NeedsDeltaConnector(ValueError):
    """A table that only Delta's connector can read; the message says why."""


@dataclass(frozen=True, slots=True)
class DeltaSource:
    """A Delta table at a version; `base` is its place as Spark reads it."""

    snapshot: Snapshot
    base: str
    objects: Objects
    prefix: str

    @property
    def version(self) -> str:
        """The version, the table's id, and a hash of the files it names.

        A table that was put back from a copy and written on has the same versions with other rows.
        """
        files = sorted([file.name, file.size] for file in self.snapshot.files)
        hashed = text_hash(canonical_json(files))[:_HASH_LENGTH]
        return f"{self.snapshot.version} of {self.snapshot.table_id} {hashed}"

    @property
    def has_folders(self) -> bool:
        return any("/" in file.name for file in self.snapshot.files)

    def file_uri(self, file: DataFile) -> str:
        """What Spark reads a file by."""
        return place_of_file(self.objects, self.prefix, file.path).spark_uri


def find_delta_source(
    source: SourceTable, root: Path, options: Mapping[str, str], version: str | None = None
) -> DeltaSource:
    """A Delta table at a version that was found before, or as it is now.

    The option `versionAsOf` has its say. `options` are settings of Spark, which hold what an object
    store has to be told. Raises SourceUnreadable, NeedsDeltaConnector.
    """
    asked = {name.lower(): text for name, text in source.options.items()}
    if source.path is None or set(asked) - {_VERSION}:
        raise NeedsDeltaConnector("its options are for Delta's connector")
    number = version.partition(" ")[0] if version is not None else asked.get(_VERSION)
    if number is not None and not number.isdigit():
        raise NeedsDeltaConnector(f"`versionAsOf = {number}` is not a version")
    place = source_location(source, root).rstrip("/")
    above, _, prefix = place.rpartition("/")
    objects = open_objects(locate(above or "/", root, options))
    try:
        log = Log(source.name, prefix, objects, foreign=True)
        snapshot = log.snapshot(None if number is None else int(number))
    except StoreUnreadable as error:
        raise NeedsDeltaConnector(hide_location(source, str(error))) from error
    place_text = written(source.path)
    if snapshot is None:
        raise SourceUnreadable(f"{source_label(source)}: there is no Delta table at `{place_text}`")
    found = DeltaSource(snapshot, objects.location.spark_place(prefix), objects, prefix)
    if version not in (None, found.version):
        raise SourceUnreadable(
            f"{source_label(source)}: another table took the place of `{place_text}`"
        )
    _refuse_hidden_partitions(found)
    return found


def _refuse_hidden_partitions(found: DeltaSource) -> None:
    if not found.snapshot.partition_columns:
        return
    flat = not found.has_folders
    for file in found.snapshot.files:
        if not _tells(file, flat=flat):
            raise NeedsDeltaConnector(
                f"Spark cannot tell the partition of `{file.path}` by its folder"
            )


def _tells(file: DataFile, *, flat: bool) -> bool:
    """Whether Spark finds a file's partition in its folders; in our own it is in the file."""
    *folders, name = file.name.split("/")
    if flat:
        return is_addressed(name)
    told = dict(folder.split("=", 1) for folder in folders if "=" in folder)
    # As Spark does: a letter beyond ASCII that was escaped byte by byte is not put together again.
    values = {unquote(key, "latin-1"): unquote(value, "latin-1") for key, value in told.items()}
    wanted = {
        key: _NULL if value in (None, "") else value for key, value in file.partition_values.items()
    }
    return values == wanted


_FILE_FORMATS: Final = frozenset({"csv", "json", "parquet", "orc"})


@dataclass(frozen=True, slots=True)
class FoundSource:
    """A source as it was found, and the states of its files at that time, to see if it stays so."""

    pin: SourcePin
    states: tuple[FileState, ...] = ()
    at_ns: int = 0


@contextmanager
def _unreadable(source: SourceTable) -> Iterator[None]:
    """What the file system says of a source as SourceUnreadable."""
    try:
        yield
    except OSError as error:
        said = hide_location(source, str(error))
        raise SourceUnreadable(f"{source_label(source)} cannot be read: {said}") from error


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of one run, each looked at once. Threads may share it."""

    root: Path
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    checksums: Checksums | None = None
    _found: dict[str, FoundSource | None] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def anew(self) -> "Sources":
        """The same sources, none of which was looked at: what is seen there is not what is read."""
        return Sources(self.root, self.options, self.checksums)

    def look(self, source: SourceTable) -> SourcePin | None:
        """A source as it is; None when only Spark can tell. Raises SourceUnreadable."""
        with self._lock:
            if source.key not in self._found:
                self._found[source.key] = self._look(source)
            found = self._found[source.key]
            return found.pin if found is not None else None

    def check(self, source: SourceTable) -> None:
        """Raise SourceUnreadable for one that is not there, as far as can be told without Spark.

        Nothing is pinned of files: they are those that are there when the source is first read.
        """
        if source.key in self._found:
            return
        if source.format == "delta":
            self.look(source)
        elif self._has_local_files(source):
            with _unreadable(source):
                pin_local_files(source, self.root)

    def size(self, source: SourceTable) -> int | None:
        """The bytes of a source as it is; None when only Spark can tell. Nothing is pinned.

        Raises SourceUnreadable.
        """
        found = self._found.get(source.key)
        if found is not None:
            return found.pin.bytes
        if not self._has_local_files(source):
            return None
        with _unreadable(source):
            return sum(file.size for file in pin_local_files(source, self.root).files)

    def is_unchanged(self, source: SourceTable) -> bool:
        """Whether a source's files are still those that were pinned, after they were read."""
        found = self._found.get(source.key)
        if found is None:
            return True
        try:
            states = tuple(state_of(path) for path, _, _ in found.pin.files)
            return states == found.states and self._same_bytes(found)
        except OSError:
            return False

    def files_of(self, source: SourceTable, pin: SourcePin) -> tuple[SourceFile, ...]:
        """The files of a pin as they are recorded."""
        hashes = pin.hashes or (None,) * len(pin.files)
        return tuple(
            SourceFile(self._shown(source, path), size, digest)
            for (path, size, _), digest in zip(pin.files, hashes, strict=True)
        )

    def _look(self, source: SourceTable) -> FoundSource | None:
        if source.format == "delta" and source.path is not None:
            return self._look_at_delta(source)
        if not self._has_local_files(source):
            return None
        with _unreadable(source):
            return self._pin(source)

    def _has_local_files(self, source: SourceTable) -> bool:
        if source.format not in _FILE_FORMATS or source.path is None:
            return False
        return not is_remote(source_location(source, self.root))

    def _look_at_delta(self, source: SourceTable) -> FoundSource | None:
        try:
            found = find_delta_source(source, self.root, self.options)
        except NeedsDeltaConnector:
            # Delta's own connector may know what we do not; it says what is wrong if it does not.
            return None
        return FoundSource(SourcePin(version=found.version, bytes=found.snapshot.bytes))

    def _pin(self, source: SourceTable) -> FoundSource:
        at = time_ns()
        pinned = pin_local_files(source, self.root)
        paths = [file.path for file in pinned.files]
        states = tuple(map(state_of, paths))
        size = sum(file.size for file in pinned.files)
        hashes, read = Hashes((), read=False)
        if self.checksums is not None and size <= HASHED_UP_TO_BYTES:
            hashes, read = self.checksums.look(paths)
        pin = SourcePin(pinned.files, bytes=size, hashes=hashes, base=pinned.base, read=read)
        return FoundSource(pin, states, at)

    def _same_bytes(self, found: FoundSource) -> bool:
        """Whether files that had just changed when they were pinned still have their hashes.

        The time of a second change could be the same as that of the first. Where bytes are always
        read, all files are read again.
        """
        if self.checksums is None or not found.pin.hashes:
            return True
        files = zip(found.pin.files, found.pin.hashes, found.states, strict=True)
        fresh = [
            (path, hashed)
            for (path, _, _), hashed, state in files
            if self.checksums.always or not is_stable(state, found.at_ns)
        ]
        return self.checksums.of([path for path, _ in fresh]) == tuple(each for _, each in fresh)

    def _shown(self, source: SourceTable, path: str) -> str:
        """A path from the project's folder on, so that a record means the same in a copy of it.

        A place that came from a variable may be a secret: it is shown as it was written.
        """
        found = Path(path)
        if isinstance(source.path, Substituted):
            place = Path(source_location(source, self.root))
            if found == place:
                return source.path.written
            if found.is_relative_to(place):
                return f"{source.path.written.rstrip('/')}/{found.relative_to(place).as_posix()}"
            return f"{source.path.written} {text_hash(path)[:16]}"
        root = self.root.absolute()
        return found.relative_to(root).as_posix() if found.is_relative_to(root) else path


def declaration_of(source: SourceTable) -> str | None:
    """How a source is read, as canonical JSON; None when that may hold a secret."""
    if any(isinstance(each, Substituted) for each in (source.path, *source.options.values())):
        return None
    return canonical_json(_declaration(source))


def declaration_hash(source: SourceTable) -> str:
    """The hash of how a source is read: another delimiter gives other rows from the same bytes."""
    return text_hash(canonical_json(_declaration(source)))


def _declaration(source: SourceTable) -> dict[str, Any]:
    declared = {
        "columns": [field_to_json(each) for each in source.columns],
        "format": source.format,
        "name": source.name,
        "options": dict(source.options),
        "path": source.path,
    }
    return {name: value for name, value in declared.items() if value is not None}
