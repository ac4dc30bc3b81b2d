"""Digests of logic over the corpus of queries that Spark accepts: equal only for equal queries."""

import re
from functools import cache

import pytest

from rocky.diagnostics import Severity
from rocky.language.binder.logic.digests import Renames
from rocky.language.binder.logic.queries import changed_clauses, column_logic
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.text import parse_schema
from rocky.language.tables import tables_by_name
from tests.corpus.questions import by_family, questions, shop_tables

ACCEPTED = [each for each in questions() if not each.refused]
# Of each family some, so that a new family changes nothing about the others.
SAMPLE = [each for family in by_family(ACCEPTED).values() for each in family[::12]]
# Families of what few people write: a digest there is welcome, and not asked for.
CORNERS = frozenset("arguments pipe_steps pivots recursion shared_names stars time_windows".split())
# What decides neither a value nor a row: keys of an ordering that no LIMIT follows, what EXISTS
# selects, hints, and columns that nobody reads.
NO_MATTER = re.compile(r"(?is)(order|sort|cluster) by(?!.*limit)|exists|/\*\+|except \(|unused")
SWAPS = {"desc": "ASC", "left": "INNER", "max": "min", "sum": "avg", "<": "<=", ">": ">="}
TOKEN = re.compile(
    r"(?<![\w.'`])\d+(?![\w.'`])|\b(?:DESC|LEFT|max|sum)\b|(?<= )[<>](?= )", re.IGNORECASE
)


@cache
def shop():
    return tables_by_name({name: parse_schema(text) for name, text in shop_tables().items()})


def logic(sql, **options):
    return column_logic(sql, shop(), **options)


def same(one, other):
    before, after = logic(one), logic(other)
    assert before.columns is not None, before.reason
    return (before.columns, before.rows) == (after.columns, after.rows)


def is_accepted(sql):
    found = bind_text(sql, shop())
    return all(each.severity is not Severity.ERROR for each in found.diagnostics)


def swapped(sql):
    for match in TOKEN.finditer(sql):
        text = match[0]
        new = str(int(text) + 1) if text.isdigit() else SWAPS[text.lower()]
        yield f"{sql[: match.start()]}{new}{sql[match.end() :]}"


@pytest.mark.slow
def test_nine_of_ten_queries_have_digests_and_the_others_a_reason():
    found = [logic(each.sql) for each in SAMPLE]
    usual = [logic(each.sql) for each in ACCEPTED if each.family not in CORNERS]

    assert sum(each.columns is not None for each in usual) >= 0.9 * len(usual)
    assert all(each.reason for each in found if each.columns is None)


def test_a_query_has_as_many_digests_as_columns():
    found = {each.id: (logic(each.sql).columns, bind_text(each.sql, shop())) for each in SAMPLE}

    wrong = [
        name
        for name, (columns, bound) in found.items()
        if columns is not None and len(columns) != len(bound.columns)
    ]
    assert wrong == []


def test_a_query_around_a_query_that_only_passes_on_changes_no_digest():
    wrong = []
    for each in SAMPLE:
        plain = logic(each.sql)
        names = [column.key for column in bind_text(each.sql, shop()).columns]
        if plain.columns is None or len(set(names)) < len(names):
            continue
        for around in (
            "SELECT * FROM ({}\n) AS inside",
            "WITH inside AS ({}\n) SELECT * FROM inside",
        ):
            wrapped = logic(around.format(each.sql.rstrip(";")))
            if (plain.columns, plain.rows) != (wrapped.columns, wrapped.rows):
                wrong.append(each.id)
    assert wrong == []


def test_another_number_function_or_comparison_is_another_digest():
    asked = [each for each in SAMPLE if not NO_MATTER.search(each.sql)]
    tried = [
        (each.id, text)
        for each in asked
        if logic(each.sql).columns is not None
        for text in swapped(each.sql)
        if is_accepted(text) and same(each.sql, text)
    ]

    assert tried == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT o.amount FROM orders o JOIN orders p USING (order_id)",
         "SELECT p.amount FROM orders o JOIN orders p USING (order_id)"),
        ("SELECT a.status FROM (SELECT status FROM orders WHERE amount > 1 GROUP BY status) a"
         " CROSS JOIN (SELECT status FROM orders WHERE amount > 2 GROUP BY status) b",
         "SELECT a.status FROM (SELECT status FROM orders WHERE amount > 2 GROUP BY status) a"
         " CROSS JOIN (SELECT status FROM orders WHERE amount > 1 GROUP BY status) b"),
        ("SELECT a.amount + 1 AS x FROM orders a JOIN (SELECT amount + 1 AS y, order_id FROM orders"
         " WHERE amount > 9) b ON a.order_id = b.order_id",
         "SELECT b.y AS x FROM orders a JOIN (SELECT amount + 1 AS y, order_id FROM orders"
         " WHERE amount > 9) b ON a.order_id = b.order_id"),
        ("SELECT 1 AS s FROM orders UNION ALL SELECT 2 FROM products",
         "SELECT 2 AS s FROM orders UNION ALL SELECT 1 FROM products"),
        ("SELECT status FROM orders WHERE amount > 1 UNION ALL SELECT status FROM orders",
         "SELECT status FROM orders UNION ALL SELECT status FROM orders WHERE amount > 1"),
        ("SELECT struct(status AS a) AS s FROM orders", "SELECT struct(status AS b) AS s FROM orders"),
        ("SELECT (SELECT max(i.amount) FROM orders i WHERE i.order_id = o.order_id) AS m FROM orders o",
         "SELECT (SELECT max(i.amount) FROM orders i WHERE o.order_id = o.order_id) AS m FROM orders o"),
        ("SELECT amount FROM (SELECT amount FROM orders ORDER BY order_date) LIMIT 3",
         "SELECT amount FROM (SELECT amount FROM orders ORDER BY due_date) LIMIT 3"),
        ("SELECT collect_list(status) AS l FROM (SELECT status FROM orders ORDER BY order_date)",
         "SELECT collect_list(status) AS l FROM (SELECT status FROM orders ORDER BY due_date)"),
        ("SELECT 'a' AS x", "SELECT 'A' AS x"),
        ("SELECT x, y FROM (SELECT sizes, x FROM products LATERAL VIEW explode(sizes) AS x)"
         " LATERAL VIEW explode(sizes) AS y",
         "SELECT x, x FROM (SELECT sizes, x FROM products LATERAL VIEW explode(sizes) AS x)"
         " LATERAL VIEW explode(sizes) AS y"),
        ("SELECT a.x FROM VALUES (1), (2) a(x) JOIN (SELECT x FROM VALUES (1), (2) v(x) WHERE x > 1) b"
         " ON a.x = 1",
         "SELECT b.x FROM VALUES (1), (2) a(x) JOIN (SELECT x FROM VALUES (1), (2) v(x) WHERE x > 1) b"
         " ON a.x = 1"),
        ("SELECT monotonically_increasing_id() AS n FROM (SELECT * FROM orders ORDER BY order_date)",
         "SELECT monotonically_increasing_id() AS n FROM (SELECT * FROM orders ORDER BY due_date)"),
        ("SELECT to_json(struct(status)) AS j FROM orders",
         "SELECT to_json(struct(s)) AS j FROM (SELECT status AS s FROM orders)"),
        ("SELECT to_json(struct(*)) AS j FROM (SELECT status AS S FROM orders)",
         "SELECT to_json(struct(*)) AS j FROM (SELECT status AS s FROM orders)"),
        ("SELECT coalesce(x.has, 0) AS f FROM orders o FULL JOIN (SELECT order_id, 1 AS has FROM orders) x"
         " USING (order_id)",
         "SELECT coalesce(1, 0) AS f FROM orders o FULL JOIN orders x USING (order_id)"),
        ("SELECT collect_list(status) AS l FROM (SELECT status FROM orders SORT BY order_date)",
         "SELECT collect_list(status) AS l FROM (SELECT status FROM orders SORT BY due_date)"),
        ("SELECT count(DISTINCT *) AS n FROM orders",
         "SELECT count(DISTINCT *) AS n FROM (SELECT status FROM orders)"),
        ("SELECT status FROM orders EXCEPT SELECT status FROM orders WHERE amount > 1",
         "SELECT status FROM orders EXCEPT SELECT note FROM orders WHERE amount > 1"),
    ],
)  # fmt: skip
def test_two_queries_that_only_look_alike_are_told_apart(before, after):
    assert not same(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SELECT count(*) AS n, current_date AS d FROM orders", "select COUNT(*), current_date() from ORDERS"),
        ("SELECT transform(sizes, s -> s + 1) AS x FROM products", "SELECT transform(sizes, t -> t + 1) FROM products"),
        ("SELECT o.*, c.name FROM orders o JOIN customers c USING (customer_id)",
         "SELECT o.customer_id, o.* EXCEPT (customer_id), c.name FROM orders o JOIN customers c ON"
         " o.customer_id = c.customer_id"),
        ("SELECT o.status FROM orders o LEFT ANTI JOIN orders p ON o.amount = p.amount",
         "SELECT o.status FROM orders o ANTI JOIN orders p ON p.amount = o.amount"),
        ("SELECT status, rank() OVER (ORDER BY count(*)) AS r FROM orders GROUP BY status HAVING count(*) > 1",
         "SELECT status, rank() OVER (ORDER BY n) AS r FROM (SELECT status, count(*) AS n FROM orders"
         " GROUP BY status) WHERE n > 1"),
        ("SELECT rand() AS a, uuid() AS b FROM orders",
         "WITH q AS (SELECT rand() AS a, uuid() AS b FROM orders) SELECT a, b FROM q"),
        ("SELECT sum(amount) FILTER (WHERE is_gift) AS g FROM orders GROUP BY status, is_paid",
         "SELECT sum(amount) FILTER (WHERE is_gift) FROM orders GROUP BY is_paid, status"),
    ],
)  # fmt: skip
def test_two_ways_to_write_one_query_are_not_told_apart(before, after):
    assert same(before, after)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("WITH RECURSIVE r MAX RECURSION LEVEL 5 AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r)"
         " SELECT n FROM r", "MAX RECURSION LEVEL"),
        ("SELECT status FROM orders FOR UPDATE", "`locks` in a Select"),
    ],
)  # fmt: skip
def test_what_nobody_looks_at_leaves_a_query_without_digests(sql, reason):
    assert logic(sql).columns is None
    assert logic(sql).reason == reason


def test_a_name_that_the_other_side_calls_differently_is_no_difference():
    renames = Renames({"orders": "sales"}, {("orders", "amount"): "total"})
    tables = tables_by_name({"sales": parse_schema("total int, k int")})
    before = tables_by_name({"orders": parse_schema("amount int, k int")})

    one = column_logic("SELECT amount + 1 AS x FROM orders WHERE k > 1", before, renames)
    other = column_logic("SELECT total + 1 AS x FROM sales WHERE k > 1", tables)
    assert (one.columns, one.rows) == (other.columns, other.rows)


def test_the_clauses_that_changed_are_named():
    before = logic("SELECT status, sum(amount) AS s FROM orders WHERE is_paid GROUP BY status")
    after = logic("SELECT DISTINCT status, sum(amount) AS s FROM orders GROUP BY status, is_gift")

    assert changed_clauses(before, after) == ("filter", "grouping", "distinct")


def test_a_query_nested_deeper_than_the_stack_is_followed():
    text = "SELECT amount FROM orders"
    for _ in range(400):
        text = f"SELECT amount FROM ({text})"

    assert same(text, "SELECT amount FROM orders")
