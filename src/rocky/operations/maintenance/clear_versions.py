"""Clearing old versions: those with values that a mask hides now lose their files, certified.

A mask holds for what is written from then on. What was written before stays readable until nothing
retained needs it, and that may be long: here it is asked for, so that runs which could be replayed
no longer can be, and they are counted. Whatever else holds the same values is in the way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

from rocky.errors import InvalidRequest, RunRefused
from rocky.evidence.retention.decisions import runs_needing
from rocky.evidence.retention.ledger_facts import load_ledger_facts
from rocky.ledger.record import RunId
from rocky.operations.digest import Digested
from rocky.operations.maintenance.gc import retention_of
from rocky.operations.maintenance.maintenance_run import MaintainedTables, open_tables
from rocky.operations.proof.seal import seal_deed
from rocky.operations.workspace import Workspace, broken_models, caller_of, compile_workspace
from rocky.plan.arguments import Request
from rocky.project.project import mask_level
from rocky.store.data_file import SUFFIX, name_of

# Who only asks what would be done does not wait for pyspark.
if TYPE_CHECKING:
    from rocky.evidence.retention.decisions import Needs
    from rocky.ledger.erasure_records import ErasureRecord
    from rocky.maintenance.erasure.contents import TableContents
    from rocky.maintenance.erasure.mask_history import MasksNow
    from rocky.maintenance.tables import RecordedTable

_REASON: Final = "older versions hold values that are masked now"


@dataclass(frozen=True, slots=True)
class ClearVersionsRequest(Request):
    """In a `dry_run` nothing is removed. `reason` goes into the certificate.

    `adapter` says where the tables are. `[gc] physical_delete = false` makes it a dry run.
    """

    dry_run: bool = False
    reason: str | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableClearing:
    """What a table has of versions that were written with other masks than now, or clear.

    `files` are only of those `versions`, or of none. `commits` of its log lose statistics and
    partitions, `checkpoints` and `staged` files go. `runs` that are retained cannot be replayed
    afterwards. `reason` says why a table is in the way.
    """

    table: str
    model: str
    status: Literal["pending", "cleared", "clean", "refused"]
    versions: tuple[int, ...] = ()
    files: int = 0
    bytes: int = 0
    commits: int = 0
    checkpoints: int = 0
    staged: int = 0
    runs: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ClearBranch:
    """A table of a branch that holds such values: the branch has to go first."""

    branch: str
    table: str
    files: int


@dataclass(frozen=True, slots=True, repr=False)
class ClearVersionsReport(Digested):
    """What was removed, or would be. `run_id` is that of the certificate."""

    dry_run: bool
    tables: tuple[TableClearing, ...]
    branches: tuple[ClearBranch, ...] = ()
    run_id: RunId | None = None


def clear_versions(workspace: Workspace, request: ClearVersionsRequest) -> ClearVersionsReport:
    """Remove what only versions have that were masked otherwise than now, or not at all.

    Raises RunRefused on a branch, for a project with errors or a remote state that cannot be read,
    and where something is in the way, LedgerLocked while a run is under way on any machine,
    ErasureUnfinished when an erasure has to be finished first, StateSyncFailed, and SealRefused
    when it was done and is not sealed.
    """
    if request.reason is not None and not request.reason.strip():
        raise InvalidRequest("a reason is said, or left out: `--reason` is empty")
    tables = open_tables(workspace, request.adapter, subject="old versions", verb="removed")
    return _Clearing(tables, request).report()


class _Clearing:
    """One look at all tables that are masked, and what is done about it."""

    def __init__(self, tables: MaintainedTables, request: ClearVersionsRequest) -> None:
        from rocky.maintenance.erasure.mask_history import MaskHistory, masks_now  # noqa: PLC0415
        from rocky.run.prepare.claims import refuse_unfinished_erasure  # noqa: PLC0415

        self._tables, self._request = tables, request
        refuse_unfinished_erasure(tables.warehouse)
        compilation = compile_workspace(tables.workspace, discovered=True)
        broken = broken_models(compilation)
        if broken:
            listed = ", ".join(f"`{each}`" for each in sorted(broken))
            raise RunRefused(
                f"nothing was removed: {listed} cannot be compiled, so nobody knows what is masked"
                " in them; `rocky compile` says what is wrong"
            )
        if (level := mask_level(compilation.project)) != "write":
            raise RunRefused(
                "nothing was removed: versions are judged by the masks of their own table, and with"
                f' `enforce = "{level}"` that of clear tables has none; `rocky gc` removes old'
                " versions of both in time"
            )
        self._masks: MasksNow = masks_now(compilation)
        self._history: MaskHistory = MaskHistory(self._masks, tables.state, tables.warehouse)

    def report(self) -> ClearVersionsReport:
        from rocky.maintenance.erasure.holders import (  # noqa: PLC0415
            find_branch_holdings,
            find_clear_branches,
        )
        from rocky.maintenance.tables import find_tables  # noqa: PLC0415

        tables, config = self._tables, self._tables.project.config
        known = load_ledger_facts(tables.state, retention_of(config), datetime.now(UTC))
        wanted = {each: tables.records[each] for each in self._masks.masked & {*tables.records}}
        looked = [
            self._look(each, None if known is None else known.needs)
            for each in find_tables(wanted, tables.warehouse, ())
        ]
        names = frozenset(one.name for _, found in looked if found for one in found.held)
        holdings = {
            (each.branch, each.table): each
            for each in (
                *find_clear_branches(tables.warehouse, self._masks),
                *find_branch_holdings(tables.warehouse, {}, lambda _target: None, names),
            )
        }
        dry_run = self._request.dry_run or not config.gc.physical_delete
        report = ClearVersionsReport(
            dry_run,
            tuple(table for table, _ in looked),
            tuple(ClearBranch(*key, each.files) for key, each in sorted(holdings.items())),
        )
        return report if dry_run else self._apply(report)

    def _look(
        self, found: "RecordedTable", needs: "Needs | None"
    ) -> "tuple[TableClearing, TableContents | None]":
        from rocky.maintenance.erasure.contents import look_behind  # noqa: PLC0415
        from rocky.maintenance.erasure.obstacles import find_clearing_obstacle  # noqa: PLC0415

        table, snapshot, _ = found
        kept = self._history.masked_as_now(table.name.lower())
        contents = look_behind(table, snapshot, kept | {snapshot.version})
        reason = find_clearing_obstacle(found, kept)
        status: Literal["pending", "clean", "refused"] = "pending"
        if reason is not None:
            status = "refused"
        elif contents.is_clean:
            status = "clean"
        said = TableClearing(
            table=table.name,
            model=found.model,
            status=status,
            versions=contents.versions,
            files=len(contents.held),
            bytes=sum(each.info.size for each in contents.held),
            commits=len(contents.commits),
            checkpoints=len(contents.checkpoints),
            staged=len(contents.staged),
            runs=0 if needs is None else _count_runs(found, contents, needs),
            reason=reason,
        )
        return said, None if reason is not None else contents

    def _apply(self, report: ClearVersionsReport) -> ClearVersionsReport:
        _refuse_obstacles(report)
        pending: dict[str, tuple[str, ...]] = {
            each.table.lower(): () for each in report.tables if each.status == "pending"
        }
        if not pending:
            return report
        from rocky.maintenance.erasure.order import ErasureOrder  # noqa: PLC0415
        from rocky.maintenance.erasure.work import erase_rows  # noqa: PLC0415
        from rocky.run.prepare.session import open_run  # noqa: PLC0415

        tables = self._tables
        caller = caller_of(tables.workspace, tables.project, tables.state)
        with open_run(tables.project, tables.adapter, caller) as opened:
            by = opened.resources.circumstances.triggering_identity or "unknown"
            reason = (self._request.reason or _REASON).strip()
            order = ErasureOrder(None, "", reason, by, {}, {}, masks=self._masks)
            certificate = erase_rows(opened, pending, order, datetime.now(UTC))
        if certificate is None:
            return report
        seal_deed(tables.workspace, tables.project, "run", certificate.run_id)
        return _certified(report, certificate)


def _count_runs(found: "RecordedTable", contents: "TableContents", needs: "Needs") -> int:
    """How many retained runs need a file that would go."""
    from rocky.store.file_usage import read_lifetimes  # noqa: PLC0415

    table = found.table
    mine = needs.of(table.name, table.objects.place(""))
    spans = {name_of(path): each for path, each in read_lifetimes(table.log).of_file.items()}
    runs = (
        runs_needing(each.name.removesuffix(SUFFIX), spans.get(each.name, ()), mine)
        for each in contents.held
    )
    return len(frozenset[str]().union(*runs))


def _refuse_obstacles(report: ClearVersionsReport) -> None:
    """Raise RunRefused for whatever would leave such values behind."""
    refused = next((each for each in report.tables if each.status == "refused"), None)
    if refused is not None:
        raise RunRefused(f"nothing was removed: `{refused.table}` is in the way: {refused.reason}")
    if report.branches:
        names = sorted({each.branch for each in report.branches})
        listed = ", ".join(f"`rocky branch delete {each}`" for each in names)
        raise RunRefused(
            "nothing was removed: branches hold such values too, and would go on holding them;"
            f" {listed}"
        )


def _certified(report: ClearVersionsReport, certificate: "ErasureRecord") -> ClearVersionsReport:
    """The report of what was done, as the certificate has it."""
    before: Mapping[str, TableClearing] = {each.table: each for each in report.tables}
    done = {}
    for each in certificate.tables:
        known = before[each.target]
        done[each.target] = TableClearing(
            table=each.target,
            model=known.model,
            status="cleared",
            versions=known.versions,
            files=len(each.files),
            bytes=sum(one.size_bytes for one in each.files),
            commits=len(each.commits),
            checkpoints=len(each.checkpoints),
            staged=each.staged,
            runs=known.runs,
        )
    tables = tuple(done.get(each.table, each) for each in report.tables)
    return ClearVersionsReport(report.dry_run, tables, report.branches, certificate.run_id)
