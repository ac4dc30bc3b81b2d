"""The selection of files: which of a table's are to be loaded, decided without looking into them.

A run may die after its commit and before its record. The commit names the files it has brought, so
the commits above the last recorded one are asked too, and nothing is loaded twice.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from rocky.analysis.column_masks import digest_of
from rocky.analysis.masks.copies import CopiedTables
from rocky.canonical import canonical_json, text_hash
from rocky.errors import RunRefused, SourceUnreadable, StoreUnreadable
from rocky.ledger.pipeline_state import load_file_hashes
from rocky.ledger.readers.commits import open_lookup_reader
from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.readers.table import open_table_record_reader
from rocky.ledger.run_records import ModelExecution, ModelStatus
from rocky.pipelines.exclusion import Exclusion
from rocky.pipelines.generated_models import GeneratedModel
from rocky.pipelines.loads.contract import tags_in
from rocky.pipelines.loads.files import ALREADY_LOADED, FoundFile, TableFiles, new_files
from rocky.pipelines.owners import NO_OWNERS, Owners
from rocky.project import Project
from rocky.project.configuration.pipelines import LoadPipeline
from rocky.project.contracts import Contract
from rocky.run.engine.protocol import Engine
from rocky.run.engine.sources import Sources
from rocky.run.materialize.append import loaded_by
from rocky.run.outcomes import StepNotes
from rocky.run.record.commits import is_own_commit
from rocky.store.delta.snapshot import MASKS, Snapshot
from rocky.store.warehouse import Table, Warehouse


@dataclass(frozen=True, slots=True)
class LoadContext:
    """A load pipeline and where it works. `open_engine` starts Spark when it is first called.

    `whole` when a full refresh was asked for; `done` are tables that a run which is resumed has
    loaded, by key, with why they are left alone. Tables of the `owners` are not to be touched.
    """

    name: str
    pipeline: LoadPipeline
    known: CopiedTables
    warehouse: Warehouse
    sources: Sources
    open_engine: Callable[[], Engine]
    now: datetime
    contract: Contract | None = None
    whole: bool = False
    done: Mapping[str, str] = field(default_factory=dict)
    owners: Owners = NO_OWNERS

    @property
    def project(self) -> Project:
        return self.known.project

    @property
    def said(self) -> dict[str, tuple[str, ...]]:
        """The tags that the contract gives to columns."""
        return tags_in(self.contract)

    @property
    def replaces(self) -> bool:
        """Whether tables are made what the folder holds, whatever they hold now."""
        return self.whole or self.pipeline.options.truncate_first


@dataclass(frozen=True, slots=True)
class Load:
    """One table to load, as a generated model and what is noted of it."""

    model: GeneratedModel
    notes: StepNotes


_LOADED = frozenset({ModelStatus.SUCCESS, ModelStatus.REUSED})


@dataclass(frozen=True, slots=True)
class LoadHistory:
    """What the ledger remembers of a pipeline's tables, by the targets' keys.

    `committed` are the versions that were recorded last of tables whose last load failed. `state`
    is the ledger's file, which knows the commits of runs; None where there is none.
    """

    loaded: Mapping[str, frozenset[str]] = field(default_factory=dict)
    last: Mapping[str, ModelExecution] = field(default_factory=dict)
    committed: Mapping[str, int] = field(default_factory=dict)
    state: Path | None = None

    def find_last(self, key: str) -> ModelExecution | None:
        """The last load, if the last time it was tried it succeeded."""
        found = self.last.get(key)
        return found if found is not None and found.status in _LOADED else None


@dataclass(frozen=True, slots=True)
class HeldFiles:
    """The hashes of the files that a table holds; `unrecorded` are those the ledger lacks.

    `replaced` when a load that is not recorded has replaced the table.
    """

    known: frozenset[str] = frozenset()
    unrecorded: frozenset[str] = frozenset()
    replaced: bool = False


NO_FILES_HELD: Final = HeldFiles()


def load_file_history(
    path: Path, lookups: LookupReader, tables: tuple[TableFiles, ...]
) -> LoadHistory:
    """What is remembered of some tables. Raises LedgerUnreadable."""
    names = [each.target.full_name for each in tables]
    last = lookups.last_executions(names)
    return LoadHistory(
        {name.lower(): found for name, found in load_file_hashes(path, names).items()},
        {name.lower(): each.execution for name, each in last.items()},
        _committed(path, [each.execution for each in last.values()]),
        path,
    )


def _committed(path: Path, last: Iterable[ModelExecution]) -> dict[str, int]:
    failed = {(each.target or "").lower() for each in last if each.commit_version is None}
    tables = open_table_record_reader(path) if failed else None
    if tables is None:
        return {}
    with tables:
        found = tables.tables()
    versions = {key: each.execution.commit_version for key, each in found.items() if key in failed}
    return {key: version for key, version in versions.items() if version is not None}


def find_held_files(
    table: Table, snapshot: Snapshot | None, key: str, history: LoadHistory
) -> HeldFiles:
    """What a table holds. Raises StoreUnreadable for a commit that cannot be read.

    A table that is gone holds nothing, whatever is recorded of it.
    """
    if snapshot is None:
        return NO_FILES_HELD
    recorded = history.loaded.get(key, frozenset())
    last = history.last.get(key)
    since = last.commit_version if last is not None else None
    if since is None:
        # A try that failed says nothing of versions. What is older than the newest that is recorded
        # may have been moved back since, and its files are no longer there.
        since = history.committed.get(key, -1)
    found, replaced = _scan_commits(table, snapshot.version, since, history.state)
    if replaced:
        return HeldFiles(found, found, replaced=True)
    return HeldFiles(recorded | found, found - recorded)


def _scan_commits(
    table: Table, newest: int, recorded: int, state: Path | None
) -> tuple[frozenset[str], bool]:
    """The files that the commits of runs above a version have brought, as far as the log goes back.

    And whether one of them has replaced the table: what was before it is not asked for. What
    somebody else has committed is not believed: the table is not written while it is there.
    """
    lookups = open_lookup_reader(state) if state is not None and newest > recorded else None
    if lookups is None:
        return _scan_files(table, newest, recorded, lambda _: True)
    with lookups:
        return _scan_files(
            table, newest, recorded, lambda version: is_own_commit(lookups, table, version)
        )


def _scan_files(
    table: Table, newest: int, recorded: int, is_believed: Callable[[int], bool]
) -> tuple[frozenset[str], bool]:
    found: frozenset[str] = frozenset()
    for version in range(newest, recorded, -1):
        if table.log.objects.info(table.log.commit_path(version)) is None:
            # Older commits are in a checkpoint, which does not tell of files.
            break
        if not is_believed(version):
            continue
        try:
            brought = loaded_by(table.log.read_commit(version))
        except (TypeError, ValueError) as error:
            raise StoreUnreadable(
                f"cannot read which files commit {version} of table `{table.name}` loaded: {error}"
            ) from error
        found |= brought.files
        if brought.replaced:
            return found, True
    return found, False


_MARKER_VERSION: Final = 1
"""Raised when files come to be loaded differently, so that whole folders are loaded once more."""


@dataclass(frozen=True, slots=True)
class SelectedFiles:
    """A table with files to load, or with some that are loaded and not recorded (`held`).

    `marker` says what the folder has for the table, and how it is read.
    """

    table: TableFiles
    files: tuple[FoundFile, ...]
    snapshot: Snapshot | None
    marker: str
    held: HeldFiles = NO_FILES_HELD


class FileSelector:
    """Chooses for the tables of one run, and remembers what is left alone."""

    def __init__(self, ground: LoadContext, history: LoadHistory) -> None:
        self._ground = ground
        self._history = history
        self.unchanged: list[TableFiles] = []
        self.excluded: list[Exclusion] = []

    def choose(self, table: TableFiles) -> SelectedFiles | None:
        """What is to be loaded; None when nothing is. Raises RockyError for this table."""
        key = table.target.key
        if key in self._ground.done:
            self._exclude(table, table.files, self._ground.done[key])
            return None
        owner = self._ground.owners.of(table.target)
        if owner is not None:
            raise RunRefused(
                f"the files of `{table.target.full_name}` would go where {owner} writes; set"
                " another `schema` or `table` in the pipeline's `target`"
            )
        if table.unreadable is not None:
            raise SourceUnreadable(table.unreadable)
        place = self._ground.warehouse.table(table.target)
        snapshot = place.snapshot()
        if snapshot is None and not self._ground.pipeline.options.create_table:
            raise SourceUnreadable(
                f"there is no table `{table.target.full_name}`, and `create_table` is false:"
                " create it, or set `create_table = true`"
            )
        ground = self._ground
        tags = ground.known.terms(ground.name, table.target, ground.said)
        marker = _marker(ground.pipeline, table, tags)
        if ground.replaces:
            return self._choose_all(table, snapshot, marker)
        self._refuse_remasked(table, snapshot)
        held = find_held_files(place, snapshot, key, self._history)
        new, old = new_files(table.files, held.known)
        self._exclude(table, old, ALREADY_LOADED)
        if not new and not held.unrecorded:
            self.unchanged.append(table)
            return None
        return SelectedFiles(table, tuple(new), snapshot, marker, held)

    def _refuse_remasked(self, table: TableFiles, snapshot: Snapshot | None) -> None:
        """Raises RunRefused for a table whose rows are masked otherwise than they are to be.

        Also for one without a new file: nothing else would tell of it.
        """
        if snapshot is None:
            return
        ground = self._ground
        masks = ground.known.masks(ground.name, table.target, snapshot.schema, ground.said)
        if digest_of(masks) != snapshot.configuration.get(MASKS, ""):
            raise RunRefused(
                f"the masks of `{table.target.full_name}` changed, and its rows may be in no file"
                " any more; `--full-refresh` replaces the table by what the folder holds"
            )

    def _choose_all(
        self, table: TableFiles, snapshot: Snapshot | None, marker: str
    ) -> SelectedFiles | None:
        """All files of a table, unless the table is just what they are."""
        last = self._history.find_last(table.target.key)
        if (
            not self._ground.whole
            and last is not None
            and snapshot is not None
            and (last.commit_version, last.source_marker) == (snapshot.version, marker)
        ):
            self._exclude(table, table.files, ALREADY_LOADED)
            self.unchanged.append(table)
            return None
        files, copies = new_files(table.files, frozenset())
        self._exclude(table, copies, ALREADY_LOADED)
        return SelectedFiles(table, tuple(files), snapshot, marker)

    def _exclude(self, table: TableFiles, files: Sequence[FoundFile], why: str) -> None:
        name = table.target.full_name
        self.excluded += [Exclusion(each.shown, name, why) for each in files]


def _marker(pipeline: LoadPipeline, table: TableFiles, tags: str) -> str:
    """A hash of the files of a table and of how they are read and classified."""
    options = pipeline.options
    said = {
        "loaded_as": _MARKER_VERSION,
        "files": sorted({each.digest for each in table.files}),
        "delimiter": options.csv_delimiter,
        "header": options.csv_has_header,
        "contract": pipeline.contract,
        "replaces": options.truncate_first,
        **({"tags": tags} if tags else {}),
    }
    return text_hash(canonical_json(said))
