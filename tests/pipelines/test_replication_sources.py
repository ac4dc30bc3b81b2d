"""Which source a copy is of: another one never mixes with it, and each is compared with its own."""

import shutil

import pytest

from rocky.errors import RunRefused, StoreUnwritable
from rocky.pipelines.replication.copy_history import source_of
from rocky.pipelines.replication.discovery import DiscoveredTable, SourceListing, SourcePlace
from rocky.pipelines.replication.lakes import FolderLake, ObjectLake
from rocky.pipelines.replication.routes import route_tables
from rocky.project.configuration.pipelines import ReplicationPipeline
from tests.pipelines.lakes import ORDERS, LakeProject, statuses
from tests.pipelines.test_replication import errors, ids, order

CHECKS = "[pipeline.bronze.checks]\nenabled = true\nrow_count = true\n"
MERGE = 'strategy = "merge"\nmerge_keys = ["id"]'
SIX = "lake/six/src__acme__shopify/orders"


@pytest.fixture
def lake(tmp_path):
    made = LakeProject(tmp_path)
    made.put([order(1, 1), order(2, 5)])
    return made


def move_to_six(lake, *rows):
    """Another catalogue now has the table, with some of its rows older than what was copied."""
    found = lake.put(list(rows), file="x.parquet")
    (lake.root / SIX).mkdir(parents=True, exist_ok=True)
    shutil.move(found, lake.root / SIX / "x.parquet")
    lake.reconfigure('catalog = "five"', 'catalog = "six"')


@pytest.mark.parametrize("tenant", ["acme", "globex"])
def test_sources_with_one_target_are_refused_also_when_a_filter_chooses_one_of_them(lake, tenant):
    lake.reconfigure('"{tenant}_warehouse"', '"all"')
    lake.put([order(100, 3)], schema="src__globex__shopify")

    with pytest.raises(RunRefused, match=r"would both be copied to `all.staging__shopify.orders`"):
        lake.run(filters=(f"tenant={tenant}",))

    assert not (lake.root / "warehouse").exists()


def test_a_source_that_cannot_be_read_keeps_its_target(lake):
    lake.reconfigure('"{tenant}_warehouse"', '"all"')
    (lake.root / "lake/five/src__globex__shopify/orders").mkdir(parents=True)

    with pytest.raises(RunRefused, match="would both be copied to"):
        lake.run()


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["", MERGE])
def test_a_target_with_another_source_is_replaced(tmp_path, settings):
    lake = LakeProject(tmp_path, settings)
    lake.put([order(1, 1), order(2, 5)])
    lake.run()
    move_to_six(lake, order(100, 3), order(101, 6))

    execution = lake.run().run.outcomes[0].execution

    assert [100, 101] == ids(lake)
    assert "copied from `five.src__acme__shopify.orders` before" in str(execution.reason)
    assert (ORDERS,) == lake.run().run.unchanged


@pytest.mark.slow
def test_a_target_with_another_source_is_replaced_also_after_a_failure(lake):
    lake.run()
    move_to_six(lake, order(100, 3), order(101, 6))

    def refuse(table):
        raise StoreUnwritable("the disk is full")

    assert {ORDERS: "failed"} == statuses(lake.run(before_write=refuse))
    lake.run()

    assert [100, 101] == ids(lake)


@pytest.mark.slow
def test_a_target_with_another_path_is_replaced(lake):
    lake.run()
    shutil.copytree(lake.root / "lake", lake.root / "other")
    lake.reconfigure('path = "lake"', 'path = "other"')

    execution = lake.run().run.outcomes[0].execution

    assert "replaced" == execution.action
    assert "copied from another place before" in str(execution.reason)


@pytest.mark.slow
def test_a_source_whose_name_changes_its_case_keeps_its_copy(tmp_path):
    lake = LakeProject(tmp_path)
    lake.put([order(1, 1)], "Orders")
    lake.run()
    folder = lake.root / "lake/five/src__acme__shopify"
    (folder / "Orders").rename(folder / "orders")
    lake.put([order(2, 2)], file="part-1.parquet")

    report = lake.run()

    name = "acme_warehouse.staging__shopify.Orders"
    assert {name: "success"} == statuses(report)
    assert "appended" == report.run.outcomes[0].execution.action
    assert [1, 2] == ids(lake, name)
    copies = lake.root / "warehouse/acme_warehouse/staging__shopify"
    assert ["Orders"] == [each.name for each in copies.iterdir()]


def in_database(url, password):
    options = {"url": url, "dbtable": '"s"."t"', "password": password}
    found = DiscoveredTable(None, "s", "t", SourcePlace("jdbc", None, options))
    return source_of(route_tables(ReplicationPipeline(), SourceListing("jdbc", (found,))).tables[0])


def test_a_database_elsewhere_is_another_source_and_another_password_is_not():
    here = in_database("jdbc:postgresql://one/shop?password=a", "b")

    assert here == in_database("jdbc:postgresql://one/shop?password=c", "d")
    assert here != in_database("jdbc:postgresql://two/shop?password=a", "b")
    assert here.startswith("s.t#")


def failed_checks(report):
    return [(each.table, each.name) for each in report.run.check_outcomes if not each.passed]


@pytest.mark.slow
def test_a_check_that_is_switched_on_later_looks_at_copies_that_have_nothing_new(lake):
    lake.run()
    lake.put([order(9, 1)], file="part-1.parquet")
    lake.run()
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text() + CHECKS)

    report = lake.run()

    assert [(ORDERS, "row_count")] == failed_checks(report)
    assert 2 == report.run.exit_code


@pytest.mark.slow
def test_a_copy_whose_run_was_stopped_before_its_checks_is_checked_by_the_next(tmp_path):
    lake = LakeProject(tmp_path, more=CHECKS)
    first, second = (f"acme_warehouse.staging__shopify.{each}" for each in "ab")
    for table in "ab":
        lake.put([order(1, 1), order(2, 2)], table)
    lake.run()
    lake.put([order(9, 1), order(3, 3)], "a", file="part-1.parquet")
    lake.put([order(3, 3)], "b", file="part-1.parquet")
    lake.run(before_write=lambda _: lake.stop.set())

    report = lake.run()

    assert {first: "skipped", second: "success"} == statuses(report)
    assert [(first, "row_count")] == failed_checks(report)


def test_a_copy_that_was_compared_is_left_alone(tmp_path):
    lake = LakeProject(tmp_path, more=CHECKS)
    lake.put([order(1, 1)])
    lake.run()

    assert (ORDERS,) == lake.run().run.unchanged


@pytest.mark.slow
def test_what_is_advised_when_the_timestamp_column_is_gone_helps(lake):
    lake.run()
    lake.put([{"id": 1}, {"id": 2}])

    report = lake.run()
    lake.reconfigure('timestamp_column = "synced"', 'strategy = "full_refresh"')
    again = lake.run()

    assert "no column `synced`" in errors(report)[ORDERS]
    assert "--full-refresh" not in errors(report)[ORDERS]
    assert 'strategy = "full_refresh"' in errors(report)[ORDERS]
    assert {ORDERS: "success"} == statuses(again)


def test_a_lake_of_objects_finds_and_fails_what_one_of_folders_does(tmp_path):
    for each in (
        "t/part-0.parquet",
        "t/_delta_log/00000000000000000010.checkpoint.parquet",
        "t/_delta_log/_last_checkpoint",
        "plain/part-0.parquet",
        "plain/_SUCCESS",
        "done/_SUCCESS",
        "started/_temporary/0/part-0.parquet",
        "delta/_delta_log/00000000000000000000.json",
        "delta/part-0.parquet",
    ):
        path = tmp_path / "lake/five/sch" / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    folders = FolderLake("lake", tmp_path).discover("five")
    objects = ObjectLake(str(tmp_path / "lake")).discover("five")

    assert [("delta", "delta"), ("plain", "parquet")] == [
        (each.table, each.place.format) for each in objects.tables
    ]
    assert {each.name: each.message for each in folders.failed} == {
        each.name: each.message for each in objects.failed
    }
    assert {"sch.done", "sch.started", "sch.t"} == {each.name for each in objects.failed}
    assert folders.schemas == objects.schemas
