"""The Python way in: `rocky.open("shop")` and a method for each operation.

The methods take what the request of their operation holds, as keywords, and return its report. They
are the operations that the command line calls, so they pass the same gates. What an operation needs
is loaded when its method is called.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

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
from rocky.api.progress import shown_progress
from rocky.api.records import Records
from rocky.errors import InvalidRequest
from rocky.plan.arguments import refuse_unfit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocky.language.dialects.table import Dialect
    from rocky.operations.apply import ApplyReport
    from rocky.operations.branch.promotion import ForgottenReport, PromotionReport, RecoveryReport
    from rocky.operations.branch.show import BranchesReport, PromotionsReport
    from rocky.operations.ci import CiReport
    from rocky.operations.compile import CompileReport
    from rocky.operations.diff import DiffReport, FailOn, ReachReport
    from rocky.operations.discover import DiscoverReport
    from rocky.operations.docs import DocsReport
    from rocky.operations.drift import DriftReport
    from rocky.operations.emit_sql import EmitSqlReport
    from rocky.operations.fmt import FmtReport
    from rocky.operations.hooks import HooksReport, HookTestReport
    from rocky.operations.imports import UpdateImportsReport
    from rocky.operations.lineage_report import ColumnLineage, ModelLineage, ProjectLineage
    from rocky.operations.list import Kind
    from rocky.operations.list_report import Listed
    from rocky.operations.plan import PlanReport
    from rocky.operations.publish import PublishReport
    from rocky.operations.run import RunReport
    from rocky.operations.seed import SeedReport
    from rocky.operations.show import ShowReport
    from rocky.operations.test import TestReport
    from rocky.operations.validate import ValidateReport
    from rocky.operations.validate_migration import ValidateMigrationReport
    from rocky.operations.watch import WatchReport

# ruff: noqa: PLC0415 - an operation is loaded when it is asked for: `import rocky` stays cheap


@name_arguments
class Workspace(Records):
    """A project that is open, and all that can be asked of it."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        """What can be asked of it; what it was opened with is in its `repr`."""
        asked = (*vars(Workspace), *vars(Records))
        return sorted({name for name in asked if not name.startswith("_")})

    def branch(self, name: str) -> "Branch[Workspace]":
        """A branch of the tables by its name; it need not exist yet."""
        refuse_unfit("name", name, str)
        return Branch(self, name)

    # -------------------------------------------------------------- before anything runs

    def validate(self) -> "ValidateReport":
        """Check the project's files, without looking into SQL."""
        from rocky.operations.validate import validate

        return validate(self)

    def validate_migration(
        self,
        folder: str | Path,
        *select: str,
        manifest: str | Path | None = None,
        tables: str | Path | None = None,
        build: bool = False,
        sample: int = 3,
        adapter: str | None = None,
    ) -> "ValidateMigrationReport":
        """Compare the rows of models with the tables that dbt has built."""
        from rocky.operations.validate_migration import (
            ValidateMigrationRequest,
            validate_migration,
        )

        request = ValidateMigrationRequest(
            path_of(folder),
            select,
            None if manifest is None else path_of(manifest),
            None if tables is None else path_of(tables),
            build,
            sample,
            adapter,
        )
        return validate_migration(self, request)

    def compile(  # noqa: PLR0913 - one for each option
        self,
        *models: str,
        consumers: Paths = (),
        live: bool = False,
        verify: bool = False,
        record_baselines: bool = False,
        jobs: int | None = None,
        cache: bool = True,
        expand_macros: bool = False,
        target_dialect: "Dialect | None" = None,
    ) -> "CompileReport":
        """Check every model, column, type and contract. Mistakes are in the report, not raised."""
        from rocky.operations.compile import CompileRequest, compile_models

        request = CompileRequest(
            models,
            paths_of(consumers),
            live,
            verify,
            record_baselines,
            jobs,
            cache,
            expand_macros,
            target_dialect,
        )
        return compile_models(self, request)

    def watch(self, *select: str, run: bool = False, test: bool = False) -> "Iterator[WatchReport]":
        """A compile, and with `run` a run, now and each time a file of the project is saved.

        It goes on until the loop over it is left.
        """
        from rocky.operations.watch import WatchRequest, watch

        return watch(self, WatchRequest(select, run, test))

    def ci(
        self, *, consumers: Paths = (), jobs: int | None = None, cache: bool = True
    ) -> "CiReport":
        """Compile for a build: its `exit_code` tells warnings from errors."""
        from rocky.operations.ci import CiRequest, ci

        return ci(self, CiRequest(paths_of(consumers), jobs, cache))

    def list(self, kind: "Kind | None" = None, *, select: Names = ()) -> "Listed":
        """The project's models, sources and seeds, as selected; or its pipelines, or functions."""
        from rocky.operations.list import ListRequest, list_project

        return list_project(self, ListRequest(kind, names_of(select)))

    def lineage(
        self,
        target: str | None = None,
        column: str | None = None,
        *,
        upstream: bool = False,
        downstream: bool = False,
    ) -> "ModelLineage | ColumnLineage | ProjectLineage":
        """Where a model's or a column's values come from, and what they reach; or all models."""
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
        self,
        model: str | None = None,
        *,
        out: str | Path | None = None,
        dialect: "Dialect | None" = None,
    ) -> "EmitSqlReport":
        """The SQL that would run, or another engine's, with what of it is not exact."""
        from rocky.operations.emit_sql import EmitSqlRequest, emit_sql

        return emit_sql(self, EmitSqlRequest(model, path_of(out), dialect))

    def fmt(self, *paths: str | Path, check: bool = False, sql: bool = False) -> "FmtReport":
        """Lay out the texts of `.rocky` models; with `sql`, tidy those in SQL too."""
        from rocky.operations.fmt import FmtRequest, fmt

        return fmt(self, FmtRequest(paths_of(paths), check, sql))

    def docs(self, *, out: str | Path | None = None) -> "DocsReport":
        """Write a static site of the project, with what was run."""
        from rocky.operations.docs import DocsRequest, docs

        return docs(self, DocsRequest(path_of(out)))

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

    def hooks(self, event: str | None = None) -> "HooksReport":
        """What is called when something happens in a run, or at one event."""
        from rocky.operations.hooks import HooksRequest, list_hooks

        return list_hooks(self, HooksRequest(event))

    def test_hooks(self, event: str | None = None) -> "HookTestReport":
        """Tell the hooks, or those of one event, of an event that is marked as a test."""
        from rocky.operations.hooks import HooksRequest, test_hooks

        return test_hooks(self, HooksRequest(event))

    # -------------------------------------------------------------- tables

    def run(self, *select: str, **options: Unpack[RunOptions]) -> "RunReport":
        """Build models' tables, copy and check others, and record it.

        A model that fails is in the report, not raised. Options are the other fields of
        `rocky.RunRequest`: `exclude`, `pipeline`, `parallel`, `full_refresh`, `rebuild`, `reuse`,
        `adapter`, `window`, `filters`, `resume`, `idempotency_key`, `test`, `start_anew`,
        `force` and `keep_going`.
        """
        from rocky.operations.run import run

        request = run_request(select, options)
        with shown_progress(self, "run") as watched:
            return run(watched, request)

    def build(self, *select: str, **options: Unpack[RunOptions]) -> "RunReport":
        """`run` with `test=True`: what reads a model whose tests fail is not built."""
        from rocky.operations.run import run

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
        from rocky.operations.apply import ApplyRequest, apply

        request = ApplyRequest(plan)
        with shown_progress(self, "apply") as watched:
            return apply(watched, request)

    def seed(
        self, *names: str, full_refresh: bool = False, adapter: str | None = None
    ) -> "SeedReport":
        """Load seeds into their tables, those that are named or all."""
        from rocky.operations.seed import SeedRequest, seed

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
        from rocky.operations.test import TestRequest, test

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
        from rocky.operations.show import ShowRequest, show

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
        from rocky.operations.frame import TableRequest, table_frame

        return table_frame(self, TableRequest(name, version, run, adapter))

    def sql(self, query: str, *, adapter: str | None = None) -> Any:
        """A query over names of the project, checked first, as a DataFrame on your session."""
        from rocky.operations.frame import QueryRequest, query_frame

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
        from rocky.operations.discover import DiscoverRequest, discover

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
        from rocky.operations.drift import DriftRequest, drift

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
