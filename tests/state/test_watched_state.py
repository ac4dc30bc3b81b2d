"""A remote state that somebody watches: runs of other machines come to be known, and its health."""

from urllib.parse import quote

import pytest

from rocky.cli.commands.state import _render_state
from rocky.operations.execution.run import run
from rocky.operations.state.kept_state import show_state
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from rocky.protocol.changes import Lookout
from rocky.protocol.memory import LEDGER, Memory
from rocky.protocol.notices import Notices
from tests.operations.shops import OpenShop
from tests.run.runs import PROJECT, write
from tests.servers.valkey import PASSWORD

pytestmark = [pytest.mark.server]


def machine(root, warehouse, port, prefix) -> Workspace:
    url = f"redis://:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/0"
    settings = (
        f'[adapter]\nwarehouse = "{warehouse}"\n[pipeline.shop]\nmodels = "models/**"\n'
        f'[state]\nbackend = "valkey"\nvalkey_url = "{url}"\nvalkey_prefix = "{prefix}:"\n'
        "[state.retry]\nmax_retries = 0\n"
    )
    write(root, {**PROJECT, "rocky.toml": settings})
    return Workspace(root, spark="a session", warn=lambda _: None)


def told_of(notices, event):
    """What is told of an event that comes within a while, whatever else does."""
    number = notices.last
    for _ in range(10):
        for each in notices.after(number, 10):
            number = each.number
            if each.event == event:
                return each.data
    raise AssertionError(f"nothing was told of `{event}`")


def test_a_run_of_another_machine_is_noticed_and_an_unreachable_backend_is_told(
    tmp_path, monkeypatch, valkey, prefix
):
    OpenShop(tmp_path / "nobody", monkeypatch)
    ours, theirs = (
        machine(tmp_path / name, tmp_path / "warehouse", valkey.port, prefix)
        for name in ("ours", "theirs")
    )
    assert run(theirs, RunRequest()).succeeded
    notices = Notices()
    lookout = Lookout(Memory(ours), notices, remote_every=0.1)
    lookout.start()
    try:
        told = notices.after(0, 10)
        assert LEDGER in told[0].data
        assert 1 == show_state(ours).runs
        assert "kept in valkey, which answers" in _render_state(show_state(ours))
        valkey.mode = "refuse"
        assert "The remote state does not answer" in told_of(notices, "remote")
        assert "which was not reached" in _render_state(show_state(ours))
    finally:
        lookout.close()


def test_a_run_of_this_machine_is_not_told_as_one_that_runs_elsewhere(
    tmp_path, valkey, prefix, monkeypatch
):
    shop = OpenShop(tmp_path / "nobody", monkeypatch)
    ours = machine(tmp_path / "ours", tmp_path / "warehouse", valkey.port, prefix)
    seen = []
    shop.before_write = lambda _: seen.append(show_state(ours))

    assert run(ours, RunRequest()).succeeded

    assert {1} == {len(each.claims) for each in seen}
    assert {()} == {each.runs_elsewhere for each in seen}
