"""Rows expected and found: a multiset unless an order is asked for, cells marked where they differ."""

from rocky.language.datatypes.text import parse_schema
from rocky.run.checks.outcomes import Difference, compare_rows

COLUMNS = parse_schema("id BIGINT, name STRING, score DOUBLE")


def differences(expected, found, *, ordered=False):
    return list(compare_rows(expected, found, COLUMNS, ordered=ordered))


A, B, C = ("1", "a", "0.5"), ("2", "b", "1.5"), ("3", None, None)


def test_equal_rows_in_another_order_do_not_differ():
    assert [] == differences([A, B, C], [C, A, B])


def test_an_order_that_is_asked_for_is_compared():
    assert [Difference(A, B, (0, 1, 2)), Difference(B, A, (0, 1, 2))] == differences(
        [A, B], [B, A], ordered=True
    )
    assert [] == differences([A, B], [A, B], ordered=True)


def test_two_equal_rows_are_two():
    assert [Difference(A, None)] == differences([A, A], [A])
    assert [Difference(None, A)] == differences([A], [A, A])


def test_a_row_that_is_nearly_there_is_shown_beside_it_with_the_cells_that_differ():
    wrong = ("1", "x", "0.5")

    assert [Difference(A, wrong, (1,))] == differences([A, B], [B, wrong])


def test_rows_that_have_nothing_in_common_are_shown_apart():
    assert [Difference(A, None), Difference(None, C)] == differences([A], [C])


def test_a_null_is_not_the_text_null():
    assert [Difference(("3", "NULL", None), C, (1,))] == differences([("3", "NULL", None)], [C])


def test_floating_columns_are_compared_closely_and_others_exactly():
    assert [] == differences([("1", "a", "0.30000000000000004")], [("1", "a", "0.3")])
    assert [] == differences([("1", "a", "NaN")], [("1", "a", "NaN")])
    assert 1 == len(differences([("1", "a", "0.31")], [("1", "a", "0.3")]))
    assert 1 == len(differences([("1.0", "a", "0.3")], [("1", "a", "0.3")]))
