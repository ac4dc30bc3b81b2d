"""Clones: tables of their own that share the bytes of another, and nothing else."""

import pytest

from rocky.errors import ChangeRefused, StoreUnreadable
from rocky.project.project import PREFIX
from rocky.store.branch_folder import drop_branch_folder
from rocky.store.clone import clone_table, clone_tables
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK
from rocky.store.warehouse import BRANCH_PREFIX, open_warehouse
from tests.store.tables import (
    ORDERS,
    Name,
    append,
    delta,
    ids,
    latest,
    plain,
    read_ids,
    reopened,
    replace_with,
    shape,
    table_in,
)
from tests.table_files import data_files

NOTED = {ROWS_HASH: "0" * 31 + "7", WATERMARK: '{"column":"id"}', "owner": "shop"}


@pytest.fixture
def table(tmp_path):
    found = table_in(tmp_path)
    replace_with(found, ids(found, 1, 2), properties=NOTED)
    append(found, ids(found, 3), transaction=("app", 4))
    replace_with(found, ids(found, 9))
    return found


@pytest.fixture
def clone(tmp_path):
    return open_warehouse("elsewhere", base=tmp_path).table(ORDERS)


def at(table, version):
    found = table.snapshot(version)
    assert found is not None
    return found


def test_a_clone_is_the_table_at_that_version(table, clone):
    committed = clone_table(table, at(table, 0), clone)
    made = committed.snapshot

    assert plain(latest(reopened(clone))) == plain(made)
    assert clone.log.commit_hash(0) == committed.commit_hash
    assert 0 == made.version
    assert [1, 2] == read_ids(clone)
    assert shape(at(table, 0).schema) == shape(made.schema)
    assert dict(at(table, 0).configuration) == dict(made.configuration)
    assert at(table, 0).files == made.files
    assert at(table, 0).table_id != made.table_id


def test_a_clone_knows_which_transactions_were_committed(table, clone):
    made = clone_table(table, at(table, 1), clone).snapshot

    assert {"app": 4} == made.transactions
    assert append(clone, ids(clone, 3), transaction=("app", 4)).repeated


def test_files_in_a_folder_are_linked_and_not_copied(table, clone):
    clone_table(table, at(table, 1), clone)

    for file in latest(clone).files:
        here, there = (
            each.objects.local_path(f"{each.prefix}/{file.path}") for each in (table, clone)
        )
        assert here.samefile(there)


def test_what_is_committed_to_a_clone_leaves_the_table_alone(table, clone):
    clone_table(table, at(table, 1), clone)

    append(clone, ids(clone, 4))

    assert [1, 2, 3, 4] == read_ids(clone)
    assert [9] == read_ids(table)
    assert [1, 2, 3] == read_ids(table, 1)


def test_a_clone_of_no_rows_is_a_table(tmp_path, clone):
    table = table_in(tmp_path)
    replace_with(table)

    clone_table(table, latest(table), clone)

    assert [] == read_ids(clone)


def test_a_table_that_is_there_is_not_cloned_over(table, clone):
    clone_table(table, at(table, 0), clone)

    with pytest.raises(ChangeRefused, match="there is one already"):
        clone_table(table, at(table, 1), clone)

    assert [1, 2] == read_ids(clone)


def test_a_file_that_is_missing_is_named_and_no_table_is_made(table, clone):
    snapshot = at(table, 0)
    path = table.objects.local_path(f"{table.prefix}/{snapshot.files[0].path}")
    path.unlink()

    with pytest.raises(StoreUnreadable, match=str(path)):
        clone_table(table, snapshot, clone)

    assert clone.snapshot() is None


def test_a_disk_without_links_gets_copies(table, clone, monkeypatch):
    def refuse(*_):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("os.link", refuse)

    clone_table(table, at(table, 1), clone)

    assert [1, 2, 3] == read_ids(clone)
    assert {1} == {path.stat().st_nlink for path in data_files(folder_of(clone))}


def test_readers_nobody_here_wrote_see_the_properties(table, clone):
    clone_table(table, at(table, 0), clone)

    assert "shop" == delta(clone).metadata().configuration["owner"]


def test_a_clone_says_who_made_it(table, clone):
    clone_table(table, at(table, 0), clone, {"runId": "run-1"})

    assert ["run-1"] == [each["runId"] for each in clone.history()]


def test_cloning_leaves_the_files_of_the_table_as_they_were(table, clone):
    before = sorted(table.objects.list(table.prefix), key=lambda info: info.path)

    clone_table(table, at(table, 1), clone)

    assert before == sorted(table.objects.list(table.prefix), key=lambda info: info.path)


def test_many_tables_are_cloned_in_their_order(tmp_path):
    here = open_warehouse("warehouse", base=tmp_path)
    there = open_warehouse("warehouse/branch__b", base=tmp_path)
    wanted = []
    for number in range(5):
        name = Name("shop", "core", f"t{number}")
        table = here.table(name)
        replace_with(table, ids(table, number))
        wanted.append((table, latest(table), there.table(name)))

    made = clone_tables(wanted, lambda source: {"model": source.name})

    assert [each.snapshot.files for each in made] == [snapshot.files for _, snapshot, _ in wanted]
    assert [f"shop.core.t{number}" for number in range(5)] == [
        table.history()[0]["model"] for table in there.tables()
    ]
    assert [f"shop.core.t{number}" for number in range(5)] == [each.name for each in here.tables()]


def test_a_name_that_begins_as_branches_do_is_no_catalog(tmp_path):
    warehouse = open_warehouse("warehouse", base=tmp_path)

    with pytest.raises(ChangeRefused, match="the tables of branches; name another catalog"):
        warehouse.table(Name("Branch__x", "core", "orders"))
    assert PREFIX == BRANCH_PREFIX


def test_the_folder_of_a_branch_is_removed_whole(table, tmp_path):
    branch = open_warehouse("warehouse/branch__b", base=tmp_path)
    clone_table(table, at(table, 1), branch.table(ORDERS))
    append(branch.table(ORDERS), ids(branch.table(ORDERS), 5))

    assert 6 == drop_branch_folder(branch)

    assert not (tmp_path / "warehouse/branch__b").exists()
    assert [1, 2, 3] == read_ids(table, 1)
    assert 0 == drop_branch_folder(branch)


@pytest.mark.parametrize("folder", ["warehouse", "warehouse/branch__", "branch__b/shop"])
def test_what_is_not_the_folder_of_a_branch_is_not_removed(tmp_path, folder):
    (tmp_path / folder).mkdir(parents=True)

    with pytest.raises(ChangeRefused, match="is not the folder of a branch"):
        drop_branch_folder(open_warehouse(folder, base=tmp_path))

    assert (tmp_path / folder).exists()


def folder_of(table):
    return table.objects.local_path(table.prefix)
