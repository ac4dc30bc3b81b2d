"""Retention: rows older than their model keeps them go, in one commit that is recorded."""

import json
from datetime import timedelta

import pytest

from rocky.errors import ForeignCommit, NothingSelected, RockyError, RunRefused, StoreUnreadable
from rocky.ledger.run_records import ModelStatus, RunStatus
from rocky.maintenance import expiry
from rocky.operations.execution.run import run
from rocky.operations.maintenance.compact import CompactRequest, compact
from rocky.operations.maintenance.retention import (
    RetentionReport,
    RetentionRequest,
    TableRetention,
    retention,
)
from rocky.plan.request import RunRequest
from rocky.store.delta.snapshot import ROWS_HASH, WATERMARK
from tests.maintenance.shops import SIDECAR, TABLE, TODAY, Template, VisitShop
from tests.run.runs import Shop

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Template[VisitShop]:
    return Template(tmp_path_factory.mktemp("visits"), VisitShop)


@pytest.fixture
def shop(template, monkeypatch) -> VisitShop:
    return template.reopen(monkeypatch)


def the_only(report: RetentionReport) -> TableRetention:
    (found,) = report.tables
    return found


def ages(shop: VisitShop) -> list[object]:
    return [row[0] for row in shop.rows]


def test_old_rows_go_and_the_others_stay_in_one_commit(shop):
    before = shop.snapshot
    new = next(file for file in before.files if file.rows == 10 and file in newest_files(shop))

    found = the_only(retention(shop.workspace, RetentionRequest()))

    after = shop.snapshot
    assert ("expired", 15, "day", 15) == (found.status, found.expired, found.column, found.days)
    assert list(range(1, 16)) == ages(shop)
    assert (before.version + 1, 15) == (after.version, after.rows)
    # A file without old rows is left as it is; one across the day is rewritten, one before it goes.
    assert new in after.files
    assert 2 == len(after.files)
    assert before.configuration[WATERMARK] == after.configuration[WATERMARK]
    actions = shop.actions(after.version)
    assert "DELETE" == actions[0]["commitInfo"]["operation"]
    assert {True} == {
        one["dataChange"] for each in actions for one in each.values() if "dataChange" in one
    }


def newest_files(shop: VisitShop):
    """The files that the last run brought."""
    actions = shop.actions(shop.snapshot.version)
    paths = {each["add"]["path"] for each in actions if "add" in each}
    return [file for file in shop.snapshot.files if file.path in paths]


def test_it_is_recorded_and_everything_verifies(shop):
    report = retention(shop.workspace, RetentionRequest())

    newest = shop.records()[0]
    assert (report.run_id, (f"retention {TABLE}",)) == (newest.run_id, newest.selection)
    (execution,) = newest.models_executed
    assert ("expire", 15) == (execution.decision, execution.rows_affected)
    day = TODAY - timedelta(days=15)
    assert f"15 rows from before {day} were deleted" == execution.reason
    assert set() == shop.findings()


def test_the_hash_of_the_rows_is_that_of_the_rows_that_are_left(shop):
    retention(shop.workspace, RetentionRequest())
    kept = shop.snapshot.configuration[ROWS_HASH]
    shop.visit(15, 1)
    shop.write("models/fresh.sql", "SELECT id, day FROM raw.visits")
    shop.build_all()

    fresh = next(each for each in shop.records()[0].models_executed if each.model_name == "fresh")
    assert fresh.rows_hash == kept


def test_deleted_rows_do_not_come_back_and_readers_see_what_is_left(shop):
    retention(shop.workspace, RetentionRequest())

    shop.build()

    assert ModelStatus.SUCCESS == shop.statuses["totals"]
    assert list(range(1, 16)) == ages(shop)
    assert [(15,)] == Shop.rows(shop, "totals")  # type: ignore[arg-type] # as `rows` does
    shop.visit(30, 0)
    shop.build()
    assert list(range(16)) == ages(shop)
    shop.build()
    assert {ModelStatus.REUSED} == set(shop.statuses.values())
    assert set() == shop.findings()


def test_a_second_time_on_one_day_finds_nothing_to_do_and_records_nothing(shop):
    retention(shop.workspace, RetentionRequest())
    runs = len(shop.records())

    found = the_only(retention(shop.workspace, RetentionRequest()))

    assert "unchanged" == found.status
    assert list(range(1, 16)) == ages(shop)
    assert runs <= len(shop.records())


def test_a_dry_run_says_what_would_go_and_deletes_nothing(shop):
    before = (shop.snapshot.version, len(shop.records()), len(shop.sessions))

    found = the_only(retention(shop.workspace, RetentionRequest(dry_run=True)))

    assert ("pending", None) == (found.status, found.expired)
    assert found.certain <= 15 <= found.possible
    assert before == (shop.snapshot.version, len(shop.records()), len(shop.sessions))


def test_a_row_without_a_time_stays(shop):
    shop.write("models/events.sql", "SELECT id, IF(id = 30, NULL, day) AS day FROM raw.visits")
    run(shop.workspace, RunRequest(("events",), full_refresh=True))

    retention(shop.workspace, RetentionRequest())

    assert {*range(1, 16), 30} == set(ages(shop))


def test_what_was_trimmed_is_compacted_like_any_other(shop):
    retention(shop.workspace, RetentionRequest())

    compact(shop.workspace, CompactRequest())

    assert (1, list(range(1, 16))) == (len(shop.snapshot.files), ages(shop))
    assert set() == shop.findings()


def test_a_model_that_keeps_its_rows_is_refused_when_it_is_named(shop):
    with pytest.raises(NothingSelected, match="model `totals` keeps its rows for ever"):
        retention(shop.workspace, RetentionRequest(("totals",)))


def test_a_column_that_is_no_time_leaves_the_table_alone(shop):
    shop.write("models/events.toml", SIDECAR.format(kept="1y").replace('"day"', '"id"'))

    found = the_only(retention(shop.workspace, RetentionRequest()))

    assert "left_alone" == found.status
    assert "its column `id` is `bigint`, not a date or a timestamp" == found.reason


def test_the_rows_of_a_branch_are_not_deleted(shop):
    with pytest.raises(
        RunRefused,
        match=r"old rows of branch `trial` are not deleted: .* promoted; promote it first",
    ):
        retention(shop.on(branch_name="trial"), RetentionRequest())


def test_a_commit_that_no_run_made_is_refused(shop):
    newest = shop.snapshot.version
    info = {**shop.actions(newest)[0]["commitInfo"], "runId": "run-20260131-120001-000"}
    shop.commit(newest + 1).write_text(f"{json.dumps({'commitInfo': info})}\n")

    with pytest.raises(ForeignCommit, match="has a commit that no run made"):
        retention(shop.workspace, RetentionRequest())


def test_a_damaged_file_is_refused(shop):
    path = shop.folder / shop.snapshot.files[0].path
    path.write_bytes(b"\1" + path.read_bytes()[1:])

    with pytest.raises(StoreUnreadable, match="does not hold the bytes it is named by"):
        retention(shop.workspace, RetentionRequest())

    assert RunStatus.FAILURE == shop.records()[0].status


def test_rows_that_would_get_lost_are_missed_before_anything_is_committed(shop, monkeypatch):
    version = shop.snapshot.version
    monkeypatch.setattr(
        expiry, "column_list", lambda _: "DISTINCT 1 AS id, DATE '2000-01-01' AS day"
    )

    with pytest.raises(RockyError, match="do not make up what is there"):
        retention(shop.workspace, RetentionRequest())

    assert version == shop.snapshot.version
