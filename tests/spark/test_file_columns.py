"""The columns that Parquet files tell by themselves are those that Spark finds in them."""

import datetime as dt
import decimal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocky.language.datatypes.text import encode_type
from rocky.language.datatypes.types import StructField
from rocky.project.configuration.blocks import Adapter
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document
from rocky.run.engine.file_columns import describe_files
from rocky.spark.reader import describe_source

pytestmark = pytest.mark.spark

MOMENT = dt.datetime(2026, 5, 1, 12, 30)  # noqa: DTZ001 - files have moments without a zone
ROWS: Mapping[str, pa.Array] = {
    "i8": pa.array([1], pa.int8()),
    "i16": pa.array([1], pa.int16()),
    "i32": pa.array([1], pa.int32()),
    "i64": pa.array([1], pa.int64()),
    "u8": pa.array([1], pa.uint8()),
    "u16": pa.array([1], pa.uint16()),
    "u32": pa.array([1], pa.uint32()),
    "u64": pa.array([1], pa.uint64()),
    "f32": pa.array([1.5], pa.float32()),
    "f64": pa.array([1.5], pa.float64()),
    "flag": pa.array([True]),
    "day": pa.array([dt.date(2026, 5, 1)]),
    "ms": pa.array([MOMENT], pa.timestamp("ms")),
    "us": pa.array([MOMENT], pa.timestamp("us")),
    "ms_utc": pa.array([MOMENT], pa.timestamp("ms", "UTC")),
    "us_utc": pa.array([MOMENT], pa.timestamp("us", "Europe/Berlin")),
    "d9": pa.array([decimal.Decimal("1.5")], pa.decimal128(9, 2)),
    "d18": pa.array([decimal.Decimal("1.5")], pa.decimal128(18, 4)),
    "d38": pa.array([decimal.Decimal("1.5")], pa.decimal128(38, 10)),
    "text": pa.array(["x"]),
    "large_text": pa.array(["x"], pa.large_string()),
    "word": pa.array(["x"]).dictionary_encode(),
    "bytes": pa.array([b"x"]),
    "list": pa.array([[1]]),
    "lists": pa.array([[["x"]]]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())),
    "struct": pa.array([{"a": 1, "b": [{"c": "x"}]}]),
    "Ümlaut": pa.array([1]),
}
NOT_TOLD: Mapping[str, pa.Array] = {
    "ns": pa.array([MOMENT], pa.timestamp("ns")),
    "time": pa.array([dt.time(1, 2)]),
    "fixed": pa.array([b"ab"], pa.binary(2)),
    "half": pa.array([1.0], pa.float32()).cast(pa.float16()),
    "a.b": pa.array([[1]]),
}
WAYS: Mapping[str, dict[str, Any]] = {
    "plain": {},
    "int96": {"use_deprecated_int96_timestamps": True},
    "decimals as integers": {"store_decimal_as_integer": True},
    "old names of elements": {"use_compliant_nested_type": False},
    "version 1.0": {"version": "1.0"},
    "no schema of Arrow": {"store_schema": False},
}


def source_at(path: Path, **options: str) -> SourceTable:
    return SourceTable("s", (), "parquet", str(path), options, Document("s.toml", "", {}), 0)


def told(path: Path, conf: Mapping[str, str] | None = None, **options: str):
    adapter = Adapter(conf=conf or {})
    columns = describe_files(source_at(path, **options), adapter, path.parent, {})
    return None if columns is None else [_plain(each) for each in columns]


def found(spark, path: Path) -> list[tuple[str, str, bool]]:
    return [_plain(each) for each in describe_source(spark, source_at(path), path.parent)]


def _plain(field: StructField) -> tuple[str, str, bool]:
    return field.name, encode_type(field.type), field.nullable


@pytest.mark.parametrize("way", WAYS)
def test_files_of_arrow_are_told_as_spark_finds_them(spark, tmp_path, way):
    folder = tmp_path / "t"
    folder.mkdir()
    for name in ("a", "b"):
        pq.write_table(pa.table(dict(ROWS)), folder / f"{name}.parquet", **WAYS[way])

    assert found(spark, folder) == told(folder)


@pytest.mark.parametrize("name", NOT_TOLD)
def test_what_is_rare_is_left_to_spark(tmp_path, name):
    pq.write_table(pa.table({"id": pa.array([1]), name: NOT_TOLD[name]}), tmp_path / "a.parquet")

    assert told(tmp_path / "a.parquet") is None


def test_files_of_spark_are_told_as_spark_finds_them(spark, tmp_path):
    spark.sql(
        "SELECT id, cast(id AS tinyint) AS small, 'x' AS text, array(id) AS list,"
        " map('a', 1.5D) AS map, named_struct('A b', 1, 'c', current_timestamp()) AS struct,"
        " timestamp_ntz '2026-05-01 00:00:00' AS ntz, cast(1.5 AS decimal(10,2)) AS amount,"
        " date '2026-05-01' AS day, X'00' AS bytes"
        " FROM range(3)"
    ).write.parquet(f"{tmp_path}/t")

    assert found(spark, tmp_path / "t") == told(tmp_path / "t")


def test_types_that_spark_tells_beside_its_schema_are_left_to_it(spark, tmp_path):
    frame = spark.sql("SELECT 'x' COLLATE UTF8_LCASE AS text")
    frame.write.parquet(f"{tmp_path}/t")

    assert told(tmp_path / "t") in (None, found(spark, tmp_path / "t"))


def test_folders_that_are_columns_differing_files_options_and_settings_are_left_to_spark(tmp_path):
    pq.write_table(pa.table({"id": [1]}), tmp_path / "a.parquet")
    other = tmp_path / "both"
    other.mkdir()
    pq.write_table(pa.table({"id": [1]}), other / "a.parquet")
    pq.write_table(pa.table({"id": [1], "more": [1]}), other / "b.parquet")
    parted = tmp_path / "parted/day=1"
    parted.mkdir(parents=True)
    pq.write_table(pa.table({"id": [1]}), parted / "a.parquet")
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1 and no more")

    assert told(tmp_path / "a.parquet") is not None
    assert [None] * 5 == [
        told(other),
        told(tmp_path / "parted"),
        told(damaged),
        told(tmp_path / "a.parquet", mergeSchema="false"),
        told(tmp_path / "a.parquet", {"spark.sql.parquet.binaryAsString": "true"}),
    ]


def test_columns_that_differ_in_case_alone_are_left_to_spark(tmp_path):
    pq.write_table(pa.table({"id": [1], "ID": [1]}), tmp_path / "a.parquet")

    assert told(tmp_path / "a.parquet") is None
