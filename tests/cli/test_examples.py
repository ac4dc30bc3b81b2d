import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def run_example(name, *arguments, code=0):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert code == done.returncode
    return done


def fail_example(name, *arguments):
    return run_example(name, *arguments, code=1).stderr


def test_the_query_example_shows_types_and_a_finding():
    out = run_example("check_query.py").stdout

    assert "  revenue: decimal(22,2)\n" in out
    assert "  error E003 at `order_idd`: no column `order_idd` in scope\n" in out


def test_the_blast_radius_example_reaches_the_marts(shop):
    out = run_example("blast_radius.py", str(shop), "raw.orders", "amount").stdout

    assert "fct_revenue.amount  (aggregate)\n" in out


def test_the_blast_radius_example_says_how_it_is_used_and_what_does_not_exist(shop):
    alone = fail_example("blast_radius.py")
    misspelt = fail_example("blast_radius.py", str(shop), "raw.orders", "amuont")

    assert "usage: python blast_radius.py PROJECT TABLE COLUMN\n" == alone
    said = "error: no column `amuont`; did you mean `amount`? (in source `raw.orders`)\n"
    assert said == misspelt
