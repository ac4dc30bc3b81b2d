"""One query, written as SQL and as DataFrame code: one type, one lineage, one hash."""

import itertools

import pytest
from pyspark.sql import functions as F  # noqa: N812 - as people write PySpark
from pyspark.sql.window import Window

from rocky.compiler.model_records import with_functions
from rocky.frames.frame_check import Frames, lineage_of
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


def test_a_join_has_the_types_and_lineage_of_its_sql() -> None:
    tables = tables_by_name({name: parse_schema(each) for name, each in TABLES.items()})
    text = "SELECT name, sum(amount) AS total FROM orders LEFT JOIN customers USING (customer_id) GROUP BY name"
    with Frames(TABLES) as frames:
        joined = frames.orders.join(frames.customers, "customer_id", "left")
        made = frames.check(joined.groupBy("name").agg(F.sum("amount").alias("total")))

    assert facts(text, tables)[:2] == facts(made.sql, tables)[:2]
