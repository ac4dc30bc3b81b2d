"""Compile Python models cold, next to the same models in SQL, and print the ratio.

Each model joins, filters, adds columns and groups; a third reads another model. CPU seconds of all
processes are compared, because they hardly depend on who else uses the machine, in rounds of both
languages in turn. Goals: within 3 times, and 15 ms a model.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

CONFIG: Final = '[adapter]\ntype = "spark"\n\n[pipeline.bench]\nmodels = "models/**"\n'
SOURCES: Final = """
[[source]]
name = "raw.orders"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "customer_id", type = "bigint" },
  { name = "amount", type = "decimal(12,2)" },
  { name = "status", type = "string" },
  { name = "ordered_on", type = "date" },
]

[[source]]
name = "raw.customers"
columns = [
  { name = "customer_id", type = "bigint", nullable = false },
  { name = "country", type = "string" },
]
"""
PYTHON: Final = """\
from pyspark.sql import functions as F


def model(orders, customers):
    paid = orders.filter((F.col("status") == "paid") & (F.col("amount") > {number}))
    joined = paid.join(customers, "customer_id", "left")
    priced = joined.withColumn("net", F.round(F.col("amount") / 1.2, 2)).withColumn(
        "late", F.col("ordered_on") > F.lit("2026-01-01").cast("date")
    )
    totals = priced.groupBy("country", "late").agg(
        F.sum("net").alias("net"), F.count("*").alias("orders"), F.max("amount").alias("largest")
    )
    return totals.select("country", "late", "net", "orders", "largest")
"""
SQL: Final = """\
WITH paid AS (
  SELECT * FROM raw.orders WHERE status = 'paid' AND amount > {number}
), joined AS (
  SELECT paid.*, customers.country FROM paid
  LEFT JOIN raw.customers AS customers USING (customer_id)
), priced AS (
  SELECT *, ROUND(amount / 1.2, 2) AS net, ordered_on > CAST('2026-01-01' AS DATE) AS late
  FROM joined
), totals AS (
  SELECT country, late, SUM(net) AS net, COUNT(*) AS orders, MAX(amount) AS largest
  FROM priced GROUP BY country, late
)
SELECT country, late, net, orders, largest FROM totals
"""
READER_PYTHON: Final = """\
def model(below):
    return below.filter("orders > {number}").select("country", "net")
"""
READER_SQL: Final = "SELECT country, net FROM m{below} WHERE orders > {number}\n"
INPUTS: Final = 'inputs = { orders = "raw.orders", customers = "raw.customers" }\n'
MEASURED: Final = """
import json, os, sys
from pathlib import Path
from rocky.operations.python_plans import compile_analysed
from rocky.project import load_project

before = os.times()
compilation = compile_analysed(load_project(Path(sys.argv[1]), env={}), "person", cache=False)
assert not compilation.diagnostics, compilation.diagnostics[:3]
assert compilation.statistics.unknown_columns == 0
after = os.times()
print(json.dumps([sum(after[:4]) - sum(before[:4]), after.elapsed - before.elapsed]))
"""


def generate(root: Path, count: int, *, python: bool) -> None:
    """A project of so many models, in one language."""
    (root / "models").mkdir(parents=True)
    (root / "sources").mkdir()
    (root / "rocky.toml").write_text(CONFIG)
    (root / "sources" / "raw.toml").write_text(SOURCES)
    for number in range(count):
        reads = number % 3 == 2
        stem = root / "models" / f"m{number}"
        if python:
            text = READER_PYTHON if reads else PYTHON
            stem.with_suffix(".py").write_text(text.replace("{number}", str(number)))
            settings = f'inputs = {{ below = "m{number - 1}" }}\n' if reads else INPUTS
            stem.with_suffix(".toml").write_text(settings)
        else:
            text = READER_SQL if reads else SQL
            text = text.replace("{number}", str(number)).replace("{below}", str(number - 1))
            stem.with_suffix(".sql").write_text(text)


def measure(root: Path) -> tuple[float, float]:
    """CPU seconds and seconds of a cold compile."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(root)], check=True, capture_output=True, env=os.environ
    )
    cpu, elapsed = json.loads(done.stdout)
    return cpu, elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    count: int = given.models
    folder = Path(tempfile.mkdtemp(prefix="rocky-bench-"))
    found: dict[str, list[float]] = {"SQL": [], "Python": []}
    try:
        for name in found:
            generate(folder / name, count, python=name == "Python")
        for number in range(1, given.rounds + 1):
            for name, measured in found.items():
                cpu, elapsed = measure(folder / name)
                measured.append(cpu)
                print(f"{number} {name:6} {count} models: {cpu:6.2f} s of CPU, {elapsed:6.2f} s")
    finally:
        shutil.rmtree(folder)
    each = [cpu / count * 1000 for cpu in found["Python"]]
    ratios = [python / sql for python, sql in zip(found["Python"], found["SQL"], strict=True)]
    print(
        f"ratio {min(ratios):.2f} to {max(ratios):.2f} (goal 3),"
        f" {min(each):.1f} to {max(each):.1f} ms of CPU a model (goal 15)"
    )


if __name__ == "__main__":
    main()
