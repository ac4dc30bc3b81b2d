"""Which names stand bare in a query, and whether it names every column it reads."""

import pytest

from rocky.language.syntax.mentions import bare_names


def test_names_without_a_qualifier_are_bare():
    found = bare_names("SELECT o.amount, Total FROM orders o WHERE `state` = 'open' -- and more")

    assert {"total", "state", "o", "orders"} <= found
    assert not {"amount", "open", "more"} & found


def test_calls_and_definitions_are_not_names():
    assert not {"max", "top"} & bare_names("SELECT max(a) AS top FROM t")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) AS n FROM t",
        "SELECT a * b AS c, (a) * 2 AS d, 2 * a AS e FROM t",
        "SELECT extract(YEAR FROM d) AS y FROM t WHERE a IS DISTINCT FROM b",
    ],
)
def test_a_query_that_names_its_columns_has_an_answer(sql):
    assert bare_names(sql) is not None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM t",
        "SELECT t.* FROM t",
        "SELECT a, * FROM t",
        "SELECT DISTINCT * FROM t",
        "SELECT count(DISTINCT *) FROM t",
        "SELECT hash(*) FROM t",
        "SELECT * EXCEPT (a) FROM t",
        "SELECT a FROM t NATURAL JOIN u",
        "SELECT jan FROM t PIVOT (sum(x) FOR m IN ('jan' AS jan))",
        "TABLE t",
        "SELECT a FROM t UNION TABLE u",
        "FROM t",
        "SELECT a FROM (FROM t)",
        "SELECT a FROM t INTERSECT FROM u",
        "FROM t |> WHERE a > 1",
        "SELECT IDENTIFIER('a') FROM t",
        "SELECT a FROM t TABLESAMPLE (10 PERCENT)",
        "SELECT 'unclosed FROM t",
    ],
)
def test_a_query_that_may_read_columns_it_does_not_name_has_none(sql):
    assert bare_names(sql) is None
