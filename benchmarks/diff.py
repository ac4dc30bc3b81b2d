"""What a diff costs, next to the warm compile of the same project in the same run.

Two copies of a generated project, the second with three edited models: an expression, a filter, a
column more. Both are compiled, so that only what a diff adds is timed. CPU seconds, median of
rounds; with `--check` a ratio above the goal is exit code 1.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from generate import generate

from rocky.analysis.changes.diff import diff_compilations
from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project
from rocky.project import load_project

GOAL = 3.0
ROUNDS = 5
EDITS = (
    ("staging/part_000/stg_1.sql", "upper(trim(k.status))", "lower(trim(k.status))"),
    ("staging/part_000/stg_2.sql", "WHERE k.version = 1", "WHERE k.version = 1 AND k.id > 0"),
    ("staging/part_000/stg_3.sql", "k.customer_id,", "k.customer_id,\n    k.id AS again,"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base, head = Path(folder, "base"), Path(folder, "head")
        generate(base, arguments.models)
        shutil.copytree(base, head)
        for path, old, new in EDITS:
            file = head / "models" / path
            text = file.read_text()
            assert old in text
            file.write_text(text.replace(old, new, 1))
        ratio = report(base, head)
    if arguments.check and ratio > GOAL:
        sys.exit(1)


def report(base: Path, head: Path) -> float:
    """Print the table and give back the ratio."""
    for root in (base, head):
        compiled(root)
    warm = typical(lambda _: compiled(head), lambda: None)
    # Fresh compilations each time: they keep what was unpacked of them.
    cost = typical(
        lambda sides: diff_compilations(*sides), lambda: (compiled(base), compiled(head))
    )
    diff = diff_compilations(compiled(base), compiled(head))
    changed = [table for table in diff.tables if table.status != "affected"]
    reached = sum(len(change.reaches) for _, change in diff.changes)
    ratio = cost / warm
    print(f"{diff.total_models} models, {len(changed)} changed, {reached} columns reached")
    print(f"warm compile  {warm:7.3f} s")
    print(f"diff          {cost:7.3f} s   {ratio:.2f} of the compile, goal {GOAL}")
    return ratio


def compiled(root: Path) -> Compilation:
    return compile_project(load_project(root, env={}, remember=True))


def typical(work: Callable[[Any], Any], prepare: Callable[[], Any]) -> float:
    """CPU seconds of some work on what was prepared, once the machine is used to it."""
    work(prepare())
    taken = []
    for _ in range(ROUNDS):
        ready = prepare()
        started = process_time()
        work(ready)
        taken.append(process_time() - started)
    return median(taken)


if __name__ == "__main__":
    main()
