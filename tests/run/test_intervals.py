from datetime import UTC, datetime

import pytest

from rocky.errors import RockyError
from rocky.language.datatypes.types import DATE, TIMESTAMP, TIMESTAMP_NTZ
from rocky.plan.intervals import (
    all_keys,
    batches,
    interval_of,
    key_of,
    keys_between,
    select_keys,
    span_of,
)
from rocky.plan.request import Window
from rocky.project.configuration.strategies import TimeInterval

NOW = datetime(2024, 3, 1, 0, 30, tzinfo=UTC)
DAILY = TimeInterval("at", "day", first_partition="2024-02-27")


@pytest.mark.parametrize(
    ("grain", "key", "start", "end"),
    [
        ("hour", "2024-02-29T23", "2024-02-29 23:00:00", "2024-03-01 00:00:00"),
        ("day", "2024-02-29", "2024-02-29", "2024-03-01"),
        ("day", "2023-12-31", "2023-12-31", "2024-01-01"),
        ("month", "2024-02", "2024-02-01", "2024-03-01"),
        ("month", "2024-12", "2024-12-01", "2025-01-01"),
        ("year", "2024", "2024-01-01", "2025-01-01"),
        ("year", "0999", "0999-01-01", "1000-01-01"),
    ],
)
def test_an_interval_is_that_of_the_calendar(grain, key, start, end):
    interval = interval_of(key, grain)

    assert (start, end) == interval.texts(grain)
    assert key == key_of(interval.start, grain)


@pytest.mark.parametrize(
    ("grain", "key"),
    [
        ("day", "2024-02-30"),
        ("day", "2024-2-3"),
        ("day", "2024-02"),
        ("day", "2024-02-03 "),
        ("hour", "2024-02-03T24"),
        ("hour", "2024-02-03 10"),
        ("month", "2024-13"),
        ("year", "24"),
        ("year", "٢٠٢٤"),
    ],
)
def test_a_text_that_is_no_key_is_refused(grain, key):
    with pytest.raises(RockyError, match="is not a partition of one"):
        interval_of(key, grain)


def test_a_key_is_of_utc_whatever_zone_a_time_is_given_in():
    assert "2024-03-01T00" == key_of(datetime.fromisoformat("2024-03-01T02:15+02:00"), "hour")


@pytest.mark.parametrize(
    ("window", "keys"),
    [
        (Window(), ["2024-03-01"]),
        (Window(latest=True), ["2024-03-01"]),
        (Window(latest=True, lookback=2), ["2024-02-28", "2024-02-29", "2024-03-01"]),
        (Window(latest=True, lookback=9), ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01"]),
        (Window(partition="2024-02-29"), ["2024-02-29"]),
        (Window(start="2024-02-28", end="2024-02-29"), ["2024-02-28", "2024-02-29"]),
        (Window(start="2024-02-29"), ["2024-02-29", "2024-03-01"]),
        (Window(end="2024-02-28"), ["2024-02-27", "2024-02-28"]),
        (
            Window(missing=True, recorded=frozenset({"2024-02-28", "2024-03-01"})),
            ["2024-02-27", "2024-02-29"],
        ),
        (
            Window(
                missing=True, recorded=frozenset(keys_between("2024-02-27", "2024-03-01", "day"))
            ),
            [],
        ),
    ],
)
def test_a_window_selects_its_keys_in_order(window, keys):
    assert keys == select_keys(DAILY, window, NOW)


def test_a_models_own_lookback_holds_where_the_window_says_nothing():
    strategy = TimeInterval("at", "month", lookback=1)

    assert ["2024-02", "2024-03"] == select_keys(strategy, Window(), NOW)


@pytest.mark.parametrize("window", [Window(missing=True), Window(end="2024-02-28")])
def test_a_window_without_a_beginning_needs_the_first_partition(window):
    with pytest.raises(RockyError, match="needs `first_partition`"):
        select_keys(TimeInterval("at", "day"), window, NOW)


def test_a_full_refresh_goes_from_the_first_partition_to_now():
    assert ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01"] == all_keys(DAILY, NOW)


def test_a_batch_holds_neighbours_only():
    keys = ["2024-01", "2024-02", "2024-03", "2024-05", "2024-06"]

    assert [["2024-01", "2024-02"], ["2024-03"], ["2024-05", "2024-06"]] == batches(
        keys, 2, "month"
    )


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        (DATE, "(t >= DATE '2024-01-31' AND t < DATE '2024-02-02')"),
        (
            TIMESTAMP,
            "(t >= TIMESTAMP '2024-01-31 00:00:00+00:00'"
            " AND t < TIMESTAMP '2024-02-02 00:00:00+00:00')",
        ),
        (
            TIMESTAMP_NTZ,
            "(t >= TIMESTAMP_NTZ '2024-01-31 00:00:00'"
            " AND t < TIMESTAMP_NTZ '2024-02-02 00:00:00')",
        ),
    ],
)
def test_a_column_is_compared_with_literals_of_its_own_type(kind, condition):
    assert condition == span_of(["2024-01-31", "2024-02-01"], "day").holds("t", kind)
