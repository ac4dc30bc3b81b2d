"""Outcomes of checks, and which checks were asked for: values only, shown without any Spark."""

from dataclasses import dataclass

from rocky.plan.steps import RunPlan
from rocky.project import ModelFile
from rocky.run.checks.comparison import Difference
from rocky.run.checks.texts import Row


@dataclass(frozen=True, slots=True)
class AssertionOutcome:
    """What came of one assertion.

    `failing_rows` is None for an assertion about the whole table, which has what was `observed`
    instead. `error` says why it could not be answered.
    """

    model: str
    name: str
    type: str
    severity: str
    passed: bool
    column: str | None = None
    failing_rows: int | None = None
    observed: str | None = None
    error: str | None = None
    sample_columns: tuple[str, ...] = ()
    sample: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitOutcome:
    """What came of one unit test. `error` says why it could not be run to its end."""

    model: str
    name: str
    passed: bool
    error: str | None = None
    columns: tuple[str, ...] = ()
    expected_rows: int = 0
    found_rows: int = 0
    differences: tuple[Difference, ...] = ()
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class ChecksReport:
    """What came of every test. Only failures of severity `error` fail the report."""

    units: tuple[UnitOutcome, ...] = ()
    assertions: tuple[AssertionOutcome, ...] = ()

    @property
    def failed(self) -> int:
        units = sum(not each.passed for each in self.units)
        return units + sum(not each.passed and each.severity == "error" for each in self.assertions)

    @property
    def warnings(self) -> int:
        return sum(not each.passed and each.severity != "error" for each in self.assertions)

    @property
    def passed(self) -> int:
        units = sum(each.passed for each in self.units)
        return units + sum(each.passed for each in self.assertions)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which kinds of tests to run, and on which adapter."""

    unit: bool = True
    data: bool = True
    adapter: str | None = None


def models_with_tests(plan: RunPlan, wanted: Wanted) -> list[ModelFile]:
    """The selected models that have tests of a wanted kind, in the order they would run."""
    models = [plan.project.models[step.key] for step in plan.selected]
    return [
        model
        for model in models
        if (wanted.unit and model.settings.test) or (wanted.data and model.tests)
    ]
