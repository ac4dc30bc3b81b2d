"""What runs have left, from Python: methods of a workspace about records, state and evidence."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rocky.api.arguments import Names, name_arguments, names_of, path_of
from rocky.operations import workspace as operations

if TYPE_CHECKING:
    from rocky.operations.governance.catalogue import GovernanceReport, WhoReport
    from rocky.operations.governance.erase_report import EraseReport
    from rocky.operations.health.doctor import DoctorReport
    from rocky.operations.maintenance.clear_versions import ClearVersionsReport
    from rocky.operations.maintenance.compact import CompactReport
    from rocky.operations.maintenance.gc import GcReport
    from rocky.operations.maintenance.retention import RetentionReport
    from rocky.operations.proof.foreign_table import ForeignTableReport
    from rocky.operations.proof.replay import RebuildReport, RecordReport, RecordVerificationReport
    from rocky.operations.proof.seal import SealReport
    from rocky.operations.proof.verify import VerifyReport
    from rocky.operations.records.cost import CostReport
    from rocky.operations.records.history import ExecutionsReport, HistoryReport, RunAccount
    from rocky.operations.records.logs import LogsReport
    from rocky.operations.records.trace import TraceReport
    from rocky.operations.state.kept_state import (
        RetentionSweepReport,
        StateReport,
        WatermarkDeletionReport,
    )
    from rocky.operations.state.state_restoration import RestorationReport

# ruff: noqa: PLC0415 - an operation is loaded when it is asked for: `import rocky` stays cheap


@name_arguments
class Records(operations.Workspace):
    """What can be asked of a project's past, of its state and of this machine."""

    __slots__ = ()

    def history(
        self,
        model: str | None = None,
        *,
        run: str | None = None,
        limit: int = 20,
        since: datetime | None = None,
        audit: bool = False,
    ) -> "HistoryReport | ExecutionsReport | RunAccount":
        """What ran, newest first; with a model its executions, with a run why that failed."""
        from rocky.operations.records.history import HistoryRequest, history

        return history(self, HistoryRequest(model, limit, since, audit, run))

    def trace(self, run: str = "latest", *, limit: int | None = None) -> "TraceReport":
        """When each model of a run ran, and what it waited for."""
        from rocky.operations.records.trace import TraceRequest, trace

        return trace(self, TraceRequest(run, limit))

    def logs(self, run: str = "latest") -> "LogsReport":
        """The log of a run in which something failed: stacks, and what Spark printed."""
        from rocky.operations.records.logs import LogsRequest, logs

        return logs(self, LogsRequest(run))

    def cost(self, run: str = "latest", *, by: str = "model") -> "CostReport":
        """What a run used and cost, by `model`, `tag` or `tag:NAME`."""
        from rocky.operations.records.cost import CostRequest, cost

        return cost(self, CostRequest(run, by))

    def verify(
        self,
        what: str | None = None,
        *,
        sealed: str | Path | None = None,
        head: str | None = None,
        allowed_signers: str | Path | None = None,
        since: str | datetime | None = None,
    ) -> "VerifyReport":
        """Check that records and tables are unchanged and agree, and go on from what was kept.

        With `since` (a run, a seal's name, `seal` for the newest, or a moment) what was recorded
        before is compared with the chain and not judged.
        """
        from rocky.operations.proof.verify import VerifyRequest, verify

        place = None if sealed is None else str(sealed)
        return verify(self, VerifyRequest(what, place, head, path_of(allowed_signers), since))

    def seal(
        self,
        *,
        key: str | None = None,
        principal: str | None = None,
        out: str | Path | None = None,
    ) -> "SealReport":
        """Sign where the ledger and its tables are now, into a file to keep elsewhere."""
        from rocky.operations.proof.seal import SealRequest, seal

        return seal(self, SealRequest(key, principal, path_of(out)))

    def replay(
        self,
        run: str = "latest",
        *,
        models: Names = (),
        verify: bool = False,
        execute: bool = False,
        keep: str | Path | None = None,
        parallel: int | None = None,
        adapter: str | None = None,
    ) -> "RecordReport | RecordVerificationReport | RebuildReport":
        """What is recorded of a run; checked with `verify`, built again with `execute`."""
        from rocky.operations.proof.replay import ReplayRequest, replay

        return replay(
            self,
            ReplayRequest(run, names_of(models), verify, execute, path_of(keep), parallel, adapter),
        )

    def compact(
        self, *tables: str, dry_run: bool = False, adapter: str | None = None
    ) -> "CompactReport":
        """Rewrite the small files of appended tables into larger ones, with the same rows."""
        from rocky.operations.maintenance.compact import CompactRequest, compact

        return compact(self, CompactRequest(tables, dry_run, adapter))

    def retention(
        self, *models: str, dry_run: bool = False, adapter: str | None = None
    ) -> "RetentionReport":
        """Delete rows that are older than their models' `retention`."""
        from rocky.operations.maintenance.retention import RetentionRequest, retention

        return retention(self, RetentionRequest(models, dry_run, adapter))

    def erase(
        self,
        where: str | None = None,
        *,
        sources: Names = (),
        apply: bool = False,
        reason: str | None = None,
        resume: bool = False,
        adapter: str | None = None,
        with_branches: bool = False,
    ) -> "EraseReport":
        """Find a subject's rows; with `apply`, take them out of every version of all tables."""
        from rocky.operations.governance.erase import EraseRequest, erase

        request = EraseRequest(
            where, names_of(sources), apply, reason, resume, adapter, with_branches
        )
        return erase(self, request)

    def plan_governance(self) -> "GovernanceReport":
        """What the catalogue would be told: add, change, remove, and what others granted."""
        from rocky.operations.governance.catalogue import plan_governance

        return plan_governance(self)

    def apply_governance(self, plan_id: str | None = None) -> "GovernanceReport":
        """Make the catalogue say what is declared; with `plan_id`, only by that plan."""
        from rocky.operations.governance.catalogue import ApplyRequest, apply_governance

        return apply_governance(self, ApplyRequest(plan_id))

    def who_can_read(self, table: str) -> "WhoReport":
        """Who can read a table, and by what."""
        from rocky.operations.governance.catalogue import WhoRequest, who_can_read

        return who_can_read(self, WhoRequest(table))

    def gc(self, *, dry_run: bool = False, adapter: str | None = None) -> "GcReport":
        """Remove files that no table, branch or retained run needs."""
        from rocky.operations.maintenance.gc import GcRequest, gc

        return gc(self, GcRequest(dry_run, adapter))

    def clear_versions(
        self, *, dry_run: bool = False, reason: str | None = None, adapter: str | None = None
    ) -> "ClearVersionsReport":
        """Remove what only versions have that were masked otherwise than now, or not at all."""
        from rocky.operations.maintenance.clear_versions import ClearVersionsRequest, clear_versions

        return clear_versions(self, ClearVersionsRequest(dry_run, reason, adapter))

    def state(self) -> "StateReport":
        """What is remembered between runs."""
        from rocky.operations.state.kept_state import show_state

        return show_state(self)

    def delete_watermark(self, table: str) -> "WatermarkDeletionReport":
        """Forget how far a table was loaded: its next run loads everything."""
        from rocky.operations.state.kept_state import DeleteRequest, delete_watermark

        return delete_watermark(self, DeleteRequest(table))

    def accept_table(
        self, table: str, *, message: str, adapter: str | None = None
    ) -> "ForeignTableReport":
        """Take a table as it is that somebody other than a run has written."""
        from rocky.operations.proof.foreign_table import ForeignTableRequest, accept_foreign

        return accept_foreign(self, ForeignTableRequest(table, message, adapter))

    def restore_table(
        self, table: str, *, message: str, adapter: str | None = None
    ) -> "ForeignTableReport":
        """Put a table back to what was recorded of it last."""
        from rocky.operations.proof.foreign_table import ForeignTableRequest, restore_foreign

        return restore_foreign(self, ForeignTableRequest(table, message, adapter))

    def restore_state(
        self, *, message: str, table: str | None = None, adapter: str | None = None
    ) -> "RestorationReport":
        """Let a state that was lost, or put back, know the tables again, from their commits."""
        from rocky.operations.state.state_restoration import RestorationRequest, restore_state

        return restore_state(self, RestorationRequest(message, table, adapter))

    def sweep_state(self, *, dry_run: bool = False) -> "RetentionSweepReport":
        """Forget runs older than `[state.retention]` allows that no table depends on."""
        from rocky.operations.state.kept_state import SweepRequest, sweep_state

        return sweep_state(self, SweepRequest(dry_run))

    def doctor(self, *checks: str) -> "DoctorReport":
        """Check that settings, state, warehouses and Spark are in order."""
        from rocky.operations.health.doctor import DoctorRequest, doctor

        return doctor(self, DoctorRequest(checks))
