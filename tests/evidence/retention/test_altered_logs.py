"""Nothing is collected by a log that is not the one on record."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rocky.evidence.retention.collection import (
    CollectedTable,
    CollectionReport,
    CollectionRequest,
    collect_files,
)
from rocky.evidence.retention.decisions import Retention
from rocky.store.warehouse import open_warehouse
from tests.run.runs import Shop, verify

LATER = timedelta(minutes=30)


def collect(shop: Shop) -> CollectionReport:
    orders = CollectionRequest(Retention(0, 1, 0), dry_run=False, now=datetime.now(UTC) + LATER)
    return collect_files(
        shop.root / ".rocky-state.db", [open_warehouse("warehouse", base=shop.root)], orders
    )


def found_of(report: CollectionReport, table: str) -> CollectedTable:
    return next(each for each in report.tables if each.target.endswith(f".{table}"))


def make_old(*paths: Path) -> None:
    old = (datetime.now(UTC) - timedelta(days=400)).timestamp()
    for path in paths:
        os.utime(path, (old, old))


def live_file(shop: Shop, table: str) -> Path:
    snapshot = shop.snapshot(table)
    assert snapshot is not None
    return shop.folder(table) / snapshot.files[0].path


@pytest.mark.slow
def test_a_commit_that_was_edited_to_name_another_file_removes_nothing(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    victim = live_file(shop, "alone")
    for count in (9, 10, 11):
        shop.write("data/orders.csv", f"id,country\n1,DE\n2,DE\n3,FR\n{count},FR\n")
        shop.run("by_country")
    first = shop.folder("alone") / f"_delta_log/{0:020d}.json"
    before = first.read_bytes()
    first.write_bytes(before.replace(victim.name.encode(), b"0" * 64 + b".parquet"))
    make_old(first, victim)

    found = found_of(collect(shop), "alone")

    assert "its commit 0 is not the one that was recorded" in (found.left_alone or "")
    assert victim.exists()
    first.write_bytes(before)
    assert [] == verify(tmp_path)


@pytest.mark.slow
def test_a_commit_that_no_run_made_removes_nothing(tmp_path):
    shop = Shop(tmp_path)
    shop.run()
    victim = live_file(shop, "alone")
    remove = {"path": victim.name, "deletionTimestamp": 1, "dataChange": True}
    planted = shop.folder("alone") / f"_delta_log/{1:020d}.json"
    lines = [{"commitInfo": {"timestamp": 1, "operation": "DELETE"}}, {"remove": remove}]
    planted.write_text("".join(json.dumps(each) + "\n" for each in lines))
    make_old(planted, victim)

    found = found_of(collect(shop), "alone")

    assert "its commit 1 was made by no run" in (found.left_alone or "")
    assert victim.exists()
