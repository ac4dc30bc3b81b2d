"""Collecting in an S3-compatible server on loopback."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rocky.errors import StoreUnreadable
from rocky.evidence.retention.collection import CollectionRequest, collect_files
from rocky.evidence.retention.decisions import KeepReason
from rocky.ledger import STATE_FILE, open_evidence_reader, open_ledger
from rocky.ledger.branch_records import BranchRecord, BranchStatus
from rocky.ledger.branches import record_branch
from rocky.ledger.run_records import ModelExecution, ModelStatus, RunStatus
from rocky.ledger.writer import ModelRecords
from rocky.store.anchor import anchored_ledgers
from rocky.store.branch_folder import drop_branch_folder
from rocky.store.clone import clone_table
from rocky.store.delta.log import Log
from rocky.store.file_usage import list_files
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import open_warehouse
from tests.evidence.retention.histories import KEEP_NOTHING, a_run
from tests.servers.s3 import s3_environment, s3_server
from tests.store.tables import ORDERS, Name, ids, read_ids, replace_with

pytestmark = [pytest.mark.slow, pytest.mark.server]


@pytest.fixture
def options() -> Iterator[dict[str, str]]:
    with s3_server("lake") as endpoint:
        yield s3_environment(endpoint)


def test_files_in_a_bucket_are_collected(options, tmp_path):
    warehouse = open_warehouse("s3://lake/wh ä", base=Path(), options=options)
    table = warehouse.table(Name("shop", "core", "orders"))
    now = datetime.now(UTC)
    with open_ledger(tmp_path / STATE_FILE) as ledger:
        for number in range(3):
            run_id = ledger.begin_run(a_run(now), [table.name])
            info = {"runId": run_id, "ledgerId": ledger.ledger_id}
            replace_with(table, ids(table, number), info=info)
            execution = ModelExecution(
                "orders", ModelStatus.SUCCESS, now, now, 1, target=table.name
            )
            ledger.record_models(run_id, [ModelRecords(execution)])
            ledger.finish_run(run_id, RunStatus.SUCCESS, now)
    table.objects.put(f"{table.prefix}/{table.new_staging()}/part-0.parquet", b"half a file")
    orders = CollectionRequest(KEEP_NOTHING, dry_run=False, now=now + timedelta(days=1))
    (found,) = collect_files(tmp_path / STATE_FILE, [warehouse], orders).tables

    assert (2, 1, [KeepReason.LIVE]) == (
        len(found.removals),
        len(found.staged),
        [each.why for each in found.kept],
    )
    assert [2] == read_ids(table)
    assert 1 == len(list_files(table).data)
    reader = open_evidence_reader(tmp_path / STATE_FILE)
    assert reader is not None
    with reader:
        assert [
            f"s3://lake/wh ä/shop/core/orders/{each.blake3_hash}.parquet"
            for each in reader.collected()
        ] == [each.file_path for each in reader.collected()]
    assert 1 == len(anchored_ledgers(warehouse))


def test_what_a_branch_refers_to_stays_until_the_branch_is_gone(options, tmp_path):
    warehouse = open_warehouse("s3://lake/shared ä", base=Path(), options=options)
    table = warehouse.table(ORDERS)
    branch = open_warehouse("s3://lake/shared ä/branch__b", base=Path(), options=options)
    now, state = datetime.now(UTC), tmp_path / STATE_FILE
    with open_ledger(state) as ledger:
        build(ledger, table, now, 0)
        clone_table(table, table.snapshot(), branch.table(ORDERS))
        build(ledger, table, now, 1)
    orders = CollectionRequest(KEEP_NOTHING, dry_run=False, now=now + timedelta(days=1))

    (found,) = collect_files(state, [warehouse], orders).tables
    assert {KeepReason.LIVE, KeepReason.SHARED} == {each.why for each in found.kept}
    assert [(0,)] == load_rows(branch.table(ORDERS), branch.table(ORDERS).snapshot(), 9)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Log, "all_actions", unreadable)
        refused = collect_files(state, [warehouse], orders)
    assert () == refused.tables
    assert "which files the branch at `s3://lake/shared ä/branch__b` needs" in str(refused.refused)

    drop_branch_folder(branch)
    (found,) = collect_files(state, [warehouse], orders).tables
    assert [KeepReason.LIVE] == [each.why for each in found.kept]
    assert 1 == len(found.removals)


def test_remains_of_a_deleted_branch_keep_nothing_when_they_cannot_be_read(options, tmp_path):
    warehouse = open_warehouse("s3://lake/remains", base=Path(), options=options)
    table, now, state = warehouse.table(ORDERS), datetime.now(UTC), tmp_path / STATE_FILE
    place = "s3://lake/remains/branch__b"
    branch = open_warehouse(place, base=Path(), options=options)
    with open_ledger(state) as ledger:
        build(ledger, table, now, 0)
        clone_table(table, table.snapshot(), branch.table(ORDERS))
        build(ledger, table, now, 1)
        record_branch(ledger, a_branch(place, BranchStatus.OPEN, now))
    branch.objects.put(branch.table(ORDERS).log.commit_path(0), b"{")
    orders = CollectionRequest(KEEP_NOTHING, dry_run=False, now=now + timedelta(days=1))

    assert collect_files(state, [warehouse], orders).refused is not None
    with open_ledger(state) as ledger:
        record_branch(ledger, a_branch(place, BranchStatus.DELETED, now))
    (found,) = collect_files(state, [warehouse], orders).tables
    assert 1 == len(found.removals)


def a_branch(place, status, now):
    return BranchRecord("b", "branch__b", "ann", now, place, "s3://lake/remains", status=status)


def unreadable(_log):
    raise StoreUnreadable("could not list")


def build(ledger, table, now, number):
    run_id = ledger.begin_run(a_run(now), [table.name])
    info = {"runId": run_id, "ledgerId": ledger.ledger_id}
    replace_with(table, ids(table, number), info=info)
    execution = ModelExecution("orders", ModelStatus.SUCCESS, now, now, 1, target=table.name)
    ledger.record_models(run_id, [ModelRecords(execution)])
    ledger.finish_run(run_id, RunStatus.SUCCESS, now)
