"""What Rocky removes from a ledger is explained by it; what somebody else removes is found."""

import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rocky.evidence.retention.ledger_facts import leave_anchors
from rocky.evidence.retention.sweep import (
    SweepReport,
    preview_sweep,
    remove_watermark,
    sweep_ledger,
)
from rocky.evidence.retention.sweep_decisions import KeepRunReason
from rocky.ledger import open_evidence_reader, open_ledger
from rocky.ledger.pipeline_records import GracePeriod, LoadedFile, RowCount
from rocky.ledger.record import format_time
from rocky.ledger.run_records import (
    ModelExecution,
    ModelStatus,
    RunRecord,
    RunStatus,
    WatermarkState,
)
from rocky.ledger.writer import ModelRecords, PipelineRecords
from rocky.project.configuration.blocks import StateRetention
from rocky.store.warehouse import open_warehouse
from tests.evidence.mutations import append, compact, opened, rows_of
from tests.evidence.shops import STATE, Recorded, audit, codes, script_codes, verify, write_orders
from tests.run.runs import Shop

pytestmark = pytest.mark.slow

NOW = datetime(2027, 6, 1, 12, 0, 0, tzinfo=UTC)
ALL_BUT_ONE = StateRetention(max_age_days=30, min_runs_kept=1)


def make_shop(root: Path) -> Shop:
    """Five runs: one builds, one reuses all, one fails, one reuses all, the last builds a table."""
    shop = Shop(root)
    shop.run()
    shop.run()
    source = (root / "data/orders.csv").read_text()
    (root / "data/orders.csv").unlink()
    shop.run("stg_orders")
    (root / "data/orders.csv").write_text(source)
    shop.run()
    write_orders(root, 9)
    shop.run("stg_orders")
    return shop


def sweep(root: Path, retention: StateRetention = ALL_BUT_ONE) -> SweepReport:
    warehouse = open_warehouse("warehouse", base=root)
    with open_ledger(root / STATE) as ledger:
        report = sweep_ledger(ledger, [warehouse], retention, NOW)
        assert [] == leave_anchors(ledger, lambda place: open_warehouse(place, base=root), NOW)
    return report


def runs_of(root: Path) -> list[str]:
    with open_evidence_reader(root / STATE) as reader:
        return [key for key, _ in reader.rows("run_history")]


def found(root: Path) -> tuple[list[str], list[str]]:
    """The codes that Rocky and the script find."""
    return codes(verify(root).findings), script_codes(audit(root))


def test_runs_that_left_nothing_are_forgotten_and_the_evidence_is_whole(tmp_path):
    make_shop(tmp_path)
    first, second, third, fourth, fifth = runs_of(tmp_path)
    report = sweep(tmp_path)

    assert (second, third, fourth) == report.runs
    assert [first, fifth] == runs_of(tmp_path)
    assert {KeepRunReason.COMMITTED: 1} == report.kept
    assert ([], []) == found(tmp_path)


def test_a_sweep_says_what_it_took_and_a_preview_the_same_without_taking_it(tmp_path):
    make_shop(tmp_path)
    before = (tmp_path / STATE).read_bytes()
    warehouse = open_warehouse("warehouse", base=tmp_path)
    preview = preview_sweep(tmp_path / STATE, [warehouse], ALL_BUT_ONE, NOW)
    assert before == (tmp_path / STATE).read_bytes()
    report = sweep(tmp_path)
    with open_evidence_reader(tmp_path / STATE) as reader:
        ((key, value),) = reader.rows("sweeps")
    said = json.loads(value)

    assert (preview.runs, preview.removed, preview.kept) == (
        report.runs,
        report.removed,
        report.kept,
    )
    assert (True, False) == (preview.dry_run, report.dry_run)
    assert format_time(NOW) == key == said["at"]
    assert format_time(NOW - timedelta(days=30)) == said["cutoff"]
    assert (list(report.runs), dict(report.removed)) == (said["runs"], said["removed"])


def test_runs_and_sweeps_go_on_after_a_sweep(tmp_path):
    shop = make_shop(tmp_path)
    sweep(tmp_path)
    shop.run()
    write_orders(tmp_path, 4)
    shop.run()
    assert ([], []) == found(tmp_path)
    # The first looks, the others go by it, and the last is kept.
    shop.run()
    shop.run()
    shop.run()

    assert 1 == len(sweep(tmp_path).runs)
    assert ([], []) == found(tmp_path)


def test_a_run_that_died_stays_until_its_warehouse_was_looked_at(tmp_path):
    """It may have made a commit that nobody recorded."""
    shop = make_shop(tmp_path)
    warehouse = open_warehouse("warehouse", base=tmp_path)
    place = warehouse.objects.place("")
    died_at = datetime(2026, 2, 1, 0, 0, 0, tzinfo=UTC)
    with open_ledger(tmp_path / STATE) as ledger:
        died = ledger.begin_run(RunRecord(died_at, "Manual", "c", "h", "1", warehouse=place))
    shop._now = died_at + timedelta(days=1)
    shop.run("alone")

    unseen = preview_sweep(tmp_path / STATE, [], ALL_BUT_ONE, NOW)
    seen = preview_sweep(tmp_path / STATE, [warehouse], ALL_BUT_ONE, NOW)
    log = shop.folder("alone") / "_delta_log"
    commit = json.loads((log / f"{0:020d}.json").read_text().splitlines()[0])
    commit["commitInfo"]["runId"] = died
    (log / f"{1:020d}.json").write_text(json.dumps(commit) + "\n")
    has_commit = preview_sweep(tmp_path / STATE, [warehouse], ALL_BUT_ONE, NOW)
    (log / f"{1:020d}.json").write_text("{")
    in_doubt = preview_sweep(tmp_path / STATE, [warehouse], ALL_BUT_ONE, NOW)

    assert (False, 1) == (died in unseen.runs, unseen.kept[KeepRunReason.UNCERTAIN])
    assert died in seen.runs
    assert (False, 2) == (died in has_commit.runs, has_commit.kept[KeepRunReason.COMMITTED] - 1)
    assert (False, 1) == (died in in_doubt.runs, in_doubt.kept[KeepRunReason.UNCERTAIN])


@pytest.mark.parametrize("left_out", ["history", "lineage", "audit"])
def test_a_domain_that_is_not_swept_keeps_runs_that_have_records_in_it(tmp_path, left_out):
    make_shop(tmp_path)
    domains = tuple(each for each in ("history", "lineage", "audit") if each != left_out)
    report = sweep(tmp_path, ALL_BUT_ONE._replace(applies_to=domains))

    # Reuse records files, so of the three that could go only the failed run has none.
    assert {"history": 0, "lineage": 3, "audit": 1}[left_out] == len(report.runs)
    assert ([], []) == found(tmp_path)


def delete_watermark(root: Path) -> None:
    with open_ledger(root / STATE) as ledger:
        remove_watermark(ledger, "SPARK_CATALOG.default.orders")
        leave_anchors(ledger, lambda place: open_warehouse(place, base=root), NOW)


def record_copy(root: Path, *, ended: bool = True) -> None:
    """A run of a pipeline: a watermark, a column on notice until it is not, a file, a count."""
    at = datetime(2026, 3, 1, 0, 0, 0, tzinfo=UTC)
    place = open_warehouse("warehouse", base=root).objects.place("")
    table = "spark_catalog.default.orders"
    grace = GracePeriod(table, "Note", "dropped", at, at + timedelta(days=7))
    with open_ledger(root / STATE) as ledger:
        run = ledger.begin_run(RunRecord(at, "Manual", "c", "h", "1", warehouse=place), [table])
        for number, records in enumerate(
            (
                PipelineRecords(grace=[grace], loaded=[LoadedFile(table, "ab", "x", 1, at, run)]),
                PipelineRecords(ended=[grace]),
            )
        ):
            execution = ModelExecution(f"{table}{number}", ModelStatus.SUCCESS, at, at, 0, table)
            mark = WatermarkState(table, str(number), at, table, run)
            ledger.record_models(run, [ModelRecords(execution, watermark=mark, pipeline=records)])
        with ledger.transaction() as rows:
            rows.put("check_history", table, f"[{compact(RowCount(3, at).to_json())}]")
        if ended:
            ledger.finish_run(run, RunStatus.SUCCESS, at)
            leave_anchors(ledger, lambda place: open_warehouse(place, base=root), at)


def test_a_pipelines_records_and_a_deleted_watermark_are_no_findings(tmp_path):
    make_shop(tmp_path)
    record_copy(tmp_path)
    assert ([], []) == found(tmp_path)
    delete_watermark(tmp_path)

    assert ([], []) == found(tmp_path)
    with open_evidence_reader(tmp_path / STATE) as reader:
        assert [] == list(reader.rows("watermarks"))


def test_what_a_run_counted_before_it_was_killed_is_no_finding(tmp_path):
    make_shop(tmp_path)
    record_copy(tmp_path, ended=False)

    assert ([], []) == found(tmp_path)


Forge = Callable[[sqlite3.Connection, list[str]], None]


def remove(connection: sqlite3.Connection, run_id: str) -> None:
    """Every row of a run gone, each with an entry."""
    for table in ("run_history", "model_executions", "output_artifacts", "input_provenance"):
        for _, key, _ in rows_of(connection, table):
            if key.partition("|")[0] == run_id:
                connection.execute(f"DELETE FROM {table} WHERE key = ?", (key,))
                append(connection, table, key, None)


def put_sweep(connection: sqlite3.Connection, runs: list[str], **changes) -> None:
    at = format_time(NOW)
    tables = ("run_history", "model_executions", "output_artifacts", "input_provenance")
    removed = dict.fromkeys(tables, 99)
    said = {"at": at, "cutoff": at, "reason": "old", "removed": removed, "runs": runs, **changes}
    connection.execute("INSERT INTO sweeps VALUES (?, ?)", (at, compact(said)))
    append(connection, "sweeps", at, compact(said))


def without_a_sweep(connection, runs):
    remove(connection, runs[1])


def of_another_run(connection, runs):
    put_sweep(connection, [runs[2]])
    remove(connection, runs[1])


def of_a_young_run(connection, runs):
    put_sweep(connection, [runs[1]], cutoff="2020-01-01T00:00:00.000000Z")
    remove(connection, runs[1])


def of_the_future(connection, runs):
    put_sweep(connection, [runs[1]], cutoff="2030-01-01T00:00:00.000000Z")
    remove(connection, runs[1])


def of_a_run_that_built(connection, runs):
    put_sweep(connection, [runs[0]])
    remove(connection, runs[0])


def of_more_than_it_says(connection, runs):
    put_sweep(connection, [runs[1]], removed={"run_history": 1})
    remove(connection, runs[1])


def not_at_once(connection, runs):
    put_sweep(connection, [runs[1]])
    value = '{"last_value":"1","table":"t","updated_at":"2026-01-31T12:00:00.000000Z"}'
    connection.execute("INSERT INTO branches VALUES ('t', ?)", (value,))
    append(connection, "branches", "t", value)
    remove(connection, runs[1])


def in_part(connection, runs):
    put_sweep(connection, [runs[1]])
    connection.execute("DELETE FROM run_history WHERE key = ?", (runs[1],))
    append(connection, "run_history", runs[1], None)


def and_written_again(connection, runs):
    (value,) = (text for _, key, text in rows_of(connection, "run_history") if key == runs[2])
    put_sweep(connection, [runs[2]])
    remove(connection, runs[2])
    changed = compact({**json.loads(value), "models_executed": []})
    connection.execute("INSERT INTO run_history VALUES (?, ?)", (runs[2], changed))
    append(connection, "run_history", runs[2], changed)


def of_a_grace_period(connection, runs):
    said = {"change": "dropped", "column": "a", "table": "t"}
    said |= {"expires_at": "2026-01-31T12:00:00.000000Z", "first_seen_at": format_time(NOW)}
    connection.execute("INSERT INTO grace_periods VALUES ('t|a', ?)", (compact(said),))
    append(connection, "grace_periods", "t|a", compact(said))
    connection.execute("DELETE FROM grace_periods")
    append(connection, "grace_periods", "t|a", None)


def of_a_count_after_the_end(connection, runs):
    connection.execute("INSERT INTO check_history VALUES ('t', '[]')")
    append(connection, "check_history", "t", "[]")


FORGERIES: tuple[Forge, ...] = (
    without_a_sweep,
    of_another_run,
    of_a_young_run,
    of_the_future,
    of_a_run_that_built,
    of_more_than_it_says,
    not_at_once,
    in_part,
    and_written_again,
    of_a_grace_period,
    of_a_count_after_the_end,
)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    root = tmp_path_factory.mktemp("shop")
    make_shop(root)
    project = Recorded(root)
    project._files = project._read()
    return project


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda each: each.__name__)
def test_a_forged_removal_is_found_even_if_the_anchor_is_moved(recorded, forge):
    """Whoever can also write to the warehouse leaves an anchor that fits the forged chain."""
    try:
        with opened(recorded) as connection:
            forge(connection, runs_of(recorded.root))
        with open_ledger(recorded.state) as ledger:
            leave_anchors(ledger, lambda place: open_warehouse(place, base=recorded.root), NOW)
        library, script = found(recorded.root)
    finally:
        recorded.restore()

    assert (True, True) == (bool(library), bool(script))


def test_the_same_sweep_without_an_anchor_is_found(recorded):
    """Only Rocky and whoever can write to the warehouse can move it."""
    try:
        with opened(recorded) as connection:
            put_sweep(connection, [runs_of(recorded.root)[1]])
            remove(connection, runs_of(recorded.root)[1])
        assert (["anchor_behind"], ["anchor_behind"]) == found(recorded.root)
    finally:
        recorded.restore()
