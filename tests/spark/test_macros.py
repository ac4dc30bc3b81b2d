"""Macros on Spark: the rows they give, the places they fail at, and when they are built again."""

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
    "models/ranked.sql": (
        "WITH ranked AS (SELECT * FROM raw.rates WHERE day < 3)\n"
        "SELECT r.currency, r.rate FROM @newest(ranked, currency, day) AS r\n"
    ),
