"""What a table holds already: files that the ledger has recorded, and those it could not record.

A run may die after its commit and before its record. The commit names the files it has brought, so
the commits above the last recorded one are asked too, and nothing is loaded twice.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rocky.errors import StoreUnreadable
from rocky.ledger.loaded_files import load_loaded
from rocky.ledger.lookups import Lookups
from rocky.ledger.records import ModelExecution, ModelStatus
from rocky.ledger.table_records import open_table_records
from rocky.pipelines.loads.files import FoundTable
from rocky.run.materialize.append import loaded_by
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table

_MADE = frozenset({ModelStatus.SUCCESS, ModelStatus.REUSED})


@dataclass(frozen=True, slots=True)
class LoadHistory:
    """What the ledger remembers of a pipeline's tables, by the targets' keys.

    `committed` are the versions that were recorded last of tables whose last load failed.
    """

    loaded: Mapping[str, frozenset[str]] = field(default_factory=dict)
    last: Mapping[str, ModelExecution] = field(default_factory=dict)
    committed: Mapping[str, int] = field(default_factory=dict)

    def find_last(self, key: str) -> ModelExecution | None:
        """The last load, if the last time it was tried it succeeded."""
        found = self.last.get(key)
        return found if found is not None and found.status in _MADE else None


@dataclass(frozen=True, slots=True)
class Held:
    """The hashes of the files that a table holds; `unrecorded` are those the ledger lacks.

    `replaced` when a load that is not recorded has replaced the table.
    """

    known: frozenset[str] = frozenset()
    unrecorded: frozenset[str] = frozenset()
    replaced: bool = False


NOTHING_HELD: Final = Held()


def load_history(path: Path, lookups: Lookups, tables: tuple[FoundTable, ...]) -> LoadHistory:
    """What is remembered of some tables. Raises LedgerUnreadable."""
    names = [each.target.full_name for each in tables]
    last = lookups.last_executions(names)
    return LoadHistory(
        {name.lower(): found for name, found in load_loaded(path, names).items()},
        {name.lower(): each.execution for name, each in last.items()},
        _committed(path, [each.execution for each in last.values()]),
    )


def _committed(path: Path, last: Iterable[ModelExecution]) -> dict[str, int]:
    failed = {(each.target or "").lower() for each in last if each.commit_version is None}
    tables = open_table_records(path) if failed else None
    if tables is None:
        return {}
    with tables:
        found = tables.tables()
    versions = {key: each.execution.commit_version for key, each in found.items() if key in failed}
    return {key: version for key, version in versions.items() if version is not None}


def find_held(table: Table, snapshot: Snapshot | None, key: str, history: LoadHistory) -> Held:
    """What a table holds. Raises StoreUnreadable for a commit that cannot be read.

    A table that is gone holds nothing, whatever is recorded of it.
    """
    if snapshot is None:
        return NOTHING_HELD
    recorded = history.loaded.get(key, frozenset())
    last = history.last.get(key)
    since = last.commit_version if last is not None else None
    if since is None:
        # A try that failed says nothing of versions. What is older than the newest that is recorded
        # may have been moved back since, and its files are no longer there.
        since = history.committed.get(key, -1)
    found, replaced = _scan(table, snapshot.version, since)
    if replaced:
        return Held(found, found, replaced=True)
    return Held(recorded | found, found - recorded)


def _scan(table: Table, newest: int, recorded: int) -> tuple[frozenset[str], bool]:
    """The files that the commits above a version have brought, as far as the log goes back.

    And whether one of them has replaced the table: what was before it is not asked for.
    """
    found: frozenset[str] = frozenset()
    for version in range(newest, recorded, -1):
        if table.log.objects.info(table.log.commit_path(version)) is None:
            # Older commits are in a checkpoint, which does not tell of files.
            break
        try:
            brought = loaded_by(table.log.read_commit(version))
        except (TypeError, ValueError) as error:
            raise StoreUnreadable(
                f"which files commit {version} of table `{table.name}` has brought cannot be read:"
                f" {error}"
            ) from error
        found |= brought.files
        if brought.replaced:
            return found, True
    return found, False
