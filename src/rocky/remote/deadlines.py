"""Deadlines: a call that blocks is waited for only so long.

A client's own timeouts are between two bytes; a server that sends one now and then would keep us
for ever. So the call runs in a thread of its own and is left behind when its time is up. It may
still reach the server later, which is why every write names what it replaces.
"""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


class DeadlinePassed(Exception):
    """A call took longer than it may; what became of it is not known."""


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """What a call returns or raises. Raises DeadlinePassed."""
    answers: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def work() -> None:
        try:
            answers.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread, all of them
            answers.put((None, error))

    # A daemon: a call that hangs must not keep the process from ending.
    Thread(target=work, name="rocky-transfer", daemon=True).start()
    try:
        answer, error = answers.get(timeout=max(seconds, 0))
    except Empty:
        raise DeadlinePassed(f"no answer within {seconds:.1f} s") from None
    if error is not None:
        raise error
    return answer  # type: ignore[return-value] # None only where T allows it
