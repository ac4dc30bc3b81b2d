"""The keys that USING merged are still named by their tables in the steps behind a join, as in Spark."""

import pytest

import rocky

TABLES = {"a": "k BIGINT NOT NULL, n STRING", "s": "k BIGINT NOT NULL, z STRING NOT NULL"}
JOIN = "FROM a |> LEFT JOIN s USING (k) "


def checked(sql):
    return rocky.check_sql(sql, tables=TABLES)


@pytest.mark.parametrize(
    ("steps", "columns"),
    [
        ("|> WHERE s.k IS NULL |> SELECT a.k, s.k AS x", [("k", False), ("x", True)]),
        ("|> EXTEND s.k AS x |> WHERE s.k > 0 |> SELECT x, k", [("x", True), ("k", False)]),
        ("|> AGGREGATE count(*) AS c GROUP BY s.k", [("k", True), ("c", False)]),
        ("|> ORDER BY s.k |> LIMIT 1 |> SELECT s.k", [("k", True)]),
        ("|> SET n = 'y' |> SELECT s.k", [("k", True)]),
        ("|> DROP z |> WHERE s.k > 0", [("k", False), ("n", True)]),
        ("|> WHERE s.k > 0 |> SELECT *", [("k", False), ("n", True), ("z", True)]),
    ],
)
def test_a_merged_key_is_named_by_its_table_in_later_steps(steps, columns):
    answer = checked(JOIN + steps)

    assert [] == list(answer.diagnostics)
    assert columns == [(each.name, each.nullable) for each in answer.columns]


def test_a_new_name_for_the_rows_hides_it():
    (found,) = checked(JOIN + "|> AS q |> WHERE s.k > 0").diagnostics

    assert "E003" == found.code


@pytest.mark.parametrize(
    "expression",
    ["array(k) = length(n)", "array(k) = coalesce(length(n), (1))", "1 + array(k, length(n))"],
)
def test_a_comparison_that_ends_in_a_call_is_shown_with_its_end(expression):
    sql = f"SELECT {expression} AS x FROM a"
    (found,) = checked(sql).diagnostics

    assert expression == sql[slice(*found.span)]
