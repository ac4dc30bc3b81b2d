"""Compacting tables: their small files become few, with the same rows, in a run of its own."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from rocky.ledger.record import RunId
from rocky.operations.digest import Digested
from rocky.operations.maintenance.maintenance_run import open_tables
from rocky.operations.workspace import Workspace
from rocky.plan.arguments import Request

# Who only asks what would be done does not wait for pyspark.
if TYPE_CHECKING:
    from rocky.maintenance.compaction import CompactedTable


@dataclass(frozen=True, slots=True)
class CompactRequest(Request):
    """The tables, by model or full name; without any, all that are appended to.

    In a `dry_run` nothing is rewritten; `adapter` says where the tables are.
    """

    tables: tuple[str, ...] = ()
    dry_run: bool = False
    adapter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCompaction:
    """What happened to one table, or would.

    `rewritten` of its `files_before` are too small, and with the rest there are `files_after` then.
    `pending` is what a dry run found to do; `reason` says why a table was left alone. `bytes_after`
    and `to_version` are those of a table that was compacted.
    """

    table: str
    model: str
    status: Literal["compacted", "pending", "unchanged", "left_alone"]
    files_before: int
    rewritten: int
    files_after: int
    bytes_before: int
    bytes_after: int | None = None
    rows: int
    rows_hash: str | None = None
    from_version: int
    to_version: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class CompactReport(Digested):
    """What was rewritten, or would be in a dry run, and the run that says so, if anything was."""

    dry_run: bool
    target_bytes: int
    tables: tuple[TableCompaction, ...]
    run_id: RunId | None = None


def compact(workspace: Workspace, request: CompactRequest) -> CompactReport:
    """Cut the rows of appended tables into larger files, each table in one commit.

    Raises RunRefused on a branch and when `rocky.toml` has errors, NothingSelected for a table that
    is not recorded, LedgerLocked while a run writes one of the tables,
    ForeignCommit for commits that no run made, and SealRefused when it was done and is not sealed.
    """
    tables = open_tables(workspace, request.adapter, subject="tables", verb="compacted")
    from rocky.maintenance.compaction import compact_tables, plan_compaction  # noqa: PLC0415
    from rocky.maintenance.tables import find_tables  # noqa: PLC0415

    target = tables.project.config.maintenance.target_bytes
    found = find_tables(tables.records, tables.warehouse, request.tables)
    done = tables.carry_out(
        plan_compaction(found, target, named=bool(request.tables)),
        lambda opened: compact_tables(opened, request.tables, target, datetime.now(UTC)),
        dry_run=request.dry_run,
    )
    return CompactReport(request.dry_run, target, tuple(map(_table, done.tables)), done.run_id)


def _table(each: "CompactedTable") -> TableCompaction:
    from rocky.store.delta.snapshot import ROWS_HASH  # noqa: PLC0415

    before, after = each.before, each.after
    rewritten = sum(len(group.files) for group in each.groups)
    expected = len(before.files) - rewritten + len(each.groups)
    return TableCompaction(
        table=each.table,
        model=each.model,
        status=each.status,
        files_before=len(before.files),
        rewritten=rewritten,
        files_after=expected if after is None else len(after.files),
        bytes_before=before.bytes,
        bytes_after=None if after is None else after.bytes,
        rows=before.rows,
        rows_hash=before.configuration.get(ROWS_HASH),
        from_version=before.version,
        to_version=None if after is None else after.version,
        reason=each.reason,
    )
