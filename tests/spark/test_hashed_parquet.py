"""Rows that are hashed as they are written: the hash and the bytes are those of the expressions."""

import datetime as dt
import os
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from rocky.language.datatypes.parts import holds_kind
from rocky.spark import writer
from rocky.spark.frame import fields_of
from rocky.spark.hashed_parquet import native_writer
from rocky.spark.interface import Layout
from rocky.spark.java import choose_java
from rocky.spark.rows_hash import LANES, hash_rows, row_hash
from rocky.spark.writer import write_staged
from tests.spark.scripts import run_script
from tests.spark.test_rows_hash import NESTED, PLAIN, WIDE

TOTAL = 1 << 128
LENGTHS = (0, 1, 3, 4, 7, 8, 12, 15, 31, 32, 33, 40, 63, 64, 71)
LETTERS = "aAbZ é√😀\0"
PLAINS = (
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(9,2)",
    "decimal(18,0)", "decimal(19,4)", "decimal(38,10)", "string", "string collate UTF8_LCASE",
    "string collate UNICODE_CI", "binary", "date", "timestamp", "timestamp_ntz",
    "interval day to second",
)  # fmt: skip


def random_type(draw: random.Random, depth: int = 3) -> str:
    shape = draw.choice(["plain", "plain", "array", "struct", "map"]) if depth else "plain"
    if shape == "plain":
        return draw.choice(PLAINS)
    if shape == "array":
        return f"array<{random_type(draw, depth - 1)}>"
    if shape == "map":
        key = draw.choice(["int", "string", "double", "date", "decimal(20,2)"])
        return f"map<{key},{random_type(draw, depth - 1)}>"
    fields = (f"f{n}:{random_type(draw, depth - 1)}" for n in range(draw.randint(1, 3)))
    return f"struct<{','.join(fields)}>"


def split(text: str) -> list[str]:
    """The parts of a type's arguments: commas inside others do not count."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def random_whole(draw: random.Random, bits: int) -> int:
    limit = 1 << bits - 1
    return draw.choice([0, 1, -1, limit - 1, -limit, draw.randrange(-limit, limit)])


def random_value(draw: random.Random, kind: str, *, nullable: bool = True):  # noqa: C901, PLR0911 - one line a type
    if nullable and draw.random() < 0.2:
        return None
    name, _, rest = kind.partition("<")
    inside = rest.removesuffix(">")
    if name == "array":
        return [random_value(draw, inside) for _ in range(draw.randrange(4))]
    if name == "map":
        key, value = split(inside)
        keys = {random_value(draw, key, nullable=False) for _ in range(draw.randrange(4))}
        return {each: random_value(draw, value) for each in keys}
    if name == "struct":
        return tuple(random_value(draw, each.partition(":")[2]) for each in split(inside))
    if kind == "boolean":
        return draw.random() < 0.5
    if kind in ("float", "double"):
        return draw.choice([0.0, -0.0, 1.5, float("nan"), float("-inf"), draw.uniform(-9, 9)])
    if kind.startswith("decimal"):
        digits, scale = map(int, kind[8:-1].split(","))
        number = draw.choice([0, 1, 10**digits - 1, draw.randrange(10 ** draw.randint(1, digits))])
        return Decimal((draw.randrange(2), tuple(map(int, str(number))), -scale))
    if kind.startswith("string"):
        return "".join(draw.choices(LETTERS, k=draw.choice(LENGTHS)))
    if kind == "binary":
        return draw.randbytes(draw.choice(LENGTHS))
    if kind == "date":
        return dt.date.fromordinal(draw.randint(1, dt.date.max.toordinal()))
    if kind.startswith("timestamp"):
        return dt.datetime.fromisoformat("1900-01-01") + dt.timedelta(
            microseconds=draw.randrange(10**16)
        )
    if kind == "interval day to second":
        return dt.timedelta(microseconds=random_whole(draw, 50))
    return random_whole(draw, {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}[kind])


def random_frame(spark, seed: int, columns: int, rows: int):
    draw = random.Random(seed)
    kinds = [random_type(draw) for _ in range(columns)]
    values = [tuple(random_value(draw, kind) for kind in kinds) for _ in range(rows)]
    schema = ", ".join(f"c{place} {kind}" for place, kind in enumerate(kinds))
    return spark.createDataFrame(values, schema, verifySchema=False)


def staged(frame, folder: Path, layout: Layout = Layout()):  # noqa: B008 - a frozen value
    return write_staged(frame, folder.as_uri(), layout, fields_of(frame))


def lanes_of_objects(spark, frame) -> Iterator[tuple[int, int]]:
    """Both hashes of rows that are no bytes yet, as some plans hand them to a writer."""
    jvm = spark.sparkContext._jvm
    schema = frame._jdf.schema()
    hasher = jvm.rocky.spark.RowHasher(schema)
    types = jvm.org.apache.spark.sql.catalyst.CatalystTypeConverters
    convert = types.createToCatalystConverter(schema)
    for row in frame._jdf.collectAsList():
        hasher.hash(convert.apply(row))
        yield hasher.low(), hasher.high()


def hash_of_objects(spark, frame) -> str:
    lanes = lanes_of_objects(spark, frame)
    total = sum(low % (1 << 64) + (high % (1 << 64) << 64) for low, high in lanes)
    return f"{total % TOTAL:032x}"


def check_random(spark, folder: Path, seed: int, columns: int, rows: int) -> None:
    frame = random_frame(spark, seed, columns, rows)
    fields = fields_of(frame)
    assert native_writer(spark, fields) is not None

    expected = hash_rows(frame, fields)
    found = staged(frame, folder)
    # What is read back is held otherwise: null structs, maps, decimals and offsets of bytes.
    again = spark.read.schema(frame.schema).parquet(found.folder).coalesce(1)
    assert (rows, expected) == (found.rows, found.rows_hash), frame.schema.simpleString()
    assert expected == staged(again, folder.with_name(f"{folder.name}-again")).rows_hash
    assert expected == hash_of_objects(spark, frame), frame.schema.simpleString()


@pytest.mark.spark
@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(4))
def test_rows_have_the_same_hash_from_the_writer_and_from_expressions(spark, seed, tmp_path):
    check_random(spark, tmp_path / "rows", seed, columns=12, rows=25)


TOGETHER = 10
"""Columns of one schema, of the many that are hashed in one query."""


@pytest.mark.spark
@pytest.mark.exhaustive
def test_ten_thousand_random_columns_have_the_same_hash_either_way(spark):
    # Compiling what hashes two hundred columns takes minutes, over a few rows of each.
    modes = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    before = {name: spark.conf.get(name) for name in modes}
    for name, value in modes.items():
        spark.conf.set(name, value)
    try:
        for seed in range(50):
            assert [] == differing_schemas(spark, random_frame(spark, 5000 + seed, 200, 3))
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def differing_schemas(spark, frame) -> list[str]:
    """Schemas, each of some columns of a frame, of which a row has two hashes."""
    fields = fields_of(frame)
    schemas = [fields[start : start + TOGETHER] for start in range(0, len(fields), TOGETHER)]
    by_expressions = frame.select(
        *[row_hash(each, lane) for each in schemas for lane in LANES]
    ).collect()
    found = []
    for place, each in enumerate(schemas):
        part = frame.select(*[field.name for field in each])
        hashes = [tuple(row[2 * place : 2 * place + 2]) for row in by_expressions]
        if hashes != [*lanes_of_objects(spark, part)]:
            found.append(part.schema.simpleString())
    return found


@pytest.mark.spark
def test_rows_of_every_type_have_the_same_hash_either_way(spark, tmp_path):
    frame = spark.sql(f"SELECT {PLAIN}, {WIDE}, {NESTED} FROM range(0, 100, 1, 3)").drop("v", "va")
    frame = frame.withColumnsRenamed({"a b": "a_b", "q`t": "qt", "x.y": "xy"})

    found = staged(frame, tmp_path / "rows")
    assert (100, hash_rows(frame, fields_of(frame))) == (found.rows, found.rows_hash)


@pytest.mark.spark
def test_variants_are_left_to_the_expressions(spark, tmp_path):
    frame = spark.sql("""SELECT parse_json('{"a": 1}') AS v, array(parse_json('2')) AS w""")
    fields = fields_of(frame)

    assert [True, True] == [holds_kind(each.type, "variant") for each in fields]
    assert native_writer(spark, fields) is None
    assert hash_rows(frame, fields) == staged(frame, tmp_path / "rows").rows_hash


LAYOUTS = {
    "as rows come": Layout(),
    "canonical": Layout(canonical=True, pieces=3),
    "canonical, by a column": Layout(canonical=True, max_rows_per_file=50, cluster_by=("part",)),
    "partitions of several files": Layout(
        ("part",), canonical=True, pieces=2, max_rows_per_file=20
    ),
}


# The first is told in one text, the second is not: hashing a map takes more than SQL can say.
COLUMNS = {
    "plain": "id, id % 3 AS part, if(id % 2 = 0, -0.0D, 0.0D) AS d, 'x' AS `s``t`",
    "not plain": "id, id % 3 AS part, CAST(id AS DOUBLE) AS d, map(id, array(id, NULL)) AS m",
}


@pytest.mark.spark
@pytest.mark.sampled
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS.keys())
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_files_are_the_same_byte_by_byte(spark, layout, columns, tmp_path, monkeypatch):
    frame = spark.sql(f"SELECT {columns} FROM range(0, 200, 1, 2)")

    native = staged(frame, tmp_path / "native", layout)
    monkeypatch.setattr(writer, "native_writer", lambda session, fields: None)
    plain = staged(frame, tmp_path / "plain", layout)

    found = [
        sorted(path.read_bytes() for path in (tmp_path / name).rglob("*.parquet"))
        for name in ("native", "plain")
    ]
    assert (native.rows, native.rows_hash) == (plain.rows, plain.rows_hash)
    assert found[0] == found[1]
    assert len(found[0]) > 1


# Values that meet at the edges of what a prefix, a sign or a length can tell.
EDGES = """
    SELECT a.*, CAST(b.n AS decimal(38,10)) AS large, b.t, b.n FROM VALUES
      (CAST(NULL AS string), CAST(NULL AS double), CAST(NULL AS tinyint), true, X'', 1.5F),
      ('', -0.0D, -128Y, false, X'00', -0.0F), ('', 0.0D, -128Y, false, X'00', 0.0F),
      ('a', double('NaN'), 127Y, NULL, X'FF', float('NaN')), ('ab', -1.5D, 0Y, true, X'7F', -1.0F),
      ('abcdefgh', double('infinity'), 1Y, true, X'FF00', NULL), ('abcdefghi', 1D, 2Y, true, NULL, 0F),
      ('é', 1D, 3Y, NULL, X'80', 0F), ('\\0', -1D, 3Y, NULL, X'80', 0F) AS a(s, d, y, f, x, g)
    CROSS JOIN (VALUES (-1, TIMESTAMP'1969-12-31 23:59:59'), (0, NULL), (NULL, NULL),
      (2, TIMESTAMP'2026-01-01'), (2, TIMESTAMP'2026-01-01')) AS b(n, t)"""
ORDERS = {
    "first column": (),
    **{name: (name,) for name in ("d", "y", "f", "x", "g", "large", "t", "n")},
}


@pytest.mark.spark
@pytest.mark.sampled
@pytest.mark.parametrize("cluster_by", ORDERS.values(), ids=ORDERS.keys())
def test_rows_that_the_writer_sorts_are_in_the_order_of_spark(spark, cluster_by, tmp_path):
    frame = spark.sql(EDGES).repartition(3)

    found = []
    for in_one_file in (False, True):
        layout = Layout(canonical=True, cluster_by=cluster_by, in_one_file=in_one_file)
        made = staged(frame, tmp_path / str(in_one_file), layout)
        (file,) = (tmp_path / str(in_one_file)).glob("*.parquet")
        found.append((made.rows, made.rows_hash, file.read_bytes()))
    assert found[0] == found[1]
    assert 45 == found[0][0]


@pytest.mark.spark
def test_pieces_that_the_writer_sorts_are_those_of_spark(spark, tmp_path, monkeypatch):
    frame = spark.sql(EDGES)
    found = []
    for hardly_cut in (1_000_000, 1e12):
        monkeypatch.setattr("rocky.spark.hashed_parquet._HARDLY_CUT", hardly_cut)
        folder = tmp_path / str(hardly_cut)
        made = staged(frame, folder, Layout(canonical=True, pieces=3))
        files = sorted(path.read_bytes() for path in folder.glob("*.parquet"))
        found.append((made.rows, made.rows_hash, files))
    assert found[0] == found[1]
    assert 3 == len(found[0][2])


@pytest.mark.spark
def test_more_rows_than_one_file_takes_are_sorted_before_they_are_cut(spark, tmp_path):
    frame = spark.sql("SELECT CAST(97 * id % 100 AS int) AS a FROM range(100)")

    made = staged(
        frame, tmp_path / "rows", Layout(canonical=True, max_rows_per_file=40, in_one_file=True)
    )

    files = sorted((tmp_path / "rows").glob("*.parquet"))
    read = [[row.a for row in spark.read.parquet(file.as_uri()).collect()] for file in files]
    assert [list(range(40)), list(range(40, 80)), list(range(80, 100))] == read
    assert 100 == made.rows


@pytest.mark.spark
def test_the_writer_tells_the_hash_of_each_file(spark, tmp_path):
    frame = spark.sql(
        "SELECT id, if(id % 3 = 0, NULL, concat('a=/ ', id % 3)) AS part FROM range(200)"
    )

    made = staged(frame, tmp_path / "rows", LAYOUTS["partitions of several files"])

    found = {}
    for path in (tmp_path / "rows").rglob("*.parquet"):
        read = spark.read.schema(frame.schema).parquet(f"file://{path}")
        found[str(path.relative_to(tmp_path / "rows"))] = hash_rows(read, fields_of(read))
    assert found == made.file_hashes
    assert len(found) == 12


@pytest.mark.spark
@pytest.mark.parametrize("partitions", [(), ("part",)], ids=["whole", "partitioned"])
def test_rows_that_one_task_makes_and_sorts_are_the_same_bytes(spark, partitions, tmp_path):
    frame = spark.sql(
        "SELECT max(id) AS id, count(*) AS n, id % 7 % 2 AS part, if(id % 2 = 0, -0.0D, 0.0D) AS d"
        " FROM range(0, 300, 1, 5) GROUP BY id % 7, id % 2"
    )

    found = []
    for in_one_task in (False, True):
        folder = tmp_path / str(in_one_task)
        layout = Layout(partitions, canonical=True, in_one_task=in_one_task)
        made = staged(frame, folder, layout)
        files = sorted(path.read_bytes() for path in folder.rglob("*.parquet"))
        found.append((made.rows, made.rows_hash, files))
    assert found[0] == found[1]
    assert 14 == found[0][0]


@pytest.mark.spark
def test_a_write_that_fails_leaves_no_sum_behind(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("rocky.spark.hashed_parquet.uuid4", lambda: type("Id", (), {"hex": "mine"}))
    frame = spark.sql("SELECT if(id = 5, raise_error('no'), id) AS a FROM range(10)")

    with pytest.raises(Exception, match="no"):
        staged(frame.selectExpr("CAST(a AS BIGINT) AS a"), tmp_path / "rows")
    assert None is spark.sparkContext._jvm.rocky.spark.HashedParquet.take("mine")


TROUBLED = """
import json, sys, time
from pathlib import Path
from pyspark import TaskContext
from rocky.project.configuration.blocks import Adapter
from rocky.spark.frame import fields_of
from rocky.spark.hashed_parquet import native_writer
from rocky.spark.interface import Layout
from rocky.spark.java import choose_java
from rocky.spark.rows_hash import hash_rows
from rocky.spark.session import connect_spark
from rocky.spark.writer import write_staged

folder = Path(sys.argv[1])
conf = {
    "spark.driver.memory": "1g", "spark.speculation": "true", "spark.speculation.quantile": "0.5",
    "spark.speculation.interval": "100ms", "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "1s", "spark.pyspark.python": sys.executable,
}
connection = connect_spark(Adapter(master="local-cluster[2,2,1024]", conf=conf), folder)
session = connection.session

def troubled(batches):
    context = TaskContext.get()
    first = context.attemptNumber() == 0
    for batch in batches:
        yield batch
    if first:
        (folder / f"tried-{context.partitionId()}").touch()
    if first and context.partitionId() == 1:
        raise ValueError("once")
    if first and context.partitionId() == 3:
        time.sleep(60)

numbers = session.range(0, 4000, 1, 6)
frame = numbers.mapInArrow(troubled, "id bigint")
fields = fields_of(frame)
native = native_writer(session, fields) is not None
staged = write_staged(frame, (folder / "rows").as_uri(), Layout(max_rows_per_file=100), fields)
files = session.read.parquet(staged.folder)
print(json.dumps([
    native, staged.rows, staged.rows_hash, files.count(), hash_rows(numbers, fields_of(numbers)),
    sorted(path.name for path in folder.glob("tried-*")),
]))
connection.close()
"""


@pytest.mark.spark
@pytest.mark.exhaustive
def test_tasks_that_fail_or_run_twice_on_a_cluster_count_once(tmp_path):
    if choose_java(os.environ).from_wheel:
        pytest.skip("executors are started by Spark's launcher: the wheel's Java lacks a module")

    answer = run_script(TROUBLED, str(tmp_path), env={"SPARK_HOME": None}).answer
    native, rows, rows_hash, stored, expected, tried = answer
    assert native
    assert (4000, 4000, expected) == (rows, stored, rows_hash)
    assert {"tried-1", "tried-3"} <= set(tried)
