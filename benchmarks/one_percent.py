"""Ten million rows and one per cent more: what an incremental copy costs, next to a full one.

Both are runs of one pipeline in one warm Spark, in turns: a file with new rows arrives, they are
copied, then everything is copied again. Each ratio is taken within a round.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import monotonic

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project
from rocky.pipelines.pipeline_run import run_pipeline
from rocky.plan.request import RunRequest
from rocky.project import load_project
from rocky.run.prepare.caller import Caller, RunOrigin
from rocky.spark.session import connect_spark

GOAL = 0.10
FILES = 10
ROUNDS = 3
WARM_UP = 2
"""Incremental copies that are not counted: the JVM compiles what it does for the first times."""
CONFIG = """\
[adapter]
master = "local[2]"

[pipeline.bronze]
type = "replication"
timestamp_column = "synced"

[pipeline.bronze.source]
path = "lake"
"""
FIRST = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1_000_000)


class Feed:
    """A table of a lake that grows by a file at a time; time grows with the rows' numbers."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "lake/shop/orders"
        self.folder.mkdir(parents=True)
        self._rows = 0
        self._files = 0

    def add(self, rows: int) -> None:
        ids = np.arange(self._rows, self._rows + rows, dtype="int64")
        table = pa.table(
            {
                "id": ids,
                "customer": (ids * 7919 % 100_003).astype("int32"),
                "amount": (ids * 104_729 % 1_000_003) / 100,
                "status": pa.array(np.array(["open", "paid", "sent", "back"])[ids % 4]),
                "reference": pa.array([f"{each:016x}" for each in (ids * 2_654_435_761 % 2**62)]),
                "synced": pa.array(FIRST + ids * 1000, pa.timestamp("us", tz="UTC")),
            }
        )
        pq.write_table(table, self.folder / f"part-{self._files:05}.parquet")
        self._rows += rows
        self._files += 1


@dataclass(frozen=True, slots=True)
class Copies:
    """Runs of the pipeline, and what they must have copied."""

    compilation: Compilation
    caller: Caller

    def seconds(self, rows: int, *, full: bool) -> float:
        """How long a copy took that had this many rows to write."""
        began = monotonic()
        request = RunRequest(full_refresh=full)
        report = run_pipeline(self.compilation, "bronze", request, self.caller).run
        took = monotonic() - began
        if [each.execution.rows_affected for each in report.outcomes] != [rows]:
            sys.exit(f"{rows} rows were to be copied: {report}")
        return took


def measure(rows: int) -> float:
    """The median of the ratios of incremental copies to full ones."""
    with tempfile.TemporaryDirectory(prefix="rocky-lake-") as folder:
        root = Path(folder)
        (root / "rocky.toml").write_text(CONFIG)
        feed = Feed(root)
        for _ in range(FILES):
            feed.add(rows // FILES)
        project = load_project(root, env={})
        connection = connect_spark(project.config.adapter["default"], root)
        try:
            who = RunOrigin("Manual", "benchmark", "host", "somebody")
            caller = Caller(root / ".rocky-state.db", who, {}, spark=connection.session)
            copies = Copies(compile_project(project, jobs=1, cache=False), caller)
            return median(take_turns(feed, copies, rows))
        finally:
            connection.stop()


def take_turns(feed: Feed, copies: Copies, rows: int) -> list[float]:
    first = copies.seconds(rows, full=False)
    print(f"{rows:,} rows in {FILES} files, copied for the first time: {first:.1f} s", flush=True)
    more, ratios = rows // 100, []
    for number in range(1, WARM_UP + ROUNDS + 1):
        feed.add(more)
        new = copies.seconds(more, full=False)
        if number <= WARM_UP:
            continue
        whole = copies.seconds(rows + number * more, full=True)
        ratios.append(new / whole)
        print(f"  1 %: {new:.2f} s, everything: {whole:.2f} s, {ratios[-1]:.3f}x", flush=True)
    return ratios


def claim(rows: int) -> bool:
    """Whether an incremental copy is as cheap as it should be."""
    ratio = measure(rows)
    holds = ratio <= GOAL
    print(f"{'ok  ' if holds else 'FAIL'}  1 % costs {ratio:.3f}x of a full copy (goal {GOAL})")
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    sys.exit(0 if claim(parser.parse_args().rows) else 1)


if __name__ == "__main__":
    main()
