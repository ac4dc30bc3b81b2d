"""The Python way in: `rocky.open("shop")` and a method for each operation.

The methods take what the request of their operation holds, as keywords, and return its report. They
are the operations that the command line calls, so they pass the same gates. What an operation needs
is loaded when its method is called.
"""

from typing import TYPE_CHECKING, Any, Unpack

from rocky.api.analysis import Analysis
from rocky.api.arguments import (
    Names,
    RunOptions,
    name_arguments,
    names_of,
    run_request,
)
from rocky.api.branch import Branch
from rocky.api.progress import shown_progress
from rocky.api.records import Records
from rocky.errors import InvalidRequest
from rocky.plan.arguments import refuse_unfit

if TYPE_CHECKING:
    from rocky.operations.branch.promotion import ForgottenReport, PromotionReport, RecoveryReport
    from rocky.operations.branch.show import BranchesReport, PromotionsReport
    from rocky.operations.execution.apply import ApplyReport
    from rocky.operations.execution.backfill import BackfillReport
    from rocky.operations.execution.run import RunReport
    from rocky.operations.execution.seed import SeedReport
    from rocky.operations.execution.test import TestReport
    from rocky.operations.plan import PlanReport
    from rocky.operations.rows.show import ShowReport
    from rocky.operations.sources.discover import DiscoverReport
    from rocky.operations.sources.drift import DriftReport

# ruff: noqa: PLC0415 - an operation is loaded when it is asked for: `import rocky` stays cheap


@name_arguments
class Workspace(Analysis):
    """A project that is open, and all that can be asked of it."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        """What can be asked of it; what it was opened with is in its `repr`."""
        asked = (*vars(Workspace), *vars(Analysis), *vars(Records))
        return sorted({name for name in asked if not name.startswith("_")})

    def branch(self, name: str) -> "Branch[Workspace]":
        """A branch of the tables by its name; it need not exist yet."""
        refuse_unfit("name", name, str)
        return Branch(self, name)

    # -------------------------------------------------------------- tables

    def backfill(
        self,
        model: str,
        *,
        start: str,
        end: str | None = None,
        downstream: bool = False,
        dry_run: bool = False,
        force: bool = False,
        adapter: str | None = None,
    ) -> "BackfillReport":
        """Compute the time intervals of a model again, and with `downstream` of its readers."""
        from rocky.operations.execution.backfill import BackfillRequest, backfill

        request = BackfillRequest(model, start, end, downstream, dry_run, force, adapter)
        return backfill(self, request)

    def run(self, *select: str, **options: Unpack[RunOptions]) -> "RunReport":
        """Build models' tables, copy and check others, and record it.

        A model that fails is in the report, not raised. Options are the other fields of
        `rocky.RunRequest`: `exclude`, `pipeline`, `parallel`, `full_refresh`, `rebuild`, `reuse`,
        `adapter`, `window`, `filters`, `resume`, `idempotency_key`, `test`, `start_anew`,
        `force` and `keep_going`.
        """
        from rocky.operations.execution.run import run

        request = run_request(select, options)
        with shown_progress(self, "run") as watched:
            return run(watched, request)

    def build(self, *select: str, **options: Unpack[RunOptions]) -> "RunReport":
        """`run` with `test=True`: what reads a model whose tests fail is not built."""
        from rocky.operations.execution.run import run

        if "test" in options:
            raise InvalidRequest("`build` always tests; without tests it is `run`")
        request = run_request(select, {**options, "test": True})
        with shown_progress(self, "build") as watched:
            return run(watched, request)

    def plan(self, *select: str, **options: Unpack[RunOptions]) -> "PlanReport":
        """What `run` with the same options would do, and why; the plan is kept."""
        from rocky.operations.plan import plan

        return plan(self, run_request(select, options))

    def apply(self, plan: str) -> "ApplyReport":
        """Carry out a plan that was kept, exactly, or raise PlanOutdated with what moved since."""
        from rocky.operations.execution.apply import ApplyRequest, apply

        request = ApplyRequest(plan)
        with shown_progress(self, "apply") as watched:
            return apply(watched, request)

    def seed(
        self, *names: str, full_refresh: bool = False, adapter: str | None = None
    ) -> "SeedReport":
        """Load seeds into their tables, those that are named or all."""
        from rocky.operations.execution.seed import SeedRequest, seed

        request = SeedRequest(names, full_refresh, adapter)
        with shown_progress(self, "seed") as watched:
            return seed(watched, request)

    def test(
        self,
        *select: str,
        unit: bool = False,
        data: bool = False,
        adapter: str | None = None,
    ) -> "TestReport":
        """Run the tests of the selected models, or of all."""
        from rocky.operations.execution.test import TestRequest, test

        request = TestRequest(select, unit, data, adapter)
        with shown_progress(self, "test") as watched:
            return test(watched, request)

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
        from rocky.operations.rows.show import ShowRequest, show

        chosen = names_of(columns)
        return show(self, ShowRequest(model, limit, version, adapter, chosen, where, sql))

    def table(
        self,
        name: str,
        *,
        version: int | None = None,
        run: str | None = None,
        adapter: str | None = None,
    ) -> Any:
        """A table as a DataFrame on your session: now, at a `version`, or as a `run` left it."""
        from rocky.operations.rows.frame import TableRequest, table_frame

        return table_frame(self, TableRequest(name, version, run, adapter))

    def sql(self, query: str, *, adapter: str | None = None) -> Any:
        """A query over names of the project, checked first, as a DataFrame on your session."""
        from rocky.operations.rows.frame import QueryRequest, query_frame

        return query_frame(self, QueryRequest(query, adapter))

    def discover(
        self,
        *names: str,
        write: bool = False,
        adapter: str | None = None,
        pipeline: str | None = None,
        schemas: Names = (),
        cache: bool = False,
    ) -> "DiscoverReport":
        """The columns that sources have now; with `write` their declarations are brought up.

        With `cache` those that nobody declares are kept for compiles.
        """
        from rocky.operations.sources.discover import DiscoverRequest, discover

        request = DiscoverRequest(names, write, adapter, pipeline, names_of(schemas), cache)
        return discover(self, request)

    def drift(
        self,
        pipeline: str | None = None,
        *,
        filters: Names = (),
        adapter: str | None = None,
    ) -> "DriftReport":
        """How live sources differ from their copies. Nothing is changed."""
        from rocky.operations.sources.drift import DriftRequest, drift

        return drift(self, DriftRequest(pipeline, names_of(filters), adapter))

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
