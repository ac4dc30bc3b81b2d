"""`make demo` is run, and what it and the tutorial show is what comes out."""

import re
import shutil
from pathlib import Path

import pytest

from tests.architecture.console import BLOCK, ROOT, replay, run

pytestmark = pytest.mark.spark

TUTORIAL = ROOT / "docs/tutorial/first-project.md"
RUN = re.compile(r"(?<=<!-- run -->\n).*?(?=<!-- end of run -->)", re.DOTALL)
PLAN = re.compile(r"(?<=<!-- plan -->\n).*?(?=<!-- end of plan -->)", re.DOTALL)
# What differs from run to run: ids, times, sizes, prices, and the widths they give to columns.
VARIES = re.compile(
    r"run-\d{8}-\d{6}-\d{3}|\b[0-9a-f]{12,}\b|[<\d][\d.,: -]*(?:ms|min|s|h|kB|MB|B|USD)?\b|  +"
)


def masked(text: str) -> list[str]:
    return [re.sub(r"[~\s]+", "~", VARIES.sub("~", line)) for line in text.splitlines()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> tuple[str, Path]:
    """What `make demo` shows, and the project that it leaves."""
    folder = tmp_path_factory.mktemp("demo")
    return run(f"sh {ROOT / 'tools' / 'tour.sh'}", folder), folder / "demo"


def test_the_run_in_the_tutorial_is_what_happens(demo, bless):
    shown, project = demo
    page = TUTORIAL.read_text()
    (block,) = BLOCK.findall("".join(RUN.findall(page)))
    first, *others = [line for line in block.splitlines() if line.startswith("$ ")]
    # The tour ran it. Progress is not in between: what went to standard error comes last.
    table = shown.partition(f"{first}\n")[2].partition("\n\n")[0].splitlines()
    rest, _ = replay("\n".join(others), project)
    happened = "\n".join([first, *(line.rstrip() for line in table), rest])
    if bless:
        TUTORIAL.write_text(RUN.sub(lambda _: f"```console\n{happened}```\n", page))
        block = happened

    assert masked(happened) == masked(block)


def test_the_plan_in_the_tutorial_is_what_happens(demo, tmp_path, bless):
    _, project = demo
    copy = shutil.copytree(project, tmp_path / "demo")
    page = TUTORIAL.read_text()
    (block,) = BLOCK.findall("".join(PLAN.findall(page)))
    happened, _ = replay(block, copy)
    if bless:
        TUTORIAL.write_text(PLAN.sub(lambda _: f"```console\n{happened}```\n", page))
        block = happened

    assert masked(happened) == masked(block)


def test_the_demo_compiles_breaks_runs_and_audits(demo):
    shown, project = demo

    assert "internal error" not in shown
    assert "no errors in 11 models" in shown
    assert "error[E003 unknown-column]: no column `amuont` in scope" in shown
    assert "raw.orders.amount" in shown
    assert "done: 13 built" in shown
    assert "5 rows of 32" in shown
    assert "same  fct_revenue/" in shown
    assert "DIFFERENT" not in shown
    assert (project / "rocky.toml").exists()
