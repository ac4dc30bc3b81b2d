import pytest

from rocky.language.syntax.row_wise import row_wise_query

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
    "SELECT t.a FROM t JOIN u ON t.a > u.a",
    "SELECT t.a FROM t JOIN u ON t.a = 1",
    "SELECT t.a FROM t JOIN u ON t.a = t.b",
    "SELECT t.a FROM t JOIN u ON u.a = u.b",
    "SELECT t.a FROM t JOIN u ON t.a + u.a = u.b",
    "SELECT t.a FROM t JOIN u ON a = b",
    "SELECT t.a FROM t JOIN (WITH d AS (SELECT * FROM u) SELECT * FROM d) AS x USING (a)",
    "WITH d AS (SELECT DISTINCT a FROM u) SELECT t.a FROM t JOIN d USING (a)",
    "WITH d AS (SELECT a, max(b) AS b FROM u GROUP BY a) SELECT t.a FROM t JOIN d USING (a)",
    "WITH d AS (SELECT * FROM t) SELECT t.a FROM t JOIN d ON t.a = d.b",
    "WITH RECURSIVE d AS (SELECT * FROM u) SELECT t.a FROM t JOIN d USING (a)",
    "WITH d AS (SELECT * FROM u) SELECT t.a FROM t RIGHT JOIN d USING (a)",
    "SELECT t.a FROM t JOIN u ON t.a = u.a OR t.b = u.b",
    "SELECT t.a FROM t JOIN u",
    "SELECT t.a FROM t CROSS JOIN u",
    "SELECT t.a FROM t RIGHT JOIN u ON t.a = u.a",
    "SELECT t.a FROM t FULL JOIN u ON t.a = u.a",
    "SELECT t.a FROM t NATURAL JOIN u",
    "SELECT t.a FROM t JOIN LATERAL (SELECT t.a AS b) AS u ON t.a = u.b",
    "SELECT t.a FROM t JOIN (u JOIN v ON u.a = v.a) ON t.a = u.a",
    "SELECT t.a FROM t JOIN (SELECT DISTINCT a FROM u) AS u ON t.a = u.a",
    "WITH d AS (SELECT u.a FROM u JOIN v USING (a)) SELECT t.a FROM t JOIN d USING (a)",
    "SELECT t.a FROM t JOIN t AS u ON t.a = u.b",
    "WITH x AS (SELECT * FROM t) SELECT x.a FROM x JOIN t ON x.a = t.b",
    "SELECT t.a FROM t JOIN u ON t.a = u.a AND t.b IN (SELECT b FROM v)",
    "SELECT a FROM t, u",
    "SELECT a FROM t, u WHERE t.a = u.a",
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
    found = row_wise_query(sql)

    assert (ROW_WISE[sql], set()) == (found.calls, found.looked_up)
    assert "t" == found.driving[-1]


T, U, V = ("t",), ("u",), ("c", "s", "v")
LOOKUPS = {
    "SELECT t.a, u.b FROM t JOIN u ON t.a = u.a": (T, {U}),
    "SELECT t.a, u.b FROM T INNER JOIN U ON t.a = u.a AND t.b > u.b": (T, {U}),
    "SELECT t.a, u.b FROM t LEFT JOIN u ON upper(t.a) <=> u.a": (T, {U}),
    "SELECT * FROM t LEFT OUTER JOIN u USING (a) WHERE u.b IS NULL": (T, {U}),
    "SELECT t.a FROM t LEFT SEMI JOIN u ON t.a = u.a": (T, {U}),
    "SELECT t.a FROM t ANTI JOIN u ON t.a = u.a": (T, {U}),
    "SELECT t.a FROM t JOIN u AS x ON t.a = x.a JOIN u AS y ON t.b = y.a": (T, {U}),
    "SELECT t.a FROM t JOIN u ON t.a = u.a LEFT JOIN C.s.v ON u.b = v.b": (T, {U, V}),
    "SELECT t.a FROM t JOIN (SELECT a FROM u WHERE b) AS u ON t.a = u.a": (T, {U}),
    "SELECT t.a FROM t JOIN u ON (t.a = u.a AND t.b > u.b)": (T, {U}),
    "SELECT t.a FROM t JOIN u ON u.a = u.b AND t.a = u.a": (T, {U}),
    "SELECT t.a FROM t JOIN u ON t.a = t.b AND (t.b + t.c = u.b)": (T, {U}),
    # The last `d` is a table.
    "SELECT t.a FROM (WITH d AS (SELECT * FROM t) SELECT * FROM d) AS t JOIN d USING (a)": (
        T,
        {("d",)},
    ),
    "WITH w AS (SELECT t.a FROM t JOIN u USING (a)) SELECT * FROM w JOIN c.s.v USING (a)": (
        T,
        {U, V},
    ),
}


@pytest.mark.parametrize("sql", LOOKUPS)
def test_a_query_that_looks_rows_up_tells_where(sql):
    found = row_wise_query(sql)

    assert LOOKUPS[sql] == (found.driving, found.looked_up)


# Spark forgets what it was told of a table where it is read under a name of the query, so it must be
# told of the name: just where that is joined.
NAMED_LOOKUPS = {
    "WITH d AS (SELECT * FROM u) SELECT t.a FROM t JOIN d ON t.a = d.a": ["d"],
    "WITH d AS (SELECT * FROM u), t AS (SELECT * FROM T) SELECT t.a FROM t JOIN `D` x USING (a)": [
        "`D`"
    ],
    "WITH r AS (SELECT * FROM u), d AS (SELECT a FROM r) SELECT t.a FROM t JOIN d USING (a)": ["d"],
    "WITH d AS (SELECT * FROM u), j AS (SELECT t.a FROM t JOIN d USING (a)) SELECT * FROM j": ["d"],
    "WITH d AS (SELECT * FROM u) SELECT t.a FROM t JOIN (SELECT a FROM d) AS x USING (a)": ["d"],
    "WITH d AS (SELECT * FROM u) SELECT * FROM t JOIN d USING (a) JOIN d AS e USING (a)": ["d"] * 2,
    "WITH d AS (SELECT d.a FROM u AS d) SELECT * FROM t JOIN u USING (a)": [],
}


@pytest.mark.parametrize("sql", NAMED_LOOKUPS)
def test_places_are_told_where_rows_are_looked_up_by_a_name_of_the_query(sql):
    found = row_wise_query(sql)

    assert (T, {U}) == (found.driving, found.looked_up)
    places = sorted(found.named_lookups)
    assert NAMED_LOOKUPS[sql] == [sql[each.start : each.end] for each in places]
    assert all("JOIN" in sql[: each.start] for each in places)


@pytest.mark.parametrize("sql", NOT_ROW_WISE)
def test_a_query_that_looks_at_several_rows_or_tables_is_not_row_wise(sql):
    assert row_wise_query(sql) is None
