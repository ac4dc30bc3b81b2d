"""Sources as they are found, without Spark where that can be done.

Files in folders are listed and hashed, Delta tables have a version: that is what a result made from
them can be traced to, and what tells an unchanged source from a changed one before Spark starts.
What only Spark can reach (other formats, object stores) is pinned by Spark when it is bound.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import Any, Final

from rocky.datatypes.text import field_to_json
from rocky.errors import SourceUnreadable
from rocky.evidence.hashes import canonical_json, text_hash
from rocky.ledger.provenance import SourceFile
from rocky.project.sources import SourceTable
from rocky.project.variables import Substituted
from rocky.run.checksums import HASHED_UP_TO_BYTES, Checksums, FileState, is_settled, state_of
from rocky.run.delta_versions import NotPlain, find_delta_source
from rocky.run.engine import SourcePin
from rocky.spark.source_files import hide_place, is_remote, named, pin_local_files, place_of

_FILE_FORMATS: Final = frozenset({"csv", "json", "parquet", "orc"})


@dataclass(frozen=True, slots=True)
class Found:
    """A source as it was found, and the states of its files at that time, to see if it stays so."""

    pin: SourcePin
    states: tuple[FileState, ...] = ()
    at_ns: int = 0


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of one run, each looked at once. Threads may share it."""

    root: Path
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    checksums: Checksums | None = None
    _found: dict[str, Found | None] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def look(self, source: SourceTable) -> SourcePin | None:
        """A source as it is; None when only Spark can tell. Raises SourceUnreadable."""
        with self._lock:
            if source.key not in self._found:
                self._found[source.key] = self._look(source)
            found = self._found[source.key]
            return found.pin if found is not None else None

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

    def _look(self, source: SourceTable) -> Found | None:
        if source.format == "delta" and source.path is not None:
            return self._look_at_delta(source)
        if source.format not in _FILE_FORMATS or source.path is None:
            return None
        if is_remote(place_of(source, self.root)):
            return None
        try:
            return self._pin(source)
        except OSError as error:
            said = hide_place(source, str(error))
            raise SourceUnreadable(f"{named(source)} cannot be read: {said}") from error

    def _look_at_delta(self, source: SourceTable) -> Found | None:
        try:
            found = find_delta_source(source, self.root, self.options)
        except NotPlain:
            # Delta's own connector may know what we do not; it says what is wrong if it does not.
            return None
        return Found(SourcePin(version=found.version, bytes=found.snapshot.bytes))

    def _pin(self, source: SourceTable) -> Found:
        at = time_ns()
        pinned = pin_local_files(source, self.root)
        paths = [file.path for file in pinned.files]
        states = tuple(map(state_of, paths))
        size = sum(file.size for file in pinned.files)
        hashes: tuple[str, ...] = ()
        if self.checksums is not None and size <= HASHED_UP_TO_BYTES:
            hashes = self.checksums.of(paths)
        pin = SourcePin(pinned.files, bytes=size, hashes=hashes, base=pinned.base)
        return Found(pin, states, at)

    def _same_bytes(self, found: Found) -> bool:
        """Whether files that had just changed when they were pinned still have their hashes.

        The time of a second change could be the same as that of the first.
        """
        if self.checksums is None or not found.pin.hashes:
            return True
        files = zip(found.pin.files, found.pin.hashes, found.states, strict=True)
        fresh = [
            (path, hashed)
            for (path, _, _), hashed, state in files
            if not is_settled(state, found.at_ns)
        ]
        return self.checksums.of([path for path, _ in fresh]) == tuple(each for _, each in fresh)

    def _shown(self, source: SourceTable, path: str) -> str:
        """A path from the project's folder on, so that a record means the same in a copy of it.

        A place that came from a variable may be a secret: it is shown as it was written.
        """
        found = Path(path)
        if isinstance(source.path, Substituted):
            place = Path(place_of(source, self.root))
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
    return canonical_json(_declared(source))


def declaration_hash(source: SourceTable) -> str:
    """The hash of how a source is read: another delimiter gives other rows from the same bytes."""
    return text_hash(canonical_json(_declared(source)))


def _declared(source: SourceTable) -> dict[str, Any]:
    declared = {
        "columns": [field_to_json(each) for each in source.columns],
        "format": source.format,
        "name": source.name,
        "options": dict(source.options),
        "path": source.path,
    }
    return {name: value for name, value in declared.items() if value is not None}
