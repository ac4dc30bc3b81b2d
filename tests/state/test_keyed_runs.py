"""Idempotency keys of whole runs whose state is kept elsewhere, when its server fails at the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rocky.compiler.passes import compile_project
from rocky.errors import RockyError, RunSkipped, StateSyncFailed
from rocky.ledger.record import RunId
from rocky.ledger.run_records import RunStatus
from rocky.plan.request import RunRequest, plan_request
from rocky.project import load_project
from rocky.run.outcomes import RunResult
from rocky.run.prepare import session
from rocky.run.prepare.caller import Caller
from rocky.run.project_run import run_request
from rocky.state.idempotency import RemoteKey
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import WHO, write
from tests.servers.faults import HttpFaults
from tests.servers.s3 import BUCKET, s3_environment
from tests.state.shops import PROJECT, STATE_FILE

pytestmark = pytest.mark.server

CONFIG = """
[adapter]
type = "spark"

[state]
backend = "s3"
s3_bucket = "{bucket}"
s3_prefix = "{prefix}/"
transfer_timeout_seconds = 5
on_upload_failure = "{policy}"

[state.retry]
max_retries = 0
circuit_breaker_threshold = 0
"""


@dataclass
class KeyedShop:
    """A machine whose runs have a key. `before_write` is called in the midst of each."""

    root: Path
    s3: HttpFaults
    warnings: list[str] = field(default_factory=list)
    before_write: Callable[[str], None] = lambda _: None

    def run(self, key: str = "k") -> RunResult:
        project = load_project(self.root, env={}, variables={})
        request = RunRequest(parallel=1, idempotency_key=key)
        plan = plan_request(compile_project(project, jobs=1, cache=False), request)
        caller = Caller(
            self.root / STATE_FILE, WHO, s3_environment(self.s3.url), warn=self.warnings.append
        )
        return run_request(plan, request, caller)


@pytest.fixture
def shop(tmp_path, s3, prefix, monkeypatch) -> Callable[[str], KeyedShop]:
    made = KeyedShop(tmp_path, s3)

    def open_memory(*_: object) -> Callable[[], MemoryEngine]:
        engine = MemoryEngine(tmp_path)
        engine.before_write = made.before_write
        return lambda: engine

    def make(policy: str) -> KeyedShop:
        config = CONFIG.format(bucket=BUCKET, prefix=prefix, policy=policy)
        toml = PROJECT["rocky.toml"] + config
        write(tmp_path, {**PROJECT, "rocky.toml": toml, "data/orders.csv": "id,ts\n1,1\n"})
        return made

    monkeypatch.setattr(session, "engine_opener", open_memory)
    return make


def fail_while_sending(monkeypatch, s3: HttpFaults) -> None:
    """Let the state's own uploads fail, from the end of the run on."""
    send = session._send_back

    def send_in_vain(*given: object) -> None:
        s3.fail("500", method="PUT", path="state.db")
        try:
            send(*given)  # type: ignore[arg-type]
        finally:
            s3.heal()

    monkeypatch.setattr(session, "_send_back", send_in_vain)


def test_a_run_that_could_not_send_its_state_has_not_succeeded_under_its_key(shop, monkeypatch):
    machine = shop("fail")
    with monkeypatch.context() as broken:
        fail_while_sending(broken, machine.s3)
        report = machine.run()
        assert (RunStatus.SUCCESS, 1) == (report.status, report.exit_code)
        assert "could not send the state" in str(report.state_error)

    assert 0 == machine.run().exit_code
    with pytest.raises(RunSkipped):
        machine.run()


def test_a_run_that_need_not_send_its_state_has_succeeded_under_its_key(shop, monkeypatch):
    machine = shop("skip")
    fail_while_sending(monkeypatch, machine.s3)

    assert 0 == machine.run().exit_code
    assert any("could not send the state" in each for each in machine.warnings)
    with pytest.raises(RunSkipped):
        machine.run()


def test_a_run_stands_although_its_key_could_not_be_finished(shop):
    machine = shop("skip")
    machine.before_write = lambda _: machine.s3.fail("500")

    assert 0 == machine.run().exit_code
    assert any("could not keep an idempotency key" in each for each in machine.warnings)


def test_a_key_that_could_not_be_finished_fails_a_run_where_all_must_be_kept(shop, monkeypatch):
    machine = shop("fail")
    finish = RemoteKey.finish

    def finish_in_vain(self: RemoteKey, *, succeeded: bool) -> bool:
        machine.s3.fail("500")
        try:
            return finish(self, succeeded=succeeded)
        finally:
            machine.s3.heal()

    monkeypatch.setattr(RemoteKey, "finish", finish_in_vain)

    report = machine.run()
    assert 1 == report.exit_code
    assert "could not keep an idempotency key" in str(report.state_error)


def test_a_key_that_could_not_be_finished_hides_no_other_error(shop, monkeypatch):
    machine = shop("fail")

    def fail_with_the_server(*_: object, **__: object) -> None:
        machine.s3.fail("500")
        raise RockyError("the disk is on fire")

    monkeypatch.setattr("rocky.run.project_run.run_plan", fail_with_the_server)

    with pytest.raises(RockyError, match="the disk is on fire"):
        machine.run()
    assert any("could not keep an idempotency key" in each for each in machine.warnings)


def test_a_run_whose_key_cannot_be_given_its_name_goes_on(shop, monkeypatch):
    machine = shop("fail")

    def fail(self: RemoteKey, run_id: RunId) -> None:
        raise StateSyncFailed("no server")

    monkeypatch.setattr(RemoteKey, "record_run", fail)

    assert 0 == machine.run().exit_code
    assert ["no server; other machines are not told which run has it"] == machine.warnings
    with pytest.raises(RunSkipped):
        machine.run()
