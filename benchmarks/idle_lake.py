"""A lake of many tables that were copied and have nothing new: what a run costs, next to listing.

The first copies are made by the tests' engine, which needs no JVM: what is measured afterwards asks
no engine at all. Both are measured in turns in one process, in CPU seconds, and compared by their
medians, so that the ratio depends neither on the machine nor on what else it does.
"""

import argparse
import cProfile
import pstats
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Event
from time import process_time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rocky.compiler.passes import compile_project
from rocky.ledger.writer import open_ledger
from rocky.pipelines.pipeline_run import run_open_pipeline
from rocky.pipelines.replication.lakes import FolderLake
from rocky.pipelines.report import PipelineResult
from rocky.plan.request import RunRequest
from rocky.project import load_project
from rocky.run.checksums import Checksums
from rocky.run.engine.sources import Sources
from rocky.run.prepare.caller import Caller
from rocky.run.prepare.environment import Environment
from rocky.run.prepare.resources import RunResources
from rocky.run.prepare.session import RunSession
from rocky.store.warehouse import open_warehouse
from tests.pipelines.lakes import LakeProject
from tests.run.runs import WHO, Heard

GOAL = 2.0
FILES = 20
"""Files of a table. A table costs a run the same however many it has: the ratio falls with them."""
TABLES_OF_A_SCHEMA = 20
TURNS = 7


def write_lake(root: Path, tables: int, files: int) -> None:
    """Folders of small Parquet files, twenty tables a schema."""
    rows = pa.table({"id": [1, 2, 3], "synced": pa.array([1, 2, 3], pa.timestamp("us", tz="UTC"))})
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    data = sink.getvalue().to_pybytes()
    for number in range(tables):
        schema, table = divmod(number, TABLES_OF_A_SCHEMA)
        folder = root / f"lake/five/src__tenant{schema}__shopify/table_{table}"
        folder.mkdir(parents=True)
        for file in range(files):
            (folder / f"part-{file:04}.parquet").write_bytes(data)


def no_engine() -> Any:
    raise AssertionError("an engine was asked for")


def run_idle(project: LakeProject) -> PipelineResult:
    """A run of a project whose tables have nothing new, from its settings to its record."""
    root = project.root
    loaded = load_project(root, env={})
    compilation = compile_project(loaded, jobs=1, cache=False)
    environment = Environment("4.1.4", "memory", {})
    with open_ledger(project.state) as ledger:
        around = RunResources(
            open_warehouse("warehouse", base=root),
            ledger,
            WHO,
            no_engine,
            Sources(root, {}, Checksums(root)),
            lambda _facts: environment,
            environment,
        )
        caller = Caller(project.state, WHO, {}, Heard())
        opened = RunSession(loaded, loaded.config.adapter["default"], around, caller, Event())
        pipeline = loaded.config.pipeline["bronze"]
        return run_open_pipeline(opened, compilation, "bronze", pipeline, RunRequest())


def seconds(work: Callable[[], Any]) -> float:
    began = process_time()
    work()
    return process_time() - began


def measure(tables: int, files: int, *, profile: bool = False) -> float:
    """The ratio of a run to listing."""
    with tempfile.TemporaryDirectory(prefix="rocky-lake-") as folder:
        root = Path(folder)
        project = LakeProject(root)
        write_lake(root, tables, files)
        first = project.run()
        assert len(first.run.outcomes) == tables
        assert first.run.exit_code == 0
        lake = FolderLake("lake", root)
        assert len(run_idle(project).run.unchanged) == tables
        listing, running = [], []
        for _ in range(TURNS):
            listing.append(seconds(lambda: lake.discover("five")))
            running.append(seconds(lambda: run_idle(project)))
        listed, ran = statistics.median(listing), statistics.median(running)
        print(
            f"{tables} tables of {files} files, nothing new: listing {listed * 1000:.0f} CPU ms,"
            f" the whole run {ran * 1000:.0f} CPU ms: {ran / listed:.2f}x",
            flush=True,
        )
        if profile:
            profiler = cProfile.Profile()
            profiler.runcall(run_idle, project)
            pstats.Stats(profiler).sort_stats("cumulative").print_stats(60)
        return ran / listed


def claim(tables: int, files: int = FILES, *, profile: bool = False) -> bool:
    """Whether a run is dominated by listing."""
    ratio = measure(tables, files, profile=profile)
    holds = ratio < GOAL
    print(f"{'ok  ' if holds else 'FAIL'}  a run costs {ratio:.2f}x of listing (goal {GOAL})")
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--files", type=int, default=FILES, help="files of a table")
    parser.add_argument("--profile", action="store_true", help="show where a run's time goes")
    asked = parser.parse_args()
    sys.exit(0 if claim(asked.tables, asked.files, profile=asked.profile) else 1)


if __name__ == "__main__":
    main()
