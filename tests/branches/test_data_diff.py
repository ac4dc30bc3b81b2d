"""Rows of two states of a table: counted by their keys, or by all they hold."""

from functools import partial

import pyarrow as pa
import pytest

from rocky.branches.row_diff import (
    ChangedRow,
    KeySource,
    TableComparison,
    TableState,
    ValueChange,
    choose_key,
    compare_states,
)
from rocky.errors import NothingSelected, StoreUnreadable
from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import BIGINT, STRING, StructField
from rocky.store.warehouse import open_warehouse
from tests.run.memory_engine import MemoryEngine
from tests.store.tables import ORDERS, place, replace_with

COLUMNS = (StructField("id", BIGINT, True), StructField("name", STRING, True))
BY_ID = ("id",)


def table_of(folder, name, *files, columns=COLUMNS):
    """A state of a table: each file a list of rows."""
    table = open_warehouse(name, base=folder).table(ORDERS)
    names = [each.name for each in columns]
    placed = [
        place(table, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        for rows in files
    ]
    return TableState(table, replace_with(table, *placed, schema=columns).snapshot)


@pytest.fixture
def compare(tmp_path):
    def compare(before, after, key=(), sample=5):
        engine = MemoryEngine(tmp_path)
        asked = partial(choose_key, "orders", None, key)
        return compare_states(
            TableComparison("orders", before, after, asked, sample), lambda: engine
        )

    return compare


def refused():
    pytest.fail("nothing had to be read")


def counts(found):
    return found.added, found.removed, found.changed


def test_rows_are_found_again_by_their_key(tmp_path, compare):
    before = table_of(tmp_path, "one", [(1, "a"), (2, "b"), (3, None), (10, "x"), (None, "n")])
    after = table_of(tmp_path, "two", [(1, "a"), (2, "B"), (3, "c"), (4, "d"), (None, "n")])

    found = compare(before, after, BY_ID)

    assert (1, 1, 2) == counts(found)
    assert (BY_ID, KeySource.ASKED) == (found.key, found.key_source)
    assert {"name": 2} == found.changed_by_column
    assert (
        ChangedRow({"id": "2"}, {"name": ValueChange("b", "B")}),
        ChangedRow({"id": "3"}, {"name": ValueChange(None, "c")}),
    ) == found.sample
    assert (5, 5) == (found.rows_before, found.rows_after)


def test_a_sample_holds_as_many_rows_as_asked_for_and_counts_all(tmp_path, compare):
    before = table_of(tmp_path, "one", [(number, "a") for number in range(20)])
    after = table_of(tmp_path, "two", [(number, "b") for number in range(20)])

    found = compare(before, after, BY_ID, sample=3)

    assert (0, 0, 20) == counts(found)
    assert ["0", "1", "2"] == [each.key["id"] for each in found.sample]
    assert () == compare(before, after, BY_ID, sample=0).sample


def test_without_a_key_rows_count_as_often_as_they_are_there(tmp_path, compare):
    before = table_of(tmp_path, "one", [(1, "a"), (1, "a"), (1, "a"), (2, None)])
    after = table_of(tmp_path, "two", [(1, "a"), (2, None), (2, None), (3, "c")])

    found = compare(before, after)

    assert (2, 2, None) == counts(found)
    assert (KeySource.NOBODY, {}, ()) == (found.key_source, found.changed_by_column, found.sample)


def test_a_key_that_several_rows_share_is_said_and_rows_are_counted_whole(tmp_path, compare):
    before = table_of(tmp_path, "one", [(1, "a"), (1, "b"), (2, "c")])
    after = table_of(tmp_path, "two", [(1, "a"), (1, "B"), (2, "c")])

    found = compare(before, after, BY_ID)

    assert (1, 1, None) == counts(found)
    assert 1 == found.duplicate_keys


def test_files_that_both_have_are_not_read(tmp_path, compare):
    shared = [(number, "same") for number in range(50)]
    before = table_of(tmp_path, "one", shared, [(100, "a")])
    after = table_of(tmp_path, "two", shared, [(100, "b")])

    found = compare(before, after, BY_ID)

    assert (0, 0, 1) == counts(found)
    assert (2, 1) == (found.files_read, found.files_shared)


def test_rows_that_only_one_side_has_files_of_are_counted_without_an_engine(tmp_path):
    before = table_of(tmp_path, "one", [(1, "a")])
    after = table_of(tmp_path, "two", [(1, "a")], [(2, "b"), (3, "c")])
    asked = partial(choose_key, "orders", None, BY_ID)

    more = compare_states(TableComparison("orders", before, after, asked), refused)
    fewer = compare_states(TableComparison("orders", after, before, asked), refused)
    new = compare_states(TableComparison("orders", None, after, asked), refused)

    assert (2, 0, 0) == counts(more)
    assert (0, 2, 0) == counts(fewer)
    assert (3, 0, None) == counts(new)
    assert new.rows_before is None


def test_columns_that_came_or_went_are_told_and_the_others_compared(tmp_path, compare):
    wider = (*COLUMNS, StructField("amount", BIGINT, True))
    before = table_of(tmp_path, "one", [(1, "a"), (2, "b")])
    after = table_of(tmp_path, "two", [(1, "a", 5), (2, "c", 6)], columns=wider)

    found = compare(before, after, BY_ID)

    assert [("column_added", "amount")] == [
        (each.rule, each.column) for each in found.column_changes
    ]
    assert (0, 0, 1) == counts(found)
    assert {"name": 1} == found.changed_by_column


def test_a_column_that_was_widened_is_compared_by_its_values(tmp_path, compare):
    narrow = (StructField("id", parse_type("int"), True), COLUMNS[1])
    before = table_of(tmp_path, "one", columns=narrow)
    rows = {"id": pa.array([1, 2], pa.int32()), "name": ["a", "b"]}
    file = place(before.table, pa.table(rows))
    before = TableState(before.table, replace_with(before.table, file, schema=narrow).snapshot)
    after = table_of(tmp_path, "two", [(1, "a"), (2, "c")])

    found = compare(before, after, BY_ID)

    assert (0, 0, 1) == counts(found)
    assert ["column_type_widened"] == [each.rule for each in found.column_changes]


def test_a_column_of_another_kind_is_compared_as_text_and_a_nested_one_not_at_all(
    tmp_path, compare
):
    other = (COLUMNS[0], StructField("name", parse_type("bigint"), True))
    before = table_of(tmp_path, "one", [(1, "7"), (2, "8")])
    after = table_of(tmp_path, "two", [(1, 7), (2, 9)], columns=other)
    assert (0, 0, 1) == counts(compare(before, after, BY_ID))

    nested = (COLUMNS[0], StructField("name", parse_type("array<string>"), True))
    after = table_of(tmp_path, "three", [(1, ["7"]), (3, ["9"])], columns=nested)
    found = compare(before, after, BY_ID)
    assert (1, 1, 0) == counts(found)
    assert ("name",) == found.columns_not_compared


def test_the_order_and_the_case_of_columns_do_not_matter(tmp_path, compare):
    turned = (StructField("NAME", STRING, True), StructField("ID", BIGINT, True))
    before = table_of(tmp_path, "one", [(1, "a"), (2, "b")])
    after = table_of(tmp_path, "two", [("b", 2), ("a", 1)], columns=turned)

    assert (0, 0, 0) == counts(compare(before, after, BY_ID))
    assert (0, 0, None) == counts(compare(before, after))


def test_a_key_that_is_no_column_is_refused(tmp_path, compare):
    before = table_of(tmp_path, "one", [(1, "a")])
    after = table_of(tmp_path, "two", [(1, "b")])

    with pytest.raises(NothingSelected, match="no column `idd` on both sides"):
        compare(before, after, ("idd",))


def test_what_the_engine_cannot_read_is_an_error_and_no_difference(tmp_path, compare, monkeypatch):
    before = table_of(tmp_path, "one", [(1, "a")])
    after = table_of(tmp_path, "two", [(1, "b")])
    monkeypatch.setattr("rocky.branches.row_diff.format_duplicates", lambda *_: "SELECT nope")

    with pytest.raises(StoreUnreadable, match="the rows of `orders` differ, and"):
        compare(before, after, BY_ID)
