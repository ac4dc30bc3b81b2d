"""What a run may take: as many at a time as are asked for, each after those it reads."""

from pathlib import Path

import pytest

from rocky.ledger.run_records import ModelExecution, ModelStatus
from rocky.plan.budget import check_estimates
from rocky.plan.estimates import Estimate, EstimatedTotals, Estimates, Total, Unit, estimate_units
from rocky.project.configuration.model import Budget
from tests.run.runs import Shop

UNITS = (Unit("a", "a"), Unit("b", "b"), Unit("c", "c", ("a", "b")))


def built(root: Path) -> Shop:
    shop = Shop(root)
    shop.run()
    return shop


@pytest.mark.slow
@pytest.mark.parametrize(("parallel", "expected"), [(1, 300), (2, 200)])
def test_the_time_is_that_of_so_many_at_once(monkeypatch, tmp_path, parallel, expected):
    monkeypatch.setattr(
        "rocky.plan.estimates._estimate", lambda *_: Estimate(duration_ms=100, from_runs=1)
    )
    built(tmp_path)

    found = estimate_units(tmp_path / ".rocky-state.db", UNITS, 5, parallel)

    assert Total(expected) == found.duration_ms


def test_without_a_ledger_nothing_is_estimated(tmp_path):
    found = estimate_units(tmp_path / "none.db", UNITS, 5, 4)

    assert (Total(None, ("a", "b", "c")), {}) == (found.duration_ms, found.models)
    assert EstimatedTotals(without=("a", "b", "c")) == found.totals


def test_what_is_not_to_be_built_takes_nothing(tmp_path):
    found = estimate_units(tmp_path / "none.db", (), 5, 4)

    assert (Total(0), Total(0), Total(0)) == (
        found.cost_usd, found.duration_ms, found.bytes_scanned,
    )  # fmt: skip


@pytest.mark.slow
def test_only_builds_that_succeeded_count(tmp_path):
    shop = built(tmp_path)
    shop.run()

    def fail(_name: str) -> None:
        raise OSError("no space left on device")

    shop.write("models/alone.sql", "SELECT 2 AS one")
    shop.run("alone", before_write=fail)
    kinds = [each.status for run in shop.records() for each in run.models_executed]
    assert {ModelStatus.SUCCESS, ModelStatus.REUSED, ModelStatus.FAILED} == set(kinds)

    found = estimate_units(tmp_path / ".rocky-state.db", (Unit("alone", "alone"),), 5, 1)

    assert 1 == found.models["alone"].from_runs
    assert isinstance(shop.records()[-1].models_executed[0], ModelExecution)


def test_a_sum_that_is_too_much_without_some_is_too_much():
    estimates = Estimates({}, Total(3.0, ("b",)), Total(None, ("a",)), Total(None, ("a",)))

    found = check_estimates(Budget(max_usd=2.0, on_breach="error"), (), estimates)

    assert found.fails
    assert () == found.unchecked


def test_a_ceiling_that_the_estimate_just_reaches_is_kept():
    estimates = Estimates(
        {"a": Estimate(duration_ms=5, from_runs=1)}, Total(2.0), Total(5), Total(1)
    )
    units = (Unit("a", "a", (), Budget(max_duration_ms=5)),)

    found = check_estimates(Budget(max_usd=2.0, max_duration_ms=5), units, estimates)

    assert ((), ()) == (found.findings, found.unchecked)


def test_a_cost_that_nothing_was_priced_for_says_what_to_set():
    estimates = Estimates(
        {"a": Estimate(duration_ms=5, from_runs=2)}, Total(None, ("a",)), Total(5), Total(1)
    )
    units = (Unit("a", "a", (), Budget(max_usd=1)),)

    found = check_estimates(Budget(), units, estimates)

    assert (
        "`max_usd` of `a` was not estimated: set `compute_cost_per_core_hour` or"
        " `scan_cost_per_tb` in `[cost]`",
    ) == found.unchecked
