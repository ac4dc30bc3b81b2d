"""Tests of a dbt project are assertions where Rocky has the same, and none is a weaker one."""

from dataclasses import replace

import pytest

from rocky.dbt.checks import translate_test
from rocky.dbt.values import GenericTest, Node
from tests.dbt.dbt_projects import project

NODE = Node(id="test.shop.t", kind="test", name="t", package="shop", path="s.yml")


def assertion(name, given, config=None, namespace=None):
    call = GenericTest(name, namespace, given, "model.shop.orders")
    node = replace(NODE, test=call, config=config or {})
    found = translate_test(project(node), node, call)
    return None if found is None else found.settings


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("unique", {"column_name": "id"}, {"type": "unique", "column": "id"}),
        ("unique", {"column_name": "a || b"}, {"type": "unique_expr", "key_expr": "a || b"}),
        ("not_null", {"column_name": "`id`"}, {"type": "not_null", "column": "id"}),
        (
            "not_null",
            {"column_name": "a + b"},
            {"type": "expression", "expression": "(a + b) IS NOT NULL"},
        ),
        (
            "accepted_values",
            {"column_name": "s", "values": ["a", 1]},
            {"type": "accepted_values", "column": "s", "values": ["a", 1]},
        ),
        (
            "relationships",
            {"column_name": "p", "to": "ref('people')", "field": "id"},
            {"type": "relationships", "column": "p", "to_table": "people", "to_column": "id"},
        ),
        (
            "relationships",
            {"column_name": "p", "to": "source('raw', 'orders')", "field": "id"},
            {"type": "relationships", "column": "p", "to_table": "raw.orders", "to_column": "id"},
        ),
        (
            "unique_combination_of_columns",
            {"combination_of_columns": ["a", "b"]},
            {"type": "composite", "columns": ["a", "b"]},
        ),
        (
            "expression_is_true",
            {"expression": "a > b"},
            {"type": "expression", "expression": "a > b"},
        ),
        (
            "expression_is_true",
            {"expression": ">= 0", "column_name": "a"},
            {"type": "expression", "expression": "a >= 0"},
        ),
        (
            "accepted_range",
            {"column_name": "a", "min_value": 0},
            {"type": "in_range", "column": "a", "min": 0, "max": None},
        ),
    ],
)
def test_a_test_is_the_same_assertion(name, given, expected):
    assert expected == assertion(name, given)


@pytest.mark.parametrize(
    ("name", "given", "config"),
    [
        ("unique", {"column_name": "id"}, {"error_if": "> 10"}),
        ("unique", {"column_name": "id"}, {"fail_calc": "sum(n)"}),
        ("not_null", {"column_name": "id"}, {"where": "{{ recent() }}"}),
        ("relationships", {"column_name": "p", "to": "ref('gone')", "field": "id"}, {}),
        ("accepted_range", {"column_name": "a", "min_value": 0, "inclusive": False}, {}),
        ("accepted_range", {"column_name": "a", "min_value": "b"}, {}),
        ("never_heard_of", {"column_name": "a"}, {}),
    ],
)
def test_what_is_not_the_same_is_no_assertion(name, given, config):
    assert assertion(name, given, config) is None


def test_a_test_of_another_package_is_not_taken_for_ours():
    assert assertion("unique", {"column_name": "id"}, namespace="other") is None


def test_a_condition_and_a_severity_stay():
    found = assertion("unique", {"column_name": "id"}, {"where": "x > 1", "severity": "warn"})

    assert {"type": "unique", "column": "id", "filter": "x > 1", "severity": "warning"} == found
