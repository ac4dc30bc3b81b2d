"""Runs a project without Spark and dies at a chosen point, as if the machine had been switched off.

Used by `test_crash_points.py` in a process of its own: `python crash.py ROOT POINT TIMES`, where
TIMES is which passing of the point is the last.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rocky.ledger.writer import Ledger
from rocky.run.execute import runner
from rocky.store.warehouse import Table
from tests.run.memory_engine import MemoryEngine
from tests.run.runs import Shop


def dying(function: Callable[..., Any], times: int, *, before: bool) -> Callable[..., Any]:
    passed = 0

    def call_and_die(*given: Any, **named: Any) -> Any:
        nonlocal passed
        passed += 1
        if before and passed == times:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*given, **named)
        if passed == times:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call_and_die


POINTS: dict[str, tuple[Any, str]] = {
    "begin": (Ledger, "begin_run"),
    "anchor": (runner, "leave_anchor"),
    "engine": (Ledger, "record_engine"),
    "write": (MemoryEngine, "write"),
    "commit": (Table, "commit"),
    "record": (Ledger, "record_models"),
    "finish": (Ledger, "finish_run"),
}


def main(root: str, point: str, times: str) -> None:
    when, _, name = point.partition(" ")
    owner, attribute = POINTS[name]
    function = getattr(owner, attribute)
    setattr(owner, attribute, dying(function, int(times), before=when == "before"))
    orders = "data/orders.csv"
    Shop(Path(root), {orders: Path(root, orders).read_text()}).run()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main(*sys.argv[1:])
