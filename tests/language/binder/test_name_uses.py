"""What each name of a query means, noted while it is bound."""

import pytest

from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.name_uses import NameNotes, scope_at_cursor
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.text import parse_schema
from rocky.language.tables import tables_by_name
from tests.corpus.questions import questions, shop_tables

TABLES = tables_by_name(
    {
        "raw.orders": parse_schema("id BIGINT, amount INT, at STRUCT<day: DATE>, customer BIGINT"),
        "customers": parse_schema("customer BIGINT, name STRING"),
    }
)


def noted(sql: str) -> dict[str, list[tuple]]:
    notes = NameNotes()
    bind_text(sql, TABLES, names=notes)
    found: dict[str, list[tuple]] = {}
    for span, use in sorted(notes.uses.items()):
        made = sql[slice(*use.definition)] if use.definition else None
        meant = (use.role, f"{use.table}.{use.column}" if use.column else use.table, made)
        found.setdefault(sql[slice(*span)], []).append(meant)
    return found


@pytest.mark.parametrize(
    ("sql", "name", "meant"),
    [
        ("SELECT id FROM raw.orders", "id", [("column", "raw.orders.id", None)]),
        ("SELECT id FROM raw.orders", "raw.orders", [("table", "raw.orders", None)]),
        ("SELECT o.id FROM raw.orders o", "o", [("alias", None, "o")] * 2),
        (
            "SELECT orders.id FROM raw.orders",
            "orders",
            [("alias", "raw.orders", "raw.orders")],
        ),
        ("SELECT at.day FROM raw.orders", "day", [("field", None, None)]),
        (
            "SELECT amount + 1 AS more, more + 1 AS most FROM raw.orders",
            "more",
            [("output", None, "more"), ("lateral", None, "more")],
        ),
        (
            "WITH c AS (SELECT id AS k FROM raw.orders) SELECT k FROM c",
            "k",
            [("output", None, "k"), ("column", None, "k")],
        ),
        (
            "WITH c AS (SELECT id AS k FROM raw.orders) SELECT k FROM c",
            "c",
            [("cte", None, "c"), ("cte", None, "c")],
        ),
        (
            "SELECT k FROM (SELECT id FROM raw.orders) AS t(k)",
            "k",
            [("column", None, "k"), ("output", None, "k")],
        ),
        (
            "SELECT transform(array(1), x -> x + 1) AS y",
            "x",
            [("variable", None, None)],
        ),
        (
            "SELECT * EXCEPT (amount) FROM raw.orders",
            "amount",
            [("column", "raw.orders.amount", None)],
        ),
        (
            "SELECT name FROM raw.orders JOIN customers USING (customer)",
            "customer",
            [("column", "raw.orders.customer", None)],
        ),
        (
            "SELECT sum(amount) AS total FROM raw.orders GROUP BY id HAVING total > 1 ORDER BY total",
            "total",
            [("output", None, "total")] + [("column", None, "total")] * 2,
        ),
        (
            "SELECT (SELECT max(c.name) FROM customers c WHERE c.customer = o.customer) AS n"
            " FROM raw.orders o",
            "o",
            [("alias", None, "o")] * 2,
        ),
    ],
)
def test_a_name_is_noted_with_what_it_means_and_where_that_was_named(sql, name, meant):
    assert meant == noted(sql)[name]


def test_a_star_is_noted_with_the_columns_it_stands_for():
    notes = NameNotes()
    bind_text("SELECT o.* FROM raw.orders o", TABLES, names=notes)

    star = notes.uses[Span(9, 10)]

    assert ["id", "amount", "at", "customer"] == [each.column for each in star.members]


def test_a_name_at_the_cursor_tells_what_could_be_named_there():
    notes = NameNotes("here")
    bind_text(
        "WITH c AS (SELECT 1 AS one) SELECT amount AS a, here, 2 AS later FROM raw.orders o",
        TABLES,
        names=notes,
    )
    found = scope_at_cursor(notes)

    assert found is not None
    assert ["a", "id", "amount", "at", "customer"] == [each.name for each in found.columns]
    assert ("c",) == found.ctes
    assert not found.wants_table


@pytest.mark.slow
def test_noting_names_changes_nothing_that_a_query_is_found_to_be(sample):
    tables = tables_by_name({name: parse_schema(ddl) for name, ddl in shop_tables().items()})
    for question in sample(questions()):
        plain = bind_text(question.sql, tables)
        noted_too = bind_text(question.sql, tables, names=NameNotes())

        assert plain.diagnostics == noted_too.diagnostics, question.id
        assert [(each.name, each.type, each.nullable) for each in plain.columns] == [
            (each.name, each.type, each.nullable) for each in noted_too.columns
        ], question.id
