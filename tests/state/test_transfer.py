"""Transfers without any server: what is tried again, how long, and when it ends."""

import threading
from random import Random

import pytest

from rocky.errors import CircuitOpen, RetryBudgetExhausted, StateSyncFailed, TransferTimedOut
from rocky.project.configuration.blocks import Retry
from rocky.state.backend import GenerationChanged, RemoteFailure
from rocky.state.events import Outcome
from rocky.state.transfer import (
    Breaker,
    Clock,
    DeadlinePassed,
    Transfer,
    TransferFailed,
    Transfers,
    attempt_seconds,
    call_within,
)


class Time:
    """A clock that goes when it is slept by, or told to."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep)


class Server:
    """Fails as it is told, then answers; each call takes a while."""

    def __init__(self, time: Time, *failures: str, takes: float = 0.0) -> None:
        self.time = time
        self.failures = list(failures)
        self.takes = takes
        self.calls = 0

    def call(self) -> str:
        self.calls += 1
        self.time.now += self.takes
        if self.failures:
            why = self.failures.pop(0)
            raise RemoteFailure(why, is_transient=why != "denied")
        return "answer"


def transfers(time: Time, timeout: float = 300, **retry: object) -> Transfers:
    settings = Retry(**{"jitter": False, **retry})
    return Transfers(settings, timeout, time.clock, Random(1))


def failed(transfer: Transfer, server: Server) -> tuple[str, type, int]:
    """How a transfer ends that does not come to one."""
    with pytest.raises(TransferFailed) as caught:
        transfer.call(server.call)
    return caught.value.outcome.value, type(caught.value.as_error("send")), server.calls


def test_a_failure_that_may_pass_is_tried_again_with_growing_waits():
    time = Time()
    server = Server(time, "a", "b", "c")
    transfer = transfers(time, max_backoff_ms=3000).begin()

    assert "answer" == transfer.call(server.call)
    assert [1.0, 2.0, 3.0] == time.slept
    assert 4 == transfer.attempts


def test_a_failure_that_will_not_pass_is_not_tried_again():
    time = Time()

    assert ("error", StateSyncFailed, 1) == failed(
        transfers(time).begin(), Server(time, "denied", "denied")
    )
    assert [] == time.slept


def test_tries_end_with_max_retries():
    time = Time()

    assert ("transient_exhausted", RetryBudgetExhausted, 3) == failed(
        transfers(time, max_retries=2).begin(), Server(time, *"abcdef")
    )


def test_all_tries_of_a_transfer_share_one_budget_of_time():
    time = Time()
    server = Server(time, *"abcdefgh", takes=4.0)

    found = failed(transfers(time, 10, max_retries=50, initial_backoff_ms=1000).begin(), server)

    assert ("timeout", TransferTimedOut, 2) == found
    assert 1010.0 >= time.now - server.takes


def test_calls_of_one_transfer_share_its_time_and_tries():
    time = Time()
    transfer = transfers(time, 300, max_retries=2).begin()
    transfer.call(Server(time, "a").call)
    transfer.call(Server(time, "b").call)

    assert ("transient_exhausted", RetryBudgetExhausted, 1) == failed(transfer, Server(time, "c"))


def test_all_transfers_of_a_run_share_max_retries_per_run():
    time = Time()
    shared = transfers(time, max_retries_per_run=2)
    shared.begin().call(Server(time, "a", "b").call)

    assert ("budget_exhausted", RetryBudgetExhausted, 1) == failed(
        shared.begin(), Server(time, "c")
    )
    assert "answer" == shared.begin().call(Server(time).call)


def test_a_run_may_be_given_no_second_try_at_all():
    time = Time()

    assert ("budget_exhausted", RetryBudgetExhausted, 1) == failed(
        transfers(time, max_retries_per_run=0).begin(), Server(time, "c")
    )


def test_an_open_breaker_lets_nothing_through_for_the_rest_of_the_run():
    time = Time()
    shared = transfers(time, max_retries=1, circuit_breaker_threshold=2)
    first = failed(shared.begin(), Server(time, "a", "b"))
    time.now += 10**6
    second = failed(shared.begin(), Server(time))

    assert ("transient_exhausted", RetryBudgetExhausted, 2) == first
    assert ("circuit_open", CircuitOpen, 0) == second


def test_a_breaker_of_zero_never_opens():
    time = Time()
    shared = transfers(time, max_retries=0, circuit_breaker_threshold=0)
    for _ in range(50):
        failed(shared.begin(), Server(time, "a"))

    assert "answer" == shared.begin().call(Server(time).call)


def test_one_trial_after_the_recovery_time_closes_the_breaker_or_opens_it_anew():
    time = Time()
    shared = transfers(
        time, max_retries=0, circuit_breaker_threshold=1, circuit_breaker_recovery_timeout_secs=30
    )
    failed(shared.begin(), Server(time, "a"))
    time.now += 30
    again = failed(shared.begin(), Server(time, "b"))
    at_once = failed(shared.begin(), Server(time))
    time.now += 30

    assert ("transient_exhausted", 1) == (again[0], again[2])
    assert ("circuit_open", 0) == (at_once[0], at_once[2])
    assert "answer" == shared.begin().call(Server(time).call)
    assert shared.breaker.let_through()


def test_half_open_lets_one_through_until_it_is_known_how_it_went():
    time = Time()
    breaker = Breaker(1, 5, lambda: time.now)
    breaker.failed()
    time.now += 5

    assert [True, False, False] == [breaker.let_through() for _ in range(3)]
    breaker.succeeded()
    assert [True, True] == [breaker.let_through() for _ in range(2)]


def test_a_success_while_the_breaker_is_open_does_not_close_it():
    time = Time()
    breaker = Breaker(1, None, lambda: time.now)
    breaker.failed()
    breaker.succeeded()

    assert not breaker.let_through()


def test_being_overtaken_is_an_answer_and_no_failure():
    time = Time()
    shared = transfers(time, circuit_breaker_threshold=1)

    def overtaken() -> None:
        raise GenerationChanged("x")

    with pytest.raises(GenerationChanged):
        shared.begin().call(overtaken)
    assert shared.breaker.let_through()


def test_jitter_keeps_a_wait_within_an_eighth_of_its_length():
    waits = [Transfers(Retry(), 300, Clock(), Random(seed)).wait_after(2) for seed in range(200)]

    assert (True, True) == (min(waits) >= 2 * 0.875, max(waits) <= 2 * 1.125)
    assert 100 < len(set(waits))


def test_a_call_that_hangs_is_left_behind():
    never = threading.Event()
    with pytest.raises(DeadlinePassed):
        call_within(0.05, lambda: never.wait(30))
    never.set()


def test_a_call_that_hangs_ends_the_transfer_in_a_timeout():
    never = threading.Event()
    transfer = Transfers(Retry(max_retries=0), 0.1, Clock()).begin()
    with pytest.raises(TransferFailed) as caught:
        transfer.call(lambda: never.wait(30))
    never.set()

    assert Outcome.TIMEOUT == caught.value.outcome


@pytest.mark.parametrize(
    ("retries", "budget", "seconds"), [(3, 300, 75), (3, 20, 20), (0, 300, 300), (9, 300, 30)]
)
def test_one_try_leaves_time_for_others_where_there_is_enough(retries, budget, seconds):
    assert seconds == attempt_seconds(Retry(max_retries=retries), budget)
