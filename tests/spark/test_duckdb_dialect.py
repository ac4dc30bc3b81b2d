"""DuckDB's column of the table is what DuckDB does: the same samples, on Spark and on DuckDB.

`dialect_samples.tsv` has expressions over one small table, by the function or form that each shows; `row` is asked
once a row, `all` once. Values are compared, not types: a DECIMAL and a DOUBLE of one value are equal.
"""

import math
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

import rocky
from rocky.language.dialects.table import Verdict, constructs_of, functions_of
from tests.compiler.projects import write

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(
        int(duckdb.__version__.split(".")[0]) < 2, reason="the column is that of DuckDB 2"
    ),
]

LINES = (Path(__file__).parent / "dialect_samples.tsv").read_text().splitlines()[1:]
SAMPLES = [tuple(line.split("\t")) for line in LINES]
ROWS = """
(1, 1, 2, CAST(1.5 AS DOUBLE), CAST(2.5 AS DOUBLE), 'abc', 'abd', DATE '2024-02-29', TRUE, CAST(1.25 AS DECIMAL(10,2))),
(2, -3, NULL, CAST(-2.5 AS DOUBLE), CAST(0.5 AS DOUBLE), ' Ab a ', 'x', DATE '2023-12-31', FALSE, CAST(-1.25 AS DECIMAL(10,2))),
(3, NULL, 4, CAST(0.0 AS DOUBLE), CAST(1.0 AS DOUBLE), NULL, 'y', NULL, NULL, NULL),
(4, 7, 1, CAST(12.25 AS DOUBLE), CAST(3.0 AS DOUBLE), 'banana', NULL, DATE '2021-01-03', TRUE, CAST(2.50 AS DECIMAL(10,2))),
(5, 0, 0, NULL, CAST(4.0 AS DOUBLE), '', '', DATE '1999-07-15', FALSE, CAST(0.05 AS DECIMAL(10,2)))
"""
NAMES = "id, i, j, x, y, s, u, d, b, p"
COLUMNS = """
  { name = "id", type = "int", nullable = false }, { name = "i", type = "int" }, { name = "j", type = "int" },
  { name = "x", type = "double" }, { name = "y", type = "double" }, { name = "s", type = "string" },
  { name = "u", type = "string" }, { name = "d", type = "date" }, { name = "b", type = "boolean" },
  { name = "p", type = "decimal(10,2)" }, { name = "ts", type = "timestamp" },
  { name = "a", type = "array<int>" }, { name = "aa", type = "array<array<int>>" }, { name = "m", type = "map<string,int>" }, { name = "st", type = "struct<x:int>" },
"""
FAILED = "failed"

# The difference is in the type alone, in an estimate, or one that no value shows.
UNSHOWN = frozenset(
    """
    approx_count_distinct approx_percentile approx_top_k percentile_approx
    array_agg date_format from_json make_timestamp timestamp to_date to_json to_timestamp
    posexplode timestamp_micros timestamp_millis try_to_date try_to_timestamp uuid version current_database
    format_string crc32 randn typeof decode schema_of_json
    """.split()
)
# Asked of the clock, the session or chance: equal by what they are, not by value.
UNREPEATABLE = frozenset(
    """
    current_catalog current_date current_schema current_timestamp current_user localtimestamp now
    random rand session_user user range grouping grouping_id
    """.split()
)


def query(rows, expression):
    return f"SELECT {expression} FROM v" + (" ORDER BY id" if rows == "row" else "")


def plain(value):
    """A value without what only its type says."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    match value:
        case bool() | None | str():
            return value
        case int() | float() | Decimal():
            number = float(value)
            return "nan" if math.isnan(number) else round(number, 9)
        case bytes() | bytearray() | memoryview():
            return bytes(value)
        case datetime():
            return value.replace(tzinfo=None)
        case date():
            return value
        case dict():
            return sorted([str(key), plain(each)] for key, each in value.items())
        case list() | tuple():
            return [plain(each) for each in value]
        case _:
            return str(value)


@pytest.fixture(scope="module")
def of_spark(spark):
    """What Spark gives for each sample."""
    spark.sql(
        "SELECT *, TIMESTAMP '2024-03-05 10:20:30' AS ts, array(1, 2, 2) AS a, array(array(1), array(2)) AS aa, map('k', 1) AS m, named_struct('x', 1) AS st"
        f" FROM VALUES {ROWS} AS v({NAMES})"
    ).createOrReplaceTempView("v")
    found = {}
    for rows in ("row", "all"):
        texts = [each for _, kind, each in SAMPLES if kind == rows]
        # Many in one query: each alone would be a job of its own.
        for start in range(0, len(texts), 25):
            part = texts[start : start + 25]
            listed = ", ".join(f"struct({each}) AS r{at}" for at, each in enumerate(part))
            order = " ORDER BY id" if rows == "row" else ""
            answer = spark.sql(f"SELECT {listed} FROM v{order}").collect()
            for at, each in enumerate(part):
                found[each] = [[plain(value) for value in row[at]] for row in answer]
    spark.catalog.dropTempView("v")
    return found


@pytest.fixture(scope="module")
def duck():
    with duckdb.connect() as connection:
        connection.execute("SET timezone = 'UTC'")
        connection.execute(
            "CREATE TABLE v AS SELECT *, TIMESTAMPTZ '2024-03-05 10:20:30' AS ts, [1, 2, 2] AS a, [[1], [2]] AS aa,"
            f" MAP {{'k': 1}} AS m, {{'x': 1}} AS st FROM (VALUES {ROWS}) AS v({NAMES})"
        )
        yield connection


def ask(duck, text):
    try:
        # Through Arrow: of a moment with a zone, its own rows want a package for zones.
        columns = duck.sql(text).to_arrow_table().columns
    except duckdb.Error:
        return FAILED
    values = [[plain(value) for value in column.to_pylist()] for column in columns]
    return [list(row) for row in zip(*values, strict=True)]


def facts():
    return {**functions_of("duckdb"), **constructs_of("duckdb")}


def samples_of(verdict):
    return {name for name, fact in facts().items() if fact.verdict is verdict}


def differing(of_spark, duck):
    """The names with a sample, and those with one on which the two do not agree."""
    sampled, other = set(), set()
    for name, rows, expression in SAMPLES:
        sampled.add(name)
        if of_spark[expression] != ask(duck, query(rows, expression)):
            other.add(name)
    return sampled, other


def test_what_is_the_same_gives_the_same_rows(of_spark, duck):
    sampled, other = differing(of_spark, duck)
    same = samples_of(Verdict.SAME)
    # A lambda is written otherwise, which is said of the lambda.
    assert set() == (other & same) - {"filter"}
    assert set() == (same & functions_of("duckdb").keys()) - sampled - UNREPEATABLE


def test_what_differs_has_a_sample_that_shows_it(of_spark, duck):
    sampled, other = differing(of_spark, duck)
    differs = samples_of(Verdict.DIFFERS) & functions_of("duckdb").keys()

    assert set() == (differs & sampled) - other - UNSHOWN
    assert set() == differs - sampled - UNSHOWN


def test_what_is_emitted_as_exact_gives_the_same_rows(of_spark, duck, tmp_path):
    models = {
        f"models/s{at}.sql": f"SELECT {expression} FROM v\n"
        for at, (_, _, expression) in enumerate(SAMPLES)
    }
    source = f'[[source]]\nname = "v"\nformat = "parquet"\npath = "v"\ncolumns = [{COLUMNS}]\n'
    settings = '[pipeline.p]\nmodels = "models/**"\n'
    write(tmp_path, {"rocky.toml": settings, "sources/v.toml": source, **models})
    emitted = {each.name: each for each in rocky.open(tmp_path).emit_sql(dialect="duckdb").models}
    wrong, exact = {}, set()
    for at, (name, rows, expression) in enumerate(SAMPLES):
        found = emitted[f"s{at}"]
        if found.inexact:
            continue
        exact.add(name)
        order = " ORDER BY id" if rows == "row" else ""
        answer = ask(duck, f"{found.sql}{order}")
        if answer != of_spark[expression]:
            wrong[expression] = (found.sql, of_spark[expression], answer)

    assert {} == wrong
    rewritten = {name for name, fact in constructs_of("duckdb").items() if fact.rewritten}
    assert set() == rewritten - exact
