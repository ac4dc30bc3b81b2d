"""The writer: what Spark stages, for every type, and what it refuses to."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from pyspark.sql.utils import AnalysisException

from rocky.errors import InternalError, ModelFailed
from rocky.language.datatypes.text import parse_schema
from rocky.language.datatypes.types import BIGINT, INT, STRING, StructField, array, map_of, struct
from rocky.run.materialize.workspace import NO_ROWS
from rocky.spark.frame import fields_of
from rocky.spark.interface import Layout
from rocky.spark.reader import read_files
from rocky.spark.rows_hash import hash_rows
from rocky.spark.writer import write_staged

pytestmark = pytest.mark.spark

EVERYTHING = """
SELECT id, CAST(id AS TINYINT) AS tiny, CAST(id AS SMALLINT) AS small, CAST(id AS INT) AS whole,
  CAST(id AS FLOAT) AS f, CAST(id AS DOUBLE) AS d, CAST(id AS DECIMAL(9, 2)) AS d9,
  CAST(id AS DECIMAL(18, 4)) AS d18, CAST(id AS DECIMAL(38, 10)) AS d38,
  IF(id % 3 = 0, NULL, CAST(id AS STRING)) AS s, 'x' COLLATE UTF8_LCASE AS lc, X'00FF' AS b,
  id % 2 = 0 AS flag, DATE'1500-01-01' AS day, TIMESTAMP'1900-01-01 00:00:00.123456' AS at,
  TIMESTAMP_NTZ'2020-01-01 00:00:00.123456' AS ntz, INTERVAL '1 02:03:04' DAY TO SECOND AS span,
  INTERVAL '2-3' YEAR TO MONTH AS months, parse_json('{"a": [1, 2.5]}') AS v,
  array(id, NULL) AS ids, map('k', id, 'l', NULL) AS m,
  named_struct('x', id, 'y', array(named_struct('z', CAST(NULL AS INT)))) AS st
FROM range(40)
"""


@pytest.fixture
def session(spark):
    """A session of its own: settings of one test must not reach another."""
    session = spark.newSession()
    session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    return session


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.parquet"))


PLAIN = Layout()


def stage(frame, folder: Path, layout: Layout = PLAIN, schema=None):
    return write_staged(frame, f"file://{folder}", layout, schema or fields_of(frame))


def test_every_type_is_staged_and_read_back_with_the_same_rows(session, tmp_path):
    frame = session.sql(EVERYTHING)
    folder = tmp_path / "a folder [1] ü=1"
    staged = stage(frame, folder)

    read = read_files(session, fields_of(frame), [f"file://{path}" for path in files_in(folder)])
    assert (40, 40) == (staged.rows, read.count())
    assert staged.rows_hash == hash_rows(read, fields_of(frame))
    assert frame.schema.simpleString() == read.schema.simpleString()
    assert [] == [path.name for path in folder.iterdir() if path.name.startswith("_")]


def test_files_are_zstd_with_microseconds_and_tell_nothing_of_where_columns_came_from(
    session, tmp_path
):
    frame = session.sql("SELECT id AS `a b`, current_timestamp() AS at FROM range(3)")
    frame = frame.withMetadata("a b", {"comment": "from somewhere"})
    stage(frame, tmp_path / "out")

    (path,) = files_in(tmp_path / "out")
    footer = pq.ParquetFile(path).metadata
    assert "ZSTD" == footer.row_group(0).column(0).compression
    assert "INT64" == footer.row_group(0).column(1).physical_type
    assert b"somewhere" not in footer.metadata[b"org.apache.spark.sql.parquet.row.metadata"]


@pytest.mark.parametrize("canonical", [False, True])
def test_no_rows_are_staged_with_the_hash_of_nothing(session, tmp_path, canonical):
    frame = session.sql("SELECT id, 'x' AS s FROM range(3) WHERE id > 5")

    staged = stage(frame, tmp_path / "out", Layout(canonical=canonical, pieces=3))
    assert (0, NO_ROWS) == (staged.rows, staged.rows_hash)
    assert 0 == sum(pq.ParquetFile(path).metadata.num_rows for path in files_in(tmp_path / "out"))


@pytest.mark.parametrize("canonical", [False, True])
def test_partition_columns_stay_in_the_files_one_file_a_partition(session, tmp_path, canonical):
    frame = session.sql(
        "SELECT id, IF(id % 4 = 3, NULL, concat('a/=', id % 4)) AS p, DATE'2020-01-01' AS q"
        " FROM range(0, 100, 1, 5)"
    )
    staged = stage(frame, tmp_path / "out", Layout(("p", "q"), canonical, pieces=3))

    folders = {
        path.parent.relative_to(tmp_path / "out").as_posix(): pq.read_table(path, partitioning=None)
        for path in files_in(tmp_path / "out")
    }
    assert 100 == staged.rows
    assert {
        "__part_0=__HIVE_DEFAULT_PARTITION__/__part_1=2020-01-01": [None],
        "__part_0=a%2F%3D0/__part_1=2020-01-01": ["a/=0"],
        "__part_0=a%2F%3D1/__part_1=2020-01-01": ["a/=1"],
        "__part_0=a%2F%3D2/__part_1=2020-01-01": ["a/=2"],
    } == {name: table["p"].unique().to_pylist() for name, table in folders.items()}
    assert {("id", "p", "q")} == {tuple(table.column_names) for table in folders.values()}
    assert 4 == len(files_in(tmp_path / "out"))


def test_a_file_holds_no_more_rows_than_the_layout_says(session, tmp_path):
    frame = session.sql("SELECT id FROM range(0, 1000, 1, 1)")
    stage(frame, tmp_path / "out", Layout(max_rows_per_file=400))

    rows = [pq.ParquetFile(path).metadata.num_rows for path in files_in(tmp_path / "out")]
    assert [400, 400, 200] == rows


INNER = struct((StructField("y", INT, False),))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("sql", "kind", "nullable"),
    [
        ("array(1, IF(id > 1, NULL, 2))", array(INT, False), True),
        ("map('a', IF(id > 1, NULL, 2))", map_of(STRING, INT, False), True),
        ("array(named_struct('y', IF(id > 1, NULL, 2)))", array(INNER), True),
        ("IF(id > 1, NULL, array(1))", array(INT), False),
        (
            "IF(id > 1, NULL, named_struct('x', id))",
            struct((StructField("x", BIGINT, True),)),
            False,
        ),
    ],
)
def test_a_null_that_no_footer_counts_stops_the_write_and_is_named(
    session, tmp_path, sql, kind, nullable
):
    frame = session.sql(f"SELECT {sql} AS c FROM range(4)")

    with pytest.raises(PySparkException) as refused:
        stage(frame, tmp_path / "out", schema=[StructField("c", kind, nullable)])
    assert "column `c` holds a null where its type allows none" in str(refused.value)
    assert [] == files_in(tmp_path / "out")


def test_a_check_is_made_only_where_spark_does_not_know_it_already(session, tmp_path):
    frame = session.sql("SELECT array(1, 2) AS a, named_struct('x', id) AS b FROM range(2)")
    staged = stage(frame, tmp_path / "out")

    assert 2 == staged.rows


def test_columns_that_are_not_those_of_the_table_are_listed(session, tmp_path):
    frame = session.sql("SELECT 1 AS a, 'x' AS b, 2 AS c")

    with pytest.raises(ModelFailed) as refused:
        stage(frame, tmp_path / "out", schema=parse_schema("a bigint, b varchar(5), d int"))
    assert (
        "the query does not give column `d`; the query gives column `c`, which the table does not"
        " have; column `a` is a `bigint`, but the query gives a `int`"
    ) == str(refused.value)


def test_columns_are_stored_in_the_order_and_spelling_of_the_table(session, tmp_path):
    frame = session.sql("SELECT 1 AS B, 'x' AS a")
    stage(frame, tmp_path / "out", schema=parse_schema("A string, b int"))

    (path,) = files_in(tmp_path / "out")
    assert {"A": ["x"], "b": [1]} == pq.read_table(path).to_pydict()


def test_what_cannot_be_stored_is_refused_before_anything_runs(session, tmp_path):
    frame = session.sql("SELECT raise_error('ran') AS a, NULL AS b")

    with pytest.raises(ModelFailed, match=r"column `b` is of type `void`, which cannot be stored"):
        stage(frame, tmp_path / "out")
    with pytest.raises(ModelFailed, match="at least one column"):
        stage(session.sql("SELECT 1 AS a").select(), tmp_path / "out")


def test_a_session_that_would_write_int96_is_refused(session, tmp_path):
    session.conf.set("spark.sql.parquet.outputTimestampType", "INT96")

    with pytest.raises(InternalError, match="outputTimestampType"):
        stage(session.sql("SELECT 1 AS a"), tmp_path / "out")


def test_a_staging_folder_is_written_once(session, tmp_path):
    stage(session.sql("SELECT 1 AS a"), tmp_path / "out")

    with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
        stage(session.sql("SELECT 1 AS a"), tmp_path / "out")
