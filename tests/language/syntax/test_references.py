"""Names bound to views: what is replaced, what is left alone, what is refused."""

import re

import pytest

import rocky
from rocky.diagnostics.diagnostic import Span
from rocky.errors import RockyError
from rocky.language.syntax.references import bind_names, bind_query
from tests.corpus.gaps import accepted_questions
from tests.corpus.questions import by_family, shop_tables

ACCEPTED = by_family(accepted_questions())

TABLES = {
    "raw.orders": ("raw.orders", "shop.raw.orders"),
    "crm.orders": ("crm.orders", "shop.crm.orders"),
    "t": ("t", "raw.t", "shop.raw.t"),
    "dotted": ("a.b.c`d",),
    "naïve": ("schéma.naïve",),
}


def view_of(parts: tuple[str, ...]) -> str | None:
    """`v_<table>` for a table of the tests."""
    written = ".".join(parts)
    for name, spellings in TABLES.items():
        if written in spellings:
            return f"v_{name.replace('.', '_')}"
    return None


BOUND = {
    # An alias keeps the table's own name usable; a written alias stays.
    "SELECT * FROM raw.orders": "SELECT * FROM `v_raw_orders` AS `orders`",
    "SELECT o.id FROM raw.orders o": "SELECT o.id FROM `v_raw_orders` o",
    "SELECT * FROM Shop.RAW.Orders": "SELECT * FROM `v_raw_orders` AS `Orders`",
    "SELECT x FROM raw.orders t(x)": "SELECT x FROM `v_raw_orders` t(x)",
    # Columns qualified by more than the last part follow.
    "SELECT raw.orders.id, shop.raw.orders.*, orders.a.b FROM raw.orders": (
        "SELECT `orders`.id, `orders`.*, orders.a.b FROM `v_raw_orders` AS `orders`"
    ),
    "SELECT raw.t.id FROM t": "SELECT `t`.id FROM `v_t` AS `t`",
    "SELECT raw.orders.s.f[0].g FROM raw.orders": (
        "SELECT `orders`.s.f[0].g FROM `v_raw_orders` AS `orders`"
    ),
    "SELECT raw.orders.id FROM t AS raw": "SELECT raw.orders.id FROM `v_t` AS raw",
    # Two tables of one last part are told apart by their views.
    "SELECT raw.orders.id FROM raw.orders JOIN crm.orders ON raw.orders.id = crm.orders.id": (
        "SELECT `v_raw_orders`.id FROM `v_raw_orders` JOIN `v_crm_orders` "
        "ON `v_raw_orders`.id = `v_crm_orders`.id"
    ),
    "SELECT 1 FROM raw.orders WHERE EXISTS (SELECT 1 FROM t orders WHERE raw.orders.i = orders.i)": (
        "SELECT 1 FROM `v_raw_orders` WHERE EXISTS "
        "(SELECT 1 FROM `v_t` orders WHERE `v_raw_orders`.i = orders.i)"
    ),
    # A CTE hides a table from what follows it and what nests in its query, not from itself.
    "WITH t AS (SELECT * FROM t), u AS (TABLE t) SELECT * FROM u, t, raw.t": (
        "WITH t AS (SELECT * FROM `v_t` AS `t`), u AS (TABLE t) SELECT * FROM u, t, `v_t` AS `t`"
    ),
    "SELECT * FROM (WITH T AS (SELECT 1) SELECT * FROM t) JOIN t": (
        "SELECT * FROM (WITH T AS (SELECT 1) SELECT * FROM t) JOIN `v_t` AS `t`"
    ),
    "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t": (
        "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t"
    ),
    "WITH x AS (SELECT 1) SELECT * FROM t WHERE 1 IN (SELECT * FROM x UNION SELECT * FROM t)": (
        "WITH x AS (SELECT 1) SELECT * FROM `v_t` AS `t` "
        "WHERE 1 IN (SELECT * FROM x UNION SELECT * FROM `v_t` AS `t`)"
    ),
    # Names in strings and comments, functions and inline tables are no references.
    "SELECT 'raw.orders', \"t\" /* t */ FROM t -- raw.orders": (
        "SELECT 'raw.orders', \"t\" /* t */ FROM `v_t` AS `t` -- raw.orders"
    ),
    "SELECT * FROM range(3), VALUES (1) AS t(x), LATERAL explode(array(1))": (
        "SELECT * FROM range(3), VALUES (1) AS t(x), LATERAL explode(array(1))"
    ),
    "SELECT /*+ BROADCAST(t) */ * FROM t": "SELECT /*+ BROADCAST(t) */ * FROM `v_t` AS `t`",
    # Other ways to name a table.
    "TABLE t ORDER BY raw.t.x": "SELECT * FROM `v_t` AS `t` ORDER BY `t`.x",
    "FROM t |> WHERE t.x > 1 |> UNION ALL TABLE t": (
        "FROM `v_t` AS `t` |> WHERE t.x > 1 |> UNION ALL SELECT * FROM `v_t` AS `t`"
    ),
    "SELECT * FROM IDENTIFIER('raw.orders')": "SELECT * FROM `v_raw_orders` AS `orders`",
    "SELECT * FROM (t JOIN raw.orders USING (id)) x": (
        "SELECT * FROM (`v_t` AS `t` JOIN `v_raw_orders` AS `orders` USING (id)) x"
    ),
    # The clauses that can stand behind a table.
    "SELECT * FROM t TABLESAMPLE (10 ROWS) REPEATABLE (1) WHERE x": (
        "SELECT * FROM `v_t` TABLESAMPLE (10 ROWS) REPEATABLE (1) AS `t` WHERE x"
    ),
    "SELECT * FROM t TABLESAMPLE (BUCKET 1 OUT OF 2) s": (
        "SELECT * FROM `v_t` TABLESAMPLE (BUCKET 1 OUT OF 2) s"
    ),
    "SELECT * FROM t PIVOT (sum(t.a) FOR b IN (1)) p": (
        "SELECT * FROM `v_t` AS `t` PIVOT (sum(t.a) FOR b IN (1)) p"
    ),
    "SELECT * FROM raw.t UNPIVOT (v FOR n IN (raw.t.x)) LATERAL VIEW explode(a) e AS f": (
        "SELECT * FROM `v_t` AS `t` UNPIVOT (v FOR n IN (`t`.x)) LATERAL VIEW explode(a) e AS f"
    ),
    "SELECT * FROM t LEFT JOIN LATERAL (SELECT * FROM raw.orders WHERE raw.t.x = id)": (
        "SELECT * FROM `v_t` AS `t` "
        "LEFT JOIN LATERAL (SELECT * FROM `v_raw_orders` AS `orders` WHERE `t`.x = id)"
    ),
    # Quoted names, and white space inside one.
    "SELECT * FROM `a.b`.`c``d`": "SELECT * FROM `v_dotted` AS `c``d`",
    "SELECT `schéma`.`naïve`.x FROM `schéma`\n  . `naïve`": (
        "SELECT `naïve`.x FROM `v_naïve` AS `naïve`"
    ),
}


SENT = {
    # Whatever else the query calls it by, the name is still there to be called.
    "WITH d AS (SELECT * FROM t) SELECT D.a FROM raw.orders o JOIN d USING (a)": (
        "WITH d AS (SELECT * FROM `v_t` AS `t`) SELECT D.a FROM `v_raw_orders` o"
        " JOIN (SELECT /*+ BROADCAST(`d`) */ * FROM `d`) AS `d` USING (a)"
    ),
    "WITH `a``b` AS (TABLE t) SELECT x.a FROM raw.orders o JOIN `a``b` x(a) ON o.a = x.a": (
        "WITH `a``b` AS (SELECT * FROM `v_t` AS `t`) SELECT x.a FROM `v_raw_orders` o"
        " JOIN (SELECT /*+ BROADCAST(`a``b`) */ * FROM `a``b`) x(a) ON o.a = x.a"
    ),
}


@pytest.mark.parametrize("sql", SENT)
def test_spark_is_told_of_a_name_of_the_query_just_where_that_is_joined(sql: str) -> None:
    start = sql.index("JOIN ") + len("JOIN ")
    place = Span(
        start, start + len(re.match(r"`.*?`(?!`)|\w+", sql[start:].replace("``", "__"))[0])
    )

    assert (
        SENT[sql]
        == bind_query(sql, view_of, {place: "SELECT /*+ BROADCAST({0}) */ * FROM {0}".format}).text
    )


@pytest.mark.parametrize("sql", BOUND)
def test_each_table_name_becomes_its_view_and_nothing_else_changes(sql: str) -> None:
    assert BOUND[sql] == bind_names(sql, view_of)


REFUSED = {
    "SELECT * FROM nowhere": "`nowhere`, which is not a model",
    "SELECT * FROM parquet.`x.parquet`": "`parquet.x.parquet`, which is not a model",
    "SELECT raw.orders.id, orders.id FROM raw.orders, crm.orders": "give each table in FROM an alias",
    "SELECT raw.t.x FROM t, t": "give each table in FROM an alias",
    "SELECT * FROM t VERSION AS OF 3": "remove VERSION AS OF",
    "SELECT * FROM IDENTIFIER('t' || 'x')": "write its name",
    "WITH v_t AS (SELECT 1) SELECT * FROM t": "rename the CTE",
    "SELECT * FROM t WHERE": "cannot be read",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_a_name_that_cannot_be_placed_for_certain_is_refused(sql: str) -> None:
    with pytest.raises(RockyError) as refusal:
        bind_names(sql, view_of)

    assert REFUSED[sql] in str(refusal.value)


@pytest.mark.slow
def test_a_union_of_thousands_is_bound() -> None:
    bound = bind_names(" UNION ALL ".join(["SELECT * FROM t"] * 2000), view_of)

    assert 2000 == bound.count("`v_t` AS `t`")


@pytest.mark.sampled
@pytest.mark.parametrize("family", ACCEPTED)
def test_a_bound_query_has_the_columns_of_the_query_and_reads_only_views(family: str) -> None:
    tables = shop_tables()
    views = {f"view_{name}": ddl for name, ddl in tables.items()}
    different = []
    for question in ACCEPTED[family]:
        bound = bind_names(question.sql, lambda parts: f"view_{parts[-1]}")
        columns = rocky.check_sql(question.sql, tables=tables).columns
        if columns != rocky.check_sql(bound, tables=views).columns:
            different.append(question.name)

    assert [] == different
