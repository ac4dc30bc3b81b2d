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
        line += " -o table"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
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


@pytest.mark.slow
def test_the_demo_shows_a_clean_compile_then_the_mistake_then_the_lineage(tmp_path):
    shown = run(f"sh {ROOT / 'tools' / 'tour.sh'}", tmp_path)

    assert "internal error" not in shown
    assert "no errors in 11 models" in shown
    assert "error[E003 unknown-column]: no column `amuont` in scope" in shown
    assert "raw.orders.amount" in shown
    assert (tmp_path / "demo" / "rocky.toml").exists()
