"""Replication where something is in doubt: a key, a check, a place that nobody may see."""

import os
from pathlib import Path

import pytest

from rocky.errors import StateLost
from rocky.evidence.retention.sweep import remove_watermark
from rocky.ledger.readers.history import open_history_reader
from rocky.ledger.run_records import RunStatus
from rocky.ledger.writer import open_ledger
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.strategy import materialize
from tests.pipelines.lakes import ORDERS, LakeProject, at, statuses


def order(number: int, day: int) -> dict[str, object]:
    return {"id": number, "synced": at(day)}


def errors(report) -> dict[str, str]:
    return {
        each.step.name.rpartition(".")[2]: each.execution.error or ""
        for each in report.run.outcomes
    }


@pytest.mark.slow
def test_a_deleted_watermark_counts_also_after_a_copy_that_was_reused(tmp_path):
    lake = LakeProject(tmp_path)
    file = lake.put([order(1, 1)])
    lake.run()
    os.utime(file, (1, 1))
    assert {ORDERS: "reused"} == statuses(lake.run())
    with open_ledger(lake.state) as ledger:
        remove_watermark(ledger, ORDERS)

    assert {ORDERS: "success"} == statuses(lake.run())


@pytest.mark.parametrize(
    ("setting", "said"),
    [("fail_fast = true", "fail_fast"), ("error_rate_abort_pct = 50", "error_rate_abort_pct")],
)
def test_tables_that_fail_before_they_are_read_count_as_failures(tmp_path, setting, said):
    lake = LakeProject(tmp_path, more=f"[pipeline.bronze.execution]\n{setting}\n")
    for number in range(4):
        lake.put([{"id": 1}], f"bad{number}")
    lake.put([order(1, 1)], "good")

    report = lake.run()

    assert said in errors(report)["good"]
    assert "no column `synced`" in errors(report)["bad0"]


@pytest.mark.slow
def test_a_damaged_history_of_counts_fails_a_check_and_loses_no_report(tmp_path):
    lake = LakeProject(
        tmp_path, more="[pipeline.bronze.checks]\nenabled = true\nrow_count = true\n"
    )
    lake.put([order(1, 1)])
    lake.run()
    with open_ledger(lake.state) as ledger, ledger.transaction() as rows:
        rows.put("check_history", ORDERS, '{"count": 1}')
    lake.put([order(2, 2)], file="part-1.parquet")

    report = lake.run()

    assert {ORDERS: "success"} == statuses(report)
    assert ["row_count_history"] == [each.name for each in report.run.check_outcomes]
    assert 2 == report.run.exit_code


def test_a_place_that_came_from_a_variable_is_in_no_failed_check(tmp_path):
    lake = LakeProject(
        tmp_path, more="[pipeline.bronze.checks]\nenabled = true\nrow_count = true\n"
    )
    config = lake.root / "rocky.toml"
    config.write_text(config.read_text().replace('path = "lake"', 'path = "${HIDDEN}"'))
    file = lake.put([order(1, 1)])
    lake.env = {"HIDDEN": str(lake.root / "lake")}

    def copy_and_lose(build: Build) -> Built:
        built = materialize(build)
        file.unlink()
        return built

    report = lake.run(build_table=copy_and_lose)

    (outcome,) = report.run.check_outcomes
    assert not outcome.passed
    assert str(lake.root / "lake") not in str(outcome)
    assert str(lake.root / "lake").encode() not in lake.state.read_bytes()


def test_a_run_that_nobody_can_be_told_of_has_its_last_word(tmp_path):
    lake = LakeProject(tmp_path)
    lake.put([order(1, 1)])

    def refuse(_run_id: str) -> None:
        raise OSError("nobody is listening")

    with pytest.raises(OSError, match="nobody"):
        lake.run(begun=refuse)

    reader = open_history_reader(Path(lake.state))
    assert reader is not None
    with reader:
        (run,) = reader.runs()
    assert (RunStatus.FAILURE, "nobody is listening") == (run.status, run.reason)


@pytest.mark.slow
def test_a_table_that_is_gone_from_its_source_is_named_and_its_copy_stays(tmp_path):
    lake = LakeProject(tmp_path)
    lake.put([order(1, 1)])
    gone = lake.put([order(1, 1)], "customers")
    lake.run()
    gone.unlink()
    gone.parent.rmdir()

    report = lake.run()

    customers = "acme_warehouse.staging__shopify.customers"
    assert [
        f"`{customers}` was copied before, and is no longer in the source: its copy stays as it is"
    ] == [*report.run.warnings]
    assert [1] == [row["id"] for row in lake.rows(customers)]
    assert () == tuple(
        each for each in lake.run(filters=("table=orders",)).run.warnings if customers in each
    )


@pytest.mark.slow
def test_a_table_that_no_state_knows_is_not_loaded_until_somebody_says_so(tmp_path):
    lake = LakeProject(tmp_path)
    lake.put([order(1, 1), order(2, 2)])
    lake.run()
    for path in lake.root.glob(".rocky-state.db*"):
        if path.is_file():
            path.unlink()

    with pytest.raises(StateLost, match=f"`{ORDERS}` was written by run"):
        lake.run()
    assert {ORDERS: "success"} == statuses(lake.run(start_anew=True))
    assert [1, 2] == [row["id"] for row in lake.rows()]


@pytest.mark.slow
def test_a_merge_takes_the_newest_version_of_a_row(tmp_path):
    lake = LakeProject(tmp_path, 'strategy = "merge"\nmerge_keys = ["id"]')
    lake.put([{**order(1, 1), "state": "new"}, {**order(1, 3), "state": "paid"}])
    lake.run()
    lake.put([{**order(1, 2), "state": "late"}, {**order(2, 2), "state": "new"}], file="b.parquet")

    report = lake.run()

    assert {ORDERS: "success"} == statuses(report)
    assert [(1, "paid"), (2, "new")] == [(row["id"], row["state"]) for row in lake.rows()]


def test_a_merge_that_cannot_choose_between_versions_fails_and_says_so(tmp_path):
    lake = LakeProject(tmp_path, 'strategy = "merge"\nmerge_keys = ["id"]')
    lake.put([{**order(1, 1), "state": "new"}, {**order(1, 1), "state": "paid"}])

    report = lake.run()

    assert {ORDERS: "failed"} == statuses(report)
    assert "2 rows for one unique key" in errors(report)["orders"]
