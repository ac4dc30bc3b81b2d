"""Candidates: models of a recorded run that can be built again, with their inputs found.

Everything that speaks against it is found here, before Spark is started or anything is written:
tables are checked by the version and the bytes of every file, the files of sources by their own
hashes. What is gone or has changed is named; nothing is read in its place.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from blake3 import blake3

from rocky.errors import RockyError, StoreUnreadable
from rocky.language.datatypes.text import fields_from_json
from rocky.ledger.provenance import (
    CollectedFile,
    ProvenanceRecord,
    ReadRecord,
    SourceFile,
    content_hash,
)
from rocky.ledger.run_records import RunRecord
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document
from rocky.replay.recipe import Recipe, RecordedEnvironment, environment_of, parse_target, recipe_of
from rocky.replay.record import (
    NotReplayable,
    RecordedModel,
    check_determinism,
    check_functions,
    check_record,
)
from rocky.run.checksums import hash_file
from rocky.run.engine.protocol import SourcePin
from rocky.run.engine.sources import NeedsDeltaConnector, find_delta_source
from rocky.run.prepare.pins import PinnedTable
from rocky.spark.source_files import source_location
from rocky.store.data_file import DataFile
from rocky.store.delta.snapshot import Snapshot
from rocky.store.objects import FileLocation
from rocky.store.warehouse import Table, Warehouse

_RECORD = "the record of the run"
_SHORT = 12


@dataclass(frozen=True, slots=True)
class FoundInput:
    """An input that is there as it was: a table, a source as it was pinned, or a query."""

    record: ReadRecord
    pinned: PinnedTable | None = None
    source: SourceTable | None = None
    pin: SourcePin | None = None
    below: "tuple[FoundInput, ...]" = ()


class InputFinder:
    """Finds the inputs of records; each file is looked at once. Threads may share it.

    `root` is the project's folder, where the paths of sources start; `options` are settings of
    Spark for object stores; `collected` tells which files a collection removed; `functions` are the
    digests of the functions that are declared now.
    """

    def __init__(
        self,
        warehouse: Warehouse,
        root: Path,
        options: Mapping[str, str],
        collected: Callable[[], tuple[CollectedFile, ...]],
        functions: Mapping[str, str] | None = None,
    ) -> None:
        self.functions = functions or {}
        self._warehouse = warehouse
        self._root = root
        self._options = options
        self._load_collected = collected
        self._checked: dict[str, str | None] = {}

    def find(self, read: ReadRecord) -> FoundInput:
        """An input as it was. Raises NotReplayable."""
        if read.kind == "table":
            return FoundInput(read, self._find_table(read))
        if read.kind == "inline":
            if read.sql is None:
                raise NotReplayable(f"the query of `{read.name}` was not recorded")
            return FoundInput(read, below=tuple(map(self.find, read.reads)))
        return self._find_source(read)

    def find_version(self, target: str, version: int, what: str) -> PinnedTable:
        """A table at a version, with all its files. Raises NotReplayable."""
        table = self._table(target)
        try:
            snapshot = table.snapshot(version)
        except StoreUnreadable as error:
            raise NotReplayable(f"{what} cannot be read: {error}") from error
        if snapshot is None:
            raise NotReplayable(f"{what} is gone: there is no table `{target}`")
        for file in snapshot.files:
            wrong = self._examine(table, file)
            if wrong is not None:
                raise NotReplayable(f"{what} is not what it was: {wrong}")
        return PinnedTable(table, snapshot)

    def find_start(self, record: ProvenanceRecord, version: int) -> PinnedTable:
        """The table that a build started from, with all its files. Raises NotReplayable."""
        table = self._table(record.target)
        if record.output_version is not None:
            # A table that was dropped and made again has the same versions with other rows.
            try:
                left = table.snapshot(record.output_version)
            except StoreUnreadable as error:
                raise NotReplayable(f"its own table cannot be read: {error}") from error
            if left is None or sorted(_addresses(left)) != sorted(record.output_blake3):
                raise NotReplayable("its own table was replaced by another one since")
        what = f"its own table at version {version}, which it started from,"
        return self.find_version(record.target, version, what)

    def find_output(self, record: ProvenanceRecord) -> PinnedTable | None:
        """The table as the recorded build left it; None where it is not whole any more."""
        if record.output_version is None:
            return None
        try:
            return self.find_version(record.target, record.output_version, "its output")
        except NotReplayable:
            return None

    def _table(self, target: str) -> Table:
        try:
            return self._warehouse.table(parse_target(target))
        except (RockyError, ValueError) as error:
            raise NotReplayable(f"`{target}` is not the name of a table") from error

    def _find_table(self, read: ReadRecord) -> PinnedTable:
        if read.target is None or read.version is None:
            raise NotReplayable(f"which version of `{read.name}` was read is not recorded")
        what = f"`{read.name}` at version {read.version}"
        found = self.find_version(read.target, read.version, f"the input {what}")
        if content_hash(_addresses(found.snapshot)) != read.identity:
            raise NotReplayable(f"the input {what} holds other files than it did then")
        return found

    def _examine(self, table: Table, file: DataFile) -> str | None:
        """What is wrong with a data file: it must lie there with the bytes it is named by."""
        place = table.place_of(file)
        if str(place) not in self._checked:
            self._checked[str(place)] = self._wrong(table, place, file)
        return self._checked[str(place)]

    def _wrong(self, table: Table, place: FileLocation, file: DataFile) -> str | None:
        local = place.local
        if local is not None:
            digest = _hash_file(local)
        else:
            data = place.read()
            digest = None if data is None else blake3(data).hexdigest()
        if digest is None:
            gone = self._collected.get((table.name.lower(), file.address))
            if gone is None:
                return f"file `{place}` is missing"
            return f"file `{place}` was collected on {gone.collected_at:%Y-%m-%d} ({gone.reason})"
        return None if digest == file.address else f"file `{place}` holds other bytes"

    @cached_property
    def _collected(self) -> Mapping[tuple[str, str], CollectedFile]:
        found = self._load_collected()
        return {(each.target.lower(), each.blake3_hash): each for each in found}

    def _find_source(self, read: ReadRecord) -> FoundInput:
        if read.declaration is None and (read.files or read.source_version):
            raise NotReplayable(
                f"the place or the options of source `{read.name}` came from a variable,"
                f" which may be a secret and is not recorded"
            )
        if read.declaration is None:
            raise NotReplayable(
                f"the external source `{read.name}` was not pinned: it cannot be read as it was"
            )
        source = _declare_source(read)
        if read.source_version is not None:
            self._check_delta(read, source)
            return FoundInput(read, source=source, pin=SourcePin(version=read.source_version))
        if not read.files:
            raise NotReplayable(f"the files of source `{read.name}` are not recorded")
        files = tuple(self._check_file(read, each) for each in read.files)
        place = source_location(source, self._root)
        pin = SourcePin(
            files,
            bytes=sum(size for _, size, _ in files),
            hashes=tuple(each.blake3_hash or "" for each in read.files),
            base=place if Path(place).is_dir() else None,
        )
        return FoundInput(read, source=source, pin=pin)

    def _check_delta(self, read: ReadRecord, source: SourceTable) -> None:
        try:
            found = find_delta_source(source, self._root, self._options, read.source_version)
        except (RockyError, NeedsDeltaConnector) as error:
            raise NotReplayable(
                f"source `{read.name}` cannot be read at version {read.source_version}: {error}"
            ) from error
        folder = found.base.removeprefix("file://")
        for file in found.snapshot.files:
            if folder != found.base and not Path(folder, file.path).is_file():
                raise NotReplayable(
                    f"source `{read.name}` has lost the file `{file.path}` of version"
                    f" {read.source_version}"
                )

    def _check_file(self, read: ReadRecord, file: SourceFile) -> tuple[str, int, int]:
        path = self._root.absolute() / file.path
        try:
            status = path.stat()
            digest = self._source_hash(path) if file.blake3_hash is not None else None
        except OSError as error:
            raise NotReplayable(
                f"source `{read.name}` has lost the file `{file.path}`: {error.strerror or error}"
            ) from error
        if digest != file.blake3_hash or status.st_size != file.size_bytes:
            raise NotReplayable(
                f"source `{read.name}` has changed since: `{file.path}` {_then_and_now(file)} then"
                f" and {_shown(digest, status.st_size)} now"
            )
        return str(path), status.st_size, status.st_mtime_ns // 1_000_000

    def _source_hash(self, path: Path) -> str | None:
        key = str(path)
        if key not in self._checked:
            self._checked[key] = hash_file(path)
        return self._checked[key]


def _then_and_now(file: SourceFile) -> str:
    return f"was {_shown(file.blake3_hash, file.size_bytes)}"


def _shown(digest: str | None, size: int) -> str:
    return f"`{digest[:_SHORT]}`" if digest is not None else f"{size:,} bytes"


def _addresses(snapshot: Snapshot) -> list[str]:
    return [file.address for file in snapshot.files]


def _hash_file(path: Path) -> str | None:
    if not path.is_file():
        return None
    return hash_file(path)


def _declare_source(read: ReadRecord) -> SourceTable:
    """A source as it was declared."""
    try:
        document: dict[str, Any] = json.loads(read.declaration or "")
        return SourceTable(
            document["name"],
            tuple(fields_from_json({"fields": document["columns"]})),
            document["format"],
            document.get("path"),
            document["options"],
            Document(_RECORD, "", {}),
            0,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise NotReplayable(f"the declaration of source `{read.name}` is damaged: {error}") from (
            error
        )


@dataclass(frozen=True, slots=True)
class ReplayCandidate:
    """A model that can be built again: all it needs is there."""

    place: int
    model: RecordedModel
    record: ProvenanceRecord
    recipe: Recipe
    reads: tuple[FoundInput, ...]
    start: PinnedTable | None
    environment: RecordedEnvironment

    @property
    def view(self) -> str:
        return f"rocky_replay_{self.place}"


def prepare_candidate(
    place: int, model: RecordedModel, run: RunRecord, finder: InputFinder
) -> ReplayCandidate:
    """A model with all it needs to be built again. Raises NotReplayable."""
    record = model.provenance
    if record is None:
        raise NotReplayable(_nothing_recorded(model))
    if model.touched:
        raise NotReplayable(
            "the record was changed after it was written (the chain has another hash for it);"
            " `rocky verify` says more"
        )
    check_record(record, model.made)
    check_determinism(record)
    check_functions(record, finder.functions)
    recipe = recipe_of(record)
    reads = tuple(map(finder.find, record.reads))
    _check_certain(record, model)
    start = None
    if recipe.keeps_rows and not record.full_refresh and record.base_version is not None:
        start = finder.find_start(record, record.base_version)
    session = run.engine.settings if run.engine and model.built_by == run.run_id else None
    environment = environment_of(record, session)
    return ReplayCandidate(place, model, record, recipe, reads, start, environment)


def _nothing_recorded(model: RecordedModel) -> str:
    execution = model.execution
    if execution.error is not None:
        return f"nothing to replay: it failed ({' '.join(execution.error.split())})"
    why = f" ({execution.reason})" if execution.reason else ""
    return f"what it was made from is not recorded: it was not built{why}"


def _check_certain(record: ProvenanceRecord, model: RecordedModel) -> None:
    made = model.made
    if record.proof_class is None and made is not None and made.error is None:
        said = f" ({made.action})" if made.action else ""
        raise NotReplayable(f"it is not known what it read{said}")


def group_by_settings(candidates: Iterable[ReplayCandidate]) -> Iterator[list[ReplayCandidate]]:
    """Candidates that need the same Spark settings, those of most models first."""
    found: list[list[ReplayCandidate]] = []
    for each in candidates:
        wanted = dict(each.environment.settings)
        alike = next((g for g in found if dict(g[0].environment.settings) == wanted), None)
        if alike is None:
            found.append([each])
        else:
            alike.append(each)
    yield from sorted(found, key=len, reverse=True)
