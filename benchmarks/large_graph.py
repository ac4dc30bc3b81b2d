"""Many rows through the graph of twenty models, next to the hand-written script, in turns.

The rows are made by Spark and not in memory: `--orders 25000000` is 102 million rows of input. CPU
seconds of the JVM and of Python, the bytes that each wrote and what was spilled. A round takes ten
minutes, so there is one unless `--rounds` says otherwise; rounds differ by a tenth. Sizes at which
canonical order is off by itself are measured as shipped.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from run_graph import Ratio, jvm_of, measured, run_by_hand
from twenty_models import write_project

import rocky
from rocky.project.configuration.blocks import Adapter
from rocky.spark.session import connect_spark

GOAL = 1.10
_PRODUCT = "concat('product ', lpad(CAST(pmod(hash(id, 1), 200) AS STRING), 3, '0')) AS product"


def write_large_data(session: Any, folder: Path, orders: int) -> None:
    """The sources of `twenty_models`, as large as asked for."""
    customers = max(10, orders // 10)
    files = max(4, orders // 2_000_000)
    session.range(0, orders, 1, files).selectExpr(
        "id AS order_id",
        f"pmod(xxhash64(id), {customers}) AS customer_id",
        "timestamp_seconds(1704067200 + pmod(hash(id, 2), 40000000)) AS ordered_at",
        "CAST(timestamp_seconds(1704067200 + pmod(hash(id, 2), 40000000)) AS DATE) AS ordered_on",
        "element_at(array('open', 'Paid', 'shipped', 'cancelled', NULL),"
        " 1 + pmod(hash(id, 3), 5)) AS status",
        "CAST(pmod(hash(id, 4), 1000000) / 100 AS DECIMAL(12, 2)) AS amount",
        "pmod(hash(id, 5), 50000) / 1000D AS weight",
        "pmod(hash(id, 6), 10) = 0 AS express",
    ).write.mode("overwrite").parquet(str(folder / "orders.parquet"))
    session.range(0, customers, 1, 4).selectExpr(
        "id AS customer_id",
        "concat('Ålice ', id, ' Müller') AS name",
        "element_at(array('DE', 'FR', 'AT', 'CH', NULL), 1 + pmod(hash(id, 7), 5)) AS country",
        "CAST(pmod(hash(id, 8), 1000) / 1000D AS FLOAT) AS score",
        "date_add(DATE'1950-01-01', pmod(hash(id, 9), 20000)) AS born_on",
    ).write.mode("overwrite").parquet(str(folder / "customers.parquet"))
    session.range(0, orders * 3, 1, files).selectExpr(
        "id DIV 3 AS order_id",
        "CAST(id % 3 AS INT) AS line",
        _PRODUCT,
        "CAST(1 + pmod(hash(id, 10), 19) AS SMALLINT) AS quantity",
        "CAST(pmod(hash(id, 11), 100000) / 100 AS DECIMAL(10, 2)) AS price",
    ).write.mode("overwrite").parquet(str(folder / "items.parquet"))


def bytes_below(folder: Path) -> int:
    """What the Parquet files below a folder take."""
    return sum(path.stat().st_size for path in folder.rglob("*.parquet"))


@dataclass(frozen=True, slots=True)
class Spent:
    """What all twenty models cost once, and the bytes of the tables."""

    cpu: float
    seconds: float
    size: float

    def show(self, who: str) -> str:
        megabytes = self.size / 1e6
        return f"  {who:<7} {self.cpu:8.1f} CPU s {self.seconds:8.1f} s {megabytes:10,.0f} MB"


def spend(work: Callable[[], object], jvm: int, tables: Path) -> Spent:
    """The cost of work that leaves its tables in a folder, which is removed."""
    began = time.monotonic()
    cpu = measured(work, jvm)
    spent = Spent(cpu, time.monotonic() - began, bytes_below(tables))
    shutil.rmtree(tables)
    return spent


def compare_once(session: Any, data: Path, folder: Path) -> float:
    """One round of both, over the same files; the ratio of their CPU seconds."""
    jvm = jvm_of(session)
    root = write_project(folder / "graph", orders=10)
    shutil.rmtree(root / "data")
    data = data.rename(root / "data")
    theirs = spend(lambda: run_by_hand(session, root, folder / "by_hand"), jvm, folder / "by_hand")
    reports: list[Any] = []
    ours = spend(
        lambda: reports.append(rocky.open(root, spark=session).run()), jvm, root / "warehouse"
    )
    (report,) = reports
    assert report.exit_code == 0, report.run
    spilled = sum(
        each.execution.metrics.spill_bytes or 0
        for each in report.run.result.outcomes
        if each.execution.metrics is not None
    )
    ratio = ours.cpu / theirs.cpu
    print(theirs.show("by hand"), ours.show("Rocky"), sep="\n")
    print(f"  spilled by Rocky's tasks {spilled / 1e6:,.0f} MB")
    print(f"  CPU {ratio:.2f}x, bytes {ours.size / theirs.size:.2f}x", flush=True)
    # The next round begins with a project that was never run.
    data.rename(folder / "data")
    shutil.rmtree(root)
    return ratio


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--orders", type=int, default=25_000_000)
    arguments.add_argument("--rounds", type=int, default=1)
    arguments.add_argument("--folder", type=Path, help="where there is room; a temporary one else")
    given = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rocky-bench-", dir=given.folder))
    connection = connect_spark(Adapter(master="local[2]"), folder)
    session = connection.session
    try:
        # Both begin warm: a small graph is run by each of them before.
        small = write_project(folder / "small", orders=2_000)
        run_by_hand(session, small, folder / "small_by_hand")
        rocky.open(small, spark=session).run()
        data = folder / "data"
        write_large_data(session, data, given.orders)
        rows = given.orders * 4 + given.orders // 10
        print(f"{rows:,} rows through 20 models", flush=True)
        ratios = [compare_once(session, data, folder) for _ in range(given.rounds)]
        print(Ratio("20 models, many rows, CPU", ratios, GOAL).show())
    finally:
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
