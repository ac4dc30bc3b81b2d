"""The README's tour and `make demo` are run, and what they show is what comes out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TOUR = re.compile(r"(?<=<!-- tour -->\n).*?(?=<!-- end of tour -->)", re.DOTALL)
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)


def run(line: str, folder: Path) -> str:
    """What a shell line prints. Commands print text for people, though nobody is at a terminal."""
    if line.startswith("rocky "):
        line = line.replace("rocky ", "rocky -o table ", 1)
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
    )
    return done.stdout + done.stderr


def replay(block: str, folder: Path) -> tuple[str, Path]:
    """A console block with the output its lines really have, and the folder they end in."""
    lines = []
    for line in block.splitlines():
        if line.startswith("$ cd "):
            folder = folder / line.removeprefix("$ cd ").strip()
            lines.append(line)
        elif line.startswith("$ "):
            output = run(line.removeprefix("$ "), folder)
            lines += [line, *(each.rstrip() for each in output.rstrip().splitlines())]
    return "\n".join(lines) + "\n", folder


RUN = re.compile(r"(?<=<!-- run -->\n).*?(?=<!-- end of run -->)", re.DOTALL)
# What differs from run to run: ids, times, sizes, prices, and the widths they give to columns.
VARIES = re.compile(r"run-\d{8}-\d{6}-\d{3}|[<\d][\d.,: -]*(?:ms|min|s|h|kB|MB|B|USD)?\b|  +")


def masked(text: str) -> list[str]:
    return [re.sub(r"[~\s]+", "~", VARIES.sub("~", line)) for line in text.splitlines()]


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> tuple[str, Path]:
    """What `make demo` shows, and the project that it leaves."""
    folder = tmp_path_factory.mktemp("demo")
    return run(f"sh {ROOT / 'tools' / 'tour.sh'}", folder), folder / "demo"


@pytest.mark.spark
def test_the_run_in_the_readme_is_what_happens(demo, bless):
    shown, project = demo
    page = README.read_text()
    (block,) = BLOCK.findall("".join(RUN.findall(page)))
    first, *others = [line for line in block.splitlines() if line.startswith("$ ")]
    # The tour ran it. Progress is not in between: what went to standard error comes last.
    table = shown.partition(f"{first}\n")[2].partition("\n\n")[0].splitlines()
    rest, _ = replay("\n".join(others), project)
    happened = "\n".join([first, *(line.rstrip() for line in table), rest])
    if bless:
        README.write_text(RUN.sub(lambda _: f"```console\n{happened}```\n", page))
        block = happened

    assert masked(happened) == masked(block)


def test_the_tour_in_the_readme_is_what_happens(tmp_path, bless):
    page = README.read_text()
    folder = tmp_path

    def replayed(found: re.Match[str]) -> str:
        nonlocal folder
        text, folder = replay(found.group(), folder)
        return text

    expected = TOUR.sub(lambda tour: BLOCK.sub(replayed, tour.group()), page)
    if bless:
        README.write_text(expected)

    assert expected == README.read_text()


def test_the_python_in_the_readme_gives_what_it_says():
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    *code, last, expected = block.splitlines()
    names: dict[str, object] = {}
    exec("\n".join(code), names)

    assert expected == f"# {eval(last, names)}"


@pytest.mark.spark
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
