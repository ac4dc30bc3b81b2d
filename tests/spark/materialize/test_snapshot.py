from datetime import UTC, datetime, timedelta

import pytest

from rocky.errors import ModelFailed

pytestmark = pytest.mark.spark

DAY = timedelta(days=1)
CHECKED = 'type = "snapshot"\nunique_key = ["id"]'


@pytest.fixture
def kept(bench):
    bench.edit("id INT, name STRING", "SELECT id, name FROM raw.t", CHECKED)
    return bench


def versions(bench):
    """The versions without their ids, which are looked at elsewhere."""
    return [row[:-1] for row in bench.rows()]


def test_a_changed_row_is_closed_and_its_new_version_opened(kept):
    start = kept.now
    kept.build((1, "a"), (2, "b"), (None, None))
    kept.now = start + DAY
    built = kept.build((1, "a"), (2, "c"), (3, "d"), (None, None))

    assert [
        (1, "a", start, None, True),
        (2, "b", start, kept.now, False),
        (2, "c", kept.now, None, True),
        (3, "d", kept.now, None, True),
        (None, None, start, None, True),
    ] == versions(kept)
    assert 1 == len(built.commits)
    assert kept.hash_recorded == kept.hash_again()


def test_without_a_change_nothing_is_committed(kept):
    kept.build((1, "a"), (2, None))
    kept.now += DAY

    assert () == kept.build((1, "a"), (2, None)).commits


def test_every_version_has_an_id_of_its_own(kept):
    kept.build((1, "a"), (11, "a"))
    kept.now += DAY
    kept.build((1, "b"), (11, "b"))
    ids = [row[-1] for row in kept.rows()]

    assert 4 == len(set(ids))


@pytest.mark.sampled
@pytest.mark.parametrize(("noted", "current"), [(False, True), (True, False)])
def test_a_row_that_is_gone_ends_when_deletions_are_noted(kept, noted, current):
    kept.edit(
        "id INT, name STRING",
        "SELECT id, name FROM raw.t",
        f"{CHECKED}\ninvalidate_hard_deletes = {str(noted).lower()}",
    )
    start = kept.now
    kept.build((1, "a"), (2, "b"))
    kept.now += DAY
    kept.build((1, "a"))
    ended = kept.now
    kept.now += DAY
    back = kept.build((1, "a"), (2, "b"))

    gone = (2, "b", start, None if current else ended, current)
    assert gone == versions(kept)[1]
    assert (0 if current else 1) == len(back.commits)
    assert kept.hash_recorded == kept.hash_again()


def test_a_version_begins_at_its_own_time_and_earlier_ones_do_not_count(bench):
    bench.edit(
        "id INT, name STRING, seen TIMESTAMP",
        "SELECT id, name, seen FROM raw.t",
        f'{CHECKED}\nupdated_at = "seen"',
    )
    monday = datetime(2024, 5, 13, tzinfo=UTC)
    bench.build((1, "a", monday), (2, "x", monday))
    bench.build((1, "b", monday + DAY), (2, "same time", monday))
    bench.build((1, "late", monday - DAY), (2, "x", monday))

    assert [
        (1, "a", monday, monday, monday + DAY, False),
        (1, "b", monday + DAY, monday + DAY, None, True),
        (2, "x", monday, monday, None, True),
    ] == versions(bench)


def test_two_rows_of_one_key_are_an_error(kept):
    with pytest.raises(ModelFailed, match="2 rows for one unique key"):
        kept.build((1, "a"), (1, "b"))


def test_a_table_without_a_history_asks_for_a_full_refresh(kept):
    kept.edit("id INT, name STRING", "SELECT id, name FROM raw.t", 'type = "full_refresh"')
    kept.build((1, "a"))
    kept.edit("id INT, name STRING", "SELECT id, name FROM raw.t", CHECKED)

    with pytest.raises(ModelFailed, match="--full-refresh"):
        kept.build((1, "b"))
    kept.build((1, "b"), full_refresh=True)
    assert [(1, "b", kept.now, None, True)] == versions(kept)


def test_a_version_never_ends_before_it_begins_whatever_its_times_are(bench):
    bench.edit(
        "id INT, name STRING, seen TIMESTAMP",
        "SELECT id, name, seen FROM raw.t",
        f'{CHECKED}\nupdated_at = "seen"\nnull_updated_at = "run_time"'
        "\ninvalidate_hard_deletes = true",
    )
    start, later = bench.now, bench.now + 9 * DAY
    bench.build((1, "a", None), (2, "x", later), (3, "y", start))
    bench.now += DAY
    # A time from before the run that saw the row, a row that is gone before it began, and one that
    # lost its time.
    bench.build((1, "b", start - DAY), (3, "y", None))
    bench.now += DAY
    bench.build((1, "b", start - DAY), (2, "x", start), (3, "z", None))

    assert [
        (1, "a", None, start, start, False),
        (1, "b", start - DAY, start, None, True),
        (2, "x", start, later, None, True),
        (2, "x", later, later, later, False),
        (3, "y", None, start + DAY, start + 2 * DAY, False),
        (3, "y", start, start, start + DAY, False),
        (3, "z", None, start + 2 * DAY, None, True),
    ] == sorted(
        versions(bench),
        key=lambda row: (row[0], row[1], row[2] is not None, row[3], row[4] or row[3]),
    )
    assert len({row[-1] for row in bench.rows()}) == len(bench.rows())
    assert bench.hash_recorded == bench.hash_again()


def test_a_row_without_a_time_is_an_error_that_names_its_key_and_the_column(bench):
    bench.edit(
        "id INT, name STRING, seen TIMESTAMP",
        "SELECT id, name, seen FROM raw.t",
        f'{CHECKED}\nupdated_at = "seen"',
    )

    with pytest.raises(ModelFailed, match=r"`seen` is null where id = 2; give it one"):
        bench.build((1, "a", bench.now), (2, "b", None))
