"""Clones in a bucket: they refer to the files where they are, and copy none."""

from pathlib import Path

import pytest

from rocky.errors import ChangeRefused, StoreUnreadable
from rocky.run.checksums import damaged_file, missing_file
from rocky.store.branch_folder import drop_branch_folder
from rocky.store.clone import clone_table, clone_tables, copy_files
from rocky.store.delta.actions import format_commit
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK
from rocky.store.file_usage import find_leftovers, list_files, read_lifetimes, refuse_shared
from rocky.store.journal import PreparedStamp, commit_exactly, prepare_commit
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import Table, open_warehouse
from tests.store.tables import ORDERS, append, commit, ids, latest, reopened, replace_with
from tests.store.test_s3 import FAR_FUTURE_MS, options

__all__ = ["options"]
pytestmark = [pytest.mark.slow, pytest.mark.server]

MOMENT = PreparedStamp(1_700_000_000_000, "promotion-1")


@pytest.fixture
def root(request) -> str:
    name = request.node.name.replace("/", "")
    return f"s3://lake/{name} ä/50%"


@pytest.fixture
def table(options, root) -> Table:
    found = open_warehouse(root, base=Path(), options=options).table(ORDERS)
    properties = {ROWS_HASH: "0" * 31 + "7", WATERMARK: "3", "owner": "shop"}
    replace_with(found, ids(found, 1, 2), ids(found, 3), properties=properties)
    return found


@pytest.fixture
def clone(options, root, table) -> Table:
    found = open_warehouse(f"{root}/branch__b", base=Path(), options=options).table(ORDERS)
    clone_table(table, latest(table), found)
    return found


def rows(table: Table) -> list[int]:
    table = reopened(table)
    return sorted(number for (number,) in load_rows(table, latest(table), 100))


def names(table: Table) -> set[str]:
    """The data files in a table's folder."""
    below = len(table.prefix) + 1
    return {info.path[below:] for info in list_files(table).data}


def test_a_clone_copies_no_file_and_reads_them_all(table, clone):
    assert set() == names(clone)
    assert [1, 2, 3] == rows(clone)
    assert [file.address for file in latest(table).files] == [
        file.address for file in latest(reopened(clone)).files
    ]


def test_files_are_called_as_spark_reads_them(table, clone):
    assert [table.file_uri(file) for file in latest(table).files] == [
        file.path for file in latest(clone).files
    ]
    assert [table.file_uri(file) for file in latest(table).files] == [
        clone.file_uri(file) for file in latest(clone).files
    ]
    assert latest(clone).files[0].path.startswith("s3a://lake/")


def test_the_hash_of_the_rows_survives(table, clone):
    assert dict(latest(table).configuration) == dict(latest(reopened(clone)).configuration)
    assert ROWS_HASH in latest(clone).configuration


def test_a_clone_of_a_clone_refers_to_the_first_files(options, root, table, clone):
    second = open_warehouse(f"{root}/branch__c", base=Path(), options=options).table(ORDERS)

    clone_tables([(clone, latest(clone), second)])

    assert latest(clone).files == latest(second).files
    assert [1, 2, 3] == rows(second)


def test_a_branch_that_another_one_reads_the_files_of_is_not_removed(options, root, table, clone):
    first, second = (
        open_warehouse(f"{root}/branch__{name}", base=Path(), options=options) for name in "bc"
    )
    clone_table(clone, latest(clone), second.table(ORDERS))
    refuse_shared(first)
    refuse_shared(second)
    append(clone, ids(clone, 4))
    drop_branch_folder(second)
    clone_table(clone, latest(clone), second.table(ORDERS))

    with pytest.raises(ChangeRefused, match="the branch `c` was made from it"):
        refuse_shared(first)
    refuse_shared(second)


def test_changes_of_a_clone_leave_the_table_alone(table, clone):
    gone = frozenset({latest(clone).files[0].path})
    commit(clone, "MERGE", ids(clone, 9), removes=gone)

    assert 2 == len(rows(clone)) or 9 in rows(clone)
    assert 1 == len(names(clone))
    assert [1, 2, 3] == rows(table)


def test_the_same_bytes_once_more_are_rows_once_more(table, clone):
    append(clone, ids(clone, 3))

    assert [1, 2, 3, 3] == rows(clone)
    assert 3 == len({file.address for file in latest(clone).files})


def test_bytes_that_are_written_again_stay_where_they_are(clone):
    before = latest(clone).files

    committed = replace_with(clone, ids(clone, 1, 2), ids(clone, 3))

    assert ((), ()) == (committed.added, committed.removed)
    assert before == committed.snapshot.files


def test_a_clone_is_read_from_its_checkpoint(clone):
    for number in range(11):
        assert () == append(clone, ids(clone, 10 + number)).warnings
    before = latest(clone)
    clone.objects.delete([clone.log.commit_path(version) for version in range(10)])

    assert before.files == latest(reopened(clone)).files


def test_lifetimes_and_leftovers_know_files_elsewhere(clone):
    shared = latest(clone).files
    append(clone, ids(clone, 4))
    ids(clone, 5)

    assert {file.path for file in shared} < read_lifetimes(clone.log).live
    assert 1 == len(find_leftovers(clone, FAR_FUTURE_MS))


def test_what_is_missing_or_damaged_elsewhere_is_found(table, clone):
    snapshot, file = latest(clone), latest(table).files[0]
    assert missing_file(clone, snapshot) is None
    assert damaged_file(clone, snapshot) is None

    table.objects.put(f"{table.prefix}/{file.path}", b"x" * file.size)
    assert table.file_uri(file) == damaged_file(clone, snapshot)
    assert missing_file(clone, snapshot) is None

    table.objects.delete([f"{table.prefix}/{file.path}"])
    assert table.file_uri(file) == missing_file(clone, snapshot)


def test_a_table_that_lacks_a_file_is_not_cloned(options, root, table):
    snapshot = latest(table)
    table.objects.delete([f"{table.prefix}/{snapshot.files[0].path}"])
    clone = open_warehouse(f"{root}/branch__b", base=Path(), options=options).table(ORDERS)

    with pytest.raises(StoreUnreadable, match="it is missing"):
        clone_table(table, snapshot, clone)

    assert clone.snapshot() is None


@pytest.mark.parametrize("limit", [5 * 1024**3, 0])
def test_only_new_files_are_copied_when_a_table_gets_the_content(
    options, root, table, clone, monkeypatch, limit
):
    monkeypatch.setattr("rocky.store.clone._LARGEST_SERVER_COPY", limit)
    before = names(table)
    append(clone, ids(clone, 4))

    copy_files(clone, latest(clone).files, table)
    prepared = prepare_commit(table, latest(table), latest(clone), {}, MOMENT)
    committed = commit_exactly(table, prepared)

    assert 1 == len(committed.added)
    assert () == committed.removed
    assert [1, 2, 3, 4] == rows(table)
    assert not any(file.is_elsewhere for file in committed.snapshot.files)
    assert before | {committed.added[0].path} == names(table)
    assert [1, 2, 3, 4] == rows(clone)


def test_the_folder_of_a_branch_is_removed_and_no_file_of_the_table(options, root, table, clone):
    append(clone, ids(clone, 4))
    warehouse = open_warehouse(f"{root}/branch__b", base=Path(), options=options)

    assert 4 == drop_branch_folder(warehouse)

    assert [] == list(warehouse.objects.list(""))
    assert [1, 2, 3] == rows(table)


def test_a_bucket_shows_branches_as_no_tables(options, root, table, clone):
    warehouse = open_warehouse(root, base=Path(), options=options)

    assert ["shop.core.orders"] == [each.name for each in warehouse.tables()]


@pytest.mark.parametrize(
    ("there", "why"),
    [
        ("s3a://other/wh/{name}", "only files of one bucket can be shared"),
        ("s3a://lake/../{name}", "only files of one bucket can be shared"),
        ("https://lake/wh/{name}", "only files of one bucket can be shared"),
        ("s3a://lake/wh/part-0.parquet", "it refers to a file outside the table"),
        ("/wh/{name}", "it refers to a file outside the table"),
    ],
)
def test_other_places_are_refused(table, there, why):
    refer_to(table, there.format(name=latest(table).files[0].name))

    with pytest.raises(StoreUnreadable, match=why):
        reopened(table).snapshot()


def refer_to(table: Table, path: str) -> None:
    actions = [
        {kind: value | {"path": path} if kind == "add" else value for kind, value in each.items()}
        for each in table.log.read_commit(0)
    ]
    table.objects.put(table.log.commit_path(0), format_commit(actions))
