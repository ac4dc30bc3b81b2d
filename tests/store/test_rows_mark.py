"""The hash of a file's rows, kept in the log beside the file."""

from dataclasses import replace

from rocky.language.datatypes.types import BIGINT, STRING, StructField
from rocky.store.data_file import DataFile
from rocky.store.delta.actions import format_add, parse_add
from rocky.store.delta.checkpoint import read_checkpoint, tells_of
from rocky.store.rows_mark import marked_hashes, rows_mark
from tests.store.tables import COLUMNS, delta, ids, latest, replace_with, table_in

HASHES = ("1" * 32, "a" * 32)


def marked(mark: str) -> DataFile:
    return DataFile("f.parquet", 1, 1, '{"numRecords":1}', {}, 0, mark)


def test_hashes_are_found_again_under_the_columns_they_were_taken_with():
    files = [marked(rows_mark(each, COLUMNS)) for each in HASHES]

    assert list(HASHES) == marked_hashes(files, COLUMNS)
    assert [] == marked_hashes([], COLUMNS)


def test_other_columns_and_files_without_a_mark_tell_nothing():
    file = marked(rows_mark(HASHES[0], COLUMNS))
    added = (*COLUMNS, StructField("note", STRING, True))
    wider = (StructField("id", STRING, True),)
    renamed = (StructField("key", BIGINT, True),)

    assert [None, None, None] == [marked_hashes([file], each) for each in (added, wider, renamed)]
    assert marked_hashes([file, marked("")], COLUMNS) is None
    assert marked_hashes([marked("not ours")], COLUMNS) is None


def test_whether_a_column_may_be_null_does_not_matter():
    held = tuple(StructField(each.name, each.type, False) for each in COLUMNS)

    assert [HASHES[0]] == marked_hashes([marked(rows_mark(HASHES[0], held))], COLUMNS)


def test_a_file_keeps_its_mark_in_the_log_and_one_without_says_nothing():
    for mark in (rows_mark(HASHES[0], COLUMNS), ""):
        action = format_add(marked(mark))["add"]

        assert marked(mark) == parse_add(action)
        assert bool(mark) == ("tags" in action)


def test_a_checkpoint_keeps_marks_and_one_with_others_is_no_witness(tmp_path):
    table = table_in(tmp_path)
    replace_with(table, replace(ids(table, 1), rows_mark=rows_mark(HASHES[0], COLUMNS)))
    delta(table, 0).create_checkpoint()
    (path,) = tmp_path.rglob("*.checkpoint.parquet")
    snapshot = latest(table)

    (file,) = snapshot.files
    found = [each["add"]["tags"] for each in read_checkpoint(path.read_bytes()) if "add" in each]
    assert [{"rocky.rowsHash": file.rows_mark}] == found
    assert tells_of(path.read_bytes(), snapshot)
    other = replace(snapshot, files=(replace(file, rows_mark=rows_mark(HASHES[1], COLUMNS)),))
    assert not tells_of(path.read_bytes(), other)
