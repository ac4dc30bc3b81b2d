"""Probes: what `rocky doctor` can say of the remote state."""

from collections.abc import Callable

import pytest

from rocky.project.configuration.blocks import Retry, State
from rocky.state.probe import Probe, probe_rw, probe_sync
from rocky.store.objects import Objects
from tests.servers.s3 import s3_environment
from tests.state.machines import Machine, s3_state, tiered_state, valkey_state

pytestmark = pytest.mark.server

ONCE = Retry(max_retries=0, circuit_breaker_threshold=0)


@pytest.fixture(params=["s3", "valkey", "tiered"])
def machine(request, tmp_path, prefix) -> Machine:
    s3, valkey = (request.getfixturevalue(name) for name in ("s3", "valkey"))
    state = {
        "s3": s3_state(prefix, ONCE),
        "valkey": valkey_state(valkey.port, prefix, ONCE),
        "tiered": tiered_state(valkey.port, prefix, ONCE),
    }[request.param]
    return Machine(tmp_path / "m", state, s3.url)


def ask(probe: Callable[..., Probe], machine: Machine) -> Probe:
    return probe(machine.state, machine.ledger, s3_environment(machine.address))


def test_a_backend_that_works_is_written_read_and_left_clean(machine, bucket: Objects):
    machine.run("a")
    before = sorted(each.path for each in bucket.list(""))
    found = ask(probe_rw, machine)

    assert ("state_rw", True) == found[:2]
    assert before == sorted(each.path for each in bucket.list(""))


def test_how_the_local_file_stands_to_the_remote_one_is_said(machine):
    machine.root.mkdir()
    texts = [ask(probe_sync, machine).message]
    machine.run("a")
    texts.append(ask(probe_sync, machine).message)
    machine.record("b")
    texts.append(ask(probe_sync, machine).message)
    machine.ledger.unlink()
    texts.append(ask(probe_sync, machine).message)
    machine.record("c")
    other = ask(probe_sync, machine)

    starts = [
        "there is no state at `",
        "the local file and the remote one are equal (`",
        "the local file has 4 entries that were not sent yet (`",
        "there is no local file yet, and the next run fetches the remote one (`",
    ]
    assert starts == [text[: len(start)] for text, start in zip(texts, starts, strict=True)]
    assert (False, "the local file is ledger `") == (other.passed, other.message[:26])


@pytest.mark.parametrize("probe", [probe_sync, probe_rw])
def test_the_exact_failure_is_said(tmp_path, prefix, s3, probe):
    machine = Machine(tmp_path, s3_state(prefix, ONCE), s3.url)
    s3.fail("403")
    found = ask(probe, machine)

    assert not found.passed
    assert found.message.endswith(": access denied")


def test_a_state_that_is_kept_here_needs_no_server(tmp_path):
    probes = [probe(State(), tmp_path / "s.db", {}) for probe in (probe_sync, probe_rw)]

    assert [True, True] == [each.passed for each in probes]
