"""Macros on Spark: the rows they give, the places they fail at, and when they are built again."""

from hashlib import md5

import pyarrow as pa
import pytest

import rocky
from tests.spark.projects import build, write_files, write_rows

pytestmark = pytest.mark.spark

SOURCES = """\
[[source]]
name = "raw.orders"
format = "parquet"
path = "data/orders.parquet"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "currency", type = "string" },
  { name = "amount", type = "string" },
  { name = "parts", type = "array<int>" },
]

[[source]]
name = "raw.rates"
format = "parquet"
path = "data/rates.parquet"
columns = [
  { name = "currency", type = "string" },
  { name = "rate", type = "int" },
  { name = "day", type = "int" },
]
"""
MACROS = {
    "macros/whole.sql": "CREATE MACRO whole(text EXPRESSION)\nRETURN\n  CAST(@text AS INT)\n",
    "macros/euros.sql": (
        "CREATE MACRO euros(text EXPRESSION, code EXPRESSION)\n"
        "RETURN @whole(@text) * (SELECT max(rate) FROM raw.rates WHERE currency = @code)\n"
    ),
    "macros/newest.sql": (
        "CREATE MACRO newest(t TABLE, key COLUMN, at COLUMN)\nRETURN\n"
        "WITH ranked AS (\n"
        "  SELECT *, row_number() OVER (PARTITION BY @key ORDER BY @at DESC) AS n FROM @t\n"
        ")\nSELECT * EXCEPT (n) FROM ranked WHERE n = 1\n"
    ),
    "macros/plus.sql": (
        "CREATE MACRO plus(xs EXPRESSION, d EXPRESSION) RETURN transform(@xs, x -> x + @d)\n"
    ),
}
MODELS = {
    # The alias `rates` is the caller's: the macro reads a table of that name, too.
    "models/paid.sql": (
        "SELECT rates.id AS x, @euros(rates.amount, rates.currency) - 1 AS euros,\n"
        "  @plus(rates.parts, rates.id) AS parts\nFROM raw.orders AS rates\n"
    ),
    "models/paid.toml": "[[surrogate_key]]\nname = 'key'\ncolumns = ['x', 'euros']\n",
    "models/ranked.sql": (
        "WITH ranked AS (SELECT * FROM raw.rates WHERE day < 3)\n"
        "SELECT r.currency, r.rate FROM @newest(ranked, currency, day) AS r\n"
    ),
    "models/ranked.toml": """\
[[tests]]
type = "expression"
name = "whole"
expression = "@whole(rate) > 0 AND @half(rate) < rate"
filter = "@whole(rate) IS NOT NULL"

[[tests]]
type = "unique_expr"
name = "keyed"
key_expr = "@whole(rate) % 2"
""",
    "macros/half.sql": "CREATE MACRO half(x EXPRESSION) RETURN @x / 2\n",
}
ORDERS = pa.schema(
    [
        ("id", pa.int64()),
        ("currency", pa.string()),
        ("amount", pa.string()),
        ("parts", pa.list_(pa.int32())),
    ]
)
RATES = pa.schema([("currency", pa.string()), ("rate", pa.int32()), ("day", pa.int32())])


def shop(root, amount="20", **files):
    write_files(root, {"sources/raw.toml": SOURCES, **MACROS, **MODELS, **files})
    orders = [
        {"id": 1, "currency": "EUR", "amount": "10", "parts": [1, 2]},
        {"id": 2, "currency": "USD", "amount": amount, "parts": []},
    ]
    rates = [
        {"currency": "EUR", "rate": 1, "day": 1},
        {"currency": "USD", "rate": 2, "day": 1},
        {"currency": "USD", "rate": 3, "day": 2},
        {"currency": "USD", "rate": 9, "day": 3},
    ]
    write_rows(root / "data/orders.parquet", ORDERS, orders)
    write_rows(root / "data/rates.parquet", RATES, rates)
    return root


def rows(root, spark, model):
    return sorted(tuple(row) for row in rocky.open(root, spark=spark).table(model).collect())


def outcomes(report):
    return {each.step.name: each.execution.status for each in report.outcomes}


def test_macros_give_the_rows_of_what_they_stand_for_and_are_built_again_when_they_change(
    tmp_path, spark
):
    shop(tmp_path)
    opened = rocky.open(tmp_path, spark=spark)

    assert opened.compile(verify=True).verify.agrees
    assert {"paid": "success", "ranked": "success"} == outcomes(build(tmp_path, spark))
    # Orders of 10 EUR and 20 USD, at 1 and 9: each in its own currency.
    keys = [md5(text).hexdigest() for text in (b"1:1|1:9", b"1:2|3:179")]
    assert [(1, 9, [2, 3], keys[0]), (2, 179, [], keys[1])] == rows(tmp_path, spark, "paid")
    assert [("EUR", 1), ("USD", 3)] == rows(tmp_path, spark, "ranked")

    tests = opened.test("ranked")
    # Both rates are odd, so that their halves are the same key.
    assert {"whole": True, "keyed": False} == {each.name: each.passed for each in tests.data_tests}

    spaced = MACROS["macros/newest.sql"].replace("RETURN\n", "-- the last of each\nRETURN\n\n")
    shop(tmp_path, **{"macros/newest.sql": spaced})
    assert {"reused"} == set(outcomes(build(tmp_path, spark)).values())

    oldest = MACROS["macros/newest.sql"].replace("DESC", "ASC")
    shop(tmp_path, **{"macros/newest.sql": oldest})
    assert {"paid": "reused", "ranked": "success"} == outcomes(build(tmp_path, spark))
    assert [("EUR", 1), ("USD", 2)] == rows(tmp_path, spark, "ranked")


def test_a_value_that_a_macro_cannot_take_is_told_at_the_call_and_at_the_macros_line(
    tmp_path, spark
):
    shop(tmp_path, amount="many")
    report = rocky.open(tmp_path, spark=spark).run("paid").run
    ((found,),) = [each.diagnostics for each in report.errors]
    spans = [found.span, *(label.span for label in found.labels)]
    places = [(each.file, each.line) for each in spans]

    assert "E046" == found.code
    assert [("models/paid.sql", 1), ("macros/euros.sql", 2), ("macros/whole.sql", 3)] == places
