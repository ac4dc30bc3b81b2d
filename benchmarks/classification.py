"""What following tags costs, next to a cold compile of the same project in the same run.

A generated project, compiled once without a cache in one process; then facts of its tags, with one
tagged column in every source, with a third of all, and with none. CPU seconds, median of rounds;
with `--check` a share above the goal is exit code 1.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time

from generate import generate

from rocky.analysis.classification import classify
from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project
from rocky.project import load_project

GOAL = 0.03
ROUNDS = 5


def tagged(compilation: Compilation, every: int) -> Compilation:
    """The same with the second of every so many columns of a source tagged; 0 tags none."""
    sources = {
        key: replace(
            source,
            classification={
                column.name: ("pii",)
                for at, column in enumerate(source.columns)
                if every and at % every == 1
            },
        )
        for key, source in compilation.project.sources.items()
    }
    return replace(compilation, project=replace(compilation.project, sources=sources))


def cost(compilation: Compilation) -> tuple[float, int]:
    """CPU seconds of the facts of a project, and how many columns have a tag."""
    seconds = []
    for _ in range(ROUNDS):
        start = process_time()
        facts = classify(compilation)
        seconds.append(process_time() - start)
    return median(seconds), sum(len(facts.table(each)) for each in facts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        generate(root, arguments.models)
        start = process_time()
        compilation = compile_project(load_project(root, env={}), cache=False, jobs=1)
        cold = process_time() - start
    print(f"cold compile of {arguments.models:,} models: {cold:.2f} s")
    missed = False
    for name, every in (("none", 0), ("one column a source", 1_000), ("a third", 3)):
        seconds, columns = cost(tagged(compilation, every))
        share = seconds / cold
        print(f"tagged: {name:20} {seconds:.3f} s  {share:6.2%}  {columns:,} columns with a tag")
        missed |= share > GOAL
    if arguments.check and missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
