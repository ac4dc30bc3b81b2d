from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.evidence.timeline import longest, timeline_of
from rocky.ledger.run_records import (
    DIED,
    InputRecord,
    ModelExecution,
    ModelStatus,
    RunRecord,
    RunStatus,
)

START = datetime(2026, 5, 30, 11, 4, 22, 643494, tzinfo=UTC)


def at(milliseconds):
    return START + timedelta(milliseconds=milliseconds)


def ran(name, start, end, *inputs, status=ModelStatus.SUCCESS, **fields):
    fields = {"decision": "build", **fields}
    read = tuple(each if isinstance(each, InputRecord) else InputRecord(each) for each in inputs)
    return ModelExecution(name, status, at(start), at(end), end - start, inputs=read, **fields)


def reused(name, start, end, *inputs):
    return ran(name, start, end, *inputs, status=ModelStatus.REUSED, decision="reuse")


def a_run(*executions, end=None, **fields):
    finished_at = at(end) if end is not None else None
    return RunRecord(
        START, "Manual", "c0", "host", "0.3.0",
        models_executed=executions, finished_at=finished_at, **fields,
    )  # fmt: skip


def timeline(*executions, end=None):
    return timeline_of(a_run(*executions, end=end))


def bars_of(line):
    return {bar.name: bar for bar in line.bars}


def path_of(line):
    return [bar.name for bar in line.critical_path]


def test_a_model_stands_in_the_first_lane_that_is_free():
    line = timeline(ran("a", 0, 10), ran("b", 2, 20), ran("c", 10, 12), ran("d", 11, 13))

    assert {"a": 1, "b": 2, "c": 1, "d": 3} == {bar.name: bar.lane for bar in line.bars}
    assert 3 == line.lanes


def test_a_model_that_starts_when_another_ends_may_follow_it_in_its_lane():
    assert 1 == timeline(ran("a", 0, 10), ran("b", 10, 20)).lanes


def test_a_model_waits_from_the_end_of_its_last_input_to_its_start():
    bars = bars_of(
        timeline(ran("a", 5, 10), ran("b", 5, 20), ran("c", 32, 40, "a", "b", "raw.orders"))
    )

    assert (20, 12) == (bars["c"].ready_ms, bars["c"].wait_ms)


def test_what_reads_nothing_of_the_run_waits_from_the_first_build_and_not_from_the_start():
    bars = bars_of(timeline(ran("a", 6000, 6010), ran("b", 6012, 6020, "raw.orders")))

    assert (0, 12) == (bars["a"].wait_ms, bars["b"].wait_ms)


def test_what_spark_takes_to_start_is_no_wait_of_readers_of_reused_models():
    line = timeline(reused("a", 3, 4), ran("b", 6000, 6100, "a"))

    assert 6000 == line.startup_ms
    assert {"a": 0, "b": 0} == {bar.name: bar.wait_ms for bar in line.bars}


def test_what_is_found_built_waits_for_nothing():
    line = timeline(reused("a", 3, 4), reused("b", 9, 10, "a"))

    assert (3, 0, False) == (line.startup_ms, bars_of(line)["b"].wait_ms, line.has_built)


def test_the_wait_of_a_failed_model_is_not_known():
    failed = ran("b", 30, 40, status=ModelStatus.FAILED)
    bar = bars_of(timeline(ran("a", 0, 10), failed))["b"]

    assert (None, None) == (bar.ready_ms, bar.wait_ms)


def test_a_failed_model_with_recorded_inputs_has_a_wait():
    failed = ran("b", 30, 40, "a", status=ModelStatus.FAILED)

    assert 20 == bars_of(timeline(ran("a", 0, 10), failed))["b"].wait_ms


def test_what_a_reader_of_an_unrecorded_query_waited_for_is_not_known():
    query = InputRecord("large", "shop.marts.large", identity="14")
    line = timeline(ran("stg_orders", 0, 10), ran("by_country", 30, 40, query))

    assert bars_of(line)["by_country"].wait_ms is None
    assert not line.path_is_whole


def test_a_table_of_an_earlier_run_is_nothing_to_wait_for():
    table = InputRecord("stg_orders", "shop.staging.stg_orders", "file:x", "3")

    assert 0 == bars_of(timeline(ran("by_country", 30, 40, table)))["by_country"].wait_ms


def test_an_input_is_found_by_its_table_before_its_name():
    seed = ran("Countries", 0, 50, target="shop.seeds.countries")
    model = ran("countries", 0, 10, target="shop.marts.countries")
    reader = ran("reader", 60, 70, InputRecord("countries", "shop.SEEDS.countries", "file:x"))
    bar = bars_of(timeline(seed, model, reader))["reader"]

    assert 50 == bar.ready_ms


def test_a_source_called_like_a_model_is_not_that_model():
    reader = ran("reader", 60, 70, InputRecord("orders", uri="data/orders.csv"))

    assert () == bars_of(timeline(ran("orders", 0, 10), reader))["reader"].inputs


def test_a_model_that_reads_its_own_table_does_not_wait_for_itself():
    assert () == bars_of(timeline(ran("a", 0, 10, "a")))["a"].inputs


def test_the_critical_path_goes_back_from_the_last_end_through_the_last_input():
    line = timeline(
        ran("slow", 0, 50),
        ran("quick", 0, 10),
        ran("other", 10, 80, "quick"),
        ran("mid", 50, 60, "slow", "quick"),
        ran("last", 65, 100, "mid", "quick"),
        end=110,
    )

    assert ["slow", "mid", "last"] == path_of(line)
    assert [True, False, False, True, True] == [
        bars_of(line)[name].critical for name in ("slow", "quick", "other", "mid", "last")
    ]


def test_startup_runs_and_waits_of_the_path_add_up_to_the_last_end():
    line = timeline(ran("a", 7, 20), ran("b", 31, 50, "a"), ran("c", 52, 90, "b"), end=99)
    parts = line.startup_ms + line.path_wait_ms + sum(bar.length_ms for bar in line.critical_path)

    assert 90 == parts


def test_a_path_that_ends_in_a_failure_is_known_not_to_be_whole():
    line = timeline(ran("a", 0, 10), ran("b", 10, 20, status=ModelStatus.FAILED))

    assert (["b"], False) == (path_of(line), line.path_is_whole)


def test_the_longest_chain_is_of_model_time_not_of_waits():
    line = timeline(ran("a", 0, 10), ran("b", 90, 95, "a"), ran("c", 0, 30))

    assert 30 == line.longest_chain_ms


def test_parallelism_is_how_many_ran_while_any_did():
    line = timeline(ran("a", 0, 10), ran("b", 0, 10), ran("c", 50, 60), end=100)

    assert (100, 30, 20, 1.5) == (line.wall_ms, line.model_ms, line.busy_ms, line.parallelism)


def test_the_biggest_wait_is_named():
    line = timeline(ran("a", 0, 10), ran("b", 12, 20, "a"), ran("c", 25, 30, "b"))

    assert ("c", 5) == (line.biggest_wait.name, line.biggest_wait.wait_ms)


def test_where_nothing_waited_there_is_no_biggest_wait():
    assert timeline(ran("a", 5, 10)).biggest_wait is None


@pytest.mark.parametrize(
    "execution",
    [
        ran("a", 5, 5, status=ModelStatus.SKIPPED, decision="skip"),
        ran("a", 5, 5, status=ModelStatus.SKIPPED, decision=None),
        ran("a", 5, 5, status=ModelStatus.SUCCESS, decision="skip"),
        ran("a", 5, 5, status=ModelStatus.INTERRUPTED, decision="skip"),
    ],
)
def test_what_never_started_has_no_bar(execution):
    line = timeline(execution)

    assert ((), (execution,)) == (line.bars, line.never_started)


@pytest.mark.parametrize(
    "execution",
    [
        ran("a", 5, 6, status=ModelStatus.SKIPPED, decision="resume"),
        ran("a", 5, 6, status=ModelStatus.REUSED, decision="reuse"),
        ran("a", 5, 6, status=ModelStatus.INTERRUPTED),
        ran("a", 5, 6, status=ModelStatus.FAILED),
    ],
)
def test_what_was_looked_at_has_a_bar(execution):
    assert ["a"] == [bar.name for bar in timeline(execution).bars]


def test_a_run_of_nothing_is_a_timeline_of_nothing():
    line = timeline(end=15)

    assert ((), 0, 15, 0, None, (), 0) == (
        line.bars,
        line.lanes,
        line.wall_ms,
        line.startup_ms,
        line.parallelism,
        line.critical_path,
        line.longest_chain_ms,
    )


def test_a_run_that_died_ends_with_the_last_thing_it_recorded():
    died = a_run(ran("a", 5, 10), status=RunStatus.FAILURE, reason=DIED)

    assert 10 == timeline_of(died).wall_ms


def test_a_clock_that_was_set_back_puts_nothing_before_the_run_nor_an_end_before_its_start():
    line = timeline(ran("a", -50, -20), ran("b", 10, 4), end=20)

    assert [(0, 0), (10, 10)] == [(bar.start_ms, bar.end_ms) for bar in line.bars]


def test_a_record_of_models_that_read_each_other_ends_all_the_same():
    line = timeline(ran("a", 0, 10, "b"), ran("b", 5, 20, "a"))

    assert ["a", "b"] == path_of(line)


def test_the_longest_bars_stay_in_their_order():
    line = timeline(ran("a", 0, 5), ran("b", 5, 6), ran("c", 6, 20))

    assert ["a", "c"] == [bar.name for bar in longest(line.bars, 2)]
    assert line.bars == longest(line.bars, None) == longest(line.bars, 3)


spans = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60)), max_size=25)


@given(spans)
def test_models_that_ran_at_the_same_time_are_in_different_lanes_and_no_lane_is_wasted(given_spans):
    line = timeline(*(ran(f"m{n}", s, s + d) for n, (s, d) in enumerate(given_spans)))
    together = max(
        (sum(b is a or b.start_ms <= a.start_ms < b.end_ms for b in line.bars) for a in line.bars),
        default=0,
    )

    assert [] == [
        (a.name, b.name)
        for a in line.bars
        for b in line.bars
        if a is not b and a.lane == b.lane and a.start_ms < b.end_ms and b.start_ms < a.end_ms
    ]
    assert line.lanes <= together


@pytest.mark.slow
@given(spans, st.randoms(use_true_random=False))
def test_no_number_is_out_of_bounds_whatever_reads_what(given_spans, chance):
    names = [f"m{n}" for n in range(len(given_spans))]
    line = timeline(
        *(
            ran(name, s, s + d, *chance.sample(names, chance.randint(0, min(3, len(names)))))
            for name, (s, d) in zip(names, given_spans, strict=True)
        )
    )

    assert line.busy_ms <= line.wall_ms
    assert line.busy_ms <= line.model_ms
    assert all(0 <= (bar.wait_ms or 0) <= bar.start_ms for bar in line.bars)
    assert line.parallelism is None or 1 <= line.parallelism <= max(1, line.lanes)
    assert not line.bars or line.critical_path[-1].end_ms == max(b.end_ms for b in line.bars)
