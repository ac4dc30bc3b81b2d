from rocky.ledger.run_records import CostRate
from rocky.plan.budget import cost_of, rate_of, total, total_count
from rocky.project.configuration.blocks import Cost
from rocky.spark.interface import Metrics

HOUR = 3_600_000


def test_cost_is_core_hours_and_terabytes_at_their_rates():
    used = Metrics(executor_run_ms=2 * HOUR, bytes_read=5 * 10**11)

    assert 2 * 0.5 + 0.5 * 6.0 == cost_of(used, CostRate(0.5, 6.0))


def test_only_what_has_a_price_is_charged():
    used = Metrics(executor_run_ms=HOUR, bytes_read=10**12)

    assert 0.5 == cost_of(used, CostRate(0.5, None))
    assert 6.0 == cost_of(used, CostRate(None, 6.0))


def test_without_a_price_there_is_no_cost_rather_than_none_at_all():
    assert None is rate_of(Cost())
    assert None is cost_of(Metrics(executor_run_ms=HOUR), rate_of(Cost()))


def test_a_price_for_what_was_not_measured_gives_no_cost():
    assert None is cost_of(Metrics(bytes_read=10**12), CostRate(0.5, 6.0))
    assert None is cost_of(Metrics(executor_run_ms=HOUR), CostRate(0.5, 6.0))


def test_rates_are_those_of_the_project():
    rate = rate_of(Cost(compute_cost_per_core_hour=0.05, scan_cost_per_tb=5.0))

    assert CostRate(0.05, 5.0) == rate


def test_a_total_is_of_what_is_known():
    assert 3.5 == total([1.0, None, 2.5])
    assert None is total([None, None])
    assert 3 == total_count([1, None, 2])
    assert None is total_count([])
