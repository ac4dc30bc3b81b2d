"""A table that was dropped and made anew is another one: the log from before does not stand for it.

Whoever can write the warehouse may have kept a copy of it, and all of its commits are on record.
"""

from pathlib import Path
from shutil import copy2, copytree, move, rmtree

import pytest
from blake3 import blake3

from rocky.ledger import open_ledger
from tests.evidence.retention.test_altered_logs import collect, found_of, make_old
from tests.run.runs import Shop, statuses, verify
from tests.run.test_altered_tables import FILES, error_of, shop_of

WHOLE = '[strategy]\ntype = "full_refresh"\n'


def orders(shop: Shop, amount: int) -> None:
    shop.write("data/orders.csv", f"id,amount\n1,{amount}\n")


def drop(shop: Shop, builds: int = 3) -> Path:
    """Build `ev` some times, drop it, and build it twice: where the former table is now."""
    for count in range(builds):
        orders(shop, 1000 + count)
        shop.run()
    kept = shop.root.parent / "former"
    move(shop.folder("ev"), kept)
    for amount in (4, 5):
        orders(shop, amount)
        assert {"ev": "success", "total": "success"} == statuses(shop.run())
    assert [] == verify(shop.root)
    return kept


def exchange(shop: Shop, kept: Path) -> Path:
    """Put the former table in the place of the one that is there; where that one is now."""
    aside = shop.root.parent / "aside"
    move(shop.folder("ev"), aside)
    copytree(kept, shop.folder("ev"))
    return aside


@pytest.mark.parametrize("strategy", [WHOLE, FILES["models/ev.toml"]], ids=["whole", "merge"])
@pytest.mark.slow
def test_a_run_does_not_read_the_table_from_before_it_was_dropped(tmp_path, strategy):
    shop = shop_of(tmp_path / "shop")
    shop.write("models/ev.toml", strategy)
    aside = exchange(shop, drop(shop))
    shop.write("models/total.sql", "SELECT max(amount) + 0 AS total FROM ev")

    report = shop.run("total")

    assert {"total": "failed"} == statuses(report)
    assert "has a commit that no run made, version 0" in error_of(report, "total")
    rmtree(shop.folder("ev"))
    move(aside, shop.folder("ev"))
    assert {"total": "success"} == statuses(shop.run("total"))
    assert [(5,)] == shop.rows("total")
    assert [] == verify(shop.root)


@pytest.mark.slow
def test_a_merge_does_not_go_on_with_the_table_from_before_it_was_dropped(tmp_path):
    shop = shop_of(tmp_path / "shop")
    exchange(shop, drop(shop))
    shop.write("data/orders.csv", "id,amount\n2,6\n")

    assert {"ev": "failed"} == statuses(shop.run("ev"))


@pytest.mark.slow
def test_nothing_is_collected_by_the_log_from_before_a_table_was_dropped(tmp_path):
    shop = shop_of(tmp_path / "shop")
    shop.write("models/ev.toml", WHOLE)
    kept = drop(shop)
    files = {path.name for path in shop.folder("ev").glob("*.parquet")}
    aside = tmp_path / "log"
    move(shop.folder("ev") / "_delta_log", aside)
    copytree(kept / "_delta_log", shop.folder("ev") / "_delta_log")
    for path in kept.glob("*.parquet"):
        copy2(path, shop.folder("ev"))
    make_old(*shop.folder("ev").glob("*.parquet"))

    found = found_of(collect(shop), "ev")

    assert "its commit 0 is not the one that was recorded" in (found.left_alone or "")
    assert files <= {path.name for path in shop.folder("ev").glob("*.parquet")}


@pytest.mark.slow
def test_a_checkpoint_from_before_a_table_was_dropped_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.setattr("rocky.store.delta.log.CHECKPOINT_INTERVAL", 2)
    shop = shop_of(tmp_path / "shop")
    kept = drop(shop)
    name = f"{2:020d}.checkpoint.parquet"
    monkeypatch.setattr("rocky.store.delta.log.CHECKPOINT_INTERVAL", 10)
    orders(shop, 6)
    shop.run()
    assert (kept / "_delta_log" / name).is_file()
    copy2(kept / "_delta_log" / name, shop.folder("ev") / "_delta_log" / name)
    for path in kept.glob("*.parquet"):
        copy2(path, shop.folder("ev"))
    shop.write("models/total.sql", "SELECT max(amount) + 0 AS total FROM ev")

    shop.run("total")

    assert [(6,)] == shop.rows("total")
    digest = blake3((shop.folder("ev") / "_delta_log" / name).read_bytes()).hexdigest()
    with open_ledger(shop.root / ".rocky-state.db") as ledger, ledger.lookups() as lookups:
        assert not lookups.has_checkpoint("spark_catalog.default.ev", 2, digest)


@pytest.mark.slow
def test_a_project_that_was_moved_knows_its_tables_and_not_their_past(tmp_path):
    shop = shop_of(tmp_path / "shop")
    for amount in (1000, 1001, 1002):
        orders(shop, amount)
        shop.run()
    moved = tmp_path / "moved"
    move(tmp_path / "shop", moved)
    shop.root = moved
    orders(shop, 3)
    assert {"ev": "success", "total": "success"} == statuses(shop.run())

    aside = exchange(shop, drop(shop))

    shop.write("models/total.sql", "SELECT max(amount) + 0 AS total FROM ev")
    assert {"total": "failed"} == statuses(shop.run("total"))
    rmtree(shop.folder("ev"))
    move(aside, shop.folder("ev"))
    assert {"total": "success"} == statuses(shop.run("total"))
