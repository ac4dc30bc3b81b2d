import pytest

from rocky.language.syntax.row_wise import row_wise_calls

ROW_WISE = {
    "SELECT a, b AS c FROM raw.t": set(),
    "SELECT upper(b) AS u, CAST(a AS INT) AS a, a[0] AS f FROM t WHERE a IN (1, 2)": {"upper"},
    "SELECT CASE WHEN if(a, true, false) THEN 1 END AS c FROM t AS o": {"if"},
    "WITH x AS (SELECT * FROM t), y AS (SELECT lower(a) AS a FROM x) SELECT * FROM y": {"lower"},
    "SELECT * EXCEPT (a) FROM (SELECT * FROM t) AS s": set(),
    "SELECT transform(a, x -> x + 1) AS a FROM t": {"transform"},
    "FROM t |> WHERE a > 1 |> EXTEND a + 1 AS b |> SELECT b": set(),
    # What such a call gives depends on the function, so whoever asks looks it up.
    "SELECT count(*) AS n FROM t": {"count"},
    "SELECT explode(a) AS one FROM t": {"explode"},
}
NOT_ROW_WISE = [
    "SELECT 1 AS a",
    "SELECT DISTINCT a FROM t",
    "SELECT a FROM t GROUP BY a",
    "SELECT 1 AS a FROM t HAVING true",
    "SELECT a FROM t ORDER BY a",
    "SELECT a FROM t SORT BY a",
    "SELECT a FROM t DISTRIBUTE BY a",
    "SELECT a FROM t CLUSTER BY a",
    "SELECT a FROM t LIMIT 3",
    "SELECT a FROM t OFFSET 3",
    "SELECT a FROM t UNION ALL SELECT a FROM t",
    "SELECT t.a FROM t JOIN u ON t.a = u.a",
    "SELECT a FROM t, u",
    "SELECT a FROM t LATERAL VIEW explode(b) AS e",
    "SELECT a FROM t TABLESAMPLE (10 ROWS)",
    "SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))",
    "SELECT /*+ REPARTITION(3) */ a FROM t",
    "SELECT row_number() OVER (ORDER BY a) AS n FROM t",
    "SELECT sum(a) FILTER (WHERE b) AS n FROM t",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) AS n FROM t",
    "SELECT any(a > 3) AS b FROM t",
    "SELECT a FROM t WHERE a IN (SELECT a FROM u)",
    "SELECT a, (SELECT max(b) FROM u) AS b FROM t",
    "WITH x AS (SELECT * FROM t) SELECT * FROM x WHERE EXISTS (SELECT 1 FROM x)",
    "WITH x AS (SELECT DISTINCT a FROM t) SELECT * FROM x",
    "SELECT * FROM (SELECT a FROM t LIMIT 3) AS s",
    "SELECT id FROM range(10)",
    "SELECT a FROM VALUES (1) AS t(a)",
    "FROM t |> AGGREGATE sum(a) AS a",
    "FROM t |> ORDER BY a",
    "FROM t |> LIMIT 3",
    "no query",
]


@pytest.mark.parametrize("sql", ROW_WISE)
def test_a_query_that_makes_a_row_of_a_row_tells_what_it_calls(sql):
    assert ROW_WISE[sql] == row_wise_calls(sql)


@pytest.mark.parametrize("sql", NOT_ROW_WISE)
def test_a_query_that_looks_at_several_rows_or_tables_is_not_row_wise(sql):
    assert row_wise_calls(sql) is None
