"""A project of 500 models: what a run costs when nothing, or next to nothing, has changed.

Everything is done by the `rocky` command, as a user does it, and measured from outside: the CPU
seconds of the process and its children, and whether a JVM was among them. Three claims are checked,
and the program fails when one does not hold:

- nothing changed: no JVM, and at most 2 CPU seconds;
- one leaf edited: exactly that leaf is built;
- a model with readers edited without a change of its rows: it is built, its readers are reused.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

NO_OP_SECONDS = 2.0
ROCKY = [sys.executable, "-m", "rocky.cli"]
CONFIG = """\
[adapter]
master = "local[2]"

[pipeline.many]
models = "models/**"
"""
SOURCE = """\
[[source]]
name = "raw.events"
format = "csv"
path = "data/events.csv"
columns = [ { name = "id", type = "bigint" }, { name = "amount", type = "bigint" } ]
"""
STAND_IN = """\
#!/bin/sh
echo started >> "{marks}"
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run: what was decided for each model, what it cost, how many JVMs it started."""

    decisions: dict[str, str]
    cpu_seconds: float
    wall_seconds: float
    jvms: int

    def built(self) -> list[str]:
        return sorted(name for name, each in self.decisions.items() if each == "build")


def write_project(root: Path, models: int) -> None:
    """A tree of models: each reads one a third of its number, so depth grows with the logarithm."""
    for folder in ("models", "sources", "data"):
        (root / folder).mkdir(parents=True)
    (root / "rocky.toml").write_text(CONFIG)
    (root / "sources/raw.toml").write_text(SOURCE)
    rows = "\n".join(f"{number},{number * 7 % 13}" for number in range(1000))
    (root / "data/events.csv").write_text(f"id,amount\n{rows}\n")
    for number in range(models):
        upstream = f"m{number // 3 - 1}" if number >= 3 else "raw.events"
        (root / f"models/m{number}.sql").write_text(
            f"SELECT id, amount + {number % 5} AS amount FROM {upstream}"
            f" WHERE id >= 0 AND amount > -{number + 1}\n"
        )


def stand_in_for_java(folder: Path) -> tuple[Path, Path]:
    """A Java home whose `java` leaves a mark each time it is started."""
    found = os.environ.get("JAVA_HOME")
    java = Path(found) / "bin/java" if found else Path(shutil.which("java") or "")
    if not java.is_file():
        sys.exit("no java: set JAVA_HOME")
    home, marks = folder / "java", folder / "jvms"
    (home / "bin").mkdir(parents=True)
    program = home / "bin/java"
    program.write_text(STAND_IN.format(marks=marks, java=java.resolve()))
    program.chmod(0o755)
    return home, marks


def run(root: Path, java: tuple[Path, Path], *more: str) -> Ran:
    home, marks = java
    marks.write_text("")
    began = monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*ROCKY, "run", "--quiet", "-o", "json", *more],
        cwd=root,
        env={**os.environ, "JAVA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"rocky run failed:\n{done.stdout}\n{done.stderr}")
    document: dict[str, Any] = json.loads(done.stdout)
    decisions = {each["model"]: each["decision"] for each in document["model_decisions"]}
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(decisions, cpu, monotonic() - began, len(marks.read_text().splitlines()))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=500)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rocky-reuse-"))
    failed: list[str] = []

    def claim(text: str, *, holds: bool) -> None:
        print(f"{'ok  ' if holds else 'FAIL'}  {text}", flush=True)
        if not holds:
            failed.append(text)

    try:
        root = folder / "project"
        write_project(root, asked.models)
        java = stand_in_for_java(folder)
        first = run(root, java)
        print(f"first run: {len(first.built())} built, {first.wall_seconds:.0f} s", flush=True)
        run(root, java)
        idle = run(root, java)
        ratio = idle.wall_seconds / first.wall_seconds
        claim(f"nothing changed: {len(idle.built())} built", holds=not idle.built())
        claim(f"nothing changed: {idle.jvms} JVMs started", holds=idle.jvms == 0)
        claim(
            f"nothing changed: {idle.cpu_seconds:.2f} CPU s (goal {NO_OP_SECONDS});"
            f" {ratio:.4f}x of the first run's time",
            holds=idle.cpu_seconds <= NO_OP_SECONDS,
        )
        leaf = asked.models - 1
        edit(root / f"models/m{leaf}.sql", "id >= 0", "id >= 1")
        edited = run(root, java)
        claim(f"one leaf edited: built {edited.built()}", holds=edited.built() == [f"m{leaf}"])
        edit(root / "models/m0.sql", "id >= 0 AND amount > -1", "amount > -1 AND id >= 0 -- same")
        same = run(root, java)
        claim(f"same rows upstream: built {same.built()}", holds=same.built() == ["m0"])
        print(f"same rows upstream: {same.wall_seconds / first.wall_seconds:.2f}x of the first run")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
