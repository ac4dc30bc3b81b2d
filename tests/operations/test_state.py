"""The state from Python: shown, a watermark deleted, old runs forgotten, and what refuses it."""

from datetime import UTC, datetime

import pytest

from rocky.errors import LedgerLocked, NothingSelected, RunRefused
from rocky.ledger import SCHEMA_VERSION, STATE_FILE, open_ledger
from rocky.ledger.record import RunId
from rocky.ledger.run_records import ModelExecution, ModelStatus, RunRecord
from rocky.operations.records.history import ExecutionsReport, ExecutionSummary
from rocky.operations.state.kept_state import (
    DeleteRequest,
    SweepRequest,
    delete_watermark,
    show_state,
    sweep_state,
)
from rocky.operations.state.watermark_values import hide_executions
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.protocol.disclosure import shown_history
from rocky.protocol.memory import Memory
from tests.cli.conftest import CONFIG
from tests.cli.recorded import record_past, running
from tests.evidence.shops import verify
from tests.run.long_histories import LongHistory
from tests.run.runs import Shop

TABLE = "shop.marts.fct_revenue"


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    """A project with a past."""
    (tmp_path / "rocky.toml").write_text(f"{CONFIG}[state.retention]\nmin_runs_kept = 1\n")
    record_past(tmp_path)
    return Workspace(tmp_path)


def test_a_project_that_never_ran_has_no_state_and_gets_none(tmp_path):
    (tmp_path / "rocky.toml").write_text(CONFIG)
    found = show_state(Workspace(tmp_path))

    assert (0, (), None) == (found.runs, found.watermarks, found.schema_version_on_disk)
    with pytest.raises(NothingSelected, match="no state yet"):
        delete_watermark(Workspace(tmp_path), DeleteRequest(TABLE))
    assert not (tmp_path / STATE_FILE).exists()


def test_what_is_remembered_is_in_the_report(workspace):
    found = show_state(workspace)

    assert (SCHEMA_VERSION, [TABLE]) == (
        found.schema_version_on_disk,
        [each.table for each in found.watermarks],
    )


def test_a_deleted_watermark_is_gone(workspace):
    found = delete_watermark(workspace, DeleteRequest("Shop.Marts.FCT_revenue"))

    assert (TABLE, ()) == (found.deleted.table, found.warnings)
    assert () == show_state(workspace).watermarks


def test_the_watermark_of_a_table_that_a_run_writes_stays(workspace):
    with running(workspace.config), pytest.raises(LedgerLocked, match="is writing"):
        delete_watermark(workspace, DeleteRequest(TABLE))

    assert 1 == len(show_state(workspace).watermarks)


def test_a_sweep_with_unclear_settings_forgets_nothing(workspace):
    (workspace.config / "rocky.toml").write_text(f"{CONFIG}[state.retention]\nmin_runs_kpt = 1\n")

    with pytest.raises(RunRefused, match="nothing was forgotten"):
        sweep_state(workspace, SweepRequest())


@pytest.mark.slow
def test_a_dry_sweep_says_what_the_next_one_forgets(tmp_path):
    shop, workspace = Shop(tmp_path), Workspace(tmp_path)
    for _ in range(4):
        shop.run()
    config = tmp_path / "rocky.toml"
    config.write_text(
        f"{config.read_text()}\n[state.retention]\nmax_age_days = 0\nmin_runs_kept = 1\n"
    )
    preview = sweep_state(workspace, SweepRequest(dry_run=True))
    assert 4 == show_state(workspace).runs
    found = sweep_state(workspace, SweepRequest())

    assert (True, False) == (preview.dry_run, found.dry_run)
    # The second looked at what the last went by.
    assert (1, {"committed": 1, "leaned_on": 1}) == (len(found.runs), found.kept)
    assert (preview.runs, preview.removed) == (found.runs, found.removed)
    assert 3 == show_state(workspace).runs


@pytest.mark.slow
def test_a_sweep_says_by_how_much_it_made_the_file_smaller(tmp_path):
    past, workspace = LongHistory(tmp_path, builds=1), Workspace(tmp_path)
    past.grow(120)
    config = tmp_path / "rocky.toml"
    config.write_text(
        f"{config.read_text()}\n[state.retention]\nmax_age_days = 0\nmin_runs_kept = 1\n"
    )
    size = past.state.stat().st_size
    preview, found = (sweep_state(workspace, SweepRequest(dry_run=each)) for each in (True, False))

    assert (0, ()) == (preview.freed_bytes, found.warnings)
    assert found.freed_bytes > size // 4
    assert past.state.stat().st_size < size - size // 4
    assert () == verify(tmp_path).findings


@pytest.mark.slow
def test_a_sweep_beside_a_run_says_that_the_file_stays_as_large(tmp_path):
    past, workspace = LongHistory(tmp_path, builds=1), Workspace(tmp_path)
    past.grow(120)
    config = tmp_path / "rocky.toml"
    config.write_text(
        f"{config.read_text()}\n[state.retention]\nmax_age_days = 0\nmin_runs_kept = 1\n"
    )
    with open_ledger(past.state) as ledger:
        began = RunRecord(datetime.now(UTC), "Manual", "c", "h", "1", warehouse="w")
        run_id = ledger.begin_run(began)
        found = sweep_state(workspace, SweepRequest())

    assert (0, 1) == (found.freed_bytes, len(found.warnings))
    assert f"was not made smaller: run `{run_id}` is running" in found.warnings[0]
    assert found.runs


def test_the_watermark_of_a_classified_column_is_hidden(tmp_path):
    strategy = '[strategy]\ntype = "incremental"\ntimestamp_column = "born"\n'
    files = {
        "rocky.toml": CONFIG,
        "models/fct_revenue.sql": "SELECT born FROM people",
        "models/fct_revenue.toml": f"{strategy}[target]\ncatalog = 'shop'\nschema = 'marts'\n",
        "sources/people.toml": '[[source]]\nname = "people"\n'
        'columns = [ { name = "born", type = "date", classification = "pii" } ]\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    record_past(tmp_path)

    (mark,) = show_state(Workspace(tmp_path)).watermarks
    deleted = delete_watermark(Workspace(tmp_path), DeleteRequest(TABLE)).deleted
    assert "(hidden: pii)" == mark.last_value == deleted.last_value


def test_how_far_an_execution_got_is_hidden_where_its_column_is_classified(tmp_path):
    strategy = '[strategy]\ntype = "incremental"\ntimestamp_column = "born"\n'
    files = {
        "rocky.toml": CONFIG,
        "models/births.sql": "SELECT born, day FROM people",
        "models/births.toml": strategy,
        "models/days.sql": "SELECT born, day FROM people",
        "models/days.toml": strategy.replace("born", "day"),
        "sources/people.toml": '[[source]]\nname = "people"\ncolumns = [\n'
        '{ name = "born", type = "date", classification = "pii" }, { name = "day", type = "date" } ]\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    workspace = Workspace(tmp_path)
    models = compile_workspace(workspace).project.models
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    done = [
        ModelExecution(
            key, ModelStatus.SUCCESS, moment, moment, 1, models[key].target.full_name,
            watermark="1987-02-03",
        )
        for key in ("births", "days")
    ]  # fmt: skip

    shown = hide_executions(workspace, done)

    assert ["(hidden: pii)", "1987-02-03"] == [each.watermark for each in shown]
    summaries = tuple(
        ExecutionSummary(run_id=RunId("run-1"), outcome="built", execution=each) for each in done
    )
    page = shown_history(Memory(workspace), ExecutionsReport("births", 2, summaries))
    assert isinstance(page, ExecutionsReport)
    assert list(shown) == [each.execution for each in page.executions]
