"""Salted files: different bytes, the same table for every reader."""

import io

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction, create_table_with_add_actions

from rocky.store import data_file
from rocky.store.data_file import NotParquet, salted, salted_chunks

TABLE = pa.table(
    {
        "id": pa.array(range(1000), pa.int64()),
        "name": pa.array([f"name {n % 7}" for n in range(1000)]),
        "tags": pa.array([[n, None] for n in range(1000)], pa.list_(pa.int32())),
    }
)


def parquet_bytes(table: pa.Table = TABLE, **options) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


PLAIN = parquet_bytes(write_page_index=True, row_group_size=100, compression="zstd")


def test_copy_zero_is_the_file_itself():
    assert PLAIN == salted(PLAIN, 0)


def test_equal_copies_have_equal_bytes_and_different_copies_differ():
    copies = [salted(PLAIN, count) for count in range(300)]

    assert copies == [salted(PLAIN, count) for count in range(300)]
    assert 300 == len(set(copies))


def test_a_salted_copy_of_a_salted_copy_is_still_a_parquet_file():
    twice = salted(salted(PLAIN, 1), 1)

    assert twice != salted(PLAIN, 1)
    assert TABLE == pq.read_table(io.BytesIO(twice))


@pytest.mark.parametrize("chunk", [1, 7, 4096, 1 << 20])
def test_a_file_salted_in_pieces_has_the_same_bytes(chunk, monkeypatch):
    monkeypatch.setattr(data_file, "CHUNK", chunk)
    small = parquet_bytes(TABLE.slice(0, 3))
    pieces = salted_chunks(io.BytesIO(small), len(small), 3)

    assert salted(small, 3) == b"".join(pieces)


@pytest.mark.parametrize(
    "data",
    [b"", b"PAR1", b"not a file at all", b"PAR1\xff\xff\x00\x00PAR1", PLAIN[:-1], b"x" * 8],
)
def test_bytes_without_a_footer_are_refused(data):
    with pytest.raises(NotParquet):
        salted(data, 1)
    with pytest.raises(NotParquet):
        list(salted_chunks(io.BytesIO(data), len(data), 1))


@pytest.fixture(params=[1, 2**40])
def salted_file(request, tmp_path):
    path = tmp_path / "copy.parquet"
    path.write_bytes(salted(PLAIN, request.param))
    return path


def test_pyarrow_reads_a_salted_file(salted_file):
    assert TABLE == pq.read_table(salted_file)
    assert 10 == pq.read_table(salted_file, filters=[("id", "<", 10)]).num_rows


def test_polars_reads_a_salted_file(salted_file):
    assert TABLE.to_pylist() == pl.read_parquet(salted_file).to_dicts()
    low = pl.scan_parquet(salted_file).filter(pl.col("id") < 10).collect()
    assert 10 == low.height


def test_duckdb_reads_a_salted_file(salted_file):
    with duckdb.connect() as connection:
        rows = connection.execute("SELECT * FROM read_parquet(?)", [str(salted_file)]).fetchall()
        low = connection.execute(
            "SELECT count(*) FROM read_parquet(?) WHERE id < 10", [str(salted_file)]
        ).fetchall()

    assert [tuple(row.values()) for row in TABLE.to_pylist()] == rows
    assert [(10,)] == low


def test_deltalake_reads_a_table_of_a_file_and_its_salted_copies(tmp_path):
    files = {f"{count}.parquet": salted(PLAIN, count) for count in range(3)}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    adds = [AddAction(name, len(data), {}, 0, True, "{}") for name, data in files.items()]
    create_table_with_add_actions(str(tmp_path), Schema.from_arrow(TABLE.schema), adds)
    read = DeltaTable(tmp_path).to_pyarrow_table()

    assert 3000 == read.num_rows
    assert TABLE.to_pylist() == read.slice(2000).to_pylist()
