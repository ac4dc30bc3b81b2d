"""Strategies that replace parts of a table as a whole: delete_insert, time_interval."""

from datetime import UTC, date, datetime

import pytest

from rocky.errors import ModelFailed

pytestmark = pytest.mark.spark

DAILY = (
    'type = "time_interval"\ntime_column = "at"\ngranularity = "day"\n'
    'first_partition = "2024-05-14"'
)
WITHIN = "WHERE at >= @start_date AND at < @end_date"


def at(day: int, hour: int = 0, micros: int = 0) -> datetime:
    return datetime(2024, 5, day, hour, 0, 0, micros, tzinfo=UTC)


@pytest.fixture
def regions(bench):
    bench.edit(
        "region STRING, day DATE, amount INT",
        "SELECT region, day, amount FROM raw.t",
        'type = "delete_insert"\npartition_by = ["region", "day"]',
    )
    return bench


def test_partitions_in_the_result_are_replaced_and_others_stay(regions):
    day = date(2024, 5, 1)
    regions.build(("n/ö", day, 1), ("n/ö", day, 2), (None, day, 3), ("s", None, 4))
    before = {file.path for file in regions.snapshot.files}
    built = regions.build(("n/ö", day, 9), (None, day, 5), ("w", day, 6))
    after = {file.path for file in regions.snapshot.files}

    assert [("n/ö", day, 9), ("s", None, 4), ("w", day, 6), (None, day, 5)] == regions.rows()
    assert (1, 1) == (len(built.commits), len(before & after))
    assert regions.hash_recorded == regions.hash_again()


def test_a_partition_that_comes_out_as_it_was_is_not_touched(regions):
    rows = [("n", date(2024, 5, 1), 1), ("s", date(2024, 5, 1), 2)]
    regions.build(*rows)

    assert ((), ()) == (regions.build(*rows).commits, regions.build().commits)


def test_other_partition_columns_ask_for_a_full_refresh(regions):
    regions.build(("n", date(2024, 5, 1), 1))
    regions.edit(
        "region STRING, day DATE, amount INT",
        "SELECT region, day, amount FROM raw.t",
        'type = "delete_insert"\npartition_by = ["day"]',
    )

    with pytest.raises(ModelFailed, match="--full-refresh"):
        regions.build(("n", date(2024, 5, 1), 2))
    regions.build(("n", date(2024, 5, 1), 2), full_refresh=True)
    assert [("n", date(2024, 5, 1), 2)] == regions.rows()


@pytest.fixture
def daily(bench):
    bench.edit("at TIMESTAMP NOT NULL, n INT", f"SELECT at, n FROM raw.t {WITHIN}", DAILY)
    return bench


def numbers(bench):
    return sorted(n for _, n in bench.rows())


def test_each_interval_is_replaced_by_itself(daily):
    rows = [(at(15), 1), (at(15, 23, 999_999), 2), (at(16), 3), (at(17, 1), 4)]
    built = daily.build(*rows, start="2024-05-15", end="2024-05-17")
    again = daily.build((at(16, 5), 30), (at(17), 40), partition="2024-05-16")

    assert [("2024-05-15", 2), ("2024-05-16", 1), ("2024-05-17", 1)] == [
        (each.key, each.rows) for each in built.partitions
    ]
    assert (3, 1) == (len(built.commits), len(again.commits))
    assert [1, 2, 4, 30] == numbers(daily)
    assert daily.hash_recorded == daily.hash_again()


def test_the_interval_of_now_is_built_unless_another_is_asked_for(daily):
    built = daily.build((at(16), 1), (at(17), 2))

    assert ["2024-05-17"] == [each.key for each in built.partitions]
    assert [2] == numbers(daily)


def test_a_batch_of_intervals_is_one_commit_with_the_rows_of_each(bench):
    bench.edit(
        "at DATE NOT NULL, n INT",
        f"SELECT at, n FROM raw.t {WITHIN}",
        DAILY.replace("day", "month").replace("-14", "") + "\nbatch_size = 2",
    )
    bench.now = datetime(2024, 8, 1, tzinfo=UTC)
    rows = [
        (date(2024, 5, 31), 1),
        (date(2024, 6, 30), 2),
        (date(2024, 6, 1), 3),
        (date(2024, 8, 1), 4),
    ]
    built = bench.build(*rows, missing=True, recorded=frozenset({"2024-07"}))
    # July lies in no file, June in one with May.
    bench.build((date(2024, 6, 2), 5), partition="2024-06")

    assert [("2024-05", 1), ("2024-06", 2), ("2024-08", 1)] == [
        (each.key, each.rows) for each in built.partitions
    ]
    assert 2 == len(built.commits)
    assert [1, 4, 5] == numbers(bench)
    assert bench.hash_recorded == bench.hash_again()


def test_an_interval_that_fails_does_not_keep_others_from_being_built(bench):
    bench.edit(
        "at TIMESTAMP NOT NULL, n INT", f"SELECT at, 10 DIV n AS n FROM raw.t {WITHIN}", DAILY
    )
    built = bench.build((at(14), 5), (at(15), 0), (at(16), 2), start="2024-05-14", end="2024-05-16")

    assert [2, 5] == numbers(bench)
    assert [None, True, None] == [
        each.error and "DIVIDE_BY_ZERO" in each.error for each in built.partitions
    ]


def test_a_row_outside_the_interval_it_was_asked_for_is_an_error(bench):
    bench.edit(
        "at TIMESTAMP NOT NULL, n INT",
        "SELECT at, n FROM raw.t WHERE at >= @start_date OR at < @end_date",
        DAILY,
    )
    bench.build((at(15), 1), start="2024-05-15", end="2024-05-15")
    built = bench.build((at(15), 1), (at(16), 2), start="2024-05-15", end="2024-05-15")

    assert "outside the interval" in built.partitions[0].error
    assert "2024-05-16 00:00:00" in built.partitions[0].error
    assert [1] == numbers(bench)


def test_a_full_refresh_builds_every_interval_anew(daily):
    daily.build((at(15), 1), partition="2024-05-15")
    built = daily.build((at(14), 7), (at(17), 8), full_refresh=True)

    assert 4 == len(built.partitions)
    assert [7, 8] == numbers(daily)
