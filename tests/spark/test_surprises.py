"""What docs/internals/spark-surprises.md says of Spark, asked of Spark and of Rocky."""

import json

import pytest

import rocky

pytestmark = pytest.mark.spark

TABLES = {
    "t": "i INT NOT NULL, j INT, s STRING NOT NULL, d DECIMAL(18,2) NOT NULL, p DECIMAL(5,2), f FLOAT NOT NULL, day DATE NOT NULL"
}

SURPRISES = [
    ("division is nullable", "SELECT i / 2 AS x FROM t", "double", True),
    ("remainder is nullable", "SELECT i % 2 AS x FROM t", "int", True),
    ("round is nullable", "SELECT round(d, 1) AS x FROM t", "decimal(18,1)", True),
    ("ceil is nullable", "SELECT ceil(d) AS x FROM t", "decimal(17,0)", True),
    ("date_trunc is nullable", "SELECT date_trunc('month', day) AS x FROM t", "timestamp", True),
    ("a cast from a string is nullable", "SELECT CAST(s AS INT) AS x FROM t", "int", True),
    ("a date literal is not", "SELECT DATE '2024-01-01' AS x FROM t", "date", False),
    (
        "to_timestamp with a format is not",
        "SELECT to_timestamp(s, 'yyyy') AS x FROM t",
        "timestamp",
        False,
    ),
    ("a filter changes nothing", "SELECT j AS x FROM t WHERE j IS NOT NULL", "int", True),
    ("case when true cuts", "SELECT CASE WHEN true THEN i ELSE j END AS x FROM t", "int", False),
    ("intersect wants both", "SELECT j AS x FROM t INTERSECT SELECT i FROM t", "int", False),
    ("except takes the left", "SELECT i AS x FROM t EXCEPT SELECT j FROM t", "int", False),
    ("a scalar subquery is nullable", "SELECT (SELECT max(i) FROM t) AS x", "int", True),
    ("count is never null", "SELECT count(j) AS x FROM t", "bigint", False),
    ("collect_list is never null", "SELECT collect_list(i) AS x FROM t", "array<int>", False),
    ("a rank is never null", "SELECT rank() OVER (ORDER BY i) AS x FROM t", "int", False),
    ("rollup makes keys nullable", "SELECT i AS x FROM t GROUP BY ROLLUP (i)", "int", True),
    (
        "a key in every set stays",
        "SELECT i AS x FROM t GROUP BY GROUPING SETS ((i), (i, j))",
        "int",
        False,
    ),
    ("a literal counts its digits", "SELECT p + 1 AS x FROM t", "decimal(6,2)", True),
    ("a cast literal does not", "SELECT p + CAST(1 AS INT) AS x FROM t", "decimal(13,2)", True),
    ("int and float are double", "SELECT i + f AS x FROM t", "double", False),
    ("a sum gains ten digits", "SELECT sum(d) AS x FROM t", "decimal(28,2)", True),
    ("an average gains four and four", "SELECT avg(d) AS x FROM t", "decimal(22,6)", True),
    ("a year is an int", "SELECT year(day) AS x FROM t", "int", False),
    ("case without else is nullable", "SELECT CASE WHEN i > 0 THEN i END AS x FROM t", "int", True),
    (
        "an outer join makes nullable",
        "SELECT b.i AS x FROM t a LEFT JOIN t b ON a.i = b.i",
        "int",
        True,
    ),
    ("a column hides a lateral alias", "SELECT j AS i, i AS x FROM t", "int", False),
]


@pytest.fixture(scope="module")
def tables(spark):
    for name, ddl in TABLES.items():
        schema = spark._jvm.org.apache.spark.sql.types.StructType.fromDDL(ddl)
        rows = spark._jvm.java.util.ArrayList()
        spark._jsparkSession.createDataFrame(rows, schema).createOrReplaceTempView(name)
    yield spark
    for name in TABLES:
        spark.catalog.dropTempView(name)


def spark_says(spark, sql: str) -> tuple[str, str, bool]:
    """The name, type and nullability of the last column, as Spark's analyser sees it."""
    schema = spark._jsparkSession.sql(sql).schema()
    field = json.loads(schema.json())["fields"][-1]
    return field["name"], schema.last().dataType().catalogString(), field["nullable"]


@pytest.mark.parametrize(
    ("sql", "kind", "nullable"),
    [row[1:] for row in SURPRISES],
    ids=[row[0] for row in SURPRISES],
)
def test_a_surprise_is_what_spark_does_and_what_rocky_says(sql, kind, nullable, tables):
    ours = rocky.check_sql(sql, TABLES).columns[-1]

    assert ("x", kind, nullable) == spark_says(tables, sql)
    assert ("x", kind, nullable) == (ours.name, str(ours.type), ours.nullable)
