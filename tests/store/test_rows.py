"""Rows read without a JVM."""

import io
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocky.errors import StoreUnreadable
from rocky.language.datatypes import types
from rocky.language.datatypes.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    StructField,
    array,
    map_of,
    struct,
)
from rocky.store.parquet.rows import load_rows
from rocky.store.parquet.staging import place_files
from tests.store.parquet_files import open_table, placed, snapshot_of, stage

ID = StructField("id", INT, True)


@pytest.fixture
def table(tmp_path):
    return open_table(tmp_path / "ware house é")


def ids(numbers):
    return [{"id": number} for number in numbers]


def test_every_type_is_a_python_value(table):
    values = {
        "flag": (BOOLEAN, True),
        "f": (DOUBLE, 0.5),
        "price": (types.decimal(38, 10), Decimal("-12345678901234567890.0123456789")),
        "b": (BINARY, b"\xff"),
        "day": (DATE, date(1, 1, 1)),
        "at": (TIMESTAMP, datetime(2024, 2, 29, 1, 2, 3, 456789, tzinfo=UTC)),
        "clock": (TIMESTAMP_NTZ, datetime.fromisoformat("1969-12-31T23:59:59.999999")),
        "padded": (types.char(4), "ab  "),
        "short": (types.varchar(4), "é"),
        "lasts": (types.interval("day", "second"), 86_400_000_000),
        "list": (array(struct((ID,))), [{"id": 1}, None]),
        "map": (map_of(STRING, INT), [("k", None)]),
        "nothing": (types.NULL, None),
    }
    fields = [StructField(name, datatype, True) for name, (datatype, _) in values.items()]
    row = {name: value for name, (_, value) in values.items()}
    snapshot = snapshot_of(0, fields, placed(table, fields, [row, dict.fromkeys(row)]))

    assert [tuple(row.values()), (None,) * len(row)] == load_rows(table, snapshot, 10)


@pytest.mark.parametrize("limit", [0, 1, 3, 4, 100])
def test_the_first_rows_are_those_of_the_first_files(table, limit):
    files = placed(table, [ID], ids(range(3)), ids(range(3, 5)))
    snapshot = snapshot_of(0, [ID], files)
    everything = load_rows(table, snapshot, 1000)

    assert everything[:limit] == load_rows(table, snapshot, limit)
    assert 5 == len(everything) == snapshot.rows


def test_a_limit_opens_no_more_files_than_it_needs(table):
    files = placed(table, [ID], ids([1]), ids([2]))
    (table.objects.local_path(table.prefix) / files[1].path).unlink()

    assert 1 == len(load_rows(table, snapshot_of(0, [ID], files), 1))


def test_an_old_file_is_read_with_the_columns_of_today(table):
    old = (ID, StructField("s", struct((ID,)), True))
    today = (
        StructField(
            "s", struct((StructField("more", STRING, True), StructField("id", BIGINT, True))), True
        ),
        StructField("new", types.decimal(5, 2), True),
        StructField("id", types.decimal(12, 1), True),
    )
    files = placed(table, old, [{"id": 7, "s": {"id": 1}}, {"id": None, "s": None}])

    assert [
        ({"more": None, "id": 1}, None, Decimal("7.0")),
        (None, None, None),
    ] == load_rows(table, snapshot_of(1, today, files), 10)


def test_a_table_without_files_has_no_rows(table):
    assert [] == load_rows(table, snapshot_of(0, [ID], ()), 10)


def test_what_python_cannot_hold_comes_as_text_or_bytes(table):
    moments = pa.array([2**62, 0]).cast(pa.timestamp("us", "UTC"))
    days = pa.array([2933896, 0], pa.int32()).cast(pa.date32())
    text = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a\xff", b"b"]).buffers())
    columns = {"at": moments, "list": pa.ListArray.from_arrays([0, 1, 2], days), "text": text}
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, store_schema=False)
    fields = (
        StructField("at", TIMESTAMP, True),
        StructField("list", array(DATE), True),
        StructField("text", STRING, True),
    )
    files = place_files(
        table, stage(table, {"a.parquet": sink.getvalue()}), fields, (), frozenset()
    )

    assert [
        ("17036-07-06 14:00:27.387904Z", ["10002-09-26"], b"a\xff"),
        ("1970-01-01 00:00:00.000000Z", ["1970-01-01"], b"b"),
    ] == load_rows(table, snapshot_of(0, fields, files), 10)


def test_a_missing_file_is_named_with_its_table(table):
    files = placed(table, [ID], ids([1]))
    (table.objects.local_path(table.prefix) / files[0].path).unlink()

    with pytest.raises(
        StoreUnreadable, match=f"`shop.sales.orders` lacks its file `{files[0].path}`"
    ):
        load_rows(table, snapshot_of(0, [ID], files), 1)


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"x" * 100])
def test_a_damaged_file_is_named_with_its_table(table, damage):
    files = placed(table, [ID], ids([1]))
    (table.objects.local_path(table.prefix) / files[0].path).write_bytes(damage)

    with pytest.raises(
        StoreUnreadable, match=f"file `{files[0].path}` of `shop.sales.orders` cannot be read"
    ):
        load_rows(table, snapshot_of(0, [ID], files), 1)


def test_a_page_that_is_damaged_is_found(table):
    (file,) = placed(table, [ID], ids(range(1000)))
    path = table.objects.local_path(table.prefix) / file.path
    data = bytearray(path.read_bytes())
    data[4:60] = bytes(56)
    path.write_bytes(data)

    with pytest.raises(
        StoreUnreadable, match=f"file `{file.path}` of `shop.sales.orders` cannot be read"
    ):
        load_rows(table, snapshot_of(0, [ID], [file]), 1000)
