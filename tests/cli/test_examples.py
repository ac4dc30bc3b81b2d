import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run_example(name, *arguments):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    return done.stdout


def test_the_query_example_shows_types_and_a_finding():
    out = run_example("check_query.py")

    assert "  revenue: decimal(22,2)\n" in out
    assert "  error E003 at `order_idd`: no column `order_idd` in scope\n" in out


def test_the_blast_radius_example_reaches_the_marts(shop):
    out = run_example("blast_radius.py", str(shop), "raw.orders", "amount")

    assert "fct_revenue.revenue  (aggregate)\n" in out
