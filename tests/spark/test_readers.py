"""Readers: pinned files, sources, seeds and literal rows, as the declared columns say."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from rocky.errors import RockyError, SourceUnreadable
from rocky.language.datatypes.text import parse_schema
from rocky.project import load_project
from rocky.spark.failures import SPARK_ERRORS
from rocky.spark.frame import fields_of
from rocky.spark.reader import read_files, read_rows, read_seed, read_source

pytestmark = pytest.mark.spark


def rows_of(frame) -> list[tuple]:
    return sorted((tuple(row) for row in frame.collect()), key=str)


def project_of(root: Path, files: dict[str, str]):
    for path, text in {"rocky.toml": "", **files}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return load_project(root, env={})


def source_of(root: Path, declared: str, **files: str):
    text = f'[[source]]\nname = "raw.t"\n{declared}\n'
    project = project_of(root, {"sources/raw.toml": text, **files})
    return project.sources["raw.t"]


# ---- pinned files


def test_exactly_the_pinned_files_are_read_wherever_they_lie(spark, tmp_path):
    folder = tmp_path / "day=1 [x] ü {a,b}"
    for number in range(3):
        frame = spark.range(number * 10, number * 10 + 10).selectExpr("id", "'x' AS s")
        frame.coalesce(1).write.parquet(str(folder / str(number)))
    files = sorted(folder.rglob("*.parquet"))
    fields = parse_schema("id bigint, s varchar(3), later int")

    read = read_files(spark, fields, [f"file://{path}" for path in files[:2]])
    assert ["id", "s", "later"] == read.columns
    assert (20, 0) == tuple(read.selectExpr("count(*)", "count(later)").collect()[0])
    assert "varchar(3)" == fields_of(read)[1].type.text
    assert (0, read.schema) == (read_files(spark, fields, []).count(), read.schema)
    plan = (
        read.where("id > 15")
        .select("id")
        ._jdf.queryExecution()
        .explainString(spark._jvm.org.apache.spark.sql.execution.ExplainMode.fromString("simple"))
    )
    assert "ReadSchema: struct<id:bigint>" in plan
    assert "PushedFilters: [IsNotNull(id), GreaterThan(id,15)]" in plan


def test_a_pinned_file_that_is_gone_is_an_error(spark, tmp_path):
    with pytest.raises(PySparkException, match="PATH_NOT_FOUND"):
        read_files(spark, parse_schema("id bigint"), [f"file://{tmp_path}/gone.parquet"])


# ---- sources

CSV_COLUMNS = (
    'columns = [{ name = "id", type = "bigint" }, { name = "amount", type = "decimal(9,2)" }]'
)


def test_a_csv_is_read_with_its_declared_columns_and_its_files_are_pinned(spark, tmp_path):
    source = source_of(
        tmp_path,
        f'format = "csv"\npath = "data/a b.csv"\n{CSV_COLUMNS}\noptions = {{ sep = ";" }}',
        **{"data/a b.csv": "ID;Amount\n1;2.50\n2;\n"},
    )
    read = read_source(spark, source, tmp_path)

    path = tmp_path / "data/a b.csv"
    assert [(1, Decimal("2.50")), (2, None)] == rows_of(read.frame)
    assert ((str(path), 20, path.stat().st_mtime_ns // 10**6),) == read.files
    assert 20 == read.bytes


def test_a_reordered_csv_is_refused_and_not_misread(spark, tmp_path):
    source = source_of(
        tmp_path, f'format = "csv"\npath = "t.csv"\n{CSV_COLUMNS}', **{"t.csv": "amount,id\n1,2\n"}
    )

    with pytest.raises(SPARK_ERRORS, match="CSV header does not conform to the schema"):
        read_source(spark, source, tmp_path).frame.collect()


def test_a_cell_that_is_not_of_its_type_stops_the_query(spark, tmp_path):
    source = source_of(
        tmp_path, f'format = "csv"\npath = "t.csv"\n{CSV_COLUMNS}', **{"t.csv": "id,amount\nx,1\n"}
    )

    with pytest.raises(SPARK_ERRORS, match="MALFORMED_RECORD"):
        read_source(spark, source, tmp_path).frame.collect()


def test_a_pattern_and_a_folder_name_all_their_files_but_the_hidden_ones(spark, tmp_path):
    texts = {
        "data/one.json": '{"id": 1}\n',
        "data/below/two.json": '{"id": 2}\n',
        "data/_hidden.json": '{"id": 3}\n',
        "data/.hidden.json": '{"id": 4}\n',
    }
    column = 'format = "json"\ncolumns = [{ name = "id", type = "int" }]\n'
    folder = source_of(tmp_path / "a", f'{column}path = "data"', **texts)
    pattern = source_of(tmp_path / "b", f'{column}path = "data/**/t*.json"', **texts)

    assert [(1,), (2,)] == rows_of(read_source(spark, folder, tmp_path / "a").frame)
    assert [(2,)] == rows_of(read_source(spark, pattern, tmp_path / "b").frame)


def test_spark_too_finds_files_behind_a_link_to_a_folder(spark, tmp_path):
    source = source_of(
        tmp_path,
        'format = "csv"\npath = "data"\ncolumns = [{ name = "id", type = "bigint" }]',
        **{"data/a.csv": "id\n1\n", "elsewhere/b.csv": "id\n2\n"},
    )
    (tmp_path / "data/linked").symlink_to(tmp_path / "elsewhere")
    listed = spark.read.option("recursiveFileLookup", "true").csv(str(tmp_path / "data"))

    read = read_source(spark, source, tmp_path)

    assert [(1,), (2,)] == rows_of(read.frame)
    assert {Path(file.path).name for file in read.files} == {
        Path(name).name for name in listed.inputFiles()
    }


def test_columns_in_folder_names_are_read_and_stand_where_they_are_declared(spark, tmp_path):
    columns = 'columns = [{ name = "day", type = "date" }, { name = "id", type = "bigint" }]'
    source = source_of(tmp_path, f'format = "orc"\npath = "data"\n{columns}')
    frame = spark.sql("SELECT id, date_add(DATE'2020-01-01', CAST(id AS INT)) AS day FROM range(2)")
    frame.write.partitionBy("day").orc(str(tmp_path / "data"))

    assert [(date(2020, 1, 1), 0), (date(2020, 1, 2), 1)] == rows_of(
        read_source(spark, source, tmp_path).frame
    )


@pytest.mark.parametrize("path", ["gone.csv", "gone/*.csv"])
def test_a_source_that_is_not_there_is_named_with_the_file_that_declares_it(spark, tmp_path, path):
    source = source_of(tmp_path, f'format = "csv"\npath = "{path}"\n{CSV_COLUMNS}')

    with pytest.raises(SourceUnreadable) as refused:
        read_source(spark, source, tmp_path)
    said = str(refused.value)
    assert said.startswith("source `raw.t` (declared in `sources/raw.toml`): ")
    assert f"`{path}`" in said


def test_a_table_of_the_catalog_is_read_with_the_declared_types(spark, tmp_path):
    spark.sql("SELECT 1 AS id, 'x' AS extra").createOrReplaceTempView("somebodys")
    declared = 'format = "table"\ntable = "somebodys"\ncolumns = [{ name = "ID", type = "bigint" }]'
    source = source_of(tmp_path / "a", declared)
    missing = source_of(tmp_path / "b", declared.replace('"ID"', '"other"'))

    frame = read_source(spark, source, tmp_path).frame
    assert ("struct<ID:bigint>", [(1,)]) == (frame.schema.simpleString(), rows_of(frame))
    with pytest.raises(SourceUnreadable, match="does not have the declared `other`"):
        read_source(spark, missing, tmp_path)


# ---- seeds and literal rows


def test_a_seed_is_read_as_the_compiler_read_it(spark, tmp_path):
    project = project_of(
        tmp_path,
        {
            "seeds/s.csv": 'id;name;day;ratio\n1;"a;\nb";2020-01-02;0.5\n\n2;"";;NaN\n3;ü;;\n',
            "seeds/s.toml": 'delimiter = ";"\ncolumns = [{ name = "id", type = "decimal(5,1)" }]',
        },
    )
    frame = read_seed(spark, project.seeds["s"], tmp_path)

    assert (
        "struct<id:decimal(5,1),name:string,day:date,ratio:double>" == frame.schema.simpleString()
    )
    assert [
        "(Decimal('1.0'), 'a;\\nb', datetime.date(2020, 1, 2), 0.5)",
        "(Decimal('2.0'), None, None, nan)",
        "(Decimal('3.0'), 'ü', None, None)",
    ] == [str(tuple(row)) for row in frame.orderBy("id").collect()]


def test_a_seed_that_was_edited_since_it_was_compiled_is_refused(spark, tmp_path):
    project = project_of(tmp_path, {"seeds/s.csv": "id\n1\n"})
    (tmp_path / "seeds/s.csv").write_text("id\n2\n")

    with pytest.raises(RockyError, match="seed `s` changed while it was read; run again"):
        read_seed(spark, project.seeds["s"], tmp_path)


def test_literal_rows_are_typed_by_their_columns_whether_text_or_value(spark):
    fields = parse_schema(
        "i int, n decimal(9,2), d date, t timestamp, z timestamp_ntz, f boolean, b binary, v variant,"
        " a array<date>, s struct<x: int, y: map<int, decimal(3,1)>>, w interval day to second, h interval hour to minute, c char(3)"
    )
    rows = [
        {
            "i": "5", "n": "12.5", "d": "2026-05-30", "t": "2026-05-30T01:02:03Z",
            "z": "2026-05-30 01:02:03", "f": "true", "b": b"\x00", "v": {"k": [1]},
            "a": ["2026-05-30", None], "s": {"x": "1", "y": {"7": "1.5"}},
            "w": timedelta(days=-1, seconds=1), "h": timedelta(hours=30, minutes=5), "c": "abc",
        },
        {
            "i": 5, "n": Decimal("12.50"), "d": date(2026, 5, 30), "f": True, "b": b"\x00",
            "t": datetime(2026, 5, 30, 1, 2, 3, tzinfo=UTC), "z": datetime.fromisoformat("2026-05-30 01:02:03"),
            "v": {"k": [1]}, "a": [date(2026, 5, 30), None], "s": {"x": 1, "y": {7: Decimal("1.5")}},
            "w": timedelta(days=-1, seconds=1), "h": timedelta(hours=30, minutes=5), "c": "abc",
        },
        {},
    ]  # fmt: skip
    frame = read_rows(spark, fields, rows)

    text, value, absent = (
        tuple(row) for row in frame.withColumn("v", frame.v.cast("string")).collect()
    )
    assert text == value
    assert (5, Decimal("12.50"), date(2026, 5, 30)) == text[:3]
    assert '{"k":[1]}' == text[7]
    assert ([date(2026, 5, 30), None], (1, {7: Decimal("1.5")})) == (text[8], tuple(text[9]))
    assert (timedelta(days=-1, seconds=1), timedelta(hours=30, minutes=5)) == text[10:12]
    assert (None,) * len(fields) == absent
    assert "char(3)" == fields_of(frame)[-1].type.text
    assert (0, 13) == (
        read_rows(spark, fields, []).count(),
        len(read_rows(spark, fields, []).columns),
    )


def test_a_literal_that_is_not_of_its_type_is_refused(spark):
    with pytest.raises(PySparkException, match="CAST_INVALID_INPUT"):
        read_rows(spark, parse_schema("d date"), [{"d": "yesterday"}]).collect()
