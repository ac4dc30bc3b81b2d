"""Replication: rows exactly once, whatever happens between, and one table's trouble is its own."""

from pathlib import Path

import pyarrow as pa
import pytest

from rocky.errors import ConcurrentChange, NothingSelected, RunRefused, StateLost, StoreUnwritable
from rocky.evidence.retention.sweep import remove_watermark
from rocky.ledger.writer import open_ledger
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.strategy import materialize
from tests.pipelines.lakes import ORDERS, LakeProject, at, statuses
from tests.run.runs import verify

pytestmark = pytest.mark.slow

SYNCED = pa.schema([("id", pa.int64()), ("synced", pa.timestamp("us", "UTC"))])
CUSTOMERS = "acme_warehouse.staging__shopify.customers"
ITEMS = "acme_warehouse.staging__shopify.items"


def order(number: int, day: int, **more: object) -> dict[str, object]:
    return {"id": number, "synced": at(day), **more}


@pytest.fixture
def lake(tmp_path: Path) -> LakeProject:
    made = LakeProject(tmp_path)
    made.put([order(1, 1), order(2, 2)])
    return made


def ids(lake: LakeProject, name: str = ORDERS) -> list[int]:
    return [row["id"] for row in lake.rows(name)]


def errors(report) -> dict[str, str]:
    return {
        each.step.name: each.execution.error
        for each in report.run.outcomes
        if each.execution.error is not None
    }


def test_the_first_run_copies_everything_and_the_next_only_what_is_new(lake):
    first = lake.run()
    lake.put([order(3, 3)], file="part-1.parquet")
    second = lake.run()

    assert {ORDERS: "success"} == statuses(first)
    assert [2, 1] == [each.run.outcomes[0].execution.rows_affected for each in (first, second)]
    assert [1, 2, 3] == ids(lake)
    assert [] == verify(lake.root)


def test_a_source_in_which_nothing_happened_needs_no_spark(lake):
    lake.run()
    lake.opened = 0

    report = lake.run()

    assert 0 == lake.opened
    assert (ORDERS,) == report.run.unchanged
    assert {} == statuses(report)
    assert 0 == report.run.exit_code


def test_a_watermark_is_the_highest_time_that_was_copied_and_never_the_clock(lake):
    lake.run()

    assert {ORDERS: "2026-05-02T00:00:00+00"} == lake.watermarks()


def test_a_table_without_a_watermark_is_replaced_and_never_added_to(lake):
    lake.run()
    with open_ledger(lake.state) as ledger:
        remove_watermark(ledger, ORDERS)
    lake.put([order(1, 1), order(2, 2), order(3, 3)])

    report = lake.run()

    assert "replaced" == report.run.outcomes[0].execution.action
    assert [1, 2, 3] == ids(lake)


def test_a_deleted_watermark_loads_a_table_again_that_has_nothing_new(lake):
    lake.run()
    with open_ledger(lake.state) as ledger:
        remove_watermark(ledger, ORDERS)

    report = lake.run()

    assert {ORDERS: "success"} == statuses(report)
    assert "no watermark is recorded" in report.run.outcomes[0].execution.reason


def test_a_watermark_that_cannot_be_read_fails_its_table_before_anything_is_written(lake):
    lake.put([order(1, 1)], "customers")
    lake.run()
    version = lake.snapshot().version
    with open_ledger(lake.state) as ledger, ledger.transaction() as rows:
        rows.put("watermarks", ORDERS, '{"table": 5}')
    lake.put([order(3, 3)], file="part-1.parquet")
    lake.put([order(2, 2)], "customers", file="part-1.parquet")

    report = lake.run()

    assert {CUSTOMERS: "success", ORDERS: "failed"} == statuses(report)
    assert "watermarks" in errors(report)[ORDERS]
    assert version == lake.snapshot().version
    assert 2 == report.run.exit_code


def test_a_table_that_is_ahead_of_a_ledger_that_was_put_back_is_not_gone_on_with(lake):
    lake.run()
    before = lake.state.read_bytes()
    lake.put([order(3, 3)], file="part-1.parquet")
    lake.run()
    for beside in lake.root.glob(".rocky-state.db*"):
        if beside.is_file():
            beside.unlink()
    lake.state.write_bytes(before)
    lake.put([order(4, 4)], file="part-2.parquet")

    with pytest.raises(StateLost, match="replaced by an older copy"):
        lake.run()

    assert [1, 2, 3] == ids(lake)


def test_an_append_that_reached_its_table_is_not_made_twice(lake):
    lake.run()
    lake.put([order(3, 3)], file="part-1.parquet")
    tries = []

    def lose_the_answer(build: Build) -> Built:
        built = materialize(build)
        tries.append(build.token)
        if len(tries) == 1:
            raise ConcurrentChange("the answer was lost on its way")
        return built

    report = lake.run(build_table=lose_the_answer)

    assert {ORDERS: "success"} == statuses(report)
    assert 2 == len(tries)
    assert 1 == len(set(tries))
    assert [1, 2, 3] == ids(lake)


def test_one_table_that_fails_stops_no_other_and_costs_no_other_its_watermark(lake):
    lake.put([order(1, 1)], "customers")
    lake.put([order(1, 1)], "items")

    def refuse(table: str) -> None:
        if table == CUSTOMERS:
            raise StoreUnwritable("the disk is full")

    first = lake.run(before_write=refuse)
    second = lake.run()

    assert {CUSTOMERS: "failed", ITEMS: "success", ORDERS: "success"} == statuses(first)
    assert 2 == first.run.exit_code
    assert {CUSTOMERS: "success"} == statuses(second)
    assert {CUSTOMERS, ITEMS, ORDERS} == set(lake.watermarks())


def test_fail_fast_starts_nothing_more_and_keeps_what_is_done(tmp_path):
    lake = LakeProject(tmp_path, more="[pipeline.bronze.execution]\nfail_fast = true\n")
    for table in ("a", "b", "c"):
        lake.put([order(1, 1)], table)

    def refuse(table: str) -> None:
        if table.endswith(".b"):
            raise StoreUnwritable("the disk is full")

    report = lake.run(before_write=refuse)

    ended = {name.rpartition(".")[2]: status for name, status in statuses(report).items()}
    assert {"a": "success", "b": "failed", "c": "failed"} == ended
    assert "fail_fast" in errors(report)["acme_warehouse.staging__shopify.c"]
    assert {"acme_warehouse.staging__shopify.a"} == set(lake.watermarks())


def test_too_many_failures_end_a_run(tmp_path):
    lake = LakeProject(tmp_path, more="[pipeline.bronze.execution]\nerror_rate_abort_pct = 50\n")
    for number in range(8):
        lake.put([order(1, 1)], f"t{number}")

    def refuse(table: str) -> None:
        raise StoreUnwritable("the disk is full")

    report = lake.run(before_write=refuse)

    not_started = [error for error in errors(report).values() if "error_rate_abort_pct" in error]
    assert 4 == len(not_started)
    assert 1 == report.run.exit_code


def test_a_resumed_run_leaves_what_was_copied(lake):
    lake.put([order(1, 1)], "customers")

    def refuse(table: str) -> None:
        if table == CUSTOMERS:
            raise StoreUnwritable("the disk is full")

    first = lake.run(before_write=refuse)
    lake.put([order(3, 3)], file="part-1.parquet")
    second = lake.run(resume="latest")

    assert {CUSTOMERS: "success"} == statuses(second)
    assert first.run.run_id == second.run.resumed_from
    assert [1, 2] == ids(lake)


def test_a_run_that_is_not_there_cannot_be_resumed(lake):
    with pytest.raises(NothingSelected, match="no run `run-1` to resume"):
        lake.run(resume="run-1")


def test_a_filter_chooses_tables_and_one_that_matches_nothing_is_an_error(lake):
    lake.put([order(1, 1)], schema="src__globex__shopify")

    report = lake.run(filters=("tenant=globex",))

    assert {"globex_warehouse.staging__shopify.orders": "success"} == statuses(report)
    with pytest.raises(NothingSelected, match="tenant=initech"):
        lake.run(filters=("tenant=initech",))


def test_checks_about_tables_that_a_filter_leaves_out_wait_for_them(tmp_path):
    checks = """
[pipeline.bronze.checks]
enabled = true
freshness = { threshold_seconds = 1000000000, overrides = { "src__globex__shopify" = 60 } }
assertions = [
    { type = "not_null", column = "id", table = "customers" },
    { type = "not_null", column = "id", table = "globex_warehouse.staging__shopify.orders" },
    { type = "not_null", column = "id", table = "oders" },
]
"""
    lake = LakeProject(tmp_path, more=checks)
    lake.now = at(9)
    for table in ("orders", "customers"):
        lake.put([order(1, 1)], table)
    lake.put([order(1, 1)], schema="src__globex__shopify")

    report = lake.run(filters=("tenant=acme", "table=orders"))

    assert {ORDERS: "success"} == statuses(report)
    assert ["`oders` names no table of the pipeline"] == [
        each.error for each in report.run.check_outcomes if not each.passed
    ]


def test_rows_that_come_late_or_with_an_equal_time_are_left_by_an_incremental_copy(lake):
    lake.run()
    lake.put([order(8, 2), order(9, 1)], file="part-1.parquet")

    lake.run()

    assert [1, 2] == ids(lake)


def test_two_sources_with_one_target_refuse_the_run_before_anything_is_written(tmp_path):
    lake = LakeProject(tmp_path)
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text().replace('"{tenant}_warehouse"', '"all"'))
    lake.put([order(1, 1)])
    lake.put([order(2, 2)], schema="src__globex__shopify")

    with pytest.raises(RunRefused, match=r"would both be copied to `all.staging__shopify.orders`"):
        lake.run()

    assert not (lake.root / "warehouse").exists()


def test_a_table_without_the_timestamp_column_fails_alone_and_says_the_way_out(lake):
    lake.put([{"id": 1}], "customers")

    report = lake.run()

    assert {CUSTOMERS: "failed", ORDERS: "success"} == statuses(report)
    assert "no column `synced`" in errors(report)[CUSTOMERS]
    assert "full_refresh" in errors(report)[CUSTOMERS]


def test_a_log_that_cannot_be_read_fails_its_table_and_is_never_taken_for_absent(lake):
    lake.run()
    log = lake.root / "warehouse" / ORDERS.replace(".", "/") / "_delta_log"
    commit = log / f"{0:020d}.json"
    kept = commit.read_bytes()
    commit.write_bytes(b"not json")
    lake.put([order(3, 3)], file="part-1.parquet")

    report = lake.run()

    assert {ORDERS: "failed"} == statuses(report)
    assert [commit.name] == [each.name for each in sorted(log.glob("*.json"))]
    commit.write_bytes(kept)
    lake.run()
    assert [1, 2, 3] == ids(lake)


def test_metadata_columns_are_in_every_row_and_are_filled_from_the_name(tmp_path):
    lake = LakeProject(
        tmp_path,
        'metadata_columns = [ { name = "_tenant", type = "string", value = "{tenant}" } ]',
    )
    lake.put([order(1, 1)])

    lake.run()

    assert ["acme"] == [row["_tenant"] for row in lake.rows()]


def test_a_table_whose_rows_lost_their_time_has_no_watermark_any_more(lake):
    lake.run()
    lake.put([{"id": 5, "synced": None}], types=SYNCED)

    lake.run(full_refresh=True)

    assert {ORDERS: ""} == lake.watermarks()
    lake.put([order(6, 6)], file="part-1.parquet")
    lake.run()
    assert [5, 6] == ids(lake)
