"""Collecting garbage: files that nothing needs any more are removed, and that is recorded.

It deletes data, so settings that cannot be read as they were meant stop it: a mistyped one would
leave a default to decide what goes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from rocky.errors import RunRefused
from rocky.evidence.retention.collection import (
    CollectedTable,
    CollectionReport,
    CollectionRequest,
    collect_files,
)
from rocky.evidence.retention.decisions import KeepReason, Retention
from rocky.operations.digest import Digested
from rocky.operations.state.state_change import load_sound_project
from rocky.operations.warehouses import warehouses_of
from rocky.operations.workspace import Workspace, state_path
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.configuration.config import Config
from rocky.store.objects import ObjectInfo
from rocky.store.warehouse import Warehouse

_STAGED: Final = "staged: its writer did not finish"


@dataclass(frozen=True, slots=True)
class GcRequest(Request):
    """In a `dry_run` nothing is removed; with an `adapter`, only its warehouse is meant.

    `[gc] physical_delete = false` makes every collection a dry run.
    """

    dry_run: bool = False
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class RemovedFiles:
    """How much is gone, or would be in a dry run."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """How much stays for one reason; `runs` counts those that need it."""

    files: int
    bytes: int
    runs: int


@dataclass(frozen=True, slots=True)
class KeptByReason:
    """What stays, each file for the first reason that holds.

    `live` is in the newest version, `needed` by retained runs, `shared` with branches, `held` for a
    run that is still running, `young` too new to go.
    """

    live: KeptFiles
    needed: KeptFiles
    shared: KeptFiles
    held: KeptFiles
    young: KeptFiles


@dataclass(frozen=True, slots=True)
class RemovedFile:
    """A file that is gone, or would be in a dry run."""

    path: str
    size_bytes: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCollection:
    """What happened to one table; `reason` says why it was left alone, or what failed.

    `claim_lost`: the collector was stopped for a while and others took the table over, so that it
    removed nothing more.
    """

    table: str
    warehouse: str
    status: Literal["collected", "clean", "left_alone", "failed", "claim_lost"]
    removed: RemovedFiles
    kept: KeptByReason
    files: tuple[RemovedFile, ...]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class GcSummary:
    """All tables together."""

    files_removed: int
    bytes_removed: int
    files_kept: int
    bytes_kept: int
    tables_left_alone: int
    tables_failed: int


@dataclass(frozen=True, slots=True, repr=False)
class GcReport(Digested):
    """What was removed, or would be in a dry run. `refused` says why no table was looked at."""

    dry_run: bool
    retention_days: int
    min_runs_kept: int
    min_age_days: int
    retained_runs: int
    running_runs: tuple[str, ...]
    tables: tuple[TableCollection, ...]
    summary: GcSummary
    refused: str | None = None

    @property
    def has_failed(self) -> bool:
        """Whether something went wrong midway."""
        return self.summary.tables_failed > 0


def gc(workspace: Workspace, request: GcRequest) -> GcReport:
    """Remove what no table, branch or retained run needs.

    Raises RunRefused, with nothing removed, when `rocky.toml` has errors, when the state is kept
    elsewhere, or when a branch is open; NothingSelected for an unknown adapter; and what
    `collect_files` raises.
    """
    if workspace.branch_name is not None:
        raise RunRefused(
            f"the files of branch `{workspace.branch_name}` cannot be collected alone, only"
            " with those of production: nothing was removed"
        )
    project = load_sound_project(workspace, "removed")
    backend = project.config.state.backend
    if backend != "local":
        raise RunRefused(
            f'the state is remote (`[state] backend = "{backend}"`), so files that runs on'
            " other machines need cannot be known: nothing was removed"
        )
    warehouses = _open_warehouses(workspace, project, request.adapter)
    retention = retention_of(project.config)
    dry_run = request.dry_run or not project.config.gc.physical_delete
    orders = CollectionRequest(retention, dry_run, datetime.now(UTC))
    return _report(collect_files(state_path(workspace), warehouses, orders), retention)


def retention_of(config: Config) -> Retention:
    """What the project asks to keep."""
    kept, collected = config.state.retention, config.gc
    days = kept.max_age_days if collected.retention_days is None else collected.retention_days
    return Retention(days, kept.min_runs_kept, collected.min_age_days)


def _open_warehouses(workspace: Workspace, project: Project, name: str | None) -> list[Warehouse]:
    """Where the project's adapters keep their tables, each place once. Raises NothingSelected."""
    found: dict[str, Warehouse] = {}
    for each in warehouses_of(workspace, project, name):
        found.setdefault(each.uri, each)
    return list(found.values())


def _report(found: CollectionReport, retention: Retention) -> GcReport:
    tables = tuple(_table(each) for each in found.tables)
    kept = [one.file for each in found.tables for one in each.kept]
    summary = GcSummary(
        sum(each.removed.files for each in tables),
        sum(each.removed.bytes for each in tables),
        len(kept),
        _bytes(kept),
        sum(each.status == "left_alone" for each in tables),
        sum(each.status in ("failed", "claim_lost") for each in tables),
    )
    return GcReport(
        found.dry_run,
        retention.max_age_days,
        retention.min_runs_kept,
        retention.min_age_days,
        found.retained_runs,
        found.living_runs,
        tables,
        summary,
        found.refused,
    )


def _table(table: CollectedTable) -> TableCollection:
    files = [(each.file, each.reason) for each in table.removals]
    files += [(each, _STAGED) for each in table.staged]
    return TableCollection(
        table=table.target,
        warehouse=table.warehouse,
        status=_status(table),
        removed=RemovedFiles(len(files), _bytes(file for file, _ in files)),
        kept=KeptByReason(**{why.value: _kept(table, why) for why in KeepReason}),
        files=tuple(RemovedFile(file.path, file.size, reason) for file, reason in files),
        reason=table.failed or table.claim_lost or table.left_alone,
    )


def _status(
    table: CollectedTable,
) -> Literal["collected", "clean", "left_alone", "failed", "claim_lost"]:
    if table.claim_lost is not None:
        return "claim_lost"
    if table.failed is not None:
        return "failed"
    if table.left_alone is not None:
        return "left_alone"
    return "collected" if table.removals or table.staged else "clean"


def _kept(table: CollectedTable, why: KeepReason) -> KeptFiles:
    kept = [each for each in table.kept if each.why is why]
    runs = frozenset[str]().union(*(each.runs for each in kept))
    return KeptFiles(len(kept), _bytes(each.file for each in kept), len(runs))


def _bytes(files: Iterable[ObjectInfo]) -> int:
    return sum(each.size for each in files)
