"""Owners: no pipeline writes into a table of another, and each refusal is one table's own."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.pipelines.lakes import ORDERS, LakeProject, statuses
from tests.pipelines.test_replication import CUSTOMERS, errors, ids, order
from tests.run.runs import write

pytestmark = pytest.mark.slow

ITEMS = "acme_warehouse.staging__shopify.items"
LOAD = """
[pipeline.files]
type = "load"
source_dir = "drop"
target = { catalog = "acme_warehouse", schema = "staging__shopify" }
"""
COPY_TOO = """
[pipeline.silver]
type = "replication"
timestamp_column = "synced"
[pipeline.silver.source]
path = "more"
[pipeline.silver.target]
catalog_template = "acme_warehouse"
schema_template = "staging__shopify"
"""
QUALITY = """
[pipeline.q]
type = "quality"
tables = [ { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" } ]
[pipeline.q.checks]
enabled = true
assertions = [ { type = "not_null", column = "id" } ]
quarantine = { enabled = true, mode = "%s" }
"""
HISTORY = """
[pipeline.h]
type = "snapshot"
unique_key = ["id"]
updated_at = "synced"
source = { catalog = "acme_warehouse", schema = "staging__shopify", table = "orders" }
target = { catalog = "acme_warehouse", schema = "staging__shopify", table = "customers" }
"""


def copied(tmp_path, more):
    """A lake whose `orders` is copied by `bronze`."""
    lake = LakeProject(tmp_path, more=more)
    lake.put([order(1, 1), order(2, 2)])
    lake.run()
    return lake


def drop(lake, table, *numbers):
    folder = lake.root / "drop"
    folder.mkdir(exist_ok=True)
    pq.write_table(
        pa.Table.from_pylist([order(each, each) for each in numbers]), folder / f"{table}.parquet"
    )


def test_a_load_does_not_add_to_a_table_that_a_replication_copies(tmp_path):
    lake = copied(tmp_path, LOAD)
    drop(lake, "orders", 9)
    drop(lake, "items", 9)

    report = lake.run(pipeline="files")

    assert {ORDERS: "failed", ITEMS: "success"} == statuses(report)
    assert "would go where pipeline `bronze` writes" in errors(report)[ORDERS]
    assert [1, 2] == ids(lake)
    assert [9] == ids(lake, ITEMS)


def test_a_replication_does_not_replace_a_table_that_a_load_fills_and_copies_the_others(tmp_path):
    lake = copied(tmp_path, LOAD)
    drop(lake, "items", 9)
    lake.run(pipeline="files")
    lake.put([order(5, 5)], "items")
    lake.put([order(3, 3)], file="part-1.parquet")

    report = lake.run()

    assert {ORDERS: "success", ITEMS: "failed"} == statuses(report)
    assert "which pipeline `files` writes" in errors(report)[ITEMS]
    assert 2 == report.run.exit_code
    assert [1, 2, 3] == ids(lake)
    assert [9] == ids(lake, ITEMS)


def test_a_replication_leaves_the_tables_of_another_and_goes_on_with_its_own(tmp_path):
    lake = copied(tmp_path, COPY_TOO)
    for table in ("orders", "customers"):
        (lake.root / "more/any" / table).mkdir(parents=True)
        rows = pa.Table.from_pylist([order(7, 7)])
        pq.write_table(rows, lake.root / "more/any" / table / "part-0.parquet")

    report = lake.run(pipeline="silver")

    assert {ORDERS: "failed", CUSTOMERS: "success"} == statuses(report)
    assert [1, 2] == ids(lake)
    assert [7] == ids(lake, CUSTOMERS)


def test_a_try_that_wrote_nothing_makes_nobody_an_owner(tmp_path):
    lake = copied(tmp_path, LOAD)
    drop(lake, "orders", 9)
    lake.run(pipeline="files")
    lake.put([order(3, 3)], file="part-1.parquet")

    report = lake.run()

    assert {ORDERS: "success"} == statuses(report)
    assert [1, 2, 3] == ids(lake)


def test_a_pipeline_that_was_renamed_goes_on_where_it_was(tmp_path):
    lake = copied(tmp_path, "")
    lake.reconfigure("pipeline.bronze", "pipeline.copper")
    lake.put([order(3, 3)], file="part-1.parquet")

    report = lake.run(pipeline="copper")

    assert "appended" == report.run.outcomes[0].execution.action
    assert [1, 2, 3] == ids(lake)


def test_a_table_that_is_gone_is_nobodys(tmp_path):
    lake = copied(tmp_path, LOAD)
    shutil.rmtree(lake.root / "warehouse" / ORDERS.replace(".", "/"))
    drop(lake, "orders", 9)

    assert {ORDERS: "success"} == statuses(lake.run(pipeline="files"))


@pytest.mark.parametrize("mode", ["split", "drop"])
def test_quarantine_does_not_overwrite_the_table_of_a_pipeline(tmp_path, mode):
    valid = f"{ORDERS}__valid"
    lake = LakeProject(tmp_path, more=QUALITY % mode)
    lake.put([order(1, 1)])
    lake.put([order(7, 7)], "orders__valid")
    lake.run()

    report = lake.run(pipeline="q")

    assert f"`{valid}` is a table of pipeline `bronze`" in report.run.failed_sources[ORDERS]
    assert [7] == ids(lake, valid)


def test_what_quarantine_wrote_it_writes_again(tmp_path):
    lake = copied(tmp_path, QUALITY % "split")
    lake.run(pipeline="q")
    lake.put([order(3, 3)], file="part-1.parquet")
    lake.run()

    report = lake.run(pipeline="q")

    assert {} == report.run.failed_sources
    assert [1, 2, 3] == ids(lake, f"{ORDERS}__valid")


def test_a_table_that_a_pipeline_writes_is_not_tagged(tmp_path):
    lake = LakeProject(tmp_path, 'strategy = "full_refresh"', QUALITY % "tag")
    lake.put([{"id": 1}])
    lake.run()

    report = lake.run(pipeline="q")

    assert "pipeline `bronze` writes it" in report.run.failed_sources[ORDERS]
    assert [{"id": 1}] == lake.rows()


def test_a_history_is_not_kept_in_a_table_of_another_pipeline(tmp_path):
    lake = LakeProject(tmp_path)
    for table in ("orders", "customers"):
        lake.put([order(1, 1)], table)
    lake.run()
    write(tmp_path, {"rocky.toml": (tmp_path / "rocky.toml").read_text() + HISTORY})

    report = lake.run(pipeline="h")

    assert "is written by pipeline `bronze`" in errors(report)[CUSTOMERS]
    assert [1] == ids(lake, CUSTOMERS)
