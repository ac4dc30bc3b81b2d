"""Notices: what happened, in order, for any number of listeners."""

import json
from collections import deque
from threading import Condition
from typing import Any, Final, NamedTuple

_KEPT: Final = 200


class Notice(NamedTuple):
    """Something that happened; numbers only rise."""

    number: int
    event: str
    data: str


class Notices:
    """What happened, in order, for any number of listeners. Only the newest are kept."""

    def __init__(self) -> None:
        self._condition = Condition()
        self._kept: deque[Notice] = deque(maxlen=_KEPT)
        self._last = 0

    def tell(self, event: str, **facts: Any) -> None:
        """Tell all who wait."""
        with self._condition:
            self._last += 1
            self._kept.append(Notice(self._last, event, json.dumps(facts)))
            self._condition.notify_all()

    @property
    def last(self) -> int:
        """The number of the newest."""
        return self._last

    def after(self, number: int, timeout: float) -> tuple[Notice, ...]:
        """Those after a number, waiting for one at most so long."""
        with self._condition:
            if self._last <= number:
                self._condition.wait(timeout)
            return tuple(each for each in self._kept if each.number > number)
