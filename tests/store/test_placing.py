"""Placing: staged files become files named by their bytes, and no row is lost on the way."""

import errno
import os
import pickle
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from blake3 import blake3

from rocky.errors import RowsRefused, StoreUnreadable, StoreUnwritable
from rocky.language.datatypes.types import BIGINT, DATE, INT, STRING, StructField, struct
from rocky.store.data_file import salted
from rocky.store.parquet.staging import place_files
from tests.store.parquet_files import open_table, parquet_bytes, stage

ID = StructField("id", BIGINT, True)
FIELDS = (ID, StructField("name", STRING, True))
ROWS = [{"id": 1, "name": "a"}, {"id": 2, "name": None}]


@pytest.fixture
def table(tmp_path):
    return open_table(tmp_path / "ware house é")


def folder_of(table) -> Path:
    return table.objects.local_path(table.prefix)


def names_in(table) -> list[str]:
    return sorted(
        path.relative_to(folder_of(table)).as_posix() for path in folder_of(table).rglob("*.*")
    )


def b3sum(path: Path) -> str:
    return blake3(path.read_bytes()).hexdigest()


def place(table, files, fields=FIELDS, partition_columns=(), kept_paths=frozenset(), **options):
    return place_files(table, stage(table, files), fields, partition_columns, kept_paths, **options)


def test_a_staged_file_is_named_by_its_bytes_and_nothing_else_is_left(table):
    data = parquet_bytes(ROWS, FIELDS)
    (file,) = place(table, {"part-0.parquet": data})

    assert f"{blake3(data).hexdigest()}.parquet" == file.path
    assert [file.path] == names_in(table)
    assert [] == list((folder_of(table) / "_staging").iterdir())
    assert data == (folder_of(table) / file.path).read_bytes()
    assert (len(data), 2, {}) == (file.size, file.rows, file.partition_values)
    assert '"minValues":{"id":1,"name":"a"}' in file.stats


def test_what_committers_leave_behind_is_not_data(table):
    data = parquet_bytes(ROWS, FIELDS)
    files = place(
        table,
        {
            "part-0.parquet": data,
            ".part-0.parquet.crc": b"crc",
            "_temporary/0/part-9.parquet": parquet_bytes(ROWS * 2, FIELDS),
            ".spark-staging-1/part-9.parquet": parquet_bytes(ROWS * 3, FIELDS),
            "_metadata.parquet": b"",
            "notes.txt": b"",
        },
    )

    assert [2] == [file.rows for file in files]


def test_a_result_without_rows_is_no_file_at_all(table):
    assert () == place(table, {"part-0.parquet": parquet_bytes([], FIELDS)})
    assert () == place(table, {})
    assert () == place_files(table, table.new_staging(), FIELDS, (), frozenset())
    assert [] == names_in(table)


def test_files_of_equal_bytes_are_told_apart(table):
    data = parquet_bytes(ROWS, FIELDS)
    files = place(table, {f"part-{n}.parquet": data for n in range(4)})
    paths = {file.path for file in files}

    assert {f"{blake3(salted(data, n)).hexdigest()}.parquet" for n in range(4)} == paths
    assert sorted(paths) == [file.path for file in files] == names_in(table)
    assert 8 == sum(pq.read_table(folder_of(table) / path).num_rows for path in paths)
    assert paths == {f"{b3sum(folder_of(table) / path)}.parquet" for path in paths}
    assert [(folder_of(table) / file.path).stat().st_size for file in files] == [
        file.size for file in files
    ]


def test_a_file_the_table_has_already_is_told_apart_from_it(table):
    data = parquet_bytes(ROWS, FIELDS)
    (first,) = place(table, {"a.parquet": data})
    (second,) = place(table, {"b.parquet": data}, kept_paths=frozenset({first.path}))
    (third,) = place(table, {"c.parquet": data}, kept_paths=frozenset({first.path, second.path}))

    assert 3 == len({first.path, second.path, third.path})
    assert sorted([first.path, second.path, third.path]) == names_in(table)


def test_the_same_write_gives_the_same_names(tmp_path):
    data, other = parquet_bytes(ROWS, FIELDS), parquet_bytes(ROWS[:1], FIELDS)
    staged = {"x.parquet": data, "y.parquet": other, "z.parquet": data}
    tables = [open_table(tmp_path / "one"), open_table(tmp_path / "two")]
    one, two = [{file.path for file in place(table, staged)} for table in tables]

    assert one == two


def test_a_leftover_of_the_same_bytes_is_used_and_looks_new(table):
    data = parquet_bytes(ROWS, FIELDS)
    (first,) = place(table, {"a.parquet": data})
    os.utime(folder_of(table) / first.path, (0, 0))
    (second,) = place(table, {"b.parquet": data})

    assert first.path == second.path
    assert second.modified_ms >= first.modified_ms


@pytest.mark.parametrize("damage", [b"half", None], ids=["shorter", "one byte"])
def test_a_damaged_file_of_the_same_name_is_healed(table, damage):
    data = parquet_bytes(ROWS, FIELDS)
    (first,) = place(table, {"a.parquet": data})
    path = folder_of(table) / first.path
    path.write_bytes(damage or b"X" + data[1:])

    place(table, {"b.parquet": data})

    assert data == path.read_bytes()


def test_a_staged_file_that_is_no_parquet_is_named(table):
    with pytest.raises(
        StoreUnreadable, match=r"part-0.parquet`, written for `shop.sales.orders`, is damaged"
    ):
        place(table, {"part-0.parquet": b"not parquet"})


def test_a_full_disk_is_told_with_the_name_of_the_table(table, monkeypatch):
    def refuse(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)

    with pytest.raises(StoreUnwritable, match=r"`shop.sales.orders`.*No space left"):
        place(table, {"a.parquet": parquet_bytes(ROWS, FIELDS)})


# ---------------------------------------------------------------------------- what is refused


def test_a_null_in_a_required_column_is_refused_before_anything_is_placed(table):
    required = (ID, StructField("name", STRING, False))
    data = parquet_bytes(ROWS, FIELDS)

    with pytest.raises(
        RowsRefused, match=r"`name` of `shop.sales.orders` is NOT NULL, but 2 rows hold null"
    ):
        place(table, {"a.parquet": data, "b.parquet": data}, required)
    assert [] == names_in(table)


def test_a_required_field_below_a_required_struct_is_named_by_its_path(table):
    written = (StructField("s", struct((ID,)), True),)
    required = (StructField("s", struct((StructField("id", BIGINT, False),)), False),)

    with pytest.raises(RowsRefused, match=r"`s.id` of .* 1 row holds null"):
        place(
            table, {"a.parquet": parquet_bytes([{"s": None}, {"s": {"id": 1}}], written)}, required
        )


# ---------------------------------------------------------------------------- partitions

PARTS = (
    StructField("id", INT, True),
    StructField("where", STRING, True),
    StructField("on", DATE, True),
)


def test_partition_values_are_read_from_the_folders_as_spark_escapes_them(table):
    rows = [{"id": 1, "where": "a/b:c%=é x", "on": date(2024, 1, 1)}]
    path = "__part_0=a%2Fb%3Ac%25%3Dé x/__part_1=2024-01-01/part-0.parquet"
    (file,) = place(table, {path: parquet_bytes(rows, PARTS)}, PARTS, ["where", "on"])

    assert {"where": "a/b:c%=é x", "on": "2024-01-01"} == file.partition_values
    assert [file.path] == names_in(table)


def test_a_null_partition_is_null_and_files_of_equal_bytes_keep_their_own_values(table):
    nobody = parquet_bytes([{"id": 1, "where": None, "on": None}], PARTS)
    null = "__HIVE_DEFAULT_PARTITION__"
    path = f"__part_0={null}/__part_1={null}"
    files = place(
        table, {f"{path}/a.parquet": nobody, f"{path}/b.parquet": nobody}, PARTS, ["where", "on"]
    )

    assert [{"where": None, "on": None}] * 2 == [file.partition_values for file in files]


def test_an_empty_string_is_refused_as_a_partition(table):
    rows = [{"id": 1, "where": "", "on": None}, {"id": 1, "where": None, "on": None}]
    null = "__HIVE_DEFAULT_PARTITION__"
    path = f"__part_0={null}/part-0.parquet"

    with pytest.raises(
        RowsRefused, match=r"partition column `where` of `shop.sales.orders` holds an empty string"
    ):
        place(table, {path: parquet_bytes(rows, PARTS)}, PARTS, ["where"])
    assert [] == names_in(table)


# ---------------------------------------------------------------------------- clusters


def test_a_cluster_examines_files_and_the_driver_names_them(table):
    asked = []

    def run_tasks(function, paths):
        asked.extend(paths)
        return [pickle.loads(pickle.dumps(function(path))) for path in paths]

    files = place(table, {"a.parquet": parquet_bytes(ROWS, FIELDS)}, run_tasks=run_tasks)

    assert 1 == len(asked) == len(files)
