"""The heartbeat of a JVM: one that lives and does not answer any more is ended.

A query may take hours, so no call has a time limit of its own. A small question is asked beside
them instead; when it stays unanswered for minutes, no other will be answered either, and the JVM is
killed: whoever waits for it gets an error. Time is counted by waking up, not by the clock, so that
a process which was stopped for a night does not take the night for a silence.
"""

import threading
from typing import Final

from py4j.protocol import Py4JError

from rocky.spark.jvm import Jvm

SILENCE_SECONDS: Final = 300
_TICK_SECONDS: Final = 5.0


class Heartbeat:
    """Watches a JVM until it is told to stop."""

    def __init__(
        self, jvm: Jvm, silence: float = SILENCE_SECONDS, tick: float = _TICK_SECONDS
    ) -> None:
        self._jvm = jvm
        self._ticks = max(1, round(silence / tick))
        self._tick = tick
        self._stopped = threading.Event()
        self._silent_ticks = 0
        for work in (self._ask, self._count):
            threading.Thread(target=work, daemon=True, name="rocky-heartbeat").start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()

    def _ask(self) -> None:
        while not self._stopped.wait(self._tick):
            try:
                self._jvm.gateway.jvm.System.nanoTime()
            except (Py4JError, OSError):
                # It is gone, which whoever works with it notices too.
                self._stopped.set()
            self._silent_ticks = 0

    def _count(self) -> None:
        while not self._stopped.wait(self._tick):
            self._silent_ticks += 1
            if self._silent_ticks > self._ticks:
                self._stopped.set()
                self._jvm.hang(self._ticks * self._tick)
