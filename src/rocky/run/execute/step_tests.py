"""Tests as a run builds: a model's sources and unit tests before it is built, assertions after.

A failure of severity `error` keeps back what reads the model, or the source. A test that was cut
off has no outcome.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Event, Lock

from rocky.ledger.pipeline_records import CheckOutcome
from rocky.plan.steps import RunPlan, Step
from rocky.run.checks.outcomes import (
    AssertionOutcome,
    CheckSelection,
    ChecksReport,
    CheckSubjects,
    has_data_tests,
)
from rocky.run.checks.unit_tests import run_checks
from rocky.run.engine.protocol import Engine
from rocky.run.outcomes import Conclusion
from rocky.store.warehouse import Warehouse


class RunTests:
    """The tests of a run's models, step by step. Threads may share it."""

    def __init__(
        self,
        plan: RunPlan,
        engine: Engine,
        warehouse: Warehouse,
        stop: Event,
        now: Callable[[], datetime],
    ) -> None:
        self._plan = plan
        self._engine = engine
        self._warehouse = warehouse
        self._stop = stop
        self._now = now
        self._sources: dict[str, tuple[AssertionOutcome, ...]] = {}
        self._source_lock = Lock()
        self._found: list[ChecksReport] = []
        self._lock = Lock()
        self._interrupted = False

    def stale_sources(self, step: Step) -> tuple[AssertionOutcome, ...]:
        """The sources of a step that are not fresh, by a limit that is an error.

        Each is looked at once a run, before the first step that reads it.
        """
        sources = self._plan.project.sources
        named = [each.key for each in step.reads if each.kind == "source"]
        wanted = [sources[key] for key in named if sources[key].freshness is not None]
        if not wanted:
            return ()
        with self._source_lock:
            for source in wanted:
                if source.key not in self._sources:
                    found = self._test(CheckSubjects((), self._now(), (source,)), unit=False)
                    self._sources[source.key] = found.assertions
        found_all = (each for source in wanted for each in self._sources[source.key])
        return tuple(each for each in found_all if not each.passed and each.severity == "error")

    def fail_units(self, step: Step) -> str | None:
        """Run the unit tests of a step's model: which failed, in words; None where none did."""
        failed = [each for each in self._run(step, unit=True).units if not each.passed]
        if not failed:
            return None
        named = ", ".join(f"`{each.name}`" for each in failed)
        return f"unit test{'s' if len(failed) > 1 else ''} {named} failed: nothing was built"

    def passes_data(self, step: Step) -> bool:
        """Run the assertions on a step's table: whether what reads it may go on."""
        return not self._run(step, unit=False).failed

    def conclude(self) -> Conclusion:
        """What the tests mean for the run when all its steps have ended."""
        report = self._report
        return Conclusion(
            _recorded(report, self._plan),
            failed=report.failed > 0,
            tests=report,
            interrupted=self._interrupted,
        )

    @property
    def _report(self) -> ChecksReport:
        """All outcomes, in the order of the plan."""
        places = {step.name: place for place, step in enumerate(self._plan.steps)}
        units = [each for found in self._found for each in found.units]
        assertions = [each for found in self._found for each in found.assertions]
        return ChecksReport(
            tuple(sorted(units, key=lambda each: places[each.model])),
            # Sources come before all models.
            tuple(sorted(assertions, key=lambda each: _place(each, places))),
        )

    def _run(self, step: Step, *, unit: bool) -> ChecksReport:
        model = None if step.kind == "seed" else self._plan.project.models[step.key]
        if model is None or not (model.settings.test if unit else has_data_tests(model)):
            return ChecksReport()
        return self._test(CheckSubjects((model,), self._now()), unit=unit)

    def _test(self, tested: CheckSubjects, *, unit: bool) -> ChecksReport:
        wanted = CheckSelection(unit=unit, data=not unit)
        found = run_checks(self._plan, tested, wanted, self._engine, self._warehouse)
        if self._stop.is_set():
            # What was cut off looks like a failure of the data, and is none.
            self._interrupted = True
            return ChecksReport()
        with self._lock:
            self._found.append(found)
        return found


def _place(outcome: AssertionOutcome, places: Mapping[str, int]) -> int:
    return -1 if outcome.subject == "source" else places[outcome.model]


def _recorded(report: ChecksReport, plan: RunPlan) -> tuple[CheckOutcome, ...]:
    """Outcomes of tests as the ledger keeps them."""
    targets = {
        plan.project.models[step.key].name: plan.project.models[step.key].target.full_name
        for step in plan.steps
        if step.kind != "seed"
    }
    units = [
        CheckOutcome(
            targets[each.model],
            each.name,
            "unit_test",
            each.passed,
            observed=f"{each.found_rows} rows",
            expected=f"{each.expected_rows} rows",
            error=each.error,
        )
        for each in report.units
    ]
    data = [
        CheckOutcome(
            each.model if each.subject == "source" else targets[each.model],
            each.name,
            each.type,
            each.passed,
            each.severity,
            each.observed,
            each.expected,
            failing_rows=each.failing_rows,
            error=each.error,
        )
        for each in report.assertions
    ]
    return (*units, *data)
