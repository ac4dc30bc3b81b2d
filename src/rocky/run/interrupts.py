"""Interrupts: Ctrl-C asks a run to stop; a second one ends the process at once.

The first only sets an event, so that what is done can be recorded. Handlers can be installed in
the main thread alone; elsewhere (a notebook's worker, a server) nothing changes.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

EXIT_INTERRUPTED: Final = 130
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_interrupt(
    stop: threading.Event, leave: Callable[[int], None] = os._exit
) -> Iterator[None]:
    """Inside, the first SIGINT or SIGTERM sets `stop`; the next leaves with 130."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            leave(EXIT_INTERRUPTED)
        stop.set()

    before = {each: signal.signal(each, interrupted) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
