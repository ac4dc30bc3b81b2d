"""One query, written as SQL and as DataFrame code: one type, one lineage, one hash."""

import itertools

import pytest
from pyspark.sql import functions as F  # noqa: N812 - as people write PySpark
from pyspark.sql.window import Window

from rocky.compiler.model_records import with_functions
from rocky.frames.column_edges import lineage_of
from rocky.frames.frame_check import Frames
from rocky.frames.layers import every_layer
from rocky.language.binder.logic.normal_form import normal_hash
from rocky.language.binder.query import bind_text
from rocky.language.datatypes.text import parse_schema
from rocky.language.tables import tables_by_name

TABLES = {
    "orders": "id bigint not null, customer_id bigint, amount decimal(12,2), status string, day date",
    "customers": "customer_id bigint not null, name string, country string not null",
}
FILTERS = {
    "": lambda o: o,
    " WHERE amount > 1": lambda o: o.filter(F.col("amount") > 1),
    " WHERE status IS NOT NULL AND id >= 5": lambda o: o.where(
        F.col("status").isNotNull() & (F.col("id") >= 5)
    ),
    " WHERE status = 'a' AND amount > 1": lambda o: o.where(o.status == "a").where(
        F.col("amount") > 1
    ),
    " WHERE status IN ('a', 'b')": lambda o: o.filter(o.status.isin("a", "b")),
}
LISTS = {
    "SELECT id, status{}": lambda o: o.select("id", "status"),
    "SELECT *{}": lambda o: o,
    "SELECT id, amount * 2 AS twice, upper(status) AS state{}": lambda o: o.select(
        "id", (F.col("amount") * 2).alias("twice"), F.upper("status").alias("state")
    ),
    "SELECT DISTINCT status{}": lambda o: o.select("status").distinct(),
    "SELECT *, coalesce(status, 'none') AS known{}": lambda o: o.withColumn(
        "known", F.coalesce("status", F.lit("none"))
    ),
    "SELECT CASE WHEN amount > 10 THEN 'big' ELSE 'small' END AS size{}": lambda o: o.select(
        F.when(F.col("amount") > 10, "big").otherwise("small").alias("size")
    ),
    "SELECT id, row_number() OVER (PARTITION BY status ORDER BY day DESC) AS n{}": lambda o: (
        o.select(
            "id",
            F.row_number().over(Window.partitionBy("status").orderBy(F.desc("day"))).alias("n"),
        )
    ),
    "SELECT customer_id, sum(amount) AS total, count(*) AS n{} GROUP BY customer_id": lambda o: (
        o.groupBy("customer_id").agg(F.sum("amount").alias("total"), F.count("*").alias("n"))
    ),
    "SELECT max(day) AS newest, CAST(min(id) AS string) AS lowest{}": lambda o: o.agg(
        F.max("day").alias("newest"), F.min("id").cast("string").alias("lowest")
    ),
}
TAILS = {"": lambda f: f, " LIMIT 7": lambda f: f.limit(7)}
CASES = [
    (head.format(f" FROM orders{condition}") + tail, (filtered, listed, ended))
    for (condition, filtered), (head, listed), (tail, ended) in itertools.product(
        FILTERS.items(), LISTS.items(), TAILS.items()
    )
    # `distinct` is a query of its own over the list.
    if "DISTINCT" not in head
]


def facts(text: str, tables) -> tuple:
    bound = bind_text(text, tables)
    assert () == bound.diagnostics
    columns = [(each.name, each.type, each.nullable) for each in bound.columns]
    normal = with_functions(normal_hash(bound.parsed, bound.binding), bound.binding.functions)
    return columns, lineage_of(bound), normal


@pytest.mark.parametrize(("text", "steps"), CASES, ids=[text for text, _ in CASES])
def test_a_query_of_one_table_is_the_same_in_sql_and_in_python(text: str, steps) -> None:
    tables = tables_by_name({name: parse_schema(each) for name, each in TABLES.items()})
    with Frames(TABLES) as frames:
        frame = frames.orders
        for step in steps:
            frame = step(frame)
        made = frames.check(frame)

    assert facts(text, tables) == facts(made.sql, tables)


def test_names_of_variables_and_helpers_leave_the_query_as_it_is() -> None:
    tables = tables_by_name({name: parse_schema(each) for name, each in TABLES.items()})

    def paid(frame):
        return frame.filter(F.col("status") == "paid")

    with Frames(TABLES) as frames:
        inline = frames.orders.filter(F.col("status") == "paid").join(
            frames.customers, "customer_id"
        )
        people, bills = frames.customers, frames.orders
        moved = paid(bills).join(people, on="customer_id", how="inner")
        one, other = (frames.check(each).sql for each in (inline, moved))

    assert facts(one, tables) == facts(other, tables)


def by_name(how: str):
    return lambda o, c: o.join(c, "customer_id", how)


def by_condition(how: str):
    return lambda o, c: o.join(c, o.customer_id == c.customer_id, how)


_ON = "ON orders.customer_id = customers.customer_id"
_BY_NAME = {
    "JOIN": "inner",
    "LEFT JOIN": "left",
    "RIGHT JOIN": "right",
    "FULL OUTER JOIN": "full",
}
JOINS = {
    **{
        f" FROM orders {words} customers USING (customer_id)": by_name(how)
        for words, how in _BY_NAME.items()
    },
    **{
        f" FROM orders {words} customers {_ON}": by_condition(how)
        for words, how in _BY_NAME.items()
    },
    " FROM orders CROSS JOIN customers": lambda o, c: o.crossJoin(c),
}
JOIN_FILTERS = {
    "": lambda j: j,
    " WHERE amount > 1 AND country = 'NL'": lambda j: j.filter(
        (F.col("amount") > 1) & (F.col("country") == "NL")
    ),
}
JOIN_LISTS = {
    "SELECT id, name{}": lambda j: j.select("id", "name"),
    "SELECT id, amount * 2 AS twice, upper(country) AS land{}": lambda j: j.select(
        "id", (F.col("amount") * 2).alias("twice"), F.upper("country").alias("land")
    ),
    "SELECT country, sum(amount) AS total, count(*) AS orders{} GROUP BY country": lambda j: (
        j.groupBy("country").agg(F.sum("amount").alias("total"), F.count("*").alias("orders"))
    ),
    "SELECT id, rank() OVER (PARTITION BY country ORDER BY amount DESC) AS place{}": lambda j: (
        j.select(
            "id",
            F.rank().over(Window.partitionBy("country").orderBy(F.desc("amount"))).alias("place"),
        )
    ),
}
JOIN_CASES = [
    (head.format(tables + condition) + tail, (joined, filtered, listed, ended))
    for (tables, joined), (condition, filtered), (head, listed), (tail, ended) in itertools.product(
        JOINS.items(), JOIN_FILTERS.items(), JOIN_LISTS.items(), TAILS.items()
    )
]
OTHER_JOINS = {
    "SELECT * FROM orders JOIN customers USING (customer_id)": lambda o, c, p: o.join(
        c, "customer_id"
    ),
    "SELECT *, amount + 1 AS more FROM orders LEFT JOIN customers USING (customer_id)": (
        lambda o, c, p: o.join(c, "customer_id", "left").withColumn("more", F.col("amount") + 1)
    ),
    "SELECT * FROM orders LEFT ANTI JOIN customers USING (customer_id) WHERE id > 1": (
        lambda o, c, p: o.join(c, "customer_id", "anti").filter("id > 1")
    ),
    "SELECT id FROM orders LEFT SEMI JOIN customers ON orders.customer_id = customers.customer_id": (
        lambda o, c, p: o.join(c, o.customer_id == c.customer_id, "semi").select("id")
    ),
    "SELECT customer_id, name FROM orders FULL OUTER JOIN customers USING (customer_id)": (
        lambda o, c, p: o.join(c, "customer_id", "full").select("customer_id", "name")
    ),
    "SELECT name FROM orders JOIN customers USING (customer_id) WHERE status = 'paid' AND country = 'NL'": (
        lambda o, c, p: (
            o.filter(o.status == "paid")
            .join(c, "customer_id")
            .where("country = 'NL'")
            .select("name")
        )
    ),
    "SELECT name, label FROM orders JOIN customers USING (customer_id) LEFT JOIN raw.products USING (id)"
    " WHERE amount > 1 ORDER BY name LIMIT 3": (
        lambda o, c, p: (
            o.filter("amount > 1")
            .join(c, "customer_id")
            .join(p, "id", "left")
            .select("name", "label")
            .orderBy("name")
            .limit(3)
        )
    ),
    f"SELECT name, label FROM orders JOIN customers {_ON}"
    " JOIN raw.products AS p ON orders.status = p.label": (
        lambda o, c, p: (
            o.join(c, o.customer_id == c.customer_id)
            .join(p, o.status == p.label)
            .select("name", "label")
        )
    ),
}
JOINED_TABLES = {**TABLES, "raw.products": "id bigint, label string, price double"}


@pytest.mark.parametrize(("text", "steps"), JOIN_CASES, ids=[text for text, _ in JOIN_CASES])
def test_a_join_is_the_same_in_sql_and_in_python(text: str, steps) -> None:
    tables = tables_by_name({name: parse_schema(each) for name, each in TABLES.items()})
    joined, *rest = steps
    with Frames(TABLES) as frames:
        frame = joined(frames.orders, frames.customers)
        for step in rest:
            frame = step(frame)
        made = frames.check(frame)

    assert facts(text, tables) == facts(made.sql, tables)


@pytest.mark.parametrize(("text", "make"), OTHER_JOINS.items(), ids=list(OTHER_JOINS))
def test_joins_of_joins_and_of_filtered_tables_are_one_query(text: str, make) -> None:
    tables = tables_by_name({name: parse_schema(each) for name, each in JOINED_TABLES.items()})
    with Frames(JOINED_TABLES) as frames:
        made = frames.check(make(frames.orders, frames.customers, frames.table("raw.products")))

    assert facts(text, tables) == facts(made.sql, tables)


CLASHING = {
    "orders": "id bigint not null, ref bigint, name string, customers struct<name: string>",
    "customers": "id bigint not null, name string not null, ref bigint, orders int",
    "raw.orders": "ref bigint, day date not null",
}
CLASHES = {
    "a column of one side by its frame": lambda o, c, r: o.join(c, "id").select(c.name, o.ref),
    "the key of the other side": lambda o, c, r: o.join(c, "id", "left").select(c.id, "orders"),
    "a field that is called as a table": lambda o, c, r: o.join(c, o.id == c.id).select(
        F.col("customers.name").alias("n")
    ),
    "a column that is called as a table": lambda o, c, r: o.join(c, "id").select("orders"),
    "a name that a join below has twice": lambda o, c, r: (
        o.join(c, o.id == c.id).join(r, o.ref == r.ref).select("day", o.name, r.ref)
    ),
    "a table that is joined to itself": lambda o, c, r: (
        o.filter("id > 1").join(o.select("id", "ref"), "id").select("id", "name")
    ),
    "a table that is joined twice": lambda o, c, r: (
        o.join(c, "id").join(o.filter("ref > 1"), "id").select("id", "orders")
    ),
    "tables whose last names are equal": lambda o, c, r: o.join(r, "ref").select("id", "day"),
    "a star over names that are there twice": lambda o, c, r: (
        o.join(c, "id").select("*", F.lit(1).alias("one")).select("one", "orders")
    ),
    "a condition before an outer join": lambda o, c, r: (
        o.filter("ref > 1").join(c, "id", "right").select("id", "orders")
    ),
    "a struct of all columns": lambda o, c, r: o.join(r, "ref").select(F.struct("*").alias("s")),
    "a literal that reads like a name": lambda o, c, r: o.join(c, "id").select(
        F.lit("frame_1.id name").alias("n")
    ),
    "a new column with a name that is there twice": lambda o, c, r: (
        o.join(c, "id").select(F.col("orders").alias("name")).orderBy("name")
    ),
}


@pytest.mark.parametrize("make", CLASHES.values(), ids=list(CLASHES))
def test_a_join_whose_names_clash_gives_what_its_layers_give(make) -> None:
    tables = tables_by_name({name: parse_schema(each) for name, each in CLASHING.items()})
    with Frames(CLASHING) as frames:
        frame = make(frames.orders, frames.customers, frames.table("raw.orders"))
        top, made = frames.lowered(frame).top, frames.check(frame)
    layers = [each for each in every_layer(top) if each.body is not None]
    common = ", ".join(f"{each.name} AS ({each.body.text})" for each in layers)
    listed = ", ".join(f"`{each.sql}` AS `{each.name}`" for each in top.visible)
    layered = f"WITH {common} SELECT {listed} FROM {top.name}"

    assert facts(layered, tables)[:2] == facts(made.sql, tables)[:2]


_EITHER = "status IS NULL OR id < 3"
DIFFERENT_FILTERS = {
    "texts, one after the other": (
        lambda o, c: o.filter(_EITHER).filter("customer_id > 1"),
        lambda o, c: o.filter(f"{_EITHER} AND customer_id > 1"),
    ),
    "columns, one after the other": (
        lambda o, c: o.filter(F.col("status").isNull() | (F.col("id") < 3)).filter(
            F.col("customer_id") > 1
        ),
        lambda o, c: o.filter(f"{_EITHER} AND customer_id > 1"),
    ),
    "before a join and after it": (
        lambda o, c: o.filter(_EITHER).join(c, "customer_id").filter("name > 'a'"),
        lambda o, c: o.join(c, "customer_id").filter(f"{_EITHER} AND name > 'a'"),
    ),
    "by chance, before a join or after it": (
        lambda o, c: o.filter("uniform(0, 10, 7) > 5").join(c, "customer_id"),
        lambda o, c: o.join(c, "customer_id").filter("uniform(0, 10, 7) > 5"),
    ),
}


@pytest.mark.parametrize("case", DIFFERENT_FILTERS)
def test_filters_that_keep_other_rows_have_another_hash(case: str) -> None:
    tables = tables_by_name({name: parse_schema(each) for name, each in TABLES.items()})
    with Frames(TABLES) as frames:
        one, other = (
            frames.check(make(frames.orders, frames.customers)).sql
            for make in DIFFERENT_FILTERS[case]
        )

    assert facts(one, tables)[2] != facts(other, tables)[2]
