"""Which files may hold one of some keys, from what logs and footers say."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocky.language.datatypes.text import parse_schema
from rocky.run.engine.protocol import Kept
from rocky.run.materialize.key_bounds import find_ranges
from rocky.store.data_file import DataFile
from rocky.store.parquet.kept_rows import drop_kept, find_kept
from tests.store.tables import table_in


def keep(table, rows, schema):
    """Rows in a staging folder, a file for each table given."""
    folder, columns = table.new_staging(), tuple(parse_schema(schema))
    for number, each in enumerate(rows):
        sink = io.BytesIO()
        pq.write_table(each, sink)
        table.objects.put(f"{table.prefix}/{folder}/part-{number}.parquet", sink.getvalue())
    return Kept(folder, find_kept(table, folder, columns), columns)


def file(low, high, nulls=0, column="id"):
    stats = {"numRecords": 10, "nullCount": {column: nulls}}
    if low is not None:
        stats |= {"minValues": {column: low}, "maxValues": {column: high}}
    return DataFile("f", 1, 10, json.dumps(stats), {}, 0)


def reached(ranges, *files):
    return [all(each.may_meet(one) for each in ranges) for one in files]


def test_a_file_between_two_keys_is_not_reached(tmp_path):
    table = table_in(tmp_path)
    rows = [pa.table({"id": [5, 95]}), pa.table({"id": [50]})]
    ranges = find_ranges(table, keep(table, rows, "id BIGINT"), ("id",))
    files = [file(0, 10), file(6, 49), file(50, 60), file(96, 99), file(None, None, 10)]

    assert [True, False, True, False, False] == reached(ranges, *files)


def test_of_many_rows_only_their_bounds_count(tmp_path, monkeypatch):
    monkeypatch.setattr("rocky.run.materialize.key_bounds._FEW_ROWS", 1)
    table = table_in(tmp_path)
    ranges = find_ranges(table, keep(table, [pa.table({"id": [5, 95]})], "id BIGINT"), ("id",))

    assert [True, True, False] == reached(ranges, file(0, 10), file(6, 49), file(96, 99))


@pytest.mark.parametrize(
    ("schema", "values", "inside", "outside"),
    [
        ("id STRING", ["b", "y"], ("a", "c"), ("c", "x")),
        ("id DATE", [0, 365], ("1970-12-31", "1971-01-02"), ("1970-01-02", "1970-12-31")),
        ("id INT", [None, 7], (7, 7), (8, 9)),
    ],
)
def test_keys_are_compared_as_their_type_is_ordered(tmp_path, schema, values, inside, outside):
    table, kind = (
        table_in(tmp_path),
        {"STRING": pa.string(), "DATE": pa.date32(), "INT": pa.int32()},
    )
    rows = pa.table({"id": pa.array(values, kind[schema.split()[1]])})
    ranges = find_ranges(table, keep(table, [rows], schema), ("id",))

    assert [True, False] == reached(ranges, file(*inside), file(*outside))
    assert [None in values] == reached(ranges, file(None, None, 10))


def test_a_key_without_bounds_may_be_anywhere(tmp_path):
    table = table_in(tmp_path)
    kept = keep(table, [pa.table({"id": [1.0]})], "id DOUBLE")

    assert [] == find_ranges(table, kept, ("id",))


def test_kept_rows_are_gone_when_they_are_dropped_and_never_part_of_the_table(tmp_path):
    table = table_in(tmp_path)
    kept = keep(
        table, [pa.table({"id": [1, 2]}), pa.table({"id": pa.array([], pa.int64())})], "id BIGINT"
    )

    assert (1, 2) == (len(kept.files), kept.rows)
    drop_kept(table, kept.folder)
    assert [] == list(tmp_path.rglob("*.parquet"))
    assert table.snapshot() is None
