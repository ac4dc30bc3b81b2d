"""Twenty models run by Rocky, next to a hand-written script that writes the same tables.

Both use one Spark that is already warm, in turns, so that what a busy machine does to one it does
to the other. The figure is a ratio of CPU seconds of the JVM and of Python, from the first model to
the last commit; the start of Spark is not in it. A merge is held against a full rewrite likewise.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from twenty_models import MODELS, write_project

import rocky
from rocky.operations.execution.run import run_compiled
from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark

GRAPH, MERGE, SMALL_MERGE = 1.10, 0.3, 2.0
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Ratio:
    """One figure: ours next to theirs, round by round."""

    name: str
    rounds: list[float]
    target: float

    def show(self) -> str:
        spread = f"{min(self.rounds):.2f} to {max(self.rounds):.2f}"
        return f"{self.name:<44} {median(self.rounds):>6.2f}x  ({spread})  goal {self.target:.2f}x"


def cpu_of(processes: list[int]) -> float:
    """User and system seconds of some processes and their dead children."""
    total = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        total += sum(int(each) for each in fields[11:15])
    return total / TICKS


def measured(work: Callable[[], object], jvm: int) -> float:
    watched = [jvm, os.getpid()]
    before = cpu_of(watched)
    work()
    return cpu_of(watched) - before


def jvm_of(session: Any) -> int:
    return int(session.sparkContext._jvm.java.lang.ProcessHandle.current().pid())  # noqa: SLF001


def run_by_hand(session: Any, root: Path, out: Path) -> None:
    """What people write today: views over files, a query, a write, model after model."""
    for name in ("orders", "customers", "items"):
        session.read.parquet(str(root / "data" / f"{name}.parquet")).createOrReplaceTempView(name)
    for name, sql in MODELS.items():
        frame = session.sql(sql.replace("raw.", ""))
        path = str(out / name)
        frame.write.mode("overwrite").option("compression", "zstd").parquet(path)
        session.read.parquet(path).createOrReplaceTempView(name)


def _rebuild(workspace: rocky.Workspace, compilation: rocky.Compilation) -> None:
    run_compiled(workspace, compilation, rocky.RunRequest(rebuild=True))


def compare_graph(session: Any, folder: Path, orders: int, rounds: int) -> list[Ratio]:
    root = write_project(folder / "graph", orders=orders)
    workspace = rocky.open(root, spark=session)
    jvm = jvm_of(session)
    ratios: dict[str, list[float]] = {"auto": [], "false": []}
    run_by_hand(session, root, folder / "warm")
    workspace.run()
    for number in range(rounds):
        hand = measured(lambda: run_by_hand(session, root, folder / f"by_hand_{number}"), jvm)  # noqa: B023
        for canonical, found in ratios.items():
            config = (root / "rocky.toml").read_text().split("[store]")[0]
            value = '"auto"' if canonical == "auto" else "false"
            (root / "rocky.toml").write_text(f"{config}[store]\ncanonical = {value}\n")
            compiled = rocky.compile_project(rocky.load_project(root))
            ours = measured(lambda: _rebuild(workspace, compiled), jvm)  # noqa: B023
            found.append(ours / hand)
    return [
        Ratio("20 models, rows as they come, CPU", ratios["false"], GRAPH),
        Ratio("20 models, canonical bytes, CPU", ratios["auto"], GRAPH),
    ]


MERGED = """\
---toml
[strategy]
type = "merge"
unique_key = ["id"]
---
SELECT id, part, amount, note FROM raw.changes
"""
APPENDED = """\
---toml
[strategy]
type = "incremental"
timestamp_column = "id"
---
SELECT id, part, amount, note FROM raw.changes
"""
CHANGES = """\
[[source]]
name = "raw.changes"
format = "parquet"
path = "data/changes"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "part", type = "bigint" },
  { name = "amount", type = "decimal(12,2)" },
  { name = "note", type = "string" },
]
"""
CONFIG = """\
[adapter]
type = "spark"
warehouse = "warehouse"

[pipeline.merge]
type = "transformation"
models = "models/**"
"""


class Changes:
    """A project of one source, whose rows are put there, and models of it."""

    def __init__(self, session: Any, root: Path, models: dict[str, str]) -> None:
        self._session, self._root = session, root
        files = {"rocky.toml": CONFIG, "sources/raw.toml": CHANGES, **models}
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)

    def put(self, first: int, count: int, note: str, step: int = 1) -> None:
        columns = "id, id % 97 AS part, CAST(id % 1000 AS decimal(12,2)) AS amount"
        frame = self._session.range(first, first + count * step, step).selectExpr(
            *columns.split(", "), f"concat('{note}', id) AS note"
        )
        frame.write.mode("overwrite").parquet(str(self._root / "data" / "changes"))

    def cost(self, *select: str, full_refresh: bool = False) -> float:
        """The CPU seconds of a run."""

        def run() -> None:
            opened = rocky.open(self._root, spark=self._session)
            report = opened.run(*select, full_refresh=full_refresh)
            if report.exit_code:
                sys.exit(f"the run failed: {report.run}")

        return measured(run, jvm_of(self._session))


def compare_merge(session: Any, folder: Path, rows: int, rounds: int) -> Ratio:
    """One per cent of the rows, close together, merged; held against writing all rows anew."""
    changes = Changes(session, folder / "merge", {"models/merged.sql": MERGED})
    ratios = []
    for number in range(rounds + 1):
        changes.put(0, rows, "old ")
        full = changes.cost(full_refresh=True)
        changes.put(rows // 3, rows // 100, f"new {number} ")
        merged = changes.cost()
        if number:
            ratios.append(merged / full)
    return Ratio("merge of 1 % of the rows, against all, CPU", ratios, MERGE)


def compare_small_merge(session: Any, folder: Path, rounds: int) -> Ratio:
    """Fifteen rows merged into some, held against the same appended."""
    models = {"models/merged.sql": MERGED, "models/appended.sql": APPENDED}
    changes = Changes(session, folder / "small", models)
    ratios = []
    # The first rounds warm up what Spark compiles.
    for number in range(rounds + 4):
        changes.put(15 * number, 15, f"round {number} ")
        appended, merged = changes.cost("appended"), changes.cost("merged")
        if number > 3:
            ratios.append(merged / appended)
    return Ratio("merge of 15 rows, against an append, CPU", ratios, SMALL_MERGE)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--orders", type=int, default=200_000)
    arguments.add_argument("--rows", type=int, default=2_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rocky-bench-"))
    connection = connect_spark(Adapter(master="local[2]"), folder)
    try:
        for ratio in compare_graph(connection.session, folder, given.orders, given.rounds):
            print(ratio.show(), flush=True)
        print(compare_small_merge(connection.session, folder, given.rounds).show(), flush=True)
        print(compare_merge(connection.session, folder, given.rows, given.rounds).show())
    finally:
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
