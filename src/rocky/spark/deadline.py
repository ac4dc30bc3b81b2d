"""Deadlines: a call that may never return is waited for only so long.

Names are looked up, servers greeted and Sparks stopped by code of others that has no time limit of
its own. The call goes on in a thread that keeps nothing alive, and nobody looks at its answer.
"""

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

Answer = TypeVar("Answer")


class DeadlinePassed(TimeoutError):
    """A call did not return in time."""


def within(seconds: float, call: Callable[[], Answer]) -> Answer:
    """What the call returns or raises. Raises DeadlinePassed when it takes longer."""
    answers: list[Answer] = []
    failures: list[BaseException] = []

    def answer() -> None:
        try:
            answers.append(call())
        except BaseException as failure:  # noqa: BLE001 - raised where it is waited for
            failures.append(failure)

    waiting = Thread(target=answer, daemon=True, name="rocky-deadline")
    waiting.start()
    waiting.join(seconds)
    if failures:
        raise failures[0]
    if not answers:
        raise DeadlinePassed(f"no answer in {seconds:g} seconds")
    return answers[0]
