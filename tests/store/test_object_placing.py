"""Placing, rows and Iceberg in an S3-compatible object store on loopback."""

import pytest
from blake3 import blake3

from rocky.errors import StoreUnreadable
from rocky.language.datatypes.types import INT, STRING, StructField
from rocky.store import data_file
from rocky.store.data_file import salted
from rocky.store.iceberg import publish_iceberg
from rocky.store.parquet.rows import load_rows
from rocky.store.parquet.staging import open_staging, place_files
from rocky.store.warehouse import open_warehouse
from tests.servers.s3 import make_bucket, s3_server
from tests.store.iceberg_tables import read_iceberg
from tests.store.parquet_files import Named, parquet_bytes, placed, snapshot_of, stage

pytestmark = pytest.mark.server

FIELDS = (StructField("id", INT, True), StructField("land", STRING, True))
ROWS = [{"id": 1, "land": "a/b é"}, {"id": 2, "land": "a/b é"}]
KEYS = {"access_key_id": "key", "secret_access_key": "secret", "region": "us-east-1"}


@pytest.fixture(scope="module")
def endpoint():
    with s3_server() as address:
        yield address


@pytest.fixture
def table(endpoint, request, tmp_path):
    bucket = tmp_path.name.replace("_", "-")[:40].strip("-")
    make_bucket(endpoint, bucket)
    warehouse = open_warehouse(
        f"s3://{bucket}/ware house é", base=tmp_path, options={"endpoint": endpoint, **KEYS}
    )
    return warehouse.table(Named())


def names_in(table):
    start = len(table.prefix) + 1
    return sorted(found.path[start:] for found in table.objects.list(table.prefix))


def test_files_are_copied_to_their_names_and_the_staging_is_removed(table):
    data = parquet_bytes(ROWS, FIELDS)
    path = "__part_0=a%2Fb é/part-0.parquet"
    staging = stage(table, {path: data, "_temporary/0/part-9.parquet": data})
    (file,) = place_files(table, staging, FIELDS, ["land"], frozenset())

    assert f"{blake3(data).hexdigest()}.parquet" == file.path
    assert [file.path] == names_in(table)
    assert data == table.objects.read(f"{table.prefix}/{file.path}")
    assert (len(data), 2, {"land": "a/b é"}) == (file.size, file.rows, file.partition_values)


def test_an_object_whose_footer_is_out_of_order_is_put_again_before_it_is_named(table, monkeypatch):
    monkeypatch.setattr("rocky.store.parquet.digest._CHUNK", 50)
    data = parquet_bytes(ROWS, FIELDS)
    # PLAIN, RLE and RLE_DICTIONARY as Arrow lists them, and as Java might.
    other = data.replace(b"\x19\x35\x00\x06\x10", b"\x19\x35\x10\x06\x00")
    assert data != other
    staging = stage(table, {"part-0.parquet": other})
    (file,) = place_files(table, staging, FIELDS, [], frozenset())

    assert f"{blake3(data).hexdigest()}.parquet" == file.path
    assert data == table.objects.read(f"{table.prefix}/{file.path}")


def test_files_of_equal_bytes_are_told_apart_without_loading_them_whole(table, monkeypatch):
    monkeypatch.setattr(data_file, "CHUNK", 100)
    data = parquet_bytes(ROWS, FIELDS)
    staging = stage(table, {"a.parquet": data, "b.parquet": data})
    files = place_files(table, staging, FIELDS, (), frozenset())
    expected = {f"{blake3(salted(data, n)).hexdigest()}.parquet" for n in range(2)}

    assert expected == {file.path for file in files} == set(names_in(table))
    stored = {name: table.objects.read(f"{table.prefix}/{name}") for name in expected}
    assert expected == {f"{blake3(bytes_).hexdigest()}.parquet" for bytes_ in stored.values()}


def test_a_large_object_is_hashed_in_pieces(table):
    data = bytes(20_000_000)
    table.objects.put(f"{table.prefix}/x", data)
    hasher = open_staging(table).hasher(1)

    assert (blake3(data).hexdigest(), len(data), b"") == hasher("x")
    assert "secret" not in repr(hasher)


def test_rows_are_read_and_a_missing_object_is_named(table):
    files = placed(table, FIELDS, ROWS)
    snapshot = snapshot_of(0, FIELDS, files)

    assert [(1, "a/b é"), (2, "a/b é")] == load_rows(table, snapshot, 10)
    table.objects.delete([f"{table.prefix}/{files[0].path}"])
    with pytest.raises(StoreUnreadable, match=f"lacks its file `{files[0].path}`"):
        load_rows(table, snapshot, 10)


def test_iceberg_metadata_is_read_from_the_object_store(table, endpoint):
    files = placed(table, FIELDS, ROWS[:1], ROWS[1:])
    publish_iceberg(table, snapshot_of(0, FIELDS, files[:1]))
    location = publish_iceberg(table, snapshot_of(1, FIELDS, files))
    properties = {
        "s3.endpoint": endpoint,
        "s3.access-key-id": "key",
        "s3.secret-access-key": "secret",
        "s3.region": "us-east-1",
    }
    read = read_iceberg(location, properties).scan().to_arrow()

    assert ROWS == sorted(read.to_pylist(), key=lambda row: row["id"])
