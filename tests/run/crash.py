"""Runs a project without Spark and dies at a chosen point, as if the machine had been switched off.

`test_crash_points.py` calls it in a process of its own.
"""

import os
import signal
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
    "anchor": (runner, "write_ledger_anchor"),
    "engine": (Ledger, "amend_run"),
    "write": (MemoryEngine, "write"),
    "commit": (Table, "commit"),
    "record": (Ledger, "record_models"),
    "finish": (Ledger, "finish_run"),
}


def main(root: str, point: str, times: int) -> None:
    """Run the project; `times` is which passing of the point is the last."""
    when, _, name = point.partition(" ")
    owner, attribute = POINTS[name]
    function = getattr(owner, attribute)
    setattr(owner, attribute, dying(function, times, before=when == "before"))
    orders = "data/orders.csv"
    Shop(Path(root), {orders: Path(root, orders).read_text()}).run()
