"""Tests: unit tests of models and assertions on their tables, on Spark.

Nothing is built. A table that was never built fails its assertions: it has not been shown to hold
what it should.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rocky.diagnostics import Diagnostic
from rocky.diagnostics.diagnostic import NO_TEXTS, Texts
from rocky.operations.digest import Digest, Digested
from rocky.operations.findings import Finding, describe_findings, refuse_errors
from rocky.operations.report import hidden, same_fields
from rocky.operations.workspace import Workspace, compile_workspace, known_branch
from rocky.pipelines.report import Sample
from rocky.plan.adapters import choose_adapter
from rocky.plan.arguments import Request
from rocky.plan.refusals import refusing_findings
from rocky.plan.selectors import select_models
from rocky.plan.steps import RunPlan, plan_steps
from rocky.project.setting_places import placed_settings
from rocky.run.checks.outcomes import (
    AssertionOutcome,
    CheckSelection,
    ChecksReport,
    CheckSubjects,
    Row,
    Subject,
    UnitOutcome,
    models_with_tests,
    sources_with_tests,
)
from rocky.run.prepare.caller import find_person
from rocky.run.prepare.pins import open_project_warehouse
from rocky.run.prepare.resources import now


@dataclass(frozen=True, slots=True)
class TestRequest(Request):
    """Whose tests: of the selected models, or of all; with neither kind set, both are run.

    `unit` tests give a model rows and compare what its query makes of them; `data` tests look at
    the tables that are built.
    """

    select: tuple[str, ...] = ()
    unit: bool = False
    data: bool = False
    adapter: str | None = None

    @property
    def kinds(self) -> CheckSelection:
        """The kinds of tests that are meant."""
        either = self.unit or self.data
        return CheckSelection(self.unit or not either, self.data or not either, self.adapter)


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row that was expected, one that was found, or both; `columns` are those that differ."""

    expected: Row | None
    found: Row | None
    columns: tuple[str, ...]
    cells: tuple[int, ...] = hidden()


@dataclass(frozen=True, slots=True)
class UnitTest:
    """What came of one unit test. `error` says why it could not be run to its end.

    `diagnostics` say at which place of the project, if it was there.
    """

    model: str
    name: str
    passed: bool
    error: str | None
    ordered: bool
    columns: tuple[str, ...]
    expected_rows: int
    found_rows: int
    differences: tuple[RowDifference, ...]
    diagnostics: Sequence[Finding]
    finding: Diagnostic | None = hidden()
    description: str | None = None


@dataclass(frozen=True, slots=True)
class DataTest:
    """What came of one assertion on a table, with some rows that fail it.

    `model` is the name of a source where the `subject` is one. `diagnostics` say at which place of
    the project it could not be answered.
    """

    model: str
    name: str
    type: str
    column: str | None
    severity: str
    passed: bool
    failing_rows: int | None
    observed: str | None
    error: str | None
    sample: Sample
    diagnostics: Sequence[Finding]
    finding: Diagnostic | None = hidden()
    description: str | None = None
    expected: str | None = None
    subject: Subject = "model"


@dataclass(frozen=True, slots=True)
class TestCounts:
    """How many tests ended how. Warnings fail nothing."""

    passed: int
    failed: int
    warnings: int


@dataclass(frozen=True, slots=True, repr=False)
class TestReport(Digested):
    """What came of every test: it `passed` unless one of severity `error` failed.

    `selected` is how many models were asked for, whether they have tests or not. `texts` are those
    that findings point into.
    """

    passed: bool
    unit_tests: tuple[UnitTest, ...]
    data_tests: tuple[DataTest, ...]
    summary: TestCounts
    selected: int = hidden()
    texts: Texts = hidden()

    def digest(self) -> Digest:
        said = "passed" if self.passed else "FAILED"
        found = self.summary
        title = f"{said}: {found.passed} passed, {found.failed} failed, {found.warnings} warnings"
        every: list[UnitTest | DataTest] = [*self.unit_tests, *self.data_tests]
        # What failed first: of many only some are shown.
        every.sort(key=lambda each: each.passed)
        rows = [(each.model, each.name, *_came_to(each)) for each in every]
        findings = [finding for each in every for finding in each.diagnostics]
        return Digest(title, ("model", "test", "result", "why"), rows, len(rows), findings)


def _came_to(test: UnitTest | DataTest) -> tuple[str, str]:
    """The result of a test, and why."""
    if test.passed:
        return "passed", ""
    if test.error is not None:
        return "could not be run", test.error
    if isinstance(test, UnitTest):
        count = len(test.differences)
        return "failed", f"{count} rows differ" if count else "its rows differ"
    said = "failed" if test.severity == "error" else "warning"
    rows = test.failing_rows
    found = test.observed or ("" if rows is None else f"{rows:,} failing rows")
    return said, found if test.expected is None else f"{found}, expected {test.expected}"


def test(workspace: Workspace, request: TestRequest) -> TestReport:
    """Run tests; one that fails, or cannot be run, is in the report.

    Raises NothingSelected, ErrorsFound, and what opening Spark and the warehouse raises.
    """
    workspace = known_branch(workspace, sure=False)
    compilation = compile_workspace(workspace, asker="person")
    keys = select_models(compilation, request.select)
    plan = plan_steps(compilation, keys)
    # Types further up are guesses when something does not compile: nothing is tested then.
    refuse_errors(compilation, refusing_findings(plan), undone="nothing was tested")
    result, kinds = ChecksReport(), request.kinds
    sources = sources_with_tests(plan, kinds, every=not request.select)
    tested = CheckSubjects(
        models_with_tests(plan, kinds), now(), sources, find_person(workspace.environment)
    )
    if tested.models or tested.sources:
        result = _run_tests(workspace, plan, tested, kinds)
    return report_tests(result, len(keys), compilation.project.texts)


def _run_tests(
    workspace: Workspace, plan: RunPlan, tested: CheckSubjects, wanted: CheckSelection
) -> ChecksReport:
    """The outcomes. Raises what opening Spark and the warehouse raises."""
    # These know pyspark, which models without tests must not load.
    from rocky.run.checks.unit_tests import run_checks  # noqa: PLC0415
    from rocky.run.prepare.session import open_announced_engine  # noqa: PLC0415

    project = plan.project
    adapter = choose_adapter(project, plan, wanted.adapter)
    warehouse = open_project_warehouse(adapter, project.root, workspace.environment)
    with (
        placed_settings(project, adapter),
        open_announced_engine(project, adapter, workspace.listener, workspace.spark) as engine,
    ):
        return run_checks(plan, tested, wanted, engine, warehouse)


def report_tests(result: ChecksReport, selected: int, texts: Texts = NO_TEXTS) -> TestReport:
    """The report of tests that were run, of files with these texts."""
    return TestReport(
        result.failed == 0,
        tuple(_unit_test(each, texts) for each in result.units),
        tuple(_data_test(each, texts) for each in result.assertions),
        TestCounts(result.passed, result.failed, result.warnings),
        selected,
        texts,
    )


def _found(finding: Diagnostic | None, texts: Texts) -> Sequence[Finding]:
    return describe_findings(() if finding is None else (finding,), texts)


def _unit_test(outcome: UnitOutcome, texts: Texts) -> UnitTest:
    differences = tuple(
        RowDifference(
            each.expected,
            each.found,
            tuple(outcome.columns[index] for index in each.cells),
            each.cells,
        )
        for each in outcome.differences
    )
    besides = frozenset({"differences", "diagnostics"})
    found = _found(outcome.finding, texts)
    same = same_fields(UnitTest, outcome, besides)
    return UnitTest(differences=differences, diagnostics=found, **same)


def _data_test(outcome: AssertionOutcome, texts: Texts) -> DataTest:
    sample = Sample(outcome.sample_columns, outcome.sample)
    found = _found(outcome.finding, texts)
    same = same_fields(DataTest, outcome, frozenset({"sample", "diagnostics"}))
    return DataTest(sample=sample, diagnostics=found, **same)
