"""Every strategy on every type, asked of Spark: the type is kept, null is null, nothing is clear."""

import hmac
from itertools import product

import pytest

from rocky.analysis.masks.check import check_expression
from rocky.analysis.masks.expressions import Unmaskable, mask_expression
from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import StructField
from rocky.project.configuration.masks import parse_strategy
from rocky.run.materialize.workspace import is_same_type
from rocky.spark.frame import fields_of
from rocky.spark.keyed_hashes import KeyedHashes

pytestmark = pytest.mark.spark

KEY = "a key of tests that is long enough"
VALUES = {
    "boolean": "TRUE",
    "tinyint": "CAST(-127 AS TINYINT)",
    "smallint": "CAST(1234 AS SMALLINT)",
    "int": "1234567",
    "bigint": "-9223372036854775807L",
    "float": "CAST(1234.5 AS FLOAT)",
    "double": "1234.5D",
    "decimal(10,2)": "CAST(-12345.67 AS DECIMAL(10,2))",
    "string": "'anna.smith@example.com'",
    "string collate UTF8_LCASE": "'anna.smith@example.com' COLLATE UTF8_LCASE",
    "binary": "X'0102030405'",
    "date": "DATE'1987-06-15'",
    "timestamp": "TIMESTAMP'1987-06-15 12:34:56'",
    "timestamp_ntz": "TIMESTAMP_NTZ'1987-06-15 12:34:56'",
    "interval day to second": "INTERVAL '1 02:03:04' DAY TO SECOND",
    "interval year to month": "INTERVAL '1-2' YEAR TO MONTH",
    "variant": "parse_json('{\"a\": 1}')",
    "array<string>": "array('anna.smith@example.com', NULL)",
    "array<bigint>": "array(1234L, NULL)",
    "array<array<string>>": "array(array('anna.smith@example.com'))",
    "map<string,string>": "map('email', 'anna.smith@example.com')",
    "struct<street:string,house:bigint>": "named_struct('street', 'Long Lane', 'house', 42L)",
    "array<struct<street:string,house:bigint>>": (
        "array(named_struct('street', 'Long Lane', 'house', 42L), NULL)"
    ),
}
STRATEGIES = (
    "none",
    "redact",
    "partial",
    "hash",
    "sha2",
    "null",
    "truncate(2)",
    "date_trunc(year)",
    "bucket(10)",
)
FITS = {
    "redact": set(VALUES) - {"interval day to second", "interval year to month", "variant"},
    "partial": {"string", "string collate UTF8_LCASE", "array<string>", "array<array<string>>"},
    "hash": {
        "bigint",
        "string",
        "binary",
        "array<string>",
        "array<bigint>",
        "struct<street:string,house:bigint>",
        "array<struct<street:string,house:bigint>>",
    },
    "sha2": {"string", "binary", "array<string>", "array<array<string>>"},
    "null": set(VALUES),
    "none": set(VALUES),
    "truncate(2)": {
        "string",
        "string collate UTF8_LCASE",
        "binary",
        "array<string>",
        "array<array<string>>",
    },
    "date_trunc(year)": {"date", "timestamp", "timestamp_ntz"},
    "bucket(10)": {
        "tinyint",
        "smallint",
        "int",
        "bigint",
        "float",
        "double",
        "decimal(10,2)",
        "array<bigint>",
    },
}
SAME = {"none"}


@pytest.fixture(scope="module")
def hashes(spark):
    made = KeyedHashes(spark)
    made.hold(KEY)
    return made


def masked(spark, hashes, strategy, kind, path=""):
    """The clear and the masked value of a type, and the field that masking gives."""
    column = StructField("c", parse_type(kind), nullable=True)
    sql = mask_expression(parse_strategy(strategy), column, path)
    assert () == check_expression(sql, column)
    clear = f"SELECT 0 AS row, {VALUES[kind]} AS c UNION ALL SELECT 1, NULL"
    hashes.make_named(sql)
    frame = spark.sql(f"SELECT row, c, {sql} AS masked FROM ({clear})")
    (given,) = [each for each in fields_of(frame) if each.name == "masked"]
    assert is_same_type(column.type, given.type), (given.type, column.type)
    if "year" in kind:
        # PySpark has no value for such an interval.
        frame = frame.selectExpr(
            "row", "CAST(c AS STRING) AS c", "CAST(masked AS STRING) AS masked"
        )
    first, second = sorted(frame.collect(), key=lambda row: row["row"])
    assert second["masked"] is None
    return first["c"], first["masked"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_mask_keeps_type_and_null_and_hides_the_value(spark, hashes, strategy):
    fits = set()
    for kind in VALUES:
        try:
            clear, hidden = masked(spark, hashes, strategy, kind)
        except Unmaskable:
            continue
        fits.add(kind)
        if strategy in SAME:
            assert str(clear) == str(hidden)
        else:
            assert str(clear) != str(hidden), (kind, hidden)
    assert FITS[strategy] == fits


def test_a_hash_is_hmac_sha256(spark, hashes):
    _, hidden = masked(spark, hashes, "hash", "string")
    assert hmac.new(KEY.encode(), b"anna.smith@example.com", "sha256").hexdigest() == hidden


def test_equal_values_have_equal_hashes_and_others_do_not(spark, hashes):
    hashes.make_named("rocky_keyed_hash rocky_keyed_hash_number rocky_keyed_hash_bytes")
    for function, value in (
        ("rocky_keyed_hash", "CAST(id AS STRING)"),
        ("rocky_keyed_hash_number", "id"),
        ("rocky_keyed_hash_bytes", "CAST(CAST(id AS STRING) AS BINARY)"),
    ):
        row = spark.sql(
            f"SELECT count(*), count(DISTINCT {function}({value})) FROM"
            " (SELECT id FROM range(500) UNION ALL SELECT id FROM range(500))"
        ).collect()[0]
        assert (1000, 500) == tuple(row)


def test_one_field_of_a_struct_is_masked_and_the_others_stay(spark, hashes):
    clear, hidden = masked(spark, hashes, "hash", "struct<street:string,house:bigint>", "street")
    assert clear["house"] == hidden["house"]
    assert clear["street"] != hidden["street"]


@pytest.mark.parametrize("strategy", ["hash", "redact", "partial"])
def test_a_field_inside_an_array_is_masked(spark, hashes, strategy):
    clear, hidden = masked(
        spark, hashes, strategy, "array<struct<street:string,house:bigint>>", "street"
    )
    assert clear[0]["house"] == hidden[0]["house"]
    assert clear[0]["street"] != hidden[0]["street"]
    assert hidden[1] is None


@pytest.mark.parametrize(("lowest", "width"), list(product(("CAST(-128 AS TINYINT)",), (10, 100))))
def test_the_lowest_bucket_of_a_type_is_inside_it(spark, lowest, width):
    column = StructField("c", parse_type("tinyint"), nullable=True)
    sql = mask_expression(parse_strategy(f"bucket({width})"), column)
    assert -128 == spark.sql(f"SELECT {sql} FROM (SELECT {lowest} AS c)").collect()[0][0]


def test_an_expression_of_ones_own_is_over_the_value(spark, hashes):
    _, hidden = masked(spark, hashes, "sql(concat(left(value, 1), '~'))", "string")
    assert "a~" == hidden
