"""Joined queries: by which columns rows meet, and where what is joined stands."""

import pytest

from rocky.language.syntax.join_queries import join_query

JOINED = {
    "SELECT t.a, u.b FROM raw.t JOIN raw.u ON t.k = u.j": [("raw.u", "k", "j", "j")],
    "SELECT x.k FROM raw.t AS x LEFT JOIN raw.u y ON (Y.J = x.`K`) WHERE y.b > 1": [
        ("raw.u", "k", "j", "j")
    ],
    # Of joins that only ask for rows, Spark makes the first thing, below what is handed over.
    "SELECT k FROM raw.t LEFT SEMI JOIN raw.u USING (k)": [("raw.u", None, "", "")],
    "SELECT * FROM raw.t t JOIN raw.u u ON t.k = u.k ANTI JOIN raw.v v ON v.i = t.k": [
        ("raw.u", "k", "k", "k"),
        ("raw.v", None, "", ""),
    ],
    # A part of a struct is no column of the table, whatever it is called.
    "WITH u AS (SELECT st.k, a FROM raw.u) SELECT t.a FROM raw.t AS t JOIN u ON t.k = u.k": [
        ("u", None, "", "")
    ],
    "WITH u AS (SELECT x.k FROM raw.u AS x) SELECT t.a FROM raw.t AS t JOIN u ON t.k = u.k": [
        ("u", "k", "k", "k")
    ],
    # Under names, as imports are written at the top of a model, and called otherwise there.
    "WITH t AS (SELECT * FROM raw.t WHERE a > 1), u AS (SELECT x.J AS k, b FROM (SELECT * FROM"
    " raw.u) x), f AS (SELECT t.k, u.b FROM t JOIN u ON t.k = u.k) SELECT * FROM f WHERE b > 2": [
        ("u", "k", "k", "j")
    ],
    "SELECT r.k FROM (SELECT t.k, u.b FROM raw.t AS t JOIN raw.u AS u ON t.k = u.j) AS r": [
        ("raw.u", "k", "j", "j")
    ],
    # Rows may be looked up so, and not be handed over: that would not be by the same columns.
    "SELECT t.a FROM raw.t JOIN raw.u ON t.k = u.k AND t.a = u.a": [("raw.u", None, "", "")],
    "SELECT t.a FROM raw.t JOIN raw.u ON t.k = u.k AND t.k = 5": [("raw.u", None, "", "")],
    "SELECT t.a FROM raw.t JOIN raw.u ON t.k <=> u.k": [("raw.u", None, "", "")],
    "SELECT t.a FROM raw.t JOIN raw.u ON t.k + 1 = u.k": [("raw.u", None, "", "")],
    "SELECT t.a FROM raw.t JOIN raw.u USING (k, a)": [("raw.u", None, "", "")],
    "SELECT t.a FROM raw.t JOIN raw.u ON t.k = u.k LEFT JOIN raw.v ON u.k = v.k": [
        ("raw.u", "k", "k", "k"),
        ("raw.v", None, "", ""),
    ],
    "WITH u AS (SELECT 5 AS k FROM raw.u) SELECT t.a FROM raw.t AS t JOIN u ON t.k = u.k": [
        ("u", None, "", "")
    ],
}


@pytest.mark.parametrize("sql", JOINED)
def test_a_joined_query_tells_by_what_rows_meet_and_where_the_names_stand(sql):
    found = join_query(sql)

    assert ("raw", "t") == found.driving.table
    assert ["raw.t", "t"][sql.startswith("WITH t")] == _text(sql, found.driving)
    assert JOINED[sql] == [(_text(sql, o), o.by, o.column, o.key) for o in found.others]
    assert {("raw", "u")} <= {each.table for each in found.others}


def _text(sql: str, joined) -> str:
    return sql[joined.place.start : joined.place.end]


@pytest.mark.parametrize(
    ("sql", "keys", "given"),
    [
        ("SELECT t.k AS n, u.k FROM t JOIN u ON t.k = u.k", {"k": "k"}, {"k": "n"}),
        ("SELECT u.k, t.a FROM t JOIN u ON t.k = u.k", {"k": "k"}, {}),
        ("SELECT t.k + 1 AS k FROM t JOIN u ON t.k = u.k", {"k": "k"}, {}),
        (
            "WITH w AS (SELECT i AS k FROM t) SELECT w.k FROM w JOIN u ON w.k = u.j",
            {"k": "i"},
            {"k": "k"},
        ),
        ("WITH w AS (SELECT st.k FROM t) SELECT w.k FROM w JOIN u ON w.k = u.j", {}, {}),
        ("WITH w AS (SELECT i + 1 AS k FROM t) SELECT w.k FROM w JOIN u ON w.k = u.j", {}, {}),
        ("WITH w AS (SELECT *, 1 AS k FROM t) SELECT w.k FROM w JOIN u ON w.k = u.j", {}, {}),
    ],
)
def test_keys_are_told_as_the_table_calls_them_and_as_the_result_does(sql, keys, given):
    found = join_query(sql)

    assert (keys, given) == (found.keys, found.given)


def test_functions_are_told_of():
    sql = "SELECT lower(t.a) AS a FROM t JOIN u ON t.k = u.k WHERE upper(u.b) > 'a'"

    assert {"lower", "upper"} == join_query(sql).calls


NOT_JOINED = [
    "SELECT a FROM t",
    "SELECT t.a FROM t, u WHERE t.k = u.k",
    "SELECT t.a FROM t CROSS JOIN u",
    "SELECT t.a FROM t RIGHT JOIN u ON t.k = u.k",
    "SELECT t.a FROM t FULL JOIN u ON t.k = u.k",
    "SELECT t.a FROM t NATURAL JOIN u",
    "SELECT t.a FROM t JOIN u ON t.k > u.k",
    "SELECT t.a FROM t JOIN u",
    "SELECT t.a FROM t JOIN (SELECT * FROM u) AS u ON t.k = u.k",
    "SELECT t.a FROM (SELECT * FROM t) AS t JOIN u ON t.k = u.k",
    "SELECT t.a FROM t JOIN LATERAL (SELECT * FROM u) AS u ON t.k = u.k",
    "SELECT /*+ MERGE(u) */ t.a FROM t JOIN u ON t.k = u.k",
    "SELECT DISTINCT t.a FROM t JOIN u ON t.k = u.k",
    "SELECT t.k, count(*) AS n FROM t JOIN u ON t.k = u.k GROUP BY t.k",
    "SELECT t.a, rank() OVER (ORDER BY t.a) AS n FROM t JOIN u ON t.k = u.k",
    "SELECT t.a FROM t JOIN u ON t.k = u.k ORDER BY t.a",
    "SELECT t.a FROM t JOIN u ON t.k = u.k LIMIT 3",
    "SELECT t.a FROM t JOIN u ON t.k = u.k WHERE t.a IN (SELECT a FROM v)",
    "SELECT t.a FROM t JOIN u ON t.k = u.k UNION ALL SELECT a FROM v",
    "SELECT t.a FROM t TABLESAMPLE (10 ROWS) JOIN u ON t.k = u.k",
    "SELECT t.a FROM range(10) AS t(k) JOIN u ON t.k = u.k",
    # What a name makes of several rows, or of several tables.
    "WITH u AS (SELECT k, max(a) AS a FROM v GROUP BY k) SELECT t.a FROM t JOIN u ON t.k = u.k",
    "WITH u AS (SELECT DISTINCT k FROM v) SELECT t.a FROM t JOIN u ON t.k = u.k",
    "WITH u AS (SELECT v.k FROM v JOIN w ON v.k = w.k) SELECT t.a FROM t JOIN u ON t.k = u.k",
    "WITH u AS (SELECT * FROM v LIMIT 3) SELECT t.a FROM t JOIN u ON t.k = u.k",
    "WITH u AS (SELECT k FROM v UNION SELECT k FROM w) SELECT t.a FROM t JOIN u ON t.k = u.k",
    "SELECT x.a FROM t AS x(a, k) JOIN u ON x.k = u.k",
    "SELECT t.a FROM t JOIN u AS y(k) ON t.k = y.k",
    "WITH u AS (SELECT * FROM (SELECT * FROM v) AS x(k)) SELECT t.a FROM t JOIN u ON t.k = u.k",
    "WITH u(k) AS (SELECT j FROM v) SELECT t.a FROM t JOIN u ON t.k = u.k",
    "WITH RECURSIVE u AS (SELECT * FROM v) SELECT t.a FROM t JOIN u ON t.k = u.k",
    "SELECT a FROM (WITH u AS (SELECT * FROM v) SELECT t.a FROM t JOIN u ON t.k = u.k) AS r",
    "FROM t |> JOIN u ON t.k = u.k",
    "no query",
]


@pytest.mark.parametrize("sql", NOT_JOINED)
def test_other_queries_hand_rows_over_as_spark_likes(sql):
    assert join_query(sql) is None
