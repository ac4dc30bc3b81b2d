"""The watch over executors: says that there is none while work waits for one.

Spark waits without end for a cluster to give it executors, and says so in a log that nobody sees.
Time is counted by looking, not by the clock: a machine that was asleep has not waited.
"""

import threading
from collections.abc import Callable
from typing import Any, Final

from py4j.protocol import Py4JError

from rocky.errors import SparkUnavailable

FIRST_SECONDS: Final = 20.0
AGAIN_SECONDS: Final = 120.0
_TICK_SECONDS: Final = 2.0
_ASKED: Final = ("spark.executor.cores", "spark.executor.memory")


class ExecutorWatch:
    """Tells of work that has waited so long for a first executor, and again while it waits on."""

    def __init__(
        self,
        context: Any,
        tell: Callable[[SparkUnavailable], None],
        *,
        first: float = FIRST_SECONDS,
        again: float = AGAIN_SECONDS,
        tick: float = _TICK_SECONDS,
    ) -> None:
        self._context = context
        self._tell = tell
        self._first, self._again, self._tick = first, again, tick
        self._stopped = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="rocky-executors").start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()

    def _watch(self) -> None:
        waited, limit = 0.0, self._first
        while not self._stopped.wait(self._tick):
            try:
                waits = self._work_waits()
            except (Py4JError, OSError):
                # Spark is gone, which whoever works with it is told.
                return
            waited = waited + self._tick if waits else 0.0
            if waited >= limit:
                self._tell(no_executors(self._context, waited))
                limit += self._again
            elif not waits:
                limit = self._first

    def _work_waits(self) -> bool:
        status = self._context._jsc.sc().statusTracker()  # noqa: SLF001 - not in Python
        # The driver is one of those that are listed.
        return len(status.getExecutorInfos()) <= 1 and len(status.getActiveStageIds()) > 0


def no_executors(context: Any, seconds: float) -> SparkUnavailable:
    """What to say of a cluster that has given no executor in so many seconds."""
    conf = context.getConf()
    cores, memory = conf.get(_ASKED[0]), conf.get(_ASKED[1], "1g")
    asked = f"{memory} of memory" if cores is None else f"{cores} cores and {memory} of memory"
    return SparkUnavailable(
        f"Spark has waited {seconds:.0f} s for an executor of `{context.master}`:"
        f" each needs {asked}, and none has come",
        settings=("master", *_ASKED),
        advice="see on the master's page which workers there are and what they have free; ask for"
        " less with the settings above, or start more workers",
    )
