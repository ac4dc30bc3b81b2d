from collections.abc import Callable, Iterator
from random import Random
from threading import Event

import pytest
from pyspark.errors import PySparkException

from rocky.errors import ConcurrentChange, ModelFailed, StoreUnwritable
from rocky.project.configuration.blocks import Resilience
from rocky.run.engine.failures import classify_step_failure
from rocky.run.execute.steps import RetryBudget, RetryOutcome, build_with_retries

QUICK = Resilience(initial_backoff_ms=1, jitter=False)
LOST = PySparkException("ExecutorLostFailure (executor 1 exited)")
WRONG = PySparkException("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012")


def builds(*answers: Exception | str) -> Callable[[], str]:
    """A build that gives these answers, one a call."""
    left: Iterator[Exception | str] = iter(answers)

    def build() -> str:
        answer = next(left)
        if isinstance(answer, str):
            return answer
        raise answer

    return build


def tried(build: Callable[[], str], settings: Resilience = QUICK) -> RetryOutcome[str]:
    return build_with_retries(build, RetryBudget(settings), Event(), lambda _: None)


def test_a_build_that_succeeds_at_once_has_no_attempts_to_tell_of():
    assert RetryOutcome("built", None) == tried(builds("built"))


def test_a_transient_failure_is_tried_again_and_both_attempts_are_recorded():
    ended = tried(builds(LOST, "built"))

    assert "built" == ended.result
    assert [(1, "failed", "transient"), (2, "success", None)] == [
        (each.attempt, each.outcome, each.failure_class) for each in ended.attempts
    ]
    assert 1 == ended.attempts[0].backoff_ms


def test_a_change_that_met_another_writer_is_computed_again():
    assert "built" == tried(builds(ConcurrentChange("`t` moved"), "built")).result


@pytest.mark.parametrize(
    "failure", [WRONG, ModelFailed("no"), StoreUnwritable("no"), OSError("no")]
)
def test_what_data_query_or_disk_did_wrong_is_never_tried_again(failure):
    ended = tried(builds(failure, "built"))

    assert None is ended.result
    assert () == ended.attempts


def test_there_are_no_more_retries_than_the_project_allows():
    ended = tried(builds(LOST, LOST, LOST, "built"), QUICK._replace(transient_max_retries=2))

    assert ended.failure is not None
    assert "transient" == ended.failure.kind
    assert [1, 2, None] == [each.backoff_ms for each in ended.attempts]


def test_retries_can_be_switched_off():
    assert None is tried(builds(LOST, "built"), QUICK._replace(enabled=False)).result


def test_all_models_share_the_retries_of_a_run():
    patience = RetryBudget(QUICK._replace(max_retries_per_run=1))

    first = build_with_retries(builds(LOST, "built"), patience, Event(), lambda _: None)
    second = build_with_retries(builds(LOST, "built"), patience, Event(), lambda _: None)

    assert ("built", None) == (first.result, second.result)


def test_many_transient_failures_in_a_row_end_all_retries_until_something_succeeds():
    settings = QUICK._replace(
        transient_max_retries=1, circuit_breaker_threshold=1, max_retries_per_run=99
    )
    patience = RetryBudget(settings)

    def again(*answers: Exception | str) -> str | None:
        return build_with_retries(builds(*answers), patience, Event(), lambda _: None).result

    assert [None, None] == [again(LOST, LOST), again(LOST, "built")]
    assert ["built", "built"] == [again("built"), again(LOST, "built")]


def test_waits_grow_up_to_a_ceiling():
    settings = QUICK._replace(initial_backoff_ms=100, max_backoff_ms=300, transient_max_retries=9)
    patience, lost = RetryBudget(settings), classify_step_failure(LOST)

    assert [100, 200, 300, 300] == [patience.next_wait(lost, tried) for tried in (1, 2, 3, 4)]


def test_jitter_shortens_a_wait_by_up_to_half():
    settings = QUICK._replace(initial_backoff_ms=1000, jitter=True, max_retries_per_run=99)
    patience, lost = RetryBudget(settings, Random(7)), classify_step_failure(LOST)

    waits = [patience.next_wait(lost, 1) for _ in range(8)]

    assert all(wait is not None and 500 <= wait <= 1000 for wait in waits)
    assert len(set(waits)) > 1


def test_a_run_that_is_to_stop_tries_nothing_again():
    stop = Event()
    stop.set()

    ended = build_with_retries(builds(LOST, "built"), RetryBudget(QUICK), stop, lambda _: None)

    assert None is ended.result


def test_each_retry_is_told_before_the_wait():
    told: list[int] = []

    build_with_retries(
        builds(LOST, LOST, "ok"), RetryBudget(QUICK), Event(), lambda a: told.append(a.attempt)
    )

    assert [1, 2] == told


def test_an_exception_that_nobody_is_meant_to_raise_escapes():
    with pytest.raises(KeyError):
        tried(builds(KeyError("ours")))
