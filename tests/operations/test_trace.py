"""A trace from Python: of the state file alone."""

import pytest

from rocky.errors import NothingSelected
from rocky.ledger import STATE_FILE
from rocky.operations.records.trace import TraceRequest, trace
from rocky.operations.workspace import Workspace
from tests.cli.recorded import FIRST, record_past


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    """A state file with a past, and no project."""
    record_past(tmp_path)
    return Workspace(state_file=tmp_path / STATE_FILE)


def test_a_trace_lays_a_run_out_in_time(workspace):
    found = trace(workspace, TraceRequest(FIRST, limit=1))

    assert (FIRST, 1) == (found.run_id, len(found.models))
    assert found.models_left_out == len(found.run.models_executed) - 1 - len(found.not_started)
    assert found.model_ms >= found.busy_ms > 0


def test_a_run_that_is_not_recorded_is_refused(workspace):
    with pytest.raises(NothingSelected, match="no run `run-1`"):
        trace(workspace, TraceRequest("run-1"))


def test_a_notebook_shows_every_model_with_a_bar_and_what_did_not_start(workspace):
    found = trace(workspace, TraceRequest(FIRST))
    rows = found.digest().cells

    names = [each.model_name for each in (*found.models, *found.not_started)]
    assert names == [row[0].removesuffix(" *") for row in rows]
    assert all({"█"} <= set(row[-1]) <= set("·░█") for row in rows[: len(found.models)])
    assert 1 == len({len(row[-1]) for row in rows[: len(found.models)]})
    assert all(name in found._repr_html_() for name in names)
    later = [row[-1].index("█") for row in rows[: len(found.models)]]
    assert sorted(later) == later
    assert f"{FIRST}: Success, 2 models in 2.6 s; critical path: " in repr(found)
