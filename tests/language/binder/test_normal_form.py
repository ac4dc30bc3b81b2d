"""The normal form forgets cosmetics and nothing else: equal forms mean equal rows."""

import pytest

from rocky.language.binder.logic.normal_form import normal_hash
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.text import parse_schema
from rocky.language.tables import tables_by_name

TABLES = tables_by_name({"t": parse_schema("id int, doc variant, s struct<a: int>")})


def form(sql):
    bound = bind_text(sql, TABLES)
    assert not bound.diagnostics
    return normal_hash(bound.parsed, bound.binding)


RECURSION = "WITH RECURSIVE {} (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT id >> 1 AS x FROM t", "SELECT id >>> 1 AS x FROM t"),
        (RECURSION.format("r MAX RECURSION LEVEL 5 AS"), RECURSION.format("r MAX RECURSION LEVEL 6 AS")),
        (RECURSION.format("r AS"), RECURSION.format("r MAX RECURSION LEVEL 6 AS")),
        ("SELECT doc:A AS x FROM t", "SELECT doc:a AS x FROM t"),
        ("SELECT doc:a[0].B AS x FROM t", "SELECT doc:a[0].b AS x FROM t"),
        ("SELECT doc:select AS x FROM t", "SELECT doc:SELECT AS x FROM t"),
        ("SELECT to_json(struct(id)) AS x FROM t", "SELECT to_json(struct(ID)) AS x FROM t"),
        ("SELECT 'a' AS x FROM t", "SELECT 'A' AS x FROM t"),
    ],
)  # fmt: skip
def test_texts_that_give_other_values_have_other_forms(before, after):
    assert form(before) != form(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT id>>>1 AS x FROM t", "select ID >>> 1 as X from T -- why"),
        (RECURSION.format("r MAX RECURSION LEVEL 5 AS"), RECURSION.format("r max recursion level 5 as")),
        ("SELECT doc:A.b::INT AS x FROM t", "select DOC:A.b::int as X from t"),
        ("SELECT CAST(s AS STRUCT<a: INT>) AS x FROM t", "select cast(s as struct<a: int>) as x from t"),
    ],
)  # fmt: skip
def test_texts_that_only_look_different_have_one_form(before, after):
    assert form(before) == form(after)


def test_the_brackets_of_three_nested_types_are_no_shift():
    bound = bind_text(
        "SELECT CAST(NULL AS array<array<array<int>>>) AS x, id >>> 1 AS y FROM t", TABLES
    )

    assert not bound.diagnostics
    assert [str(each.type) for each in bound.columns] == ["array<array<array<int>>>", "int"]
