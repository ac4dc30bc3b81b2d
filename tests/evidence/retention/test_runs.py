"""Collecting after real runs: what is retained can still be verified and built upon."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from rocky.evidence.retention.collection import CollectionReport, CollectionRequest, collect_files
from rocky.evidence.retention.decisions import Retention
from rocky.evidence.verification import verify_evidence
from rocky.ledger import STATE_FILE, open_evidence_reader, open_ledger
from rocky.ledger.provenance import ProvenanceRecord
from rocky.ledger.run_records import RunStatus
from rocky.store.warehouse import open_warehouse
from tests.evidence.retention.histories import KEEP_NOTHING
from tests.run.runs import TABLE, Shop, statuses

pytestmark = pytest.mark.slow


@pytest.fixture
def shop(tmp_path) -> Shop:
    """Four runs, each with one order more."""
    found = Shop(tmp_path)
    for count in range(4):
        write_orders(found, count)
        found.run()
    return found


def write_orders(shop: Shop, count: int) -> None:
    rows = "".join(f"{number},FR\n" for number in range(3, 4 + count))
    (shop.root / "data/orders.csv").write_text(f"id,country\n1,DE\n2,DE\n{rows}")


def collect(shop: Shop, retention: Retention = KEEP_NOTHING) -> CollectionReport:
    warehouse = open_warehouse("warehouse", base=shop.root)
    orders = CollectionRequest(retention, dry_run=False, now=datetime.now(UTC) + timedelta(days=30))
    return collect_files(shop.root / STATE_FILE, [warehouse], orders)


def removed(collection: CollectionReport) -> dict[str, int]:
    return {each.target.removeprefix(TABLE): len(each.removals) for each in collection.tables}


def findings(shop: Shop) -> list[object]:
    warehouse = open_warehouse("warehouse", base=shop.root)
    reader = open_evidence_reader(shop.root / STATE_FILE)
    assert reader is not None
    with reader:
        return list(verify_evidence(reader, lambda _: warehouse).findings)


def test_with_the_default_settings_nothing_of_the_last_year_goes(shop):
    assert {0} == set(removed(collect(shop, Retention(365, 100, 7))).values())


def test_all_that_a_retained_run_refers_to_is_there_and_what_went_is_no_finding(shop):
    (newest, *_) = shop.records()
    found = removed(collect(shop, Retention(0, 1, 0)))

    assert {"alone": 0, "countries": 0} == {key: found[key] for key in ("alone", "countries")}
    assert found["stg_orders"] > 0
    assert found["by_country"] > 0
    assert [] == findings(shop)
    reader = open_evidence_reader(shop.root / STATE_FILE)
    assert reader is not None
    with reader:
        found = (json.loads(value) for _, value in reader.rows("input_provenance"))
        kept = [ProvenanceRecord.from_json(each) for each in found]
    kept = [each for each in kept if each.run_id == newest.run_id]
    warehouse = open_warehouse("warehouse", base=shop.root)
    tables = {each.name: each for each in warehouse.tables()}
    inputs = [
        (read.target, read.version)
        for each in kept
        for outer in each.reads
        for read in (outer, *outer.reads)
        if read.version is not None
    ]
    assert inputs
    for target, version in [(each.target, each.output_version) for each in kept] + inputs:
        table = tables[str(target)]
        for file in table.snapshot(version).files:
            assert table.objects.info(f"{table.prefix}/{file.path}") is not None


def test_a_result_that_was_collected_is_not_reused_but_built(shop):
    collect(shop)
    write_orders(shop, 0)
    report = shop.run()

    assert RunStatus.SUCCESS == report.status
    assert "success" == statuses(report)["stg_orders"]
    assert [(1, "DE"), (2, "DE"), (3, "FR")] == shop.rows("stg_orders")
    assert [] == findings(shop)
    collect(shop)
    assert [] == findings(shop)


def test_a_result_that_was_not_collected_is_reused(shop):
    collect(shop, Retention(365, 100, 7))
    write_orders(shop, 0)

    assert "reused" == statuses(shop.run())["stg_orders"]


def test_a_run_that_was_told_to_wait_finds_everything_when_it_is_started_again(shop):
    with open_ledger(shop.root / STATE_FILE) as ledger, ledger.claim([f"{TABLE}stg_orders"]):
        collection = collect(shop)
    alone = next(each for each in collection.tables if each.target == f"{TABLE}stg_orders")

    assert "`rocky gc` is using" in str(alone.left_alone)
    assert [] == findings(shop)
