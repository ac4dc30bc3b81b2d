"""Row counts against their history: pure numbers, so that every history can be tried."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.ledger.pipeline_state import KEPT_COUNTS
from rocky.pipelines.checks.counts import BASELINE_RUNS, find_anomaly
from rocky.project.configuration.pipelines import MOST_FLAT_RUNS, Checks
from tests.pipelines.checks.bench import history

counts = st.integers(0, 10_000)
histories = st.lists(counts, max_size=KEPT_COUNTS)


def kind_of(earlier, count, **settings):
    found = find_anomaly("t", history(*earlier), count, Checks(**settings))
    return found.kind if found is not None else None


@pytest.mark.parametrize(
    ("earlier", "count", "kind"),
    [
        ([], 0, None),
        ([], 5, None),
        ([100], 151, "spike"),
        ([100], 150, None),
        ([100], 50, None),
        ([100], 49, "drop"),
        ([100, 200], 76, None),
        ([100, 200], 74, "drop"),
        ([0, 0], 1, "spike"),
        ([0, 0], 0, None),
        ([1] * 5 + [100] * BASELINE_RUNS, 100, "flat"),
        ([10_000] + [100] * BASELINE_RUNS, 100, None),
    ],
)
def test_a_count_is_compared_with_the_average_of_the_runs_before(earlier, count, kind):
    assert kind == kind_of(earlier, count)


@pytest.mark.parametrize(
    ("earlier", "count", "kind"),
    [
        ([100, 110, 110, 110], 110, "flat"),
        ([100, 110, 110], 110, None),
        ([100, 110, 110, 110], 111, None),
        ([110, 110, 110, 110], 110, None),
        ([120, 110, 110, 110], 110, None),
    ],
)
def test_a_table_that_grew_and_stopped_is_flat(earlier, count, kind):
    assert kind == kind_of(earlier, count)


def test_what_is_said_of_an_anomaly():
    found = find_anomaly("t", history(100, 120), 11, Checks(anomaly_severity="error"))

    assert ("drop", 11, 110.0, 90.0, "error") == (
        found.kind,
        found.current_count,
        found.baseline_avg,
        found.deviation_pct,
        found.severity,
    )
    assert "11 rows, 90 % below the average of 110 over the last 2 runs" == found.reason


@given(histories, counts)
def test_a_threshold_of_zero_and_no_flat_runs_find_nothing(earlier, count):
    assert None is kind_of(earlier, count, anomaly_threshold_pct=0.0, flat_line_runs=0)


@given(counts)
def test_a_first_run_is_no_anomaly(count):
    assert None is kind_of([], count)


@given(st.lists(counts, min_size=1, max_size=KEPT_COUNTS), counts, st.floats(1, 500))
def test_only_the_newest_runs_before_this_one_decide_a_deviation(earlier, count, threshold):
    settings = {"anomaly_threshold_pct": threshold, "flat_line_runs": 0}
    newest = earlier[-BASELINE_RUNS:]
    average = sum(newest) / len(newest)
    far = (
        abs(count - average) * 100 > threshold * average
        if average
        else count > 0 and threshold < 100
    )

    expected = ("drop" if count < average else "spike") if far else None
    found = kind_of(earlier, count, **settings)
    assert found == kind_of(newest, count, **settings)
    # At the threshold itself two ways of rounding may differ.
    near = average and abs(abs(count - average) / average * 100 - threshold) < 1e-9
    assert near or expected == found


@given(st.lists(counts, min_size=1, max_size=KEPT_COUNTS), st.integers(1, MOST_FLAT_RUNS))
def test_growth_that_goes_on_is_never_flat(steps, runs):
    grown = [sum(steps[: index + 1]) + index for index in range(len(steps))]

    assert None is kind_of(grown[:-1], grown[-1], anomaly_threshold_pct=0.0, flat_line_runs=runs)


@given(st.integers(1, MOST_FLAT_RUNS), counts)
def test_every_number_of_flat_runs_that_can_be_set_can_be_seen(runs, count):
    earlier = [count, count + 1, *[count + 1] * (runs - 1)]

    assert len(earlier) <= KEPT_COUNTS
    settings = {"anomaly_threshold_pct": 0.0, "flat_line_runs": runs}
    assert "flat" == kind_of(earlier, count + 1, **settings)
    assert None is kind_of(earlier[:-1], count + 1, **settings)
