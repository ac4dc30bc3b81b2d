"""PIVOT and UNPIVOT, recorded from Spark 4.1: a FROM clause and the columns it gives."""

import pytest

from rocky import check_sql

TABLES = {
    "k": "y INT NOT NULL, z STRING NOT NULL, e INT NOT NULL",
    "t": "a INT NOT NULL, d DATE, m MAP<STRING, INT>, s STRUCT<u: INT, v: STRING>, x DOUBLE",
    "w": "id INT NOT NULL, q1 INT, q2 INT NOT NULL, q3 BIGINT, q4 STRING, q6 DECIMAL(5,2) NOT NULL",
}

# `!` marks a column that is never null.
PIVOTS = [
    ("k PIVOT (sum(e) FOR y IN (1, 2))", "z string!, 1 bigint, 2 bigint"),
    ("k PIVOT (count(*) FOR y IN (1))", "z string!, e int!, 1 bigint"),
    ("k PIVOT (sum(e) AS s FOR y IN (1 AS one, 2 two))", "z string!, one bigint, two bigint"),
    (
        "k PIVOT (sum(e) AS s, avg(e) FOR y IN (1 AS one, 2))",
        "z string!, one_s bigint, one_avg(e) double, 2_s bigint, 2_avg(e) double",
    ),
    ("k PIVOT (sum(y) FOR z IN ('a', '', NULL))", "e int!, a bigint,  bigint, null bigint"),
    ("k PIVOT (sum(e) FOR y IN (1.5, 1 + 1, -3L))", "z string!, 1.5 bigint, 2 bigint, -3 bigint"),
    ("k PIVOT (sum(e) FOR (y, z) IN ((1, 'a'), (2, 'b') AS bb))", "{1, a} bigint, bb bigint"),
    ("k PIVOT (count(e) FOR y IN (1))", "z string!, 1 bigint"),
    ("k PIVOT (max(z), count(e) FOR y IN (1))", "1_max(z) string, 1_count(e) bigint!"),
    ("k PIVOT (first(z) FOR y IN (1))", "e int!, 1 string"),
    ("k PIVOT (collect_list(e) FOR y IN (1))", "z string!, 1 array<int>!"),
    ("k PIVOT (sum(DISTINCT e), max(z) FOR Y IN (1))", "1_sum(DISTINCT e) bigint, 1_max(z) string"),
    ("k PIVOT (sum(e) FOR y IN (1)) PIVOT (max(`1`) FOR z IN ('a'))", "a bigint"),
    (
        "(SELECT a, d, x FROM t) PIVOT (sum(x) FOR d IN (DATE '2020-1-5', '2020-01-06'))",
        "a int!, 2020-01-05 double, 2020-01-06 double",
    ),
    (
        "(SELECT a, x, s FROM t) PIVOT (sum(s.u) FOR x IN (1.5, 1e10))",
        "a int!, 1.5 bigint, 1.0E10 bigint",
    ),
]

UNPIVOTS = [
    ("(SELECT id, q1, q2 FROM w) UNPIVOT (v FOR n IN (q1, q2))", "id int!, n string!, v int"),
    (
        "(SELECT id, q2, q6 FROM w) UNPIVOT INCLUDE NULLS (v FOR n IN (q2 AS two, q6))",
        "id int!, n string!, v decimal(12,2)!",
    ),
    ("(SELECT id, q1, q3 FROM w) UNPIVOT (V FOR N IN (Q1, q3)) u", "id int!, N string!, V bigint"),
    (
        "(SELECT id, q1, q2, q3, q4 FROM w) UNPIVOT ((v, x) FOR n IN ((q1, q2), (q3, q1) AS r))",
        "id int!, q4 string, n string!, v bigint, x int",
    ),
    ("(SELECT q1, q2 FROM w) UNPIVOT (v FOR n IN (q1, q1, q2))", "n string!, v int"),
    (
        "(SELECT id, q1, q2 FROM w) UNPIVOT (v FOR n IN (q1, q2)) AS u "
        "PIVOT (sum(v) FOR n IN ('q1', 'q2'))",
        "id int!, q1 bigint, q2 bigint",
    ),
]

REFUSED = [
    ("k PIVOT (sum(e) FOR y IN (e))", "NON_LITERAL_PIVOT_VALUES"),
    ("k PIVOT (sum(e) FOR y IN (nosuch))", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ("k PIVOT (sum(e) FOR nosuch IN (1))", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ("k PIVOT (sum(nosuch) FOR y IN (1))", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ("k PIVOT (sum(e) FOR y IN ('x'))", "CAST_INVALID_INPUT"),
    ("k PIVOT (upper(z) FOR y IN (1))", "_LEGACY_ERROR_TEMP_1006"),
    ("k PIVOT (sum(max(e)) FOR y IN (1))", "NESTED_AGGREGATE_FUNCTION"),
    ("k PIVOT (sum(e) FOR (y, z) IN (1))", "PIVOT_VALUE_DATA_TYPE_MISMATCH"),
    ("k PIVOT (sum(e) FOR (y, z) IN ((1, NULL)))", "PIVOT_VALUE_DATA_TYPE_MISMATCH"),
    ("k PIVOT (sum(e) FOR k.y IN (1))", "PARSE_SYNTAX_ERROR"),
    ("k PIVOT (sum(e) FOR y IN (1)) AS p", "PARSE_SYNTAX_ERROR"),
    ("(SELECT a, m FROM t) PIVOT (sum(a) FOR m IN (map('a', 1)))", "INCOMPARABLE_PIVOT_COLUMN"),
    ("w UNPIVOT (v FOR n IN (q1, q4))", "UNPIVOT_VALUE_DATA_TYPE_MISMATCH"),
    ("w UNPIVOT (v FOR n IN (q1, nosuch))", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ("t UNPIVOT (v FOR n IN (a, s.u))", "UNPIVOT_REQUIRES_ATTRIBUTES"),
    ("w UNPIVOT (id FOR n IN (q1, q2))", "AMBIGUOUS_REFERENCE"),
    ("w UNPIVOT (v FOR n IN ((q1, q2)))", "PARSE_SYNTAX_ERROR"),
]


def columns(relation: str) -> str:
    found = check_sql(f"SELECT * FROM {relation}", TABLES)

    assert not found.diagnostics
    return ", ".join(f"{c.name} {c.type}{'' if c.nullable else '!'}" for c in found.columns)


@pytest.mark.parametrize(("relation", "expected"), PIVOTS)
def test_a_pivot_gives_the_columns_left_over_then_one_for_each_value_and_aggregate(
    relation: str, expected: str
) -> None:
    assert columns(relation) == expected


@pytest.mark.parametrize(("relation", "expected"), UNPIVOTS)
def test_an_unpivot_gives_the_columns_left_over_then_a_name_and_its_values(
    relation: str, expected: str
) -> None:
    assert columns(relation) == expected


@pytest.mark.parametrize(("relation", "condition"), REFUSED)
def test_a_pivot_spark_refuses_is_refused_once_with_its_condition(
    relation: str, condition: str
) -> None:
    found = check_sql(f"SELECT * FROM {relation}", TABLES)

    assert [each.condition for each in found.diagnostics] == [condition]


def test_grouping_columns_keep_their_qualifier_through_a_pivot() -> None:
    found = check_sql("SELECT k.z, `1` FROM k PIVOT (sum(e) FOR y IN (1))", TABLES)

    assert [(c.name, str(c.type)) for c in found.columns] == [("z", "string"), ("1", "bigint")]
