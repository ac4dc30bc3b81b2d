"""A run that was stopped past its claim: its successor's rows stay, and it commits nothing."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from rocky.errors import StateConflict, StateSyncFailed
from rocky.ledger import open_history_reader
from rocky.ledger.run_records import RunStatus
from rocky.project.configuration.blocks import State
from rocky.state.publication import Publication, Publisher
from rocky.state.session import RemoteSession
from rocky.store.delta.signature import FENCE
from rocky.store.warehouse import open_warehouse
from tests.processes import Running, is_stopped
from tests.state.machines import s3_state, valkey_state
from tests.state.shops import RemoteShop, _Name
from tests.state.test_runs import wrong_with

pytestmark = pytest.mark.server

CLAIM_SECONDS = 1.0
STRATEGIES = {
    "incremental": 'type = "incremental"\ntimestamp_column = "ts"\n',
    "full_refresh": 'type = "full_refresh"\n',
    "merge": 'type = "merge"\nunique_key = ["id"]\n',
    "delete_insert": 'type = "delete_insert"\npartition_by = ["id"]\n',
}


def shop_of(root: Path, state: State, address: str, strategy: str) -> RemoteShop:
    shop = RemoteShop(root, state, address, CLAIM_SECONDS)
    (root / "models/grown.toml").write_text(f"[strategy]\n{STRATEGIES[strategy]}")
    return shop


def stop_before_commit(root: Path, state: State, address: str, strategy: str) -> None:
    """A run that stops before it writes its table, and goes on when it is told to."""
    shop = shop_of(root, state, address, strategy)
    shop.before_write = lambda _: os.kill(os.getpid(), signal.SIGSTOP)
    # The remote state has it down as dead.
    with pytest.raises(StateConflict):
        shop.run("grown")


@pytest.mark.sampled
@pytest.mark.parametrize("backend", ["s3", "valkey"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_that_was_stopped_past_its_claim_overwrites_nothing(
    tmp_path, s3, valkey_port, prefix, backend, strategy
):
    state = s3_state(prefix) if backend == "s3" else valkey_state(valkey_port, prefix)
    one, other = (shop_of(tmp_path / each, state, s3.url, strategy) for each in ("one", "other"))
    one.orders(2)
    one.run("grown")
    one.orders(60)
    other.orders(70)
    with Running(stop_before_commit, one.root, state, s3.url, strategy) as stopped:
        while not is_stopped(stopped.pid):
            time.sleep(0.02)
        time.sleep(CLAIM_SECONDS)
        other.run("grown")
        rows = other.rows("grown")
        os.kill(stopped.pid, signal.SIGCONT)

    assert [(each, each) for each in range(1, 71)] == rows == other.rows("grown")
    with open_history_reader(one.ledger) as reader:
        failed = reader.last_execution("grown")
    assert "claim_lost" == failed.execution.failure_kind
    other.run("grown")
    assert [] == wrong_with(other)


def stop_while_sending(root: Path, state: State, address: str, number: int) -> None:
    """A run that stops when it is about to send its state, whole as it is, for the nth time."""
    publish, sent = Publisher.publish, []

    def stop(publisher: Publisher, *given: Any, **named: Any) -> Publication:
        sent.append(given)
        if len(sent) == number:
            os.kill(os.getpid(), signal.SIGSTOP)
        return publish(publisher, *given, **named)

    Publisher.publish = stop  # type: ignore[method-assign]
    with pytest.raises(StateConflict):
        shop_of(root, state, address, "incremental").run("grown")


@pytest.mark.sampled
@pytest.mark.parametrize("backend", ["s3", "valkey"])
@pytest.mark.parametrize("number", [2, 3])
def test_a_state_that_was_made_up_before_another_run_is_sent_over_nothing(
    tmp_path, s3, valkey_port, prefix, backend, number
):
    state = s3_state(prefix) if backend == "s3" else valkey_state(valkey_port, prefix)
    one, other = (
        shop_of(tmp_path / each, state, s3.url, "incremental") for each in ("one", "other")
    )
    one.orders(2)
    one.run("grown")
    one.orders(60)
    other.orders(70)
    with Running(stop_while_sending, one.root, state, s3.url, number) as stopped:
        while not is_stopped(stopped.pid):
            assert stopped.poll() is None
            time.sleep(0.02)
        time.sleep(CLAIM_SECONDS + 1)
        report = other.run("grown")
        rows = other.rows("grown")
        os.kill(stopped.pid, signal.SIGCONT)

    assert 0 == stopped.wait()
    assert rows == other.rows("grown")
    other.run("grown")
    with open_history_reader(other.ledger) as reader:
        kept = {each.run_id: each.status for each in reader.runs()}
    assert RunStatus.SUCCESS == kept[report.run_id]
    assert [] == wrong_with(other)


def test_every_run_gets_a_higher_token_than_the_one_before(tmp_path, s3, prefix):
    state = s3_state(prefix)
    tokens = []
    for number, name in enumerate(("one", "other", "one"), 3):
        shop = shop_of(tmp_path / name, state, s3.url, "incremental")
        shop.orders(number)
        shop.run("grown")
        table = open_warehouse("warehouse", base=shop.root).table(
            _Name("spark_catalog", "default", "grown")
        )
        snapshot = table.snapshot()
        assert snapshot is not None
        tokens.append(snapshot.transactions[FENCE])

    assert sorted(set(tokens)) == tokens


def test_a_key_that_could_not_be_sent_is_recorded_once_and_sent_with_the_next_commit(
    tmp_path, s3, prefix, monkeypatch
):
    shop = shop_of(tmp_path / "one", s3_state(prefix), s3.url, "incremental")
    shop.orders(3)
    publish, tried = RemoteSession.publish, []

    def fail_second(session: RemoteSession, *given: object, **named: object) -> object:
        tried.append(given)
        if len(tried) == 2:
            raise StateSyncFailed("the server is away")
        return publish(session, *given, **named)

    monkeypatch.setattr(RemoteSession, "publish", fail_second)
    report = shop.run()

    # The first table could not be committed under a key that nobody knows.
    assert ["rejected", None] == [each.execution.failure_kind for each in report.outcomes]
    assert [] == wrong_with(shop)


def test_a_damaged_token_refuses_the_run_and_leaves_no_claim(tmp_path, s3, prefix, bucket):
    shop = shop_of(tmp_path / "one", s3_state(prefix), s3.url, "incremental")
    shop.orders(3)
    shop.run("grown")
    token = bucket.read("fence.json")
    bucket.delete(["fence.json"])
    assert bucket.create("fence.json", b"{}")

    with pytest.raises(StateSyncFailed, match=r"fence\.json` is damaged"):
        shop.run("grown")
    bucket.delete(["fence.json"])
    assert bucket.create("fence.json", token)

    assert RunStatus.SUCCESS == shop.run("grown").status
