"""Runs a project and dies at a chosen point, as if the machine had been switched off.

Used by `test_crashes.py` in a process of its own: `python crash.py ROOT POINT`.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rocky
from rocky.project.configuration.blocks import Adapter
from rocky.run.engine import spark
from rocky.spark.session import connect_spark
from rocky.store.warehouse import Table


def dying_after(function: Callable[..., Any]) -> Callable[..., Any]:
    def call_and_die(*given: Any, **named: Any) -> Any:
        function(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return call_and_die


def main(root: str, point: str) -> None:
    match point:
        case "staged":
            spark.write_staged = dying_after(spark.write_staged)
        case "placed":
            spark.place_files = dying_after(spark.place_files)
        case "committed":
            Table.commit = dying_after(Table.commit)
        case _:
            sys.exit(f"no point {point}")
    # A small Spark of its own: the one of the tests is still there.
    connection = connect_spark(
        Adapter(master="local[1]", conf={"spark.driver.memory": "512m"}), Path(root)
    )
    rocky.open(root, spark=connection.session).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
