from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from rocky.errors import ConcurrentChange, ModelFailed, StoreUnreadable
from rocky.run.materialize.strategy import materialize
from rocky.store.delta.snapshot import WATERMARK

pytestmark = pytest.mark.spark

COLUMNS = "id BIGINT NOT NULL, at BIGINT, note STRING"
QUERY = "SELECT id, at, note FROM raw.t WHERE raw.t.id > 0"
STRATEGY = 'type = "incremental"\ntimestamp_column = "at"'


@pytest.fixture
def log(bench):
    bench.edit(COLUMNS, QUERY, STRATEGY)
    return bench


def test_rows_above_the_watermark_are_appended_and_move_it(log):
    first = log.build((1, 10, "a"), (2, 20, "b"))
    second = log.build((1, 10, "changed"), (2, 20, "b"), (3, 21, "c"), (4, 30, None))

    assert [(1, 10, "a"), (2, 20, "b"), (3, 21, "c"), (4, 30, None)] == log.rows()
    assert [("replaced", "20", 2), ("appended", "30", 2)] == [
        (each.action, each.watermark, each.rows) for each in (first, second)
    ]
    assert log.hash_recorded == log.hash_again()


def test_without_new_rows_nothing_is_committed(log):
    log.build((1, 10, "a"))
    built = log.build((1, 10, "a"), (2, 5, "late"))

    assert ((), "unchanged", "10") == (built.commits, built.action, built.watermark)
    assert [(1, 10, "a")] == log.rows()


def test_a_row_without_a_time_is_loaded_by_full_loads_only(log):
    log.build((1, 10, "a"), (2, None, "b"))
    log.build((1, 10, "a"), (2, None, "b"), (3, None, "c"), (4, 11, "d"))

    assert [(1, 10, "a"), (2, None, "b"), (4, 11, "d")] == log.rows()


def test_a_full_refresh_replaces_everything(log):
    log.build((1, 10, "a"))
    log.build((5, 3, "z"), full_refresh=True)

    assert [(5, 3, "z")] == log.rows()


def test_no_rows_give_a_table_without_a_watermark_and_the_next_run_loads_all(log):
    log.build()
    built = log.build((1, 10, "a"))

    assert "replaced" == built.action
    assert [(1, 10, "a")] == log.rows()


def naive(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("DATE", date(2024, 1, 1), date(2024, 1, 2)),
        (
            "TIMESTAMP",
            datetime(2024, 1, 1, 0, 0, 0, 123456, UTC),
            datetime(2024, 1, 1, 0, 0, 0, 123457, UTC),
        ),
        ("TIMESTAMP_NTZ", naive("1969-01-01T00:00:00.000001"), naive("1969-01-01T00:00:00.000002")),
        ("DECIMAL(38,10)", Decimal("1.0000000001"), Decimal("1.0000000002")),
        ("STRING", "it's \\ `a`", "it's \\ `b`"),
    ],
)
def test_a_watermark_of_any_type_is_exact(bench, kind, low, high):
    bench.edit(f"at {kind} NOT NULL", "SELECT at FROM raw.t", STRATEGY)
    bench.build((low,))
    bench.build((low,), (high,))
    unchanged = bench.build((low,), (high,))

    assert [(low,), (high,)] == bench.rows()
    assert () == unchanged.commits


def test_a_column_that_is_new_is_null_in_the_rows_already_there(log):
    log.build((1, 10, "a"))
    log.edit(COLUMNS, "SELECT id, at, at * 2 AS twice, note FROM raw.t", STRATEGY)
    log.build((1, 10, "a"), (2, 20, "b"))

    assert [(1, 10, None, "a"), (2, 20, 40, "b")] == log.rows()
    assert log.hash_recorded == log.hash_again()


def test_a_wider_type_rewrites_the_rows_in_the_same_commit(bench):
    bench.edit("id INT, at BIGINT NOT NULL", "SELECT id, at FROM raw.t", STRATEGY)
    bench.build((1, 10))
    bench.edit("id BIGINT, at BIGINT NOT NULL", "SELECT id, at FROM raw.t", STRATEGY)
    built = bench.build((1, 10), (2**40, 20))

    assert [(1, 10), (2**40, 20)] == bench.rows()
    assert 1 == len(built.commits)
    assert bench.hash_recorded == bench.hash_again()


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT id, at FROM raw.t", "column `note` is in the table"),
        (
            "SELECT id, at, length(note) AS note FROM raw.t",
            "column `note` of model `m` is `string`",
        ),
        ("SELECT id, at, note, 1 AS version FROM raw.t", "column `version` of model `m` is new"),
        (
            "SELECT id, at, coalesce(note, '') AS note FROM raw.t",
            "column `note` of model `m` is never",
        ),
    ],
)
def test_any_other_change_of_columns_asks_for_a_full_refresh(log, query, said):
    log.build((1, 10, None))
    log.edit(COLUMNS, query, STRATEGY)
    with pytest.raises(ModelFailed) as refusal:
        log.build((2, 20, "b"))

    assert said in str(refusal.value)
    assert "--full-refresh" in str(refusal.value)
    assert [(1, 10, None)] == log.rows()


def test_a_watermark_that_cannot_be_read_stops_the_model(log):
    log.build((1, 10, "a"))
    log.set_property(WATERMARK, "{not json")
    with pytest.raises(StoreUnreadable):
        log.build((2, 20, "b"))


def test_a_build_that_meets_a_foreign_commit_is_refused(log):
    log.build((1, 10, "a"))
    rows = [(1, 10, "a"), (2, 20, "b")]

    with pytest.raises(ConcurrentChange):
        log.build_while(lambda: log.build(*rows), *rows)
    assert [(1, 10, "a"), (2, 20, "b")] == log.rows()


def test_a_repeated_attempt_adds_nothing(log):
    log.build((1, 10, "a"))
    order = log.order((1, 10, "a"), (2, 20, "b"))
    materialize(order)
    again = materialize(order)

    assert () == again.commits
    assert [(1, 10, "a"), (2, 20, "b")] == log.rows()


def test_microbatches_are_commits_of_one_interval_each(bench):
    bench.edit(
        "at TIMESTAMP NOT NULL, n INT",
        "SELECT at, n FROM raw.t WHERE at >= @start_date AND at < @end_date",
        'type = "microbatch"\ntimestamp_column = "at"\ngranularity = "day"',
    )

    def at(day, hour):
        return datetime(2024, 2, day, hour, tzinfo=UTC)

    first = bench.build((at(1, 1), 1), (at(1, 2), 2), (at(29, 3), 3))
    second = bench.build((at(1, 1), 1), (at(29, 3), 3), (at(29, 4), 4), (at(29, 3), 5))

    assert [2, 1] == [len(first.commits), len(second.commits)]
    assert [1, 2, 3, 4] == sorted(n for _, n in bench.rows())
    assert bench.hash_recorded == bench.hash_again()
