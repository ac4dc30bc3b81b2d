import random
import time

import pytest

from rocky.diagnostics.suggestion import NameIndex, closest, edit_distance, suggestion


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("order_idd", ["order_id", "customer_id"], "order_id"),
        ("ORDER_ID", ["Order_Id", "order_ids"], "Order_Id"),
        ("amuont", ["amount", "amounts"], "amount"),
        ("x", ["y", "xyz"], "y"),
        ("id", ["customer_name"], None),
        ("revenue", [], None),
        ("stg_ordrs", ["stg_orders", "stg_order"], "stg_orders"),
        ("ab", ["ac", "ad"], "ac"),
        ("ab", ["ad", "ac"], "ac"),
    ],
)
def test_the_closest_name_is_the_one_with_the_fewest_slips(name, candidates, expected):
    assert expected == closest(name, candidates)


def test_a_name_without_a_near_one_has_no_suggestion():
    assert suggestion("zebra", ["orders", "customers"]) is None


def test_a_suggestion_names_the_candidate_as_it_was_written():
    assert "did you mean `Orders`?" == suggestion("ordesr", ["Orders"])


def test_a_swap_of_neighbours_is_one_slip():
    assert 1 == edit_distance("form", "from", 3)


def test_the_distance_is_unknown_beyond_the_limit():
    assert edit_distance("kitten", "sitting", 2) is None
    assert 3 == edit_distance("kitten", "sitting", 3)


def slow_distance(left: str, right: str) -> int:
    table = {(i, 0): i for i in range(len(left) + 1)} | {(0, j): j for j in range(len(right) + 1)}
    for i in range(1, len(left) + 1):
        for j in range(1, len(right) + 1):
            table[i, j] = min(
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (left[i - 1] != right[j - 1]),
            )
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(left), len(right)]


def test_the_distance_is_that_of_the_full_table():
    dice = random.Random(7)
    for _ in range(3000):
        left = "".join(dice.choices("abc", k=dice.randrange(8)))
        right = "".join(dice.choices("abc", k=dice.randrange(8)))
        limit = dice.randrange(5)
        full = slow_distance(left, right)

        assert (full if full <= limit else None) == edit_distance(left, right, limit), (left, right)


def test_an_index_of_ten_thousand_names_answers_quickly_and_once():
    index = NameIndex(f"fct_orders_{number}" for number in range(10_000))
    started = time.process_time()
    answers = {index.closest("fct_ordres_77") for _ in range(1000)}
    index.closest("something_else_altogether")

    assert {"fct_orders_77"} == answers
    assert time.process_time() - started < 2
