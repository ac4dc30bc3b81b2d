import os
import time

from rocky.store.file_usage import find_leftovers, sweep_table
from tests.store.tables import append, ids, latest, read_ids, replace_with, table_in

LATER_MS = 10_000


def far_future() -> int:
    return time.time_ns() // 1_000_000 + LATER_MS


def test_files_that_no_version_refers_to_are_swept(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1))
    lost = ids(table, 2)
    table.objects.put(f"{table.prefix}/{table.new_staging()}/part-0.parquet", b"half a file")
    swept = sweep_table(table, far_future())

    assert 2 == len(swept)
    assert table.objects.info(f"{table.prefix}/{lost.path}") is None
    assert [1] == read_ids(table)
    assert () == find_leftovers(table, far_future())


def test_files_of_every_version_are_kept_also_behind_a_checkpoint(tmp_path):
    table = table_in(tmp_path)
    for number in range(12):
        replace_with(table, ids(table, number))

    assert () == sweep_table(table, far_future())
    assert [3] == read_ids(table, 3)


def test_young_files_are_left_to_their_writers(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1))
    old, young = ids(table, 2), ids(table, 3)
    path = table.objects.local_path(f"{table.prefix}/{old.path}")
    assert path is not None
    os.utime(path, (1_000_000, 1_000_000))
    swept = sweep_table(table, 2_000_000_000)

    assert [f"{table.prefix}/{old.path}"] == [info.path for info in swept]
    append(table, young)
    assert 2 == latest(table).rows


def test_nothing_but_data_and_staged_files_is_touched(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1))
    for name in ("metadata/v1.metadata.json", "notes.txt", "part-0.parquet"):
        table.objects.put(f"{table.prefix}/{name}", b"x")

    assert () == sweep_table(table, far_future())


def test_leftovers_of_a_table_that_was_never_committed_are_found(tmp_path):
    table = table_in(tmp_path)
    ids(table, 1)

    assert 1 == len(find_leftovers(table, far_future()))
