"""The questions that need no tables: what a project says, means and would run."""

from pathlib import Path
from typing import TYPE_CHECKING

from rocky.api.arguments import (
    Names,
    Paths,
    name_arguments,
    names_of,
    path_of,
    paths_of,
)
from rocky.api.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocky.language.dialects.table import Dialect
    from rocky.operations.changes.diff import DiffReport, FailOn, ReachReport
    from rocky.operations.check.check_python import CheckPythonReport
    from rocky.operations.check.ci import CiReport
    from rocky.operations.check.compile import CompileReport
    from rocky.operations.check.emit_sql import EmitSqlReport
    from rocky.operations.check.fmt import FmtReport
    from rocky.operations.check.validate import ValidateReport
    from rocky.operations.execution.hooks import HooksReport, HookTestReport
    from rocky.operations.execution.watch import WatchReport
    from rocky.operations.governance.compliance import ComplianceReport
    from rocky.operations.governance.compliance import FailOn as FailOnException
    from rocky.operations.graph.dag import DagReport
    from rocky.operations.graph.lineage_report import ColumnLineage, ModelLineage, ProjectLineage
    from rocky.operations.graph.list import Kind
    from rocky.operations.graph.list_report import Listed
    from rocky.operations.graph.supposition import SuppositionReport
    from rocky.operations.graph.tag_lineage import TagLineage
    from rocky.operations.interfaces.imports import UpdateImportsReport
    from rocky.operations.interfaces.publish import PublishReport
    from rocky.operations.migration.validate_migration import ValidateMigrationReport
    from rocky.operations.page.catalog import CatalogReport
    from rocky.operations.page.docs import DocsReport

# ruff: noqa: PLC0415 - an operation is loaded when it is asked for: `import rocky` stays cheap


@name_arguments
class Analysis(Records):
    """What can be asked before anything runs."""

    __slots__ = ()

    def validate(self) -> "ValidateReport":
        """Check the project's files, without looking into SQL."""
        from rocky.operations.check.validate import validate

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
        from rocky.operations.migration.validate_migration import (
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
        from rocky.operations.check.compile import CompileRequest, compile_models

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
        from rocky.operations.execution.watch import WatchRequest, watch

        return watch(self, WatchRequest(select, run, test))

    def ci(
        self, *, consumers: Paths = (), jobs: int | None = None, cache: bool = True
    ) -> "CiReport":
        """Compile for a build: its `exit_code` tells warnings from errors."""
        from rocky.operations.check.ci import CiRequest, ci

        return ci(self, CiRequest(paths_of(consumers), jobs, cache))

    def compliance(
        self,
        *,
        exceptions_only: bool = False,
        fail_on: "FailOnException | None" = None,
        declassified: bool = False,
        probe: bool = False,
    ) -> "ComplianceReport":
        """How each classified column is masked, in each environment or in that of `mask_env`.

        With `declassified` what was declassified, and since when that is on record. With `probe`
        tables are read, and what a reader sees of each column is told without a value.
        """
        from rocky.operations.governance.compliance import ComplianceRequest, compliance

        return compliance(self, ComplianceRequest(exceptions_only, fail_on, declassified, probe))

    def list(self, kind: "Kind | None" = None, *, select: Names = ()) -> "Listed":
        """The project's models, sources and seeds, as selected; or pipelines, functions, macros.

        `"deps"` is what one model or column directly needs, `"consumers"` who reads it.
        """
        from rocky.operations.graph.list import ListRequest, list_project

        return list_project(self, ListRequest(kind, names_of(select)))

    def catalog(self, *select: str) -> "CatalogReport":
        """Every table with its columns, types, descriptions, owner and tests, as selected."""
        from rocky.operations.page.catalog import CatalogRequest, catalog

        return catalog(self, CatalogRequest(names_of(select)))

    def dag(self) -> "DagReport":
        """Every table, which reads which, and the layers in which they can be built."""
        from rocky.operations.graph.dag import DagRequest, dag

        return dag(self, DagRequest())

    def lineage(
        self,
        target: str | None = None,
        column: str | None = None,
        *,
        upstream: bool = False,
        downstream: bool = False,
        classification: str | None = None,
    ) -> "ModelLineage | ColumnLineage | ProjectLineage | TagLineage":
        """Where a model's or a column's values come from, and what they reach; or all models.

        With a `classification` every column that has the tag, and how it got there.
        """
        from rocky.operations.graph.lineage import LineageRequest, lineage

        return lineage(self, LineageRequest(target, column, upstream, downstream, classification))

    def suppose(
        self,
        target: str,
        column: str | None = None,
        *,
        data_type: str | None = None,
        nullable: bool = False,
        dropped: bool = False,
    ) -> "SuppositionReport":
        """What would not compile if a column had another type, could be null, or were dropped.

        The project is compiled in memory with that one difference; nothing is written.
        """
        from rocky.operations.graph.supposition import SuppositionRequest, suppose

        return suppose(self, SuppositionRequest(target, column, data_type, nullable, dropped))

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
        from rocky.operations.changes.diff import DiffRequest, diff

        return diff(self, DiffRequest(base, exact, names_of(models), fail_on, reach))

    def check_python(
        self, *models: str, seconds: int = 30, schemas: str | Path | None = None
    ) -> "CheckPythonReport":
        """What the code of Python models gives; runs it in a process apart, to see its plan.

        `jobs/*.py::enrich` is a function of any file, over the tables of the TOML file `schemas`.
        """
        from rocky.operations.check.check_python import CheckPythonRequest, check_python

        return check_python(self, CheckPythonRequest(models, seconds, path_of(schemas)))

    def emit_sql(
        self,
        model: str | None = None,
        *,
        out: str | Path | None = None,
        dialect: "Dialect | None" = None,
    ) -> "EmitSqlReport":
        """The SQL that would run, or another engine's, with what of it is not exact."""
        from rocky.operations.check.emit_sql import EmitSqlRequest, emit_sql

        return emit_sql(self, EmitSqlRequest(model, path_of(out), dialect))

    def fmt(self, *paths: str | Path, check: bool = False, sql: bool = False) -> "FmtReport":
        """Lay out the texts of `.rocky` models; with `sql`, tidy those in SQL too."""
        from rocky.operations.check.fmt import FmtRequest, fmt

        return fmt(self, FmtRequest(paths_of(paths), check, sql))

    def docs(self, *, out: str | Path | None = None) -> "DocsReport":
        """Write a static site of the project, with what was run."""
        from rocky.operations.page.docs import DocsRequest, docs

        return docs(self, DocsRequest(path_of(out)))

    def publish(
        self, *selectors: str, out: str | Path | None = None, check: bool = False
    ) -> "PublishReport":
        """Write the interface of the project's tables for others to build on."""
        from rocky.operations.interfaces.publish import PublishRequest, publish

        return publish(self, PublishRequest(selectors, path_of(out), check))

    def update_imports(
        self,
        *names: str,
        check: bool = False,
        fetch_only: bool = False,
        write_pin: bool = False,
    ) -> "UpdateImportsReport":
        """Fetch and accept what other projects publish."""
        from rocky.operations.interfaces.imports import UpdateImportsRequest, update_imports

        return update_imports(self, UpdateImportsRequest(names, check, fetch_only, write_pin))

    def hooks(self, event: str | None = None) -> "HooksReport":
        """What is called when something happens in a run, or at one event."""
        from rocky.operations.execution.hooks import HooksRequest, list_hooks

        return list_hooks(self, HooksRequest(event))

    def test_hooks(self, event: str | None = None) -> "HookTestReport":
        """Tell the hooks, or those of one event, of an event that is marked as a test."""
        from rocky.operations.execution.hooks import HooksRequest, test_hooks

        return test_hooks(self, HooksRequest(event))
