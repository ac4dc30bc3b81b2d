"""Tests of a project's models, run on Spark: unit tests, and the assertions on their tables.

A unit test runs a model's query over the rows the test gives and compares the rows it expects.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import Final
from uuid import uuid4
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rocky.analysis.compilation import Compilation
from rocky.analysis.disclosure import Disclosure
from rocky.analysis.names import Names
from rocky.language.datatypes.types import UNKNOWN, StructField
from rocky.language.names import quote_name, split_name
from rocky.language.syntax.references import bind_query, fill_placeholders
from rocky.plan.steps import Read, RunPlan, reads_of, resolve_name
from rocky.project.configuration.labels import shown_text
from rocky.project.configuration.model import UnitTest
from rocky.project.models import ModelFile
from rocky.project.python_models import inputs_of
from rocky.run.checks.assertions import check_model
from rocky.run.checks.fixtures import (
    UnusableFixture,
    bind_fixture,
    convert_rows,
    nullable_columns,
)
from rocky.run.checks.freshness import check_declared
from rocky.run.checks.outcomes import (
    AssertionOutcome,
    CheckSelection,
    ChecksReport,
    CheckSubjects,
    UnitOutcome,
    compare_rows,
    text_rows,
)
from rocky.run.checks.relations import EVER, BoundRelations, columns_of, name_of
from rocky.run.engine.classified import ClassifiedColumns
from rocky.run.engine.diagnosis import Diagnostician
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure
from rocky.run.engine.origins import QueryOrigin
from rocky.run.engine.protocol import Engine, Frame
from rocky.store.warehouse import Warehouse

_SPARE_ROWS: Final = 1000
"""How many rows more than expected are fetched: enough to show what is wrong."""
_ZONE: Final = "spark.sql.session.timeZone"


class UnitTests:
    """The unit tests of a compiled project; `prefix` begins the names of all views."""

    def __init__(self, compilation: Compilation, engine: Engine, prefix: str) -> None:
        self._compilation = compilation
        self._engine = engine
        self._prefix = prefix
        self._names = Names(compilation.project)
        self._zone = zone_named(engine.facts.settings.get(_ZONE, "UTC"))
        self._diagnostician = Diagnostician(compilation)

    def run(self, model: ModelFile) -> list[UnitOutcome]:
        """Every unit test of a model."""
        return [self._run(model, test) for test in model.settings.test]

    def _run(self, model: ModelFile, test: UnitTest) -> UnitOutcome:
        outcome = UnitOutcome(
            model.name,
            test.name,
            passed=False,
            ordered=test.expect.ordered,
            description=shown_text(test.description),
        )
        views: list[str] = []
        bound: dict[Read, str] = {}
        try:
            return self._compare(model, test, outcome, views, bound)
        except UnusableFixture as failure:
            return replace(outcome, error=str(failure))
        except STEP_ERRORS as error:
            failed = classify_step_failure(error, self._engine.explain)
            told = self._diagnostician.in_model(
                model, error, failed, lambda: filter(None, [self._origin(model, bound)])
            )
            return replace(outcome, error=told.message, finding=told.finding)
        finally:
            self._engine.views.unbind(views)

    def _compare(
        self,
        model: ModelFile,
        test: UnitTest,
        outcome: UnitOutcome,
        views: list[str],
        bound: dict[Read, str],
    ) -> UnitOutcome:
        bound |= self._bind_inputs(model, test, views)
        frame = self._frame(model, bound)
        found_view, expected_view = f"{self._prefix}_found", f"{self._prefix}_expected"
        given = self._engine.columns(frame)
        compared = _compared(test, given)
        with _about("the rows it expects"):
            rows = convert_rows(test.expect.rows, compared, self._zone)
        views += (found_view, expected_view)
        self._engine.views.bind_frame(found_view, frame)
        self._engine.views.bind_rows(expected_view, nullable_columns(compared), rows)
        limit = len(rows) + _SPARE_ROWS
        expected = text_rows(self._engine, quote_name(expected_view), compared, limit)
        names = ", ".join(quote_name(field.name) for field in compared)
        chosen = f"(SELECT {names} FROM {quote_name(found_view)})"  # noqa: S608 - names are quoted
        found = text_rows(self._engine, chosen, compared, limit)
        differences = compare_rows(expected, found, compared, ordered=test.expect.ordered)
        return replace(
            outcome,
            passed=not differences,
            columns=tuple(field.name for field in compared),
            expected_rows=len(expected),
            found_rows=len(found),
            differences=differences,
        )

    def _bind_inputs(self, model: ModelFile, test: UnitTest, views: list[str]) -> dict[Read, str]:
        """A view over the fixture of every table the model reads."""
        given = self._given(model, test)
        bound: dict[Read, str] = {}
        for index, read in enumerate(reads_of(self._compilation, model)):
            name = name_of(self._compilation.project, read)
            columns = columns_of(self._compilation, read)
            unknown = [field.name for field in columns if field.type is UNKNOWN]
            if unknown:
                raise UnusableFixture(f"the type of `{name}.{unknown[0]}` is not known")
            with _about(f"the rows of `{name}`"):
                rows = convert_rows(given.get(read, ()), columns, self._zone)
            bound[read] = self._bind_fixture(f"{self._prefix}_input_{index}", columns, rows, views)
        return bound

    def _bind_fixture(
        self,
        view: str,
        columns: Sequence[StructField],
        rows: Sequence[Mapping[str, object]],
        views: list[str],
    ) -> str:
        """A view over rows with all columns of their table, in its order."""
        views.append(view)
        absent = bind_fixture(self._engine.views, view, columns, rows)
        if not absent:
            return view
        cells = ", ".join(
            f"CAST(NULL AS {field.type}) AS {quote_name(field.name)}"
            if field in absent
            else quote_name(field.name)
            for field in columns
        )
        frame = self._engine.frame(f"SELECT {cells} FROM {quote_name(view)}")  # noqa: S608 - names are quoted
        whole = f"{view}_whole"
        views.append(whole)
        self._engine.views.bind_frame(whole, frame)
        return whole

    def _given(
        self, model: ModelFile, test: UnitTest
    ) -> dict[Read, Sequence[Mapping[str, object]]]:
        """The rows a test gives, by what they are rows of. Raises UnusableFixture."""
        reads = set(reads_of(self._compilation, model))
        found: dict[Read, Sequence[Mapping[str, object]]] = {}
        for each in test.given:
            read = self._resolve(split_name(each.ref.lower()), model)
            if read is None or read not in reads:
                project = self._compilation.project
                listed = ", ".join(f"`{name_of(project, one)}`" for one in sorted(reads))
                raise UnusableFixture(
                    f"it gives rows of `{each.ref}`, which the model does not read;"
                    f" it reads {listed or 'nothing'}"
                )
            if read in found:
                raise UnusableFixture(f"it gives rows of `{each.ref}` twice")
            found[read] = each.rows
        return found

    def _frame(self, model: ModelFile, bound: Mapping[Read, str]) -> Frame:
        origin = self._origin(model, bound)
        if origin is not None:
            return self._engine.frame(origin.bound.text)
        inputs = {
            each.parameter: self._view(each.parts, model, bound) or "" for each in inputs_of(model)
        }
        return self._engine.python_frame(model, inputs)

    def _origin(self, model: ModelFile, bound: Mapping[Read, str]) -> QueryOrigin | None:
        """The query of a model over the views of its fixtures; a Python model has none."""
        if model.is_python:
            return None
        sql = fill_placeholders(model.sql, *EVER)
        query = bind_query(sql, lambda parts: self._view(parts, model, bound))
        return QueryOrigin(model, sql, query)

    def _view(
        self, parts: tuple[str, ...], model: ModelFile, bound: Mapping[Read, str]
    ) -> str | None:
        read = self._resolve(parts, model)
        return bound.get(read) if read is not None else None

    def _resolve(self, parts: tuple[str, ...], model: ModelFile) -> Read | None:
        return resolve_name(self._compilation.project, self._names, parts, model.key)


@contextmanager
def _about(what: str) -> Iterator[None]:
    """Says of which rows an unusable fixture is."""
    try:
        yield
    except UnusableFixture as failure:
        raise UnusableFixture(f"{what}: {failure}") from failure


def _compared(test: UnitTest, given: Sequence[StructField]) -> tuple[StructField, ...]:
    """The columns that are compared: those the expected rows name, or all when they name none."""
    named = {name.lower() for row in test.expect.rows for name in row}
    if not named:
        return tuple(given)
    with _about("the rows it expects"):
        # An unknown name is refused here, with the columns there are.
        convert_rows([dict.fromkeys(row) for row in test.expect.rows], given, UTC)
    return tuple(field for field in given if field.name.lower() in named)


def zone_named(name: str) -> tzinfo:
    """The zone in which a time without one is meant; UTC for a name nobody knows."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def run_checks(
    plan: RunPlan,
    tested: CheckSubjects,
    wanted: CheckSelection,
    engine: Engine,
    warehouse: Warehouse,
) -> ChecksReport:
    """The tests of some models and sources on an engine that is open; the sources come first."""
    compilation = plan.compilation
    # Of its own: several models are tested at once, in one session.
    prefix = f"rocky_test_{uuid4().hex[:12]}"
    units: list[UnitOutcome] = []
    if wanted.unit:
        tests = UnitTests(compilation, engine, prefix)
        units = [outcome for model in tested.models for outcome in tests.run(model)]
    assertions: list[AssertionOutcome] = []
    if wanted.data:
        diagnostician = Diagnostician(compilation)
        classified = ClassifiedColumns(compilation, Disclosure(compilation, tested.person))
        with BoundRelations(compilation, warehouse, engine, prefix) as relations:
            for source in tested.sources:
                if source.freshness is not None:
                    read = Read("source", source.key)
                    assertions.append(
                        check_declared(
                            read, source.freshness, relations, engine, tested.now, diagnostician
                        )
                    )
            for model in tested.models:
                assertions += check_model(model, relations, engine, diagnostician, classified)
                fresh = model.settings.freshness
                if fresh is not None:
                    read = Read("model", model.key)
                    assertions.append(
                        check_declared(read, fresh, relations, engine, tested.now, diagnostician)
                    )
    return ChecksReport(tuple(units), tuple(assertions))
