"""What a merge costs as its table grows: one per cent of the rows, close together or scattered.

Each merge is held against writing all rows of the same table anew, in one warm Spark, in turns, as
ratios of CPU seconds; two rounds of the first size warm it up. The exponent says how the merge
itself grows with the table: 1 is in step.
"""

import argparse
import math
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from run_graph import MERGED, Changes, Ratio

from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark

WARM_UP = 2
GOALS = {2_000_000: 0.3, 50_000_000: 0.1}


def goal_of(rows: int) -> float:
    """The goal at a size, between the two that were set."""
    (small, high), (large, low) = GOALS.items()
    share = (math.log(rows) - math.log(small)) / (math.log(large) - math.log(small))
    return high * (low / high) ** min(max(share, 0.0), 1.0)


def compare(
    session: Any, folder: Path, rows: int, rounds: int, step: int, warm_up: int
) -> tuple[Ratio, float]:
    """Every `step`th row of some is merged; and the CPU seconds that took."""
    name = "close together" if step == 1 else "scattered"
    changes = Changes(session, folder / f"{name}-{rows}", {"models/merged.sql": MERGED})
    ratios, spent = [], []
    for number in range(rounds + warm_up):
        changes.put(0, rows, "old ")
        full = changes.cost(full_refresh=True)
        changes.put(rows // 3 if step == 1 else 0, rows // 100, f"new {number} ", step)
        merged = changes.cost()
        if number >= warm_up:
            ratios.append(merged / full)
            spent.append(merged)
    return Ratio(f"1 % of {rows:,} rows, {name}, CPU", ratios, goal_of(rows)), median(spent)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, nargs="+", default=[2_000_000, 8_000_000])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--steps", type=int, nargs="+", default=[1, 100])
    given = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rocky-bench-"))
    connection = connect_spark(Adapter(master="local[2]"), folder)
    try:
        for step in given.steps:
            costs = []
            for rows in given.rows:
                warm_up = 0 if costs else WARM_UP
                ratio, cost = compare(connection.session, folder, rows, given.rounds, step, warm_up)
                print(ratio.show(), f" {cost:.1f} s", flush=True)
                costs.append((math.log(rows), math.log(cost)))
            if len(costs) > 1:
                (first, low), *_, (last, high) = costs
                print(f"  grows with the exponent {(high - low) / (last - first):.2f}", flush=True)
    finally:
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
