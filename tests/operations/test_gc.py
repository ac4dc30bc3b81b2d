"""Collecting from Python: no gate of `rocky gc` can be walked around."""

from datetime import UTC, datetime, timedelta

import pytest

from rocky.errors import NothingSelected, RunRefused
from rocky.operations.maintenance.gc import GcRequest, gc
from rocky.operations.workspace import Workspace
from tests.cli.conftest import CONFIG
from tests.evidence.retention.histories import NOW, Past

# Long enough ago for the default settings of everything, counted from the clock on the wall.
LONG = (NOW - (datetime.now(UTC) - timedelta(days=1000))) / timedelta(days=1)
KEEP_ONE = f"{CONFIG}[state.retention]\nmin_runs_kept = 1\n"


@pytest.fixture
def past(tmp_path) -> Past:
    """A project whose table was replaced twice, years ago."""
    (tmp_path / "rocky.toml").write_text(KEEP_ONE)
    (tmp_path / "models").mkdir()
    (tmp_path / "models/one.sql").write_text("SELECT 1 AS one\n")
    found = Past(tmp_path)
    for number in range(3):
        found.build("orders", LONG - number, number)
    return found


def collect(past, config=None, branch=None, **request):
    if config is not None:
        (past.root / "rocky.toml").write_text(config)
    return gc(Workspace(past.root, branch_name=branch), GcRequest(**request))


def test_what_nothing_needs_goes_and_the_report_says_why(past):
    found = collect(past)
    (table,) = found.tables

    assert (False, 2, 1) == (found.dry_run, found.summary.files_removed, found.summary.files_kept)
    assert ("collected", 1, 0) == (table.status, table.kept.live.files, table.kept.needed.files)
    assert 1 == len(past.stored("orders"))
    assert not found.has_failed


@pytest.mark.parametrize(
    ("config", "branch", "said"),
    [
        (f"{KEEP_ONE}[gc]\nmin_age_dys = 3\n", None, "what to keep is not known"),
        (
            f'{KEEP_ONE}[state]\nbackend = "valkey"\nvalkey_url = "redis://127.0.0.1:1/0"\n',
            None,
            "the state is remote",
        ),
        (KEEP_ONE, "feature", "the files of branch `feature` cannot be collected alone"),
    ],
)
def test_unclear_settings_a_remote_state_and_a_branch_stop_it(past, config, branch, said):
    (past.root / "rocky.toml").write_text(config)
    before = past.everything()

    with pytest.raises(RunRefused, match=said):
        collect(past, branch=branch)
    assert before == past.everything()


@pytest.mark.parametrize(
    ("config", "dry_run"),
    [(KEEP_ONE, True), (f"{KEEP_ONE}[gc]\nphysical_delete = false\n", False)],
)
def test_a_dry_run_by_request_or_by_settings_removes_nothing(past, config, dry_run):
    found = collect(past, config, dry_run=dry_run)

    assert (True, 2) == (found.dry_run, found.summary.files_removed)
    assert 3 == len(past.stored("orders"))


def test_a_table_that_a_living_run_writes_is_left_alone(past):
    with past.running(1, "orders") as run_id:
        found = collect(past)

    assert [("left_alone", f"run `{run_id}` is writing `shop.core.orders`")] == [
        (each.status, each.reason) for each in found.tables
    ]
    assert (run_id,) == found.running_runs
    assert 3 == len(past.stored("orders"))


def test_the_only_adapter_goes_by_the_name_of_the_default(past):
    config = KEEP_ONE.replace("[adapter]", "[adapter.lake]").replace(
        'models = "models/**"\n', 'models = "models/**"\ntarget = { adapter = "lake" }\n'
    )

    assert 2 == collect(past, config, adapter="default").summary.files_removed


def test_an_adapter_that_is_not_there_is_refused(past):
    with pytest.raises(NothingSelected, match="no adapter `nope`"):
        collect(past, adapter="nope")
