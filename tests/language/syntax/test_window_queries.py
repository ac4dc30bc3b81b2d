"""Windowed queries: where the rows of a table may be handed over once, and where not."""

import pytest

from rocky.language.syntax.window_queries import windowed_query

RANK = "row_number() OVER (PARTITION BY k ORDER BY a) AS n"
WINDOWED = {
    f"SELECT *, {RANK} FROM raw.t": (("k",), "raw.t"),
    f"SELECT upper(b) AS b, {RANK} FROM raw.t AS x WHERE b > 1": (("k",), "raw.t"),
    "SELECT sum(a) OVER (PARTITION BY X.K, j), lag(a) IGNORE NULLS OVER (PARTITION BY k, x.j"
    " ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM raw.t x": (("k", "j"), "raw.t"),
    f"WITH t AS (SELECT * FROM raw.t), r AS (SELECT *, {RANK} FROM t) SELECT * FROM r": (
        ("k",),
        "t",
    ),
    f"WITH t AS (SELECT K, a FROM raw.t WHERE a > 1) SELECT *, {RANK} FROM `t`": (("k",), "`t`"),
    f"SELECT n FROM (SELECT *, {RANK} FROM raw.t) AS r": (("k",), "raw.t"),
    f"WITH raw AS (SELECT *, {RANK} FROM raw.t) SELECT n + 1 AS n FROM raw": (("k",), "raw.t"),
}


@pytest.mark.parametrize("sql", WINDOWED)
def test_a_query_of_windows_tells_by_what_and_where_they_read(sql):
    found = windowed_query(sql)

    assert ("raw", "t") == found.table
    assert WINDOWED[sql] == (found.keys, sql[found.place.start : found.place.end])


def test_functions_of_windows_are_told_apart_from_those_of_rows():
    found = windowed_query("SELECT lower(b) AS b, max(upper(c)) OVER (PARTITION BY k) AS m FROM t")

    assert ({"lower", "upper"}, {"max"}) == (found.calls, found.over)


@pytest.mark.parametrize(
    ("order", "columns"),
    [("a, T.B, c + 1, d", ("a", "b")), ("a DESC, b", ()), ("a ASC NULLS FIRST", ("a",))],
)
def test_the_order_of_windows_is_told_as_far_as_it_is_columns_that_rise(order, columns):
    found = windowed_query(
        f"SELECT sum(a) OVER (PARTITION BY k), rank() OVER (PARTITION BY k ORDER BY {order}) FROM t"
    )

    assert columns == found.order


NOT_WINDOWED = [
    "SELECT a FROM t",
    # Spark drops rows early that a filter over ranks would drop.
    f"SELECT * FROM (SELECT *, {RANK} FROM t) AS r WHERE n = 1",
    f"WITH r AS (SELECT *, {RANK} FROM t), s AS (SELECT * FROM r WHERE n = 1) SELECT a FROM s",
    f"SELECT *, {RANK} FROM t QUALIFY n = 1",
    # A part of a struct is no column of the table.
    f"WITH t AS (SELECT st.k, a FROM u) SELECT *, {RANK} FROM t",
    f"SELECT *, {RANK} FROM t LIMIT 3",
    f"SELECT DISTINCT a, {RANK} FROM t",
    f"SELECT a, {RANK} FROM t GROUP BY a, k",
    f"SELECT *, {RANK} FROM t JOIN u USING (k)",
    f"SELECT *, {RANK} FROM t, u",
    f"SELECT *, {RANK} FROM t UNION ALL SELECT *, {RANK} FROM t",
    f"SELECT *, {RANK} FROM t WHERE a IN (SELECT a FROM u)",
    f"SELECT *, {RANK} FROM (SELECT a, k FROM u) AS t",
    f"SELECT *, {RANK} FROM range(10) AS t(k)",
    f"SELECT /*+ REPARTITION(3) */ *, {RANK} FROM t",
    f"SELECT *, {RANK} FROM t TABLESAMPLE (10 ROWS)",
    f"FROM t |> EXTEND {RANK}",
    # Not by columns of what they read, or not all by the same.
    "SELECT *, rank() OVER (ORDER BY a) AS n FROM t",
    "SELECT *, rank() OVER (PARTITION BY k % 2 ORDER BY a) AS n FROM t",
    "SELECT *, rank() OVER (PARTITION BY k.f ORDER BY a) AS n FROM t",
    "SELECT *, rank() OVER w AS n FROM t WINDOW w AS (PARTITION BY k)",
    f"SELECT *, {RANK}, sum(a) OVER (PARTITION BY j) AS s FROM t",
    f"SELECT *, {RANK} FROM (SELECT *, sum(a) OVER (PARTITION BY k) AS s FROM t) AS s",
    f"SELECT a FROM t ORDER BY {RANK.removesuffix(' AS n')}",
    f"WITH u AS (SELECT a, k + 1 AS k FROM t) SELECT *, {RANK} FROM u",
    f"WITH u AS (SELECT a, j AS k FROM t) SELECT *, {RANK} FROM u",
    f"WITH u AS (SELECT *, 1 AS k FROM t) SELECT *, {RANK} FROM u",
    f"WITH u AS (SELECT * EXCEPT (k) FROM t) SELECT *, {RANK} FROM u",
    f"SELECT *, {RANK} FROM t AS x(k, a)",
    f"SELECT *, {RANK} FROM (SELECT * FROM t) AS x(k, a)",
    f"WITH u(k, a) AS (SELECT a, k FROM t) SELECT *, {RANK} FROM u",
    f"WITH u AS (SELECT * FROM v) SELECT *, {RANK} FROM t",
    f"WITH u AS (SELECT max(a) FROM v) SELECT *, {RANK} FROM t",
    f"WITH RECURSIVE u AS (SELECT * FROM t) SELECT *, {RANK} FROM u",
    "no query",
]


@pytest.mark.parametrize("sql", NOT_WINDOWED)
def test_other_queries_hand_rows_over_as_spark_likes(sql):
    assert windowed_query(sql) is None
