"""Which files become one: small ones of one partition, in the order in which they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.maintenance.file_groups import MOST_ROWS, group_small_files
from rocky.store.data_file import DataFile

TARGET = 100


def file(number: int, size: int, rows: int = 1, day: str | None = None) -> DataFile:
    values = {} if day is None else {"day": day}
    return DataFile(f"{number:064x}.parquet", size, rows, "{}", values, modified_ms=number)


def grouped(files: list[DataFile]) -> list[list[int]]:
    groups = group_small_files(files, TARGET)
    return [[each.modified_ms for each in group.files] for group in groups]


def test_small_files_are_taken_in_order_until_one_more_would_be_too_much():
    assert [[1, 2, 3], [4, 5]] == grouped([file(n, 30) for n in (3, 1, 5, 2, 4)])


def test_a_file_of_half_the_target_stays_and_so_does_a_small_one_without_company():
    assert [] == grouped([file(1, 50), file(2, 49), file(3, 200)])


def test_no_group_crosses_a_partition():
    files = [file(n, 10, day=day) for n, day in enumerate(("a", "b", "a", "b"))]

    assert [[0, 2], [1, 3]] == grouped(files)


def test_a_group_has_no_more_rows_than_the_writer_puts_into_one_file():
    half = MOST_ROWS // 2

    assert [[1, 2], [3, 4]] == grouped([file(n, 1, half) for n in (1, 2, 3, 4)])


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(1, 150), st.sampled_from("ab")), max_size=30))
def test_what_came_out_of_groups_is_never_cut_into_as_many_again(given_files):
    """Each time there are fewer files, so asking again and again comes to an end."""
    files = [file(n, size, day=day) for n, (size, day) in enumerate(given_files)]
    for _ in range(len(files) + 1):
        groups = group_small_files(files, TARGET)
        gone = {each.path for group in groups for each in group.files}
        assert all(len(group.files) > 1 for group in groups)
        if not groups:
            return
        made = [
            file(1000 + n, group.bytes, day=group.files[0].partition_values["day"])
            for n, group in enumerate(groups)
        ]
        files = [each for each in files if each.path not in gone] + made
    raise AssertionError("it never ends")
