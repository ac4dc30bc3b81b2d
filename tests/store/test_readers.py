"""Readers nobody here wrote read what was committed, after every kind of change."""

import json
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blake3 import blake3
from deltalake import DeltaTable, QueryBuilder

from rocky.language.datatypes import types
from rocky.language.datatypes.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    StructField,
    array,
    struct,
)
from rocky.store.delta.change import Change
from rocky.store.iceberg import publish_iceberg
from rocky.store.parquet.rows import load_rows
from tests.store.iceberg_tables import read_iceberg
from tests.store.parquet_files import open_table, placed
from tests.table_files import data_files

pytestmark = pytest.mark.slow

FIELDS = (
    StructField("id", BIGINT, False),
    StructField("land", STRING, True),
    StructField("price", types.decimal(18, 2), True),
    StructField("rate", DOUBLE, True),
    StructField("day", DATE, True),
    StructField("at", TIMESTAMP, True),
    StructField("flag", BOOLEAN, True),
    StructField("tags", array(STRING), True),
    StructField("who", struct((StructField("name", types.varchar(10), True),)), True),
)
ADDED = (*FIELDS, StructField("note", STRING, True), StructField("count", INT, True))


def row(number, **more):
    return {
        "id": number,
        "land": [None, "EU", "US"][number % 3],
        "price": Decimal(f"{number}.25"),
        "rate": number / 8,
        "day": date(2024, 1, 1 + number % 28),
        "at": datetime(2024, 1, 1, 0, 0, 0, number, tzinfo=UTC),
        "flag": number % 2 == 0,
        "tags": [str(number), None],
        "who": {"name": f"n{number}"},
        **more,
    }


def rows(*numbers, **more):
    return [row(number, **more) for number in numbers]


def by_land(*groups):
    """Rows split into parts of one land each, as Spark splits a partitioned table."""
    split = {}
    for each in groups:
        split.setdefault(each["land"], []).append(each)
    return list(split.values())


def as_counter(found):
    return Counter(json.dumps(each, sort_keys=True, default=str) for each in found)


def dicts(table):
    """Rows with times in UTC, whoever read them."""
    return as_counter(table.to_pylist())


class Shop:
    """A table under test: commits, and what it must hold."""

    def __init__(self, folder, partition_columns):
        self.table = open_table(folder)
        self.partition_columns = partition_columns
        self.fields = FIELDS

    def commit(self, operation, new, removes=frozenset(), fields=None):
        self.fields = fields or self.fields
        base = self.table.snapshot()
        stays = frozenset() if base is None else frozenset(file.path for file in base.files)
        parts = by_land(*new) if self.partition_columns else [new[:2], new[2:]]
        adds = placed(
            self.table,
            self.fields,
            *[part for part in parts if part],
            kept_paths=frozenset() if operation == "REPLACE" else stays - removes,
            partition_columns=self.partition_columns,
        )
        change = Change(operation, base, self.fields, self.partition_columns, adds, removes)
        return self.table.commit(change).snapshot

    def ids_by_file(self):
        folder = self.table.objects.local_path(self.table.prefix)
        return {
            file.path: pq.read_table(folder / file.path)["id"].to_pylist()
            for file in self.table.snapshot().files
        }

    def assert_read_by_all(self, expected):
        snapshot = self.table.snapshot()
        folder = self.table.objects.local_path(self.table.prefix)
        names = [field.name for field in self.fields]
        wanted = as_counter(expected)
        delta = DeltaTable(folder)

        assert dict.fromkeys([file.path for file in snapshot.files]) == dict.fromkeys(
            sorted(delta.get_add_actions().column("path").to_pylist())
        )
        assert wanted == dicts(delta.to_pyarrow_table())
        found = QueryBuilder().register("t", delta).execute("SELECT * FROM t")
        assert wanted == dicts(pa.table(found.read_all()))
        assert wanted == dicts(pl.read_delta(str(folder)).to_arrow())
        low = pl.scan_delta(str(folder)).filter(pl.col("id") <= 2).collect().to_arrow()
        assert as_counter(each for each in expected if each["id"] <= 2) == dicts(low)
        assert len(expected) == self.counted_by_duckdb(snapshot, folder)
        location = publish_iceberg(self.table, snapshot)
        assert wanted == dicts(read_iceberg(location).scan().to_arrow())
        assert wanted == dicts(pl.scan_iceberg(location).collect().to_arrow())
        ours = load_rows(self.table, snapshot, 1000)
        assert wanted == as_counter(dict(zip(names, each, strict=True)) for each in ours)
        self.assert_named_by_bytes(folder)

    def counted_by_duckdb(self, snapshot, folder):
        """The rows of the list of files, with the columns of all of them."""
        if not snapshot.files:
            return 0
        paths = [str(folder / file.path) for file in snapshot.files]
        with duckdb.connect() as connection:
            query = "SELECT count(*) FROM read_parquet(?, union_by_name = true)"
            return connection.execute(query, [paths]).fetchall()[0][0]

    def assert_named_by_bytes(self, folder):
        files = data_files(folder)
        assert files
        assert [f"{blake3(file.read_bytes()).hexdigest()}.parquet" for file in files] == [
            file.name for file in files
        ]


@pytest.fixture(params=[(), ("land",)], ids=["whole", "partitioned"])
def shop(request, tmp_path, monkeypatch):
    monkeypatch.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")
    # A plain name: polars does not find Delta files below a folder whose name needs escapes.
    return Shop(tmp_path / "warehouse", request.param)


def test_a_replaced_table_is_read_by_all(shop):
    shop.commit("REPLACE", rows(1, 2, 3, 4))
    shop.assert_read_by_all(rows(1, 2, 3, 4))
    shop.commit("REPLACE", rows(7))
    shop.assert_read_by_all(rows(7))


def test_appended_rows_are_read_by_all_even_when_they_are_equal(shop):
    shop.commit("REPLACE", rows(1, 2, 3))
    for _ in range(3):
        shop.commit("APPEND", rows(5))
    shop.assert_read_by_all(rows(1, 2, 3, 5, 5, 5))


def test_a_changed_file_is_read_by_all(shop):
    shop.commit("REPLACE", rows(1, 2, 30, 31))
    path, gone = next(each for each in shop.ids_by_file().items() if 1 in each[1])
    new = [row(number, rate=99.5) for number in gone]
    shop.commit("MERGE", [*new, row(8)], frozenset({path}))
    kept = {1, 2, 30, 31} - set(gone)

    shop.assert_read_by_all([*rows(*kept), *new, row(8)])


def test_added_columns_are_null_in_old_rows_for_all(shop):
    shop.commit("REPLACE", rows(1, 2))
    more = {"note": "new", "count": 3}
    shop.commit("APPEND", rows(3, **more), fields=ADDED)
    shop.assert_read_by_all([*rows(1, 2, note=None, count=None), *rows(3, **more)])


def test_a_table_without_rows_is_read_by_deltalake_and_iceberg(shop):
    shop.commit("REPLACE", rows(1))
    shop.commit("REPLACE", [])
    folder = shop.table.objects.local_path(shop.table.prefix)
    location = publish_iceberg(shop.table, shop.table.snapshot())

    assert 0 == DeltaTable(folder).to_pyarrow_table().num_rows
    assert 0 == read_iceberg(location).scan().to_arrow().num_rows
    assert [] == load_rows(shop.table, shop.table.snapshot(), 10)


def test_a_table_with_a_checkpoint_is_read_by_all(shop):
    for number in range(12):
        shop.commit("APPEND" if number else "REPLACE", rows(number))
    log = shop.table.objects.local_path(shop.table.prefix) / "_delta_log"

    assert list(log.glob("*.checkpoint.parquet"))
    shop.assert_read_by_all(rows(*range(12)))
    (path,) = [path for path, ids in shop.ids_by_file().items() if ids == [11]]
    shop.commit("MERGE", rows(40), frozenset({path}))
    shop.assert_read_by_all(rows(*range(11), 40))


def test_old_versions_are_read_too(shop):
    shop.commit("REPLACE", rows(1, 2))
    shop.commit("APPEND", rows(3))
    shop.commit("REPLACE", rows(9))
    folder = shop.table.objects.local_path(shop.table.prefix)

    for version, expected in enumerate([rows(1, 2), rows(1, 2, 3), rows(9)]):
        old = shop.table.snapshot(version)
        assert as_counter(expected) == dicts(DeltaTable(folder, version=version).to_pyarrow_table())
        names = [field.name for field in old.schema]
        ours = load_rows(shop.table, old, 100)
        assert as_counter(expected) == as_counter(
            dict(zip(names, each, strict=True)) for each in ours
        )
