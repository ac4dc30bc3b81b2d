"""Tables and warehouses that something is not clear about: they are left alone."""

import pytest

from rocky.errors import LedgerUnreadable
from rocky.evidence.retention.collection import CollectedTable
from rocky.evidence.retention.decisions import KeepReason, Retention
from rocky.ledger import Ledger, open_ledger
from rocky.store.anchor import Anchor, write_anchor
from tests.evidence.retention import histories
from tests.evidence.retention.histories import Past, ago
from tests.store.tables import append, ids, read_ids, replace_with


@pytest.fixture
def past(tmp_path) -> Past:
    return Past(tmp_path)


def outcome(collection, model: str = "orders") -> CollectedTable:
    return next(each for each in collection.tables if each.target == f"shop.core.{model}")


def test_a_table_that_others_commit_to_is_left_alone_until_that_is_out_of_retention(past):
    past.build("orders", 50, 1)
    table = past.table("orders")
    replace_with(table, ids(table, 2))
    past._age_commit(table, 1, ago(40))
    past.versions["orders"].append(past.versions["orders"][0])
    past.build("orders", 20, 3)
    found = outcome(past.collect(Retention(45, 0, 0)))

    assert "version 1 was committed by `rocky/" in str(found.left_alone)
    assert 3 == len(past.stored("orders"))
    past._age(table, [ids(table, 2).path], ago(40))
    past.collect(Retention(30, 0, 0))
    assert 1 == len(past.stored("orders"))


def test_a_ledger_that_was_rolled_back_collects_nothing_of_what_it_does_not_know(past):
    past.build("orders", 50, 1)
    copy = past.state.read_bytes()
    past.build("orders", 40, 2)
    past.build("orders", 30, 3)
    past.state.write_bytes(copy)
    found = outcome(past.collect(Retention(365, 0, 0)))

    assert "of which the state file had no record" in str(found.left_alone)
    assert 3 == len(past.stored("orders"))


@pytest.mark.slow
def test_a_log_that_lost_its_first_commits_keeps_everything(past):
    for number in range(12):
        past.build("orders", 50 - number, number)
    log = past.root / "warehouse/shop/core/orders/_delta_log"
    for version in range(5):
        (log / f"{version:020d}.json").unlink()
    found = outcome(past.collect())

    assert "missing from the log" in str(found.left_alone)
    assert 12 == len(past.stored("orders"))


def test_a_table_that_was_dropped_and_made_anew_is_left_alone_while_its_past_is_retained(past):
    for number in range(3):
        past.build("orders", 50 - number, number)
    log = past.root / "warehouse/shop/core/orders/_delta_log"
    for path in log.iterdir():
        path.unlink()
    past.versions.clear()
    past.build("orders", 20, 9)
    found = outcome(past.collect(Retention(365, 0, 0)))

    assert "needs version 1, which its log lacks" in str(found.left_alone)
    past.collect()
    assert past.versions["orders"][0].files == past.stored("orders")


def test_a_damaged_log_leaves_its_table_alone_and_not_the_others(past):
    for model in histories.MODELS:
        past.build(model, 30, 1)
        past.build(model, 20, 2)
    (past.root / "warehouse/shop/core/orders/_delta_log/00000000000000000000.json").write_text("?")
    found = past.collect()

    assert outcome(found).left_alone is not None
    assert 2 == len(past.stored("orders"))
    assert 1 == len(past.stored("totals"))


def test_a_branch_nobody_understands_keeps_everything(past):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)
    with open_ledger(past.state) as ledger, ledger.transaction() as rows:
        rows.put("branches", "feature", "{}")

    with pytest.raises(LedgerUnreadable, match="`feature`"):
        past.collect()
    assert 2 == len(past.stored("orders"))


def test_a_commit_made_meanwhile_saves_the_files(past, monkeypatch):
    past.build("orders", 30, 1)
    past.build("orders", 20, 2)
    table = past.table("orders")
    old = table.snapshot(0)
    record = Ledger.record_collected

    def others_first(ledger, files):
        record(ledger, files)
        append(table, *old.files)

    monkeypatch.setattr(Ledger, "record_collected", others_first)
    found = outcome(past.collect())

    assert "somebody is changing it" == found.left_alone
    assert [1, 2] == read_ids(past.table("orders"))


def test_a_ledger_that_is_older_than_its_anchor_collects_nothing(past):
    past.build("orders", 50, 1)
    past.build("orders", 40, 2)
    copy = past.state.read_bytes()
    with open_ledger(past.state) as ledger:
        ledger.begin_run(histories.a_run(ago(10)), ["shop.core.elsewhere"])
        head = ledger.head()
        anchor = Anchor(head.entry_hash, head.seq, "run", ago(10))
        write_anchor(past.warehouse, ledger.ledger_id, anchor, lambda _: True)
    assert 1 == len(outcome(past.collect(dry_run=True)).removals)
    past.state.write_bytes(copy)

    assert "replaced by an older copy" in str(outcome(past.collect()).left_alone)
    assert 2 == len(past.stored("orders"))


def test_an_anchor_follows_what_was_collected(past):
    past.build("orders", 50, 1)
    past.build("orders", 40, 2)
    copy = past.state.read_bytes()
    past.collect()
    past.build("orders", 30, 3)
    past.state.write_bytes(copy)

    assert "replaced by an older copy" in str(outcome(past.collect()).left_alone)


def test_an_anchor_that_cannot_be_read_keeps_everything(past):
    past.build("orders", 50, 1)
    past.build("orders", 40, 2)
    past.warehouse.objects.put(f"_rocky/{'0' * 32}.json", b"?")

    assert "damaged" in str(outcome(past.collect()).left_alone)


def test_a_warehouse_shared_with_another_ledger_keeps_what_its_runs_may_have_read(past):
    past.build("orders", 50, 1)
    past.build("orders", 40, 2)
    past.build("orders", 20, 3)
    anchor = Anchor("0" * 64, 1, "run", ago(10))
    write_anchor(past.warehouse, "0" * 32, anchor, lambda _: True)
    found = outcome(past.collect(Retention(30, 0, 0)))

    assert [KeepReason.LIVE, KeepReason.YOUNG] == sorted(each.why for each in found.kept)
    past.collect(Retention(5, 0, 0))
    assert 1 == len(past.stored("orders"))
