"""A replay from Python: shown, checked, or built again on the caller's own Spark."""

from contextlib import contextmanager

import pytest

from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.proof.replay import (
    RebuildReport,
    RecordReport,
    RecordVerificationReport,
    ReplayRequest,
    replay,
)
from rocky.operations.workspace import Workspace
from rocky.replay.verdicts import Verdict
from rocky.run.engine import spark as spark_engine
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop


@pytest.fixture
def run_id(tmp_path):
    return Shop(tmp_path).run().run_id


@pytest.fixture
def sessions(monkeypatch):
    """The sessions that engines were opened on; Spark is one without a JVM."""
    opened = []

    @contextmanager
    def open_engine(adapter, root, spark=None, functions=None):
        opened.append(spark)
        yield MemoryEngine(root)

    monkeypatch.setattr(spark_engine, "open_project_engine", open_engine)
    return opened


@pytest.mark.slow
def test_a_record_is_shown_whole_and_checked(tmp_path, run_id):
    shown = replay(Workspace(tmp_path), ReplayRequest())
    checked = replay(Workspace(tmp_path), ReplayRequest(verify=True))

    assert isinstance(shown, RecordReport)
    assert run_id == shown.run.record.run_id
    assert all(each.as_written for each in shown.models if each.provenance is not None)
    assert isinstance(checked, RecordVerificationReport)
    assert (run_id, True) == (checked.verification.scope.name, checked.verification.verified)


@pytest.mark.slow
def test_a_run_is_built_again_on_the_session_of_the_workspace(tmp_path, run_id, sessions):
    session, heard = object(), []
    found = replay(
        Workspace(tmp_path, spark=session), ReplayRequest(run_id, execute=True), heard.append
    )

    assert isinstance(found, RebuildReport)
    assert (0, {Verdict.BIT_EXACT}) == (found.exit_code, {each.verdict for each in found.models})
    assert len(found.models) == found.summary.bit_exact == len(heard)
    assert [session] == list(dict.fromkeys(sessions))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"verify": True, "execute": True}, "cannot be used together"),
        ({"verify": True, "models": ("alone",)}, "leave `--model` out"),
        ({"parallel": 2}, "`--parallel` is for `--execute`"),
        ({"execute": True, "parallel": 0}, "`parallel` is at least 1, not 0"),
    ],
)
def test_a_request_that_contradicts_itself_is_refused(tmp_path, run_id, asked, said):
    with pytest.raises(InvalidRequest, match=said):
        replay(Workspace(tmp_path), ReplayRequest(run_id, **asked))


@pytest.mark.slow
def test_a_run_that_is_not_recorded_is_refused(tmp_path, run_id):
    with pytest.raises(NothingSelected, match="no run `run-20200101-000000-000`"):
        replay(Workspace(tmp_path), ReplayRequest("run-20200101-000000-000"))
