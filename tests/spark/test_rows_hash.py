"""The rows hash: equal for equal rows however they lie, different for rows that differ."""

import random

import pytest
from pyspark.sql import functions as f

from rocky.language.datatypes.text import parse_schema, parse_type
from rocky.language.datatypes.types import StructField
from rocky.run.materialize.workspace import NO_ROWS
from rocky.spark.frame import fields_of
from rocky.spark.rows_hash import LANES, hash_rows, observed_columns, read_hash, row_hash

TOTAL = 1 << 128

# Not a literal: Spark takes the literals 0.0 and -0.0 of one query for one expression.
MINUS = "double(if(id = 0, '-0.0', '1'))"
# By type: values of which no two are the same.
DIFFERENT = {
    "bigint": ["0L", "1L", "-1L", "NULL"],
    "double": ["0.0D", MINUS, "1.0D", "double('NaN')", "NULL"],
    "float": ["0.0F", f"float({MINUS})", "float('NaN')", "NULL"],
    "string": ["''", "'a'", "'A'", "'a '", "NULL"],
    "string collate UTF8_LCASE": ["'a' collate UTF8_LCASE", "'A' collate UTF8_LCASE"],
    "decimal(38,10)": ["CAST(1 AS DECIMAL(38,10))", "CAST(10 AS DECIMAL(38,10))", "NULL"],
    "binary": ["X''", "X'00'", "X'0000'", "NULL"],
    "array<int>": [
        "array(1, 2)",
        "array(2, 1)",
        "array()",
        "array(NULL)",
        "array(NULL, NULL)",
        "array(1, NULL)",
        "array(NULL, 1)",
        "NULL",
    ],
    "array<double>": [
        "array(0.0D)",
        f"array({MINUS})",
        f"array(0.0D, {MINUS})",
        f"array({MINUS}, 0.0D)",
        "array(NULL, 0.0D)",
    ],
    "array<array<int>>": [
        "array(array(1), array(2))",
        "array(array(1, 2), array())",
        "array(array(), array(1, 2))",
        "array(NULL, array(1, 2))",
        "array(array(1, 2))",
    ],
    "struct<a: int, b: int>": [
        "NULL",
        "named_struct('a', CAST(NULL AS INT), 'b', CAST(NULL AS INT))",
        "named_struct('a', 1, 'b', CAST(NULL AS INT))",
        "named_struct('a', CAST(NULL AS INT), 'b', 1)",
    ],
    "map<string, int>": [
        "map()",
        "map('a', 1)",
        "map('a', 2)",
        "map('b', 1)",
        "map('a', 1, 'b', 2)",
        "map('a', 2, 'b', 1)",
        "map('a', NULL)",
        "NULL",
    ],
    "map<string, map<string, int>>": [
        "map('a', map())",
        "map('a', map('b', 1))",
        "map('b', map('a', 1))",
    ],
    "variant": [
        "parse_json('1')",
        "parse_json('\"1\"')",
        "parse_json('1.0')",
        "parse_json('{\"a\": 1}')",
        "parse_json('null')",
        "NULL",
    ],
    "timestamp": [
        "timestamp'2020-01-01 00:00:00'",
        "timestamp'2020-01-01 00:00:00.000001'",
        "NULL",
    ],
    "interval day to second": ["interval '1' day", "interval '24 00:00:01' day to second"],
}
# By type: two values that are one.
SAME = {
    "map<string, int>": ("map('a', 1, 'b', 2)", "map('b', 2, 'a', 1)"),
    "map<string, map<int, int>>": ("map('x', map(1, 1, 2, 2))", "map('x', map(2, 2, 1, 1))"),
    "double": ("double('NaN')", "CAST(float('NaN') AS DOUBLE)"),
    "variant": ("parse_json('{\"a\": 1, \"b\": 2}')", "parse_json('{\"b\": 2, \"a\": 1}')"),
}  # fmt: skip


def hashed(spark, cases: dict[str, list[str]]) -> dict[str, list[tuple[int, int]]]:
    """The hashes of single values, all by one job."""
    places, selected, lanes = {}, [], []
    for number, (kind, values) in enumerate(cases.items()):
        places[kind] = [f"c{number}_{place}" for place in range(len(values))]
        for name, value in zip(places[kind], values, strict=True):
            selected.append(f"CAST({value} AS {kind}) AS {name}")
            field = StructField(name, parse_type(kind), nullable=True)
            lanes += [row_hash([field], lane).alias(f"{name}_{lane}") for lane in LANES]
    row = spark.range(1).selectExpr(*selected).select(*lanes).collect()[0]
    return {
        kind: [tuple(row[f"{name}_{lane}"] for lane in LANES) for name in names]
        for kind, names in places.items()
    }


def add(*hashes: str) -> str:
    return f"{sum(int(each, 16) for each in hashes) % TOTAL:032x}"


@pytest.mark.spark
def test_values_that_differ_have_different_hashes_in_both_lanes(spark):
    found = hashed(spark, DIFFERENT)

    for kind, hashes in found.items():
        for lane in LANES:
            assert len(DIFFERENT[kind]) == len({each[lane] for each in hashes}), (kind, lane)
        assert all(one != other for one, other in hashes), kind


@pytest.mark.spark
def test_values_that_are_the_same_have_one_hash(spark):
    found = hashed(spark, {kind: list(values) for kind, values in SAME.items()})

    assert {} == {kind: hashes for kind, hashes in found.items() if len(set(hashes)) > 1}


@pytest.mark.spark
def test_values_do_not_run_together_across_columns(spark):
    rows = spark.sql(
        "SELECT * FROM VALUES (array(1), array(2), 'ab', 'c', 1, NULL),"
        " (array(1, 2), array(), 'ab', 'c', 1, NULL), (array(), array(1, 2), 'ab', 'c', 1, NULL),"
        " (array(1), array(2), 'a', 'bc', 1, NULL), (array(1), array(2), 'ab', 'c', NULL, 1),"
        " (NULL, array(1, 2), 'ab', 'c', 1, NULL) AS t(a, b, c, d, e, f)"
    )
    fields = fields_of(rows)

    found = rows.select(row_hash(fields, 0), row_hash(fields, 1)).collect()
    assert (6, 6) == (len({row[0] for row in found}), len({row[1] for row in found}))


def random_rows(seed: int, count: int) -> list[tuple]:
    draw = random.Random(seed)

    def maybe(value):
        return None if draw.random() < 0.3 else value

    return [
        (
            maybe(draw.randrange(5)),
            maybe(draw.choice(["", "a", "b", "ab"])),
            maybe(draw.choice([0.0, -0.0, 1.5, float("nan")])),
            maybe([maybe(draw.randrange(3)) for _ in range(draw.randrange(3))]),
            maybe({draw.choice("xyz"): maybe(draw.randrange(2)) for _ in range(draw.randrange(3))}),
            maybe((maybe(1), maybe([maybe("q")]))),
        )
        for _ in range(count)
    ]


SCHEMA = (
    "a int, b string, c double, d array<int>, e map<string,int>, f struct<x: int, y: array<string>>"
)


@pytest.mark.spark
@pytest.mark.parametrize("seed", range(2))
def test_the_hash_depends_on_the_rows_and_not_on_their_order_or_place(spark, seed):
    rows = random_rows(seed, 200)
    frame = spark.createDataFrame(rows, SCHEMA)
    fields = fields_of(frame)
    shuffled = random.Random(seed + 100).sample(rows, len(rows))
    part, rest = spark.createDataFrame(rows[:70], SCHEMA), spark.createDataFrame(rows[70:], SCHEMA)
    loosely = parse_schema(SCHEMA)

    whole = hash_rows(frame, fields)
    assert whole == hash_rows(spark.createDataFrame(shuffled, SCHEMA).repartition(5), loosely)
    assert whole == add(hash_rows(part, fields), hash_rows(rest, fields))
    assert whole != hash_rows(spark.createDataFrame([*rows[:-1], rows[0]], SCHEMA), fields)


@pytest.mark.spark
def test_equal_rows_do_not_cancel(spark):
    one, two = spark.sql("SELECT 1 AS a"), spark.sql("SELECT explode(array(1, 1)) AS a")
    fields = fields_of(one)

    assert add(hash_rows(one, fields), hash_rows(one, fields)) == hash_rows(two, fields)
    assert NO_ROWS == hash_rows(one.where("a > 1"), fields)


@pytest.mark.spark
def test_declared_nullability_does_not_change_the_hash(spark):
    strict = spark.sql("SELECT 1 AS a, array(1, 2) AS b, named_struct('x', 1) AS c")
    loose = spark.sql(
        "SELECT a, b, c FROM VALUES (1, array(1, 2), named_struct('x', 1)),"
        " (NULL, array(NULL), named_struct('x', NULL)) AS t(a, b, c) WHERE a IS NOT NULL"
    )

    assert hash_rows(strict, fields_of(strict)) == hash_rows(loose, fields_of(loose))


@pytest.mark.spark
def test_sums_hold_for_more_rows_than_fit_a_sum_of_whole_words(spark):
    # Sixteen billion times one row, as partial sums of that many rows.
    count = 1 << 34
    one = spark.sql("SELECT 'x' AS a")
    fields = fields_of(one)
    sums = one.select(*observed_columns(fields)).collect()[0].asDict()
    many = spark.range(1).select(
        *[f.sum(f.lit(value) * f.lit(count)).alias(name) for name, value in sums.items()]
    )

    expected = f"{int(hash_rows(one, fields), 16) * count % TOTAL:032x}"
    assert expected == read_hash(many.collect()[0].asDict())


# What ledgers hold was computed by earlier releases: the hash of a row never changes. More columns
# than a word has flags, names that must be quoted, plain and nested columns side by side.
PLAIN = (
    "id, if(id % 3 = 0, NULL, id) AS `a b`, CAST(-0.0D AS FLOAT) AS f,"
    " if(id % 5 = 0, -0.0D, CAST(id AS DOUBLE)) AS d, if(id % 7 = 0, NULL, float('nan')) AS n,"
    " CAST(id AS DECIMAL(10, 2)) AS `x.y`, CAST(id AS STRING) AS `q``t`,"
    " CAST(CAST(id AS STRING) AS BINARY) AS bin, id % 2 = 0 AS flag,"
    " date_add(DATE'2020-01-01', CAST(id AS INT)) AS dt, timestamp_micros(id) AS ts,"
    " CAST(timestamp_micros(id) AS TIMESTAMP_NTZ) AS tn, NULL AS v, CAST(id AS TINYINT) AS ti,"
    " INTERVAL '1' DAY AS dy, INTERVAL '1' MONTH AS mo, 'a' COLLATE UNICODE_CI AS col"
)
NESTED = (
    "array(id, NULL) AS ar, map(id, 'x') AS m, struct(id AS `k`, if(id % 2 = 0, NULL, -0.0D) AS z)"
    """ AS st, parse_json('{"a":1}') AS va, array(struct(-0.0D AS q)) AS ars"""
)
WIDE = ", ".join(f"if(id % {n + 2} = 0, NULL, id + {n}) AS c{n}" for n in range(70))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (PLAIN, "01841b511786e3726ecbe292d3f32f00"),
        (f"{PLAIN}, {NESTED}", "1cfd85122bebf71d6374fb1d914ed066"),
        (f"{PLAIN}, {WIDE}", "8226d0b4694b10408f72014303a5ce0a"),
        (f"{PLAIN}, {WIDE}, {NESTED}", "aef6d855f2af23440ce13b27606e830d"),
    ],
)
def test_the_hash_is_that_of_every_release(spark, columns, expected):
    frame = spark.sql(f"SELECT {columns} FROM range(100)")

    assert expected == hash_rows(frame, fields_of(frame))


@pytest.mark.spark
def test_a_name_that_looks_like_a_variable_stays_a_name(spark):
    frame = spark.sql("SELECT 1 AS a")
    odd = frame.withColumnRenamed("a", "${a}")

    plain, renamed = (each.select(row_hash(fields_of(each))).first()[0] for each in (frame, odd))

    assert plain == renamed
