"""Collecting from real tables and a real ledger, as time goes by."""

import os
from datetime import timedelta

import pytest

from rocky.errors import StoreUnwritable
from rocky.evidence.retention.collection import CollectedTable
from rocky.evidence.retention.decisions import OBSOLETE, UNFINISHED, KeepReason, Retention
from rocky.ledger import open_ledger
from rocky.ledger.branch_records import BranchRecord, PromotedTable, PromotionRecord
from rocky.ledger.branches import record_branch, record_promotion_tables
from rocky.store.clone import clone_table
from rocky.store.file_usage import remove_files
from rocky.store.warehouse import open_warehouse
from tests.evidence.retention import histories
from tests.evidence.retention.histories import KEEP_NOTHING, Past
from tests.store.tables import ORDERS, ids, read_ids


@pytest.fixture
def past(tmp_path) -> Past:
    return Past(tmp_path)


def outcome(collection, model: str = "orders") -> CollectedTable:
    return next(each for each in collection.tables if each.target == f"shop.core.{model}")


def test_a_file_that_no_version_and_no_retained_run_needs_is_removed_and_recorded(past):
    old = past.build("orders", 30, 1)
    new = past.build("orders", 20, 2)
    (gone,) = past.files_of(old)
    size = (past.root / "warehouse/shop/core/orders" / gone).stat().st_size
    found = outcome(past.collect())

    assert [(gone, OBSOLETE)] == [
        (each.file.path.rpartition("/")[2], each.reason) for each in found.removals
    ]
    assert past.files_of(new) == past.stored("orders")
    assert [2] == read_ids(past.table("orders"))
    (record,) = past.recorded()
    assert (gone.removesuffix(".parquet"), "shop.core.orders", size, OBSOLETE) == (
        record.blake3_hash,
        record.target,
        record.size_bytes,
        record.reason,
    )
    assert str(past.root / "warehouse/shop/core/orders" / gone) == record.file_path


def test_a_dry_run_says_the_same_and_changes_nothing(past):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)
    past.leave("orders", 15, 3)
    before = past.everything()
    said = outcome(past.collect(dry_run=True))

    assert before == past.everything()
    assert () == past.recorded()
    assert said == outcome(past.collect())


def test_what_a_retained_run_left_read_or_started_from_is_kept(past):
    past.build("orders", 50, 1)
    past.build("totals", 49, 10, reads=["orders"])
    past.build("orders", 40, 2)
    past.build("orders", 30, 3, operation="APPEND")
    past.build("orders", 20, 4)
    past.collect(Retention(35, 0, 0))

    assert past.versions["orders"][2].files | past.versions["orders"][3].files == past.stored(
        "orders"
    )
    past.collect(Retention(49, 0, 0))
    assert past.versions["totals"][0].files == past.stored("totals")


def test_a_version_that_a_retained_run_read_is_kept_after_its_own_run_is_forgotten(past):
    read = past.build("orders", 50, 1)
    past.build("totals", 20, 10, reads=["orders"])
    past.build("orders", 15, 2)
    past.build("orders", 14, 3)
    found = outcome(past.collect(Retention(25, 0, 0)))

    assert past.files_of(read) <= past.stored("orders")
    assert 3 == len(past.stored("orders"))
    assert [KeepReason.LIVE, KeepReason.NEEDED, KeepReason.NEEDED] == sorted(
        each.why for each in found.kept
    )


def test_the_newest_runs_are_kept_however_old_they_are(past):
    builds = [past.build("orders", 400 - number, number) for number in range(5)]
    past.collect(Retention(0, 3, 0))

    assert frozenset().union(*map(past.files_of, builds[2:])) == past.stored("orders")


def test_a_reused_result_is_kept_for_the_run_that_reused_it(past):
    built = past.build("orders", 90, 1)
    past.build("orders", 80, 2)
    reused = past.reuse(built, 20)
    past.build("orders", 15, 3)
    past.collect(Retention(25, 0, 0))

    assert reused is not None
    assert past.files_of(built) | past.versions["orders"][-1].files == past.stored("orders")


def test_what_was_replaced_lately_is_kept_for_readers_nobody_knows_of(past):
    past.build("orders", 30, 1)
    past.build("orders", 3, 2)
    past.build("orders", 2, 3)
    found = outcome(past.collect(Retention(0, 0, 7)))

    assert 3 == len(past.stored("orders"))
    assert [KeepReason.LIVE, KeepReason.YOUNG, KeepReason.YOUNG] == sorted(
        each.why for each in found.kept
    )


def test_what_was_replaced_minutes_ago_is_kept_whatever_the_settings_say(past):
    past.build("orders", 30, 1)
    past.build("orders", 5 / 24 / 60, 2)
    found = outcome(past.collect(KEEP_NOTHING))

    assert [KeepReason.LIVE, KeepReason.YOUNG] == sorted(each.why for each in found.kept)


def test_what_a_running_run_may_have_begun_to_read_is_kept(past):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)
    past.build("orders", 10, 3)
    with past.running(15, "totals"):
        found = outcome(past.collect())
        assert [KeepReason.HELD, KeepReason.LIVE] == sorted(each.why for each in found.kept)
    past.collect()

    assert past.versions["orders"][-1].files == past.stored("orders")


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_table_that_a_running_run_writes_is_left_alone_and_named(past, dry_run):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)
    past.build("totals", 30, 1)
    past.build("totals", 20, 2)
    with past.running(1, "ORDERS") as run_id:
        found = past.collect(dry_run=dry_run)

    assert f"run `{run_id}` is writing" in str(outcome(found).left_alone)
    assert 2 == len(past.stored("orders"))
    assert 1 == len(outcome(found, "totals").removals)
    assert (run_id,) == found.living_runs


def test_leftovers_go_when_they_are_old_enough(past):
    past.build("orders", 30, 1)
    past.leave("orders", 20, 2)
    past.leave("orders", 3, 3)
    found = outcome(past.collect(Retention(365, 100, 7)))

    assert [UNFINISHED] == [each.reason for each in found.removals]
    assert [1, 2, 1] == [len(found.staged), len(past.stored("orders")), len(past.staged("orders"))]
    folder = past.root / "warehouse/shop/core/orders/_staging"
    assert 1 == len(list(folder.iterdir()))


def test_leftovers_of_a_table_that_was_never_committed_go(past):
    past.build("orders", 30, 1)
    past.leave("orders", 20, 2)
    (past.root / "warehouse/shop/core/orders/_delta_log/00000000000000000000.json").unlink()
    found = outcome(past.collect())

    assert 2 == len(found.removals)
    assert set() == past.stored("orders")


def test_nothing_but_data_and_staged_files_is_touched(past):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)
    table = past.table("orders")
    others = ("metadata/v1.metadata.json", "notes.txt", "part-0.parquet", f"x/{'a' * 64}.parquet")
    for name in others:
        table.objects.put(f"{table.prefix}/{name}", b"x")
        path = table.objects.local_path(f"{table.prefix}/{name}")
        os.utime(path, (1, 1))
    past.collect()

    assert [b"x"] * 4 == [table.objects.read(f"{table.prefix}/{name}") for name in others]


def test_a_warehouse_that_was_moved_is_collected_by_the_same_rules(past, tmp_path):
    past.build("orders", 50, 1)
    past.build("orders", 40, 2)
    past.build("orders", 30, 3)
    moved = Past(tmp_path / "moved")
    moved.root.mkdir()
    for name in ("warehouse", past.state.name):
        (past.root / name).rename(moved.root / name)
    moved.collect(Retention(45, 0, 0))

    assert past.versions["orders"][1].files | past.versions["orders"][2].files == moved.stored(
        "orders"
    )


def test_no_ledger_is_nothing_to_do_and_makes_none(past):
    assert () == past.collect().tables
    assert not past.state.exists()


def test_what_was_recorded_and_not_deleted_is_deleted_by_the_next(past, monkeypatch):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("rocky.evidence.retention.collection.remove_files", killed)
    with pytest.raises(KeyboardInterrupt):
        past.collect()
    assert [1, 2] == [len(past.recorded()), len(past.stored("orders"))]
    monkeypatch.setattr("rocky.evidence.retention.collection.remove_files", remove_files)
    past.collect()

    assert [2, 1] == [len(past.recorded()), len(past.stored("orders"))]
    assert [2] == read_ids(past.table("orders"))


def test_a_file_written_anew_meanwhile_stays(past, monkeypatch):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)

    def written_first(table, files, fence):
        ids(table, 1)
        return remove_files(table, files, fence)

    monkeypatch.setattr("rocky.evidence.retention.collection.remove_files", written_first)

    assert () == outcome(past.collect()).removals
    assert 2 == len(past.stored("orders"))


def test_a_file_that_came_back_is_collected_again(past):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)
    past.collect()
    past.build("orders", 15, 1)
    past.build("orders", 14, 2)
    past.collect()

    assert [2] == read_ids(past.table("orders"))
    first, second = past.recorded()
    assert first.file_path == second.file_path
    assert second.collected_at - first.collected_at > timedelta(0)


def test_a_file_that_cannot_be_removed_fails_its_table_only(past, monkeypatch):
    for model in histories.MODELS:
        past.build(model, 30, 1)
        past.build(model, 20, 2)

    def denied(table, files, fence):
        if table.name.endswith("orders"):
            raise StoreUnwritable("could not write `x`: permission denied")
        return remove_files(table, files, fence)

    monkeypatch.setattr("rocky.evidence.retention.collection.remove_files", denied)
    found = past.collect()

    assert "could not write `x`: permission denied" == outcome(found).failed
    assert 1 == len(past.stored("totals"))


def test_equal_bytes_in_two_tables_are_two_files(past):
    past.build("orders", 50, 1)
    past.build("orders", 40, 2)
    past.build("totals", 30, 1)
    past.collect(Retention(35, 0, 0))

    assert past.versions["orders"][-1].files == past.stored("orders")
    assert past.versions["totals"][-1].files == past.stored("totals")


def test_a_table_whose_name_has_a_dot_is_collected(past):
    for number, days in enumerate((50, 40)):
        past.build("or.ders", days, number)
    past.collect()

    assert past.versions["or.ders"][-1].files == past.stored("or.ders")


def test_a_branch_in_a_folder_keeps_its_own_links(past):
    past.build("orders", 30, 1)
    branch = open_warehouse("warehouse/branch__b", base=past.root).table(ORDERS)
    clone_table(past.table("orders"), past.table("orders").snapshot(), branch)
    past.build("orders", 20, 2)
    with open_ledger(past.state) as ledger:
        record_branch(ledger, a_branch(past))

    assert 1 == len(outcome(past.collect()).removals)
    assert [1] == read_ids(branch)
    assert [2] == read_ids(past.table("orders"))


def a_branch(past) -> BranchRecord:
    place = str(past.root / "warehouse")
    return BranchRecord("b", "branch__b", "ann", histories.NOW, f"{place}/branch__b", place)


def test_what_a_retained_promotion_replaced_can_be_put_back(past):
    replaced = past.build("orders", 50, 1)
    past.build("orders", 20, 2)
    promoted = past.build("orders", 10, 3)
    table = PromotedTable("shop.core.orders", "orders", promoted.version, "to", replaced.version)
    record = PromotionRecord(
        promoted.run_id, "promote", "b", "ann", promoted.moment, tables=(table,)
    )
    with open_ledger(past.state) as ledger:
        record_promotion_tables(ledger, record.run_id, [], record)
    past.collect(Retention(11, 0, 0))

    assert past.files_of(replaced) | past.files_of(promoted) == past.stored("orders")
    past.collect()
    assert past.files_of(promoted) == past.stored("orders")
