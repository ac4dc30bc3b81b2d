import os
import signal
import threading
from collections.abc import Callable, Sequence

import pytest

from rocky.run.execute.scheduler import Ended, Ending, Job, Watcher, run_jobs
from rocky.run.prepare.session import raise_interrupt, stop_on_interrupt

DIAMOND = [Job("a"), Job("b", ("a",)), Job("c", ("a",)), Job("d", ("b", "c")), Job("e")]


class Seen(Watcher):
    """What the scheduler said."""

    def __init__(self) -> None:
        self.said: list[tuple[str, object]] = []
        self.on_cancel: Callable[[str], None] = lambda _: None

    def withheld(self, job: str, blocked_by: tuple[str, ...]) -> None:
        self.said.append((job, blocked_by))

    def cancel(self, job: str) -> None:
        self.said.append((job, "cancel"))
        self.on_cancel(job)


def run(
    jobs: Sequence[Job],
    work: Callable[[str], bool],
    parallel: int = 1,
    stop: threading.Event | None = None,
    watcher: Watcher | None = None,
) -> dict[str, Ended]:
    watcher = watcher or Watcher()
    return run_jobs(jobs, work, parallel=parallel, stop=stop or threading.Event(), watcher=watcher)


def test_one_thread_runs_jobs_in_the_order_of_the_list():
    order: list[str] = []

    run(DIAMOND, lambda job: not order.append(job))

    assert ["a", "b", "c", "d", "e"] == order


def test_a_job_starts_when_what_it_comes_after_is_done_and_not_when_a_layer_is():
    # `slow` ends only when `last` began: with layers this would never end.
    began = threading.Event()
    jobs = [Job("slow"), Job("first"), Job("last", ("first",))]

    def work(job: str) -> bool:
        if job == "last":
            began.set()
        return began.wait(30) if job == "slow" else True

    ended = run(jobs, work, parallel=2)

    assert {
        "slow": Ended(Ending.DONE),
        "first": Ended(Ending.DONE),
        "last": Ended(Ending.DONE),
    } == (ended)


def test_no_more_than_the_asked_for_jobs_run_at_once():
    running, most, lock = set[str](), list[int](), threading.Lock()
    together = threading.Barrier(3)

    def work(job: str) -> bool:
        with lock:
            running.add(job)
            most.append(len(running))
        together.wait(30)
        with lock:
            running.remove(job)
        return True

    run([Job(str(number)) for number in range(9)], work, parallel=3)

    assert 3 == max(most)


def test_a_failed_job_withholds_only_what_comes_after_it():
    seen = Seen()

    ended = run(DIAMOND, lambda job: job != "b", watcher=seen)

    assert {
        "a": Ended(Ending.DONE),
        "b": Ended(Ending.FAILED),
        "c": Ended(Ending.DONE),
        "d": Ended(Ending.WITHHELD, ("b",)),
        "e": Ended(Ending.DONE),
    } == ended
    assert [("d", ("b",))] == seen.said


def test_a_withheld_job_names_every_failure_above_it_and_never_a_withheld_one():
    jobs = [Job("a"), Job("b"), Job("c", ("a", "b")), Job("d", ("c",))]

    ended = run(jobs, lambda job: False)

    assert Ended(Ending.WITHHELD, ("a", "b")) == ended["d"]


def test_after_a_stop_nothing_is_started_and_running_jobs_are_cancelled_and_awaited():
    stop, cancelled, seen = threading.Event(), threading.Event(), Seen()
    seen.on_cancel = lambda _: cancelled.set()
    started: list[str] = []

    def work(job: str) -> bool:
        started.append(job)
        stop.set()
        return not cancelled.wait(30)

    ended = run(DIAMOND, work, stop=stop, watcher=seen)

    assert ["a"] == started
    assert ("a", "cancel") == seen.said[0]
    assert Ended(Ending.FAILED) == ended["a"]
    assert Ended(Ending.LEFT) == ended["e"]


def test_a_job_that_finishes_in_spite_of_the_stop_is_done():
    stop = threading.Event()

    def work(job: str) -> bool:
        stop.set()
        return True

    ended = run(DIAMOND, work, stop=stop)

    assert Ended(Ending.DONE) == ended["a"]
    assert Ended(Ending.LEFT) == ended["b"]


def test_an_exception_that_escapes_a_job_cancels_the_others_and_goes_on():
    cancelled, seen = threading.Event(), Seen()
    seen.on_cancel = lambda _: cancelled.set()

    def work(job: str) -> bool:
        if job == "a":
            raise KeyError("ours")
        return cancelled.wait(30)

    with pytest.raises(KeyError, match="ours"):
        run([Job("a"), Job("e")], work, parallel=2, watcher=seen)

    assert [("e", "cancel")] == seen.said


@pytest.mark.slow
def test_ten_thousand_jobs_in_a_row_are_no_trouble():
    jobs = [Job(str(number), (str(number - 1),)) for number in range(10_000)]

    ended = run(jobs, lambda job: True)

    assert {Ended(Ending.DONE)} == set(ended.values())


def test_the_first_interrupt_asks_to_stop_and_the_second_leaves():
    stop, left = threading.Event(), list[int]()
    before = signal.getsignal(signal.SIGINT)

    with stop_on_interrupt(stop, left.append):
        os.kill(os.getpid(), signal.SIGINT)
        asked = (stop.is_set(), list(left))
        os.kill(os.getpid(), signal.SIGINT)

    assert (True, []) == asked
    assert [130] == left
    assert before == signal.getsignal(signal.SIGINT)


def test_interrupts_are_left_alone_outside_the_main_thread():
    handlers: list[object] = []

    def elsewhere() -> None:
        with stop_on_interrupt(threading.Event()):
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()

    assert [before] == handlers


def test_from_python_the_second_interrupt_is_python_s_own():
    before = signal.getsignal(signal.SIGINT)

    def interrupt_twice() -> None:
        with stop_on_interrupt(threading.Event(), raise_interrupt):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        interrupt_twice()

    assert before == signal.getsignal(signal.SIGINT)
