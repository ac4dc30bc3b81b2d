"""The Python way in: `rocky.open("shop")` and a method for each operation.

The methods take what the request of their operation holds, as keywords, and return its report. They
are the operations that the command line calls, so they pass the same gates. What an operation needs
is loaded when its method is called.
"""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from rocky.api.arguments import (
    Names,
    Paths,
    RunOptions,
    name_arguments,
    names_of,
    path_of,
    paths_of,
    run_request,
)
from rocky.api.branch import Branch
from rocky.errors import InvalidRequest
from rocky.operations import workspace as operations
from rocky.plan.arguments import refuse_unfit

if TYPE_CHECKING:
    from rocky.operations.apply import ApplyReport
    from rocky.operations.branch.promotion import ForgottenReport, PromotionReport, RecoveryReport
    from rocky.operations.branch.show import BranchesReport, PromotionsReport
    from rocky.operations.compile import CiReport, CompileReport
    from rocky.operations.cost import CostReport
    from rocky.operations.diff import DiffReport, FailOn, ReachReport
    from rocky.operations.doctor import DoctorReport
    from rocky.operations.drift import DriftReport
    from rocky.operations.emit_sql import EmitSqlReport
    from rocky.operations.foreign_table import ForeignTableReport
    from rocky.operations.gc import GcReport
    from rocky.operations.history import ExecutionsReport, HistoryReport
    from rocky.operations.imports import UpdateImportsReport
    from rocky.operations.lineage import ColumnLineage, ModelLineage
    from rocky.operations.list import Kind, Listed
    from rocky.operations.logs import LogsReport
    from rocky.operations.plan import PlanReport
    from rocky.operations.publish import PublishReport
    from rocky.operations.replay import RebuildReport, RecordReport, RecordVerificationReport
    from rocky.operations.run import RunReport
    from rocky.operations.seal import SealReport
    from rocky.operations.seed import SeedReport
    from rocky.operations.show import ShowReport
    from rocky.operations.state import (
        RetentionSweepReport,
        StateReport,
        WatermarkDeletionReport,
    )
    from rocky.operations.state_restoration import RestorationReport
    from rocky.operations.test import TestReport
    from rocky.operations.trace import TraceReport
    from rocky.operations.validate import ValidateReport
    from rocky.operations.verify import VerifyReport

# ruff: noqa: PLC0415 - an operation is loaded when it is asked for: `import rocky` stays cheap


@name_arguments
class Workspace(operations.Workspace):
    """A project that is open, and all that can be asked of it."""

    __slots__ = ()

    def branch(self, name: str) -> "Branch[Workspace]":
        """A branch of the tables by its name; it need not exist yet."""
        refuse_unfit("name", name, str)
        return Branch(self, name)

    # -------------------------------------------------------------- before anything runs

    def validate(self) -> "ValidateReport":
        """Check the project's files, without looking into SQL."""
        from rocky.operations.validate import validate

        return validate(self)

    def compile(
        self,
        *models: str,
        consumers: Paths = (),
        live: bool = False,
        verify: bool = False,
        record_baselines: bool = False,
        jobs: int | None = None,
        cache: bool = True,
    ) -> "CompileReport":
        """Check every model, column, type and contract. Mistakes are in the report, not raised."""
        from rocky.operations.compile import CompileRequest, compile_models

        request = CompileRequest(
            models, paths_of(consumers), live, verify, record_baselines, jobs, cache
        )
        return compile_models(self, request)

    def ci(
        self, *, consumers: Paths = (), jobs: int | None = None, cache: bool = True
    ) -> "CiReport":
        """Compile for a build: its `exit_code` tells warnings from errors."""
        from rocky.operations.compile import CiRequest, ci

        return ci(self, CiRequest(paths_of(consumers), jobs, cache))

    def list(self, kind: "Kind | None" = None, *, select: Names = ()) -> "Listed":
        """The project's models, sources and seeds, those that are selected; or its pipelines."""
        from rocky.operations.list import ListRequest, list_project

        return list_project(self, ListRequest(kind, names_of(select)))

    def lineage(
        self,
        target: str,
        column: str | None = None,
        *,
        upstream: bool = False,
        downstream: bool = False,
    ) -> "ModelLineage | ColumnLineage":
        """Where a model's or a column's values come from, and what they reach."""
        from rocky.operations.lineage import LineageRequest, lineage

        return lineage(self, LineageRequest(target, column, upstream, downstream))

    def diff(
        self,
        base: str | None = None,
        *,
        exact: bool = False,
        models: Names = (),
        fail_on: "FailOn | None" = None,
        reach: bool = False,
    ) -> "DiffReport | ReachReport":
        """What changed since a commit, and what breaks; with `reach` all that it gets to."""
        from rocky.operations.diff import DiffRequest, diff

        return diff(self, DiffRequest(base, exact, names_of(models), fail_on, reach))

    def emit_sql(
        self, model: str | None = None, *, out: str | Path | None = None
    ) -> "EmitSqlReport":
        """The SQL that would run."""
        from rocky.operations.emit_sql import EmitSqlRequest, emit_sql

        return emit_sql(self, EmitSqlRequest(model, path_of(out)))

    def publish(
        self, *selectors: str, out: str | Path | None = None, check: bool = False
    ) -> "PublishReport":
        """Write the interface of the project's tables for others to build on."""
        from rocky.operations.publish import PublishRequest, publish

        return publish(self, PublishRequest(selectors, path_of(out), check))

    def update_imports(
        self,
        *names: str,
        check: bool = False,
        fetch_only: bool = False,
        write_pin: bool = False,
    ) -> "UpdateImportsReport":
        """Fetch and accept what other projects publish."""
        from rocky.operations.imports import UpdateImportsRequest, update_imports

        return update_imports(self, UpdateImportsRequest(names, check, fetch_only, write_pin))

    # -------------------------------------------------------------- tables

    def run(self, *select: str, **options: Unpack[RunOptions]) -> "RunReport":
        """Build models' tables, copy and check others, and record it.

        A model that fails is in the report, not raised.
        """
        from rocky.operations.run import run

        return run(self, run_request(select, options))

    def build(self, *select: str, **options: Unpack[RunOptions]) -> "RunReport":
        """`run` with `test=True`: what reads a model whose tests fail is not built."""
        from rocky.operations.run import run

        if "test" in options:
            raise InvalidRequest("`build` always tests; without tests it is `run`")
        return run(self, run_request(select, {**options, "test": True}))

    def plan(self, *select: str, **options: Unpack[RunOptions]) -> "PlanReport":
        """What `run` with the same options would do, and why; the plan is kept."""
        from rocky.operations.plan import plan

        return plan(self, run_request(select, options))

    def apply(self, plan: str) -> "ApplyReport":
        """Carry out a plan that was kept, exactly, or raise PlanOutdated with what moved since."""
        from rocky.operations.apply import ApplyRequest, apply

        return apply(self, ApplyRequest(plan))

    def seed(
        self, *names: str, full_refresh: bool = False, adapter: str | None = None
    ) -> "SeedReport":
        """Load seeds into their tables, those that are named or all."""
        from rocky.operations.seed import SeedRequest, seed

        return seed(self, SeedRequest(names, full_refresh, adapter))

    def test(
        self,
        *select: str,
        unit: bool = False,
        data: bool = False,
        adapter: str | None = None,
    ) -> "TestReport":
        """Run the tests of the selected models, or of all."""
        from rocky.operations.test import TestRequest, test

        return test(self, TestRequest(select, unit, data, adapter))

    def show(
        self,
        model: str | None = None,
        *,
        limit: int = 10,
        version: int | None = None,
        adapter: str | None = None,
        columns: Names = (),
        where: str | None = None,
        sql: str | None = None,
    ) -> "ShowReport":
        """Rows of a model's table, read from its files; of a view or a query, by Spark."""
        from rocky.operations.show import ShowRequest, show

        chosen = names_of(columns)
        return show(self, ShowRequest(model, limit, version, adapter, chosen, where, sql))

    def drift(
        self,
        pipeline: str | None = None,
        *,
        filters: Names = (),
        adapter: str | None = None,
    ) -> "DriftReport":
        """How live sources differ from their copies. Nothing is changed."""
        from rocky.operations.drift import DriftRequest, drift

        return drift(self, DriftRequest(pipeline, names_of(filters), adapter))

    # -------------------------------------------------------------- the past

    def history(
        self,
        model: str | None = None,
        *,
        limit: int = 20,
        since: datetime | None = None,
        audit: bool = False,
    ) -> "HistoryReport | ExecutionsReport":
        """What ran, newest first; with a model its executions."""
        from rocky.operations.history import HistoryRequest, history

        return history(self, HistoryRequest(model, limit, since, audit))

    def trace(self, run: str = "latest", *, limit: int | None = None) -> "TraceReport":
        """When each model of a run ran, and what it waited for."""
        from rocky.operations.trace import TraceRequest, trace

        return trace(self, TraceRequest(run, limit))

    def logs(self, run: str = "latest") -> "LogsReport":
        """The log of a run in which something failed: stacks, and what Spark printed."""
        from rocky.operations.logs import LogsRequest, logs

        return logs(self, LogsRequest(run))

    def cost(self, run: str = "latest", *, by: str = "model") -> "CostReport":
        """What a run used and cost, by `model`, `tag` or `tag:NAME`."""
        from rocky.operations.cost import CostRequest, cost

        return cost(self, CostRequest(run, by))

    def verify(
        self,
        what: str | None = None,
        *,
        sealed: str | Path | None = None,
        head: str | None = None,
        allowed_signers: str | Path | None = None,
    ) -> "VerifyReport":
        """Check that records and tables are unchanged and agree, and go on from what was kept."""
        from rocky.operations.verify import VerifyRequest, verify

        place = None if sealed is None else str(sealed)
        return verify(self, VerifyRequest(what, place, head, path_of(allowed_signers)))

    def seal(
        self,
        *,
        key: str | None = None,
        principal: str | None = None,
        out: str | Path | None = None,
    ) -> "SealReport":
        """Sign where the ledger and its tables are now, into a file to keep elsewhere."""
        from rocky.operations.seal import SealRequest, seal

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
        from rocky.operations.replay import ReplayRequest, replay

        return replay(
            self,
            ReplayRequest(run, names_of(models), verify, execute, path_of(keep), parallel, adapter),
        )

    def gc(self, *, dry_run: bool = False, adapter: str | None = None) -> "GcReport":
        """Remove files that no table, branch or retained run needs."""
        from rocky.operations.gc import GcRequest, gc

        return gc(self, GcRequest(dry_run, adapter))

    def state(self) -> "StateReport":
        """What is remembered between runs."""
        from rocky.operations.state import show_state

        return show_state(self)

    def delete_watermark(self, table: str) -> "WatermarkDeletionReport":
        """Forget how far a table was loaded: its next run loads everything."""
        from rocky.operations.state import DeleteRequest, delete_watermark

        return delete_watermark(self, DeleteRequest(table))

    def accept_table(
        self, table: str, *, message: str, adapter: str | None = None
    ) -> "ForeignTableReport":
        """Take a table as it is that somebody other than a run has written."""
        from rocky.operations.foreign_table import ForeignTableRequest, accept_foreign

        return accept_foreign(self, ForeignTableRequest(table, message, adapter))

    def restore_table(
        self, table: str, *, message: str, adapter: str | None = None
    ) -> "ForeignTableReport":
        """Put a table back to what was recorded of it last."""
        from rocky.operations.foreign_table import ForeignTableRequest, restore_foreign

        return restore_foreign(self, ForeignTableRequest(table, message, adapter))

    def restore_state(
        self, *, message: str, table: str | None = None, adapter: str | None = None
    ) -> "RestorationReport":
        """Let a state that was lost, or put back, know the tables again, from their commits."""
        from rocky.operations.state_restoration import RestorationRequest, restore_state

        return restore_state(self, RestorationRequest(message, table, adapter))

    def sweep_state(self, *, dry_run: bool = False) -> "RetentionSweepReport":
        """Forget runs older than `[state.retention]` allows that no table depends on."""
        from rocky.operations.state import SweepRequest, sweep_state

        return sweep_state(self, SweepRequest(dry_run))

    def doctor(self, *checks: str) -> "DoctorReport":
        """Check that settings, state, warehouses and Spark are in order."""
        from rocky.operations.doctor import DoctorRequest, doctor

        return doctor(self, DoctorRequest(checks))

    # -------------------------------------------------------------- branches

    def branches(
        self, *, everything: bool = False, promotions: bool = False
    ) -> "BranchesReport | PromotionsReport":
        """The branches there are, or the promotions there were."""
        from rocky.operations.branch.show import ListRequest, list_branches

        return list_branches(self, ListRequest(everything, promotions))

    def revert(
        self,
        promotion: str,
        *,
        discard_later: bool = False,
        message: str | None = None,
        adapter: str | None = None,
    ) -> "PromotionReport":
        """Move production back to before a promotion, all tables or none."""
        from rocky.operations.branch.promotion import RevertRequest, revert

        return revert(self, RevertRequest(promotion, discard_later, message, adapter))

    def recover(
        self, *, forget: str | None = None, adapter: str | None = None
    ) -> "RecoveryReport | ForgottenReport":
        """Finish or undo a promotion that was interrupted."""
        from rocky.operations.branch.promotion import RecoverRequest, recover

        return recover(self, RecoverRequest(forget, adapter))
