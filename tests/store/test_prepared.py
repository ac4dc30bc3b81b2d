"""Prepared commits: exactly that version with exactly those bytes, or nothing."""

import os
import shutil

import pytest

from rocky.errors import ChangeRefused, StoreUnreadable, StoreUnwritable
from rocky.language.datatypes.types import STRING, StructField
from rocky.store.clone import clone_table, copy_files
from rocky.store.delta.actions import parse_commit
from rocky.store.delta.change import Committed
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK
from rocky.store.journal import PreparedStamp, TableChanged, commit_exactly, prepare_commit
from rocky.store.warehouse import open_warehouse
from tests.store.tables import (
    COLUMNS,
    ORDERS,
    append,
    ids,
    latest,
    place,
    plain,
    read_ids,
    reopened,
    replace_with,
    shape,
    table_in,
)

MOMENT = PreparedStamp(1_700_000_000_000, "promotion-1")
INFO = {"runId": "promotion-1"}
WIDER = (*COLUMNS, StructField("name", STRING, True))


@pytest.fixture
def table(tmp_path):
    found = table_in(tmp_path)
    replace_with(found, ids(found, 1), properties={"owner": "shop", WATERMARK: "1"})
    append(found, ids(found, 2), properties={ROWS_HASH: "0" * 32})
    return found


@pytest.fixture
def branch(table, tmp_path):
    """The table on a branch, with one file more and another watermark."""
    found = open_warehouse("warehouse/branch__b", base=tmp_path).table(ORDERS)
    clone_table(table, latest(table), found)
    append(found, ids(found, 3), properties={ROWS_HASH: "1" * 32, WATERMARK: "3"})
    return found


def new_file(branch, table):
    (found,) = (file for file in latest(branch).files if file not in latest(table).files)
    return found


def promote(branch, table, moment=MOMENT):
    content, before = latest(branch), table.snapshot()
    copy_files(branch, content.files, table)
    return prepare_commit(table, before, content, INFO, moment)


def test_a_table_gets_the_content_of_another(table, branch):
    committed = commit_exactly(table, promote(branch, table))

    assert isinstance(committed, Committed)
    assert (2, False) == (committed.snapshot.version, committed.repeated)
    assert plain(latest(reopened(table))) == plain(committed.snapshot)
    assert [1, 2, 3] == read_ids(table)
    assert table.log.commit_hash(2) == committed.commit_hash
    assert dict(latest(branch).configuration) == dict(committed.snapshot.configuration)
    assert latest(branch).files == committed.snapshot.files
    assert "promotion-1" == table.history()[0]["runId"]


def test_a_file_that_stays_is_neither_added_nor_removed(table, branch):
    new = new_file(branch, table)

    prepared = promote(branch, table)
    actions = [name for action in parse(prepared.data) for name in action]

    assert ((new,), ()) == (prepared.added, prepared.removed)
    assert ["commitInfo", "metaData", "add"] == actions


def parse(data):
    return parse_commit(data)


def test_properties_that_others_have_set_stay(table, branch):
    replace_with(table, *latest(table).files, properties={"owner": "another", WATERMARK: "1"})

    commit_exactly(table, promote(branch, table))

    assert "another" == latest(table).configuration["owner"]
    assert "3" == latest(table).configuration[WATERMARK]


def test_columns_and_partitions_come_with_the_content(table, tmp_path):
    branch = open_warehouse("warehouse/branch__b", base=tmp_path).table(ORDERS)
    file = place(branch, {"id": [7], "name": ["x"]}, name="x")
    replace_with(branch, file, schema=WIDER, partition_columns=("name",))

    committed = commit_exactly(table, promote(branch, table))

    assert shape(WIDER) == shape(committed.snapshot.schema)
    assert ("name",) == committed.snapshot.partition_columns
    assert [7] == read_ids(table)
    assert 2 == len(committed.removed)


def test_a_table_that_is_not_there_is_made_at_version_0(branch, tmp_path):
    table = open_warehouse("other", base=tmp_path).table(ORDERS)

    committed = commit_exactly(table, promote(branch, table))

    assert 0 == committed.snapshot.version
    assert [1, 2, 3] == read_ids(table)
    assert "shop" == committed.snapshot.configuration["owner"]
    assert latest(branch).table_id != committed.snapshot.table_id


def test_an_older_version_is_restored(table):
    before = latest(table)
    replace_with(table, ids(table, 9), properties={WATERMARK: "9"})

    prepared = prepare_commit(table, latest(table), before, INFO, MOMENT)
    committed = commit_exactly(table, prepared)

    assert [1, 2] == read_ids(table)
    assert before.files == committed.snapshot.files
    assert dict(before.configuration) == dict(committed.snapshot.configuration)


def test_equal_arguments_give_equal_bytes(table, branch, tmp_path):
    new = open_warehouse("other", base=tmp_path).table(ORDERS)

    for target in (table, new):
        assert promote(branch, target).data == promote(branch, reopened(target)).data
        other = promote(branch, target, PreparedStamp(MOMENT.now_ms, "promotion-2"))
        assert other.data != promote(branch, target).data


def test_a_commit_that_is_there_already_is_not_repeated(table, branch):
    prepared = promote(branch, table)
    first = commit_exactly(table, prepared)
    append(table, ids(table, 4))

    again = commit_exactly(reopened(table), prepared)

    assert again.repeated
    assert (plain(first.snapshot), first.commit_hash) == (plain(again.snapshot), again.commit_hash)
    assert 3 == latest(table).version


def test_a_commit_that_another_release_spelt_is_known_by_its_token(table, branch):
    prepared = promote(branch, table)
    data = prepared.data.replace(b'"engineInfo":"rocky/', b'"engineInfo":"rocky/9')
    assert table.objects.create(table.log.commit_path(2), data)

    assert commit_exactly(table, prepared).repeated


def test_a_table_that_moved_is_left_alone(table, branch):
    prepared = promote(branch, table)
    append(table, ids(table, 4))

    assert TableChanged(table.name, 1, 2) == commit_exactly(table, prepared)
    assert [1, 2, 4] == read_ids(table)


def test_a_table_that_was_made_anew_is_left_alone(table, branch):
    prepared = promote(branch, table)
    drop(table)
    anew = reopened(table)
    assert TableChanged(table.name, 1, None) == commit_exactly(anew, prepared)
    replace_with(anew, ids(anew, 4))
    assert TableChanged(table.name, 1, 0) == commit_exactly(anew, prepared)
    append(anew, ids(anew, 5))

    assert TableChanged(table.name, 1, 1) == commit_exactly(anew, prepared)
    assert [4, 5] == read_ids(anew)


def test_a_table_that_somebody_made_meanwhile_is_left_alone(branch, tmp_path):
    table = open_warehouse("other", base=tmp_path).table(ORDERS)
    prepared = promote(branch, table)
    replace_with(table, ids(table, 4))

    assert TableChanged(table.name, None, 0) == commit_exactly(table, prepared)


def test_of_two_that_commit_at_once_one_gets_the_version(table, branch, monkeypatch):
    prepared = promote(branch, table)
    create = type(table.objects).create

    def meet(objects, path, data):
        if data == prepared.data:
            monkeypatch.setattr(type(table.objects), "create", create)
            append(reopened(table), ids(table, 4))
        return create(objects, path, data)

    monkeypatch.setattr(type(table.objects), "create", meet)

    assert TableChanged(table.name, 1, 2) == commit_exactly(table, prepared)
    assert [1, 2, 4] == read_ids(table)


def test_an_answer_that_was_lost_is_found_by_committing_again(table, branch, monkeypatch):
    prepared = promote(branch, table)
    create = type(table.objects).create

    def lose(objects, path, data):
        create(objects, path, data)
        raise StoreUnwritable("could not write: the server did not answer in time")

    monkeypatch.setattr(type(table.objects), "create", lose)

    assert isinstance(commit_exactly(table, prepared), Committed)
    assert [1, 2, 3] == read_ids(table)


def test_nothing_is_committed_while_a_file_is_missing(table, branch):
    prepared = prepare_commit(table, latest(table), latest(branch), INFO, MOMENT)

    with pytest.raises(ChangeRefused, match="it is missing"):
        commit_exactly(table, prepared)
    assert 1 == latest(table).version


def test_a_tenth_version_gets_its_checkpoint(table, branch):
    for _ in range(8):
        append(table)

    committed = commit_exactly(table, promote(branch, table))

    assert 10 == committed.snapshot.version
    assert table.log.checkpoint_hash(10) == committed.checkpoint_hash
    assert (
        committed.checkpoint_hash
        == commit_exactly(table, promote_again(table, branch)).checkpoint_hash
    )


def promote_again(table, branch):
    return prepare_commit(table, table.snapshot(9), latest(branch), INFO, MOMENT)


def test_a_table_that_takes_no_removal_is_refused_before_anything_is_written(table, branch):
    properties = {"delta.appendOnly": "true", WATERMARK: "1"}
    replace_with(table, ids(table, 5), properties=properties)

    with pytest.raises(ChangeRefused, match="append-only"):
        promote(branch, table)


def test_a_table_that_rocky_does_not_write_is_refused(table, branch):
    replace_with(table, ids(table, 5), properties={"delta.enableChangeDataFeed": "true"})

    with pytest.raises(ChangeRefused, match="change data feed"):
        promote(branch, table)


def test_files_are_brought_as_links_and_look_new(table, branch):
    content = latest(branch)
    new = new_file(branch, table)
    there, here = (each.objects.local_path(f"{each.prefix}/{new.path}") for each in (table, branch))
    os.utime(here, (0, 0))

    copy_files(branch, content.files, table)
    copy_files(branch, content.files, table)

    assert there.samefile(here)
    assert there.stat().st_mtime > 0


def test_a_file_that_is_missing_or_shorter_is_not_brought(table, branch):
    new = new_file(branch, table)
    file = branch.objects.local_path(f"{branch.prefix}/{new.path}")
    file.write_bytes(b"PAR1")
    with pytest.raises(StoreUnreadable, match="its length has changed"):
        copy_files(branch, [new], table)
    file.unlink()

    with pytest.raises(StoreUnreadable, match="it is missing"):
        copy_files(branch, [new], table)


def test_a_damaged_file_of_that_name_is_told_and_not_taken(table, branch):
    new = new_file(branch, table)
    table.objects.put(f"{table.prefix}/{new.path}", b"PAR1")

    with pytest.raises(
        StoreUnwritable, match="its content does not match its name; restore or remove it"
    ):
        copy_files(branch, [new], table)


def drop(table):
    shutil.rmtree(table.objects.local_path(table.prefix))
