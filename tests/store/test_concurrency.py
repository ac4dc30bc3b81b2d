from collections import Counter
from collections.abc import Callable

import pytest

from rocky.store.file_usage import sweep_table
from tests.processes import Running, fork_context
from tests.store.tables import append, ids, latest, read_ids, reopened, replace_with, table_in
from tests.store.writers import (
    COUNTER_START,
    append_many,
    append_once_each,
    count_own_in,
    count_shared_in,
    count_up,
    create,
    place_and_wait,
    replace_many,
)

pytestmark = pytest.mark.slow

ROUNDS = 20
FAR_FUTURE_MS = 2**52


def run_together(*tasks: tuple[Callable[..., None], tuple]) -> None:
    """Each task in a process of its own, all at once; none may fail."""
    running = [fork_context().Process(target=task, args=given) for task, given in tasks]
    for process in running:
        process.start()
    for process in running:
        process.join(timeout=240)

    assert [0] * len(running) == [process.exitcode for process in running]


def test_two_writers_that_append_lose_and_double_nothing(tmp_path):
    run_together(
        (append_many, (str(tmp_path), 0, ROUNDS, 2)),
        (append_many, (str(tmp_path), 1, ROUNDS, 2)),
    )
    table = table_in(tmp_path)

    assert list(range(2 * ROUNDS)) == read_ids(table)
    assert 2 * ROUNDS - 1 == latest(table).version


@pytest.mark.slow
def test_two_writers_that_append_equal_rows_lose_none(tmp_path):
    run_together(*[(append_many, (str(tmp_path), 0, 20, 1))] * 2)

    assert dict.fromkeys(range(20), 2) == Counter(read_ids(table_in(tmp_path)))


def test_two_writers_that_merge_count_every_round_once(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, COUNTER_START))
    run_together(*[(count_up, (str(tmp_path), ROUNDS))] * 2)

    assert [COUNTER_START + 2 * ROUNDS] == read_ids(table)


@pytest.mark.slow
def test_a_merge_and_an_append_do_not_undo_each_other(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, COUNTER_START))
    run_together(
        (count_up, (str(tmp_path), ROUNDS)),
        (append_many, (str(tmp_path), 0, ROUNDS, 1)),
    )

    assert [*range(ROUNDS), COUNTER_START + ROUNDS] == read_ids(table)


@pytest.mark.slow
def test_of_two_writers_that_replace_one_is_last_and_whole(tmp_path):
    run_together(
        (replace_many, (str(tmp_path), 0, ROUNDS)),
        (replace_many, (str(tmp_path), 1000, ROUNDS)),
    )
    table = table_in(tmp_path)

    assert read_ids(table) in ([ROUNDS - 1], [1000 + ROUNDS - 1])
    assert 2 * ROUNDS - 1 == latest(table).version
    assert {1} == {len(read_ids(table, version)) for version in range(0, 2 * ROUNDS, 7)}


@pytest.mark.slow
def test_two_first_builds_of_one_table_are_two_versions(tmp_path):
    names = [f"t{number}" for number in range(20)]
    run_together((create, (str(tmp_path), names, 1)), (create, (str(tmp_path), names, 2)))

    for name in names:
        table = table_in(tmp_path / name)
        assert 1 == latest(table).version
        assert read_ids(table) in ([1], [2])


@pytest.mark.slow
def test_four_writers_of_forty_commits_each_lose_nothing(tmp_path):
    run_together(*[(append_many, (str(tmp_path), first, 40, 4)) for first in range(4)])

    assert list(range(160)) == read_ids(table_in(tmp_path))


def test_four_writers_that_merge_one_row_count_every_round_once(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, COUNTER_START))
    run_together(*[(count_up, (str(tmp_path), 10))] * 4)

    assert [COUNTER_START + 40] == read_ids(table)


def test_four_writers_that_merge_rows_of_their_own_are_never_in_each_others_way(tmp_path):
    table = table_in(tmp_path)
    starts = [number * COUNTER_START for number in range(1, 5)]
    replace_with(table, *(ids(table, start) for start in starts))
    run_together(
        *((count_own_in, (str(tmp_path), start, 10)) for start in starts),
        (append_many, (str(tmp_path), 0, 10, 1)),
    )

    assert [*range(10), *(start + 10 for start in starts)] == read_ids(table)
    assert 50 == latest(table).version


def test_writers_that_share_a_row_give_way_to_each_other_and_to_nobody_else(tmp_path):
    table = table_in(tmp_path)
    shared, own = COUNTER_START, 2 * COUNTER_START
    replace_with(table, ids(table, shared), ids(table, own))
    run_together(
        *[(count_shared_in, (str(tmp_path), shared, 10))] * 2,
        # A conflict ends this one.
        (count_own_in, (str(tmp_path), own, 10)),
        (append_many, (str(tmp_path), 0, 10, 1)),
    )

    assert [*range(10), shared + 20, own + 10] == read_ids(table)
    assert 40 == latest(table).version


def test_a_writer_killed_before_its_commit_leaves_the_previous_version(tmp_path):
    table = table_in(tmp_path)
    append(table, ids(table, 1))
    with Running(place_and_wait, str(tmp_path)) as writer:
        assert "placed\n" == writer.stdout.readline()
        writer.kill()

    assert [1] == read_ids(table)
    assert 2 == len(sweep_table(reopened(table), FAR_FUTURE_MS))
    append(table, ids(table, 99))
    assert [1, 99] == read_ids(table)


@pytest.mark.slow
def test_a_writer_killed_again_and_again_loses_and_doubles_nothing(tmp_path):
    table = table_in(tmp_path)
    acknowledged = -1
    for patience in (1, 4, 2, 7, 3):
        # From the row before the last: what was committed must be recognised, not repeated.
        with Running(append_once_each, str(tmp_path), max(acknowledged, 0)) as writer:
            for _ in range(patience):
                acknowledged = max(acknowledged, int(writer.stdout.readline()))
            writer.kill()
        found = read_ids(reopened(table))
        assert list(range(len(found))) == found
        assert acknowledged < len(found)
