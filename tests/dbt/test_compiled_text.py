"""What dbt has compiled is read over Rocky's names, and means the same."""

from dataclasses import replace

import pytest

from rocky.dbt.compiled_text import translate_compiled, without_ctes
from tests.dbt.dbt_projects import model, project


def compiled(text, *ctes):
    node = replace(model("m", ""), compiled=text, ctes=ctes)
    return translate_compiled(project(node), node)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select * from marts.orders", "select * from orders\n"),
        ("select * from `marts`.`orders` o", "select * from orders o\n"),
        ("select * from Marts.Orders", "select * from orders\n"),
        (
            "select 'marts.orders' -- marts.orders\nfrom raw.orders",
            "select 'marts.orders' -- marts.orders\nfrom raw.orders\n",
        ),
        ("select * from supermarts.orders", "select * from supermarts.orders\n"),
        (
            "with orders as (select * from marts.orders), b as (select * from marts.orders) select 1",
            "with orders as (select * from orders), b as (select * from marts.orders) select 1\n",
        ),
    ],
)
def test_names_stand_in_the_place_of_relations(text, expected):
    assert expected == compiled(text).sql


def test_a_query_that_reads_its_own_table_is_known():
    assert compiled("select max(id) from marts.m").reads_itself
    assert not compiled("select 'marts.m' from marts.orders").reads_itself


def test_ephemeral_models_that_dbt_has_put_in_front_are_taken_out():
    first = " __dbt__cte__people as (\nselect 1\n)"
    second = " __dbt__cte__orders as (\nselect 2\n)"
    alone = f"with {first} select * from __dbt__cte__people"
    assert "select * from people\n" == compiled(alone, first).sql

    before = f"with {first}, {second}, own as (select * from __dbt__cte__orders) select * from own"
    assert "with own as (select * from orders) select * from own" == " ".join(
        compiled(before, first, second).sql.split()
    )


def test_a_query_without_ephemeral_models_is_left_alone():
    node = replace(model("m", ""), compiled="with a as (select 1) select * from a")
    assert "with a as (select 1) select * from a" == without_ctes(node)
