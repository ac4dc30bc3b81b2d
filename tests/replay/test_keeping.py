"""Tables that keep rows, built again from the version that a run had found."""

import shutil
from pathlib import Path

import pytest

from rocky.project.configuration.strategies import Incremental
from rocky.replay.record import load_recorded_run
from rocky.run.materialize.build import Build, Built
from rocky.run.materialize.strategy import materialize
from rocky.run.materialize.workspace import add_hashes, open_workspace
from rocky.store.delta.change import Change
from rocky.store.delta.snapshot import ROWS_HASH
from tests.replay.replays import STATE, Replays, reason_of, verdicts
from tests.run.runs import Shop, write
from tests.table_files import data_files

FILES = {
    "models/log.sql": "SELECT id, country FROM stg_orders",
    "models/log.toml": '[strategy]\ntype = "incremental"\ntimestamp_column = "country"\n',
}


def append_all(build: Build) -> Built:
    """A strategy that appends whatever the query gives: DuckDB does not speak of watermarks."""
    if not isinstance(build.model.strategy, Incremental):
        return materialize(build)
    with open_workspace(build) as workspace:
        workspace.bind_source(build.query)
        before = build.table.snapshot()
        taken = frozenset(file.path for file in before.files) if before else frozenset()
        sql = f"SELECT id, country FROM {workspace.source}"
        written = workspace.write(sql, workspace.columns, build.layout, taken)
        hashes = [before.configuration[ROWS_HASH]] if before else []
        rows_hash = add_hashes([*hashes, written.rows_hash])
        change = Change(
            "APPEND",
            before,
            workspace.columns,
            (),
            written.files,
            properties={ROWS_HASH: rows_hash},
            transaction=(build.token, 0),
        )
        committed = build.table.commit(change)
    return Built(build.query or "", (committed,), written.rows, rows_hash, "appended", "FR")


def kept(tmp_path):
    """A shop whose log was appended to three times, and its runs."""
    shop = Shop(tmp_path, FILES)
    runs = []
    for number in range(3):
        write(shop.root, {"data/orders.csv": f"id,country\n{number},DE\n{number + 10},FR\n"})
        runs.append(shop.run("+log", build_table=append_all).run_id)
    replay = Replays(shop)
    replay.build_table = append_all
    return shop, runs, replay


@pytest.mark.slow
def test_an_append_is_replayed_from_the_version_it_started_from(tmp_path):
    shop, runs, replay = kept(tmp_path)
    table = shop.root / "warehouse/spark_catalog/default/log"

    found = [verdicts(replay(run, "log")) for run in runs]

    assert [{"log": "bit_exact"}] * 3 == found
    assert 3 == len(data_files(table))
    assert {1} == {path.stat().st_nlink for path in data_files(table)}


@pytest.mark.slow
def test_a_file_that_was_there_before_and_is_gone_is_named(tmp_path):
    shop, runs, replay = kept(tmp_path)
    (file,) = load_recorded_run(shop.root / STATE, runs[0], ["log"]).models[0].artifacts
    Path(file.file_path).unlink()

    report = replay(runs[1], "log")

    assert {"log": "non_replayable"} == verdicts(report)
    said = reason_of(report, "log")
    assert said is not None
    assert said.startswith("its own table at version 0, which it started from, is not what it was")


@pytest.mark.slow
def test_a_table_that_was_made_anew_since_is_not_taken_for_the_old_one(tmp_path):
    shop, runs, replay = kept(tmp_path)
    shutil.rmtree(shop.root / "warehouse/spark_catalog/default/log")
    for number in range(3):
        write(shop.root, {"data/orders.csv": f"id,country\n{number + 50},AT\n"})
        shop.run("+log", build_table=append_all)

    report = replay(runs[1], "log")

    assert {"log": "non_replayable"} == verdicts(report)
    assert "its own table was replaced by another one since" == reason_of(report, "log")
