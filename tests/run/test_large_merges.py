"""Merges into tables that are not written anew: the rows are those of a merge row by row."""

from random import Random

import pytest

from tests.run.memory_engine import MemoryEngine
from tests.run.runs import statuses, verify
from tests.run.test_altered_tables import shop_of
from tests.spark.materialize.bench import Bench


@pytest.fixture(params=["found", "asked"])
def bench(tmp_path, request, monkeypatch):
    """Which files change is found by reading them, or asked of the engine."""
    monkeypatch.setattr("rocky.run.materialize.merge._SMALL_ROWS", -1)
    if request.param == "asked":
        monkeypatch.setattr("rocky.run.materialize.merge._NEAR_BYTES", 1e-9)
    engine = MemoryEngine(tmp_path)
    engine.tells_bounds = True
    made = Bench(engine, tmp_path)
    made.edit(
        "id INT, region STRING, amount INT",
        "SELECT id, region, amount FROM raw.t",
        'type = "merge"\nunique_key = ["id", "region"]',
    )
    return made


@pytest.mark.slow
def test_a_history_of_merges_leaves_the_last_row_of_every_key(bench):
    random, held = Random(5), {}
    bench.build((0, "a", 0))
    held[0, "a"] = 0
    for _ in range(8):
        keys = {(random.randint(0, 30), random.choice(["a", "b", None])) for _ in range(8)}
        rows = [(*key, random.randint(0, 2)) for key in sorted(keys, key=repr)]
        before = {file.path: file for file in bench.snapshot.files}
        changes = any(held.get(row[:2]) != row[2] for row in rows)
        built = bench.build(*rows)
        held |= {row[:2]: row[2] for row in rows}

        assert sorted(((*key, value) for key, value in held.items()), key=repr) == bench.rows()
        assert bench.hash_recorded == bench.hash_again()
        assert changes == bool(built.commits)
        gone = before.keys() - {file.path for file in bench.snapshot.files}
        assert len(gone) <= len(rows)
    assert not list(bench.root.rglob("_staging/*/*"))


@pytest.mark.slow
def test_a_merge_holds_beside_a_merge_of_other_keys(bench):
    bench.build((1, "a", 1), (2, "a", 1))
    bench.build((11, "a", 1), (12, "a", 1))
    bench.build_while(lambda: bench.build((11, "a", 2)), (1, "a", 3))

    assert [(1, "a", 3), (11, "a", 2), (12, "a", 1), (2, "a", 1)] == bench.rows()
    assert bench.hash_recorded == bench.hash_again()


@pytest.mark.slow
def test_a_run_that_merges_into_a_large_table_is_recorded_and_verified_as_any_other(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("rocky.run.materialize.merge._SMALL_ROWS", -1)
    shop = shop_of(tmp_path / "shop")
    for rows in ("1,10\n2,20\n", "2,21\n3,30\n", "2,21\n"):
        shop.write("data/orders.csv", f"id,amount\n{rows}")
        assert "success" == statuses(shop.run())["ev"]

    assert [(1, 10), (2, 21), (3, 30)] == sorted(shop.rows("ev"))
    assert [] == verify(shop.root)
    assert not list(shop.folder("ev").glob("_staging/*"))
