"""Cost against size: projects of many models, tables of many files, ledgers of many runs.

For each question the CPU seconds at several sizes, and the exponent between the smallest and the
largest: 0 is a cost that does not depend on the size, 1 one that grows with it. What a start of
Python costs is in the figures of commands, so their exponents are those of the part that grows only
where that is most of it. Tables are built by the tests' engine, which needs no JVM, and written by
the store that real runs use; histories see `tests/run/long_histories.py`.
"""

import argparse
import io
import math
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time, sleep
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from processes import Cost, run, user_environment
from reuse import write_project

from rocky.evidence.retention.sweep import compact_ledger, sweep_ledger
from rocky.evidence.scope import Point, VerificationScope
from rocky.evidence.verification import Verification, verify_evidence
from rocky.ledger import open_evidence_reader, open_ledger
from rocky.ledger.readers.history import open_history_reader
from rocky.project import load_project
from rocky.project.configuration.blocks import StateRetention
from rocky.run.prepare.environment import predict_environment
from rocky.store.clone import clone_table
from rocky.store.data_file import DataFile, salted
from rocky.store.delta.log import write_checkpoint
from rocky.store.file_usage import list_files, read_lifetimes
from rocky.store.warehouse import Table, open_warehouse
from tests.run.long_histories import LongHistory
from tests.run.runs import LATER_NS, Shop
from tests.store.tables import ORDERS, append

ROUNDS = 3
SETTLED_SECONDS = 3
MANY_ROUNDS = 10_000
"""The most runs of a ledger that is looked at in more than one round."""
NO_OP_SECONDS = 5.0
"""The goal of a run of 10,000 models in which nothing has changed since the run before."""
Figures = dict[str, float]
"""What one size costs, by what is asked: CPU seconds, unless the name says otherwise."""


def cpu(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """The least CPU seconds of some rounds: what else the machine does only adds."""
    taken = []
    for _ in range(rounds):
        began = process_time()
        work()
        taken.append(process_time() - began)
    return min(taken)


@contextmanager
def a_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rocky-scale-") as folder:
        yield Path(folder)


def show(title: str, unit: str, measured: dict[int, Figures]) -> None:
    """A row for each question, a column for each size, and the exponent."""
    sizes = sorted(measured)
    print(f"\n{title}: " + ", ".join(f"{size:,}" for size in sizes) + f" {unit}")
    for name in measured[sizes[0]]:
        values = [measured[size][name] for size in sizes]
        slope = exponent(sizes, values)
        shown = "  ".join(f"{value:>10.4g}" for value in values)
        print(f"  {name:<34}{shown}   exponent {slope:+.2f}", flush=True)


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The slope of cost over size, both as logarithms: the line of least squares."""
    if len(sizes) < 2:
        return math.nan
    logs = [
        (math.log(size), math.log(max(value, 1e-9)))
        for size, value in zip(sizes, values, strict=True)
    ]
    return statistics.linear_regression(*zip(*logs, strict=True)).slope


# ------------------------------------------------------------------ projects

# What the system tells of a child has in it what its parent, this program, had when it was started.
WITH_PEAK = """\
import atexit, runpy, sys
from pathlib import Path
def tell(path):
    lines = Path("/proc/self/status").read_text().splitlines()
    Path(path).write_text(next(each for each in lines if each.startswith("VmHWM")))
atexit.register(tell, sys.argv.pop(1))
runpy.run_module("rocky.cli", run_name="__main__", alter_sys=True)
"""


def measure_project(models: int) -> Figures:
    """Commands over a project whose tables are all built, in processes of their own."""
    with a_folder() as root, a_folder() as byte_code:
        shop = Shop(root / "project")
        for folder in ("models", "sources", "data", "seeds"):
            shutil.rmtree(shop.root / folder)
        write_project(shop.root, models)
        adapter = load_project(shop.root, env={}).config.adapter["default"]
        shop.environment = predict_environment(adapter, os.environ, shop.root)
        assert shop.run().exit_code == 0
        environment = user_environment(byte_code) | {"XDG_CACHE_HOME": str(root / "cache")}

        peak = root / "peak"

        def ask(*arguments: str) -> Cost:
            command = ["-c", WITH_PEAK, str(peak), *arguments]
            return run(command, shop.root, environment, keep_output=True)

        # Files that were written within two seconds are not remembered.
        sleep(SETTLED_SECONDS)
        first = ask("run", "--quiet", "-o", "json")
        assert '"decision": "build"' not in first.printed, "something was built"
        idle = ask("run", "--quiet")
        most = int(peak.read_text().split()[1]) / 1024
        plan, listed = ask("plan", "--quiet"), ask("list", "models", "--quiet")
        return {
            "rocky run, all reused": first.cpu,
            "rocky run, nothing changed": idle.cpu,
            "rocky plan": plan.cpu,
            "rocky list models": listed.cpu,
            "memory of that run, MB": most,
        }


# ------------------------------------------------------------------ tables


@dataclass(frozen=True, slots=True)
class ManyFiles:
    """A table in a folder, and files for it: the same rows, each salted to bytes of its own."""

    root: Path

    def table(self) -> Table:
        """The table with nothing remembered; its checkpoints are believed, as recorded ones are."""
        warehouse = open_warehouse("warehouse", base=self.root)
        return warehouse.vouched_by(lambda *_: True).table(ORDERS)

    def place(self, first: int, count: int) -> list[DataFile]:
        sink = io.BytesIO()
        pq.write_table(pa.table({"id": [1]}), sink)
        folder = self.root / "warehouse" / self.table().prefix
        folder.mkdir(parents=True, exist_ok=True)
        found = []
        for number in range(first, first + count):
            data = salted(sink.getvalue(), number)
            name = f"{blake3(data).hexdigest()}.parquet"
            (folder / name).write_bytes(data)
            found.append(DataFile(name, len(data), 1, '{"numRecords":1}', {}, 1_700_000_000_000))
        return found


def measure_table(files: int, versions: int) -> Figures:
    """What a log of so many versions, which have brought so many files, costs its readers."""
    with a_folder() as root:
        made = ManyFiles(root)
        table, placed = made.table(), made.place(1, files)
        share = files // versions
        for version in range(versions):
            last = version == versions - 1
            append(table, *placed[version * share : None if last else (version + 1) * share])
        write_checkpoint(table.log, versions - 1)
        fresh = made.table()
        snapshot = fresh.snapshot()
        assert snapshot is not None
        assert files == len(snapshot.files)
        extra = iter(made.place(files + 1, ROUNDS + 1))
        append(fresh, next(extra))
        return {
            "pin, nothing remembered": cpu(lambda: made.table().snapshot()),
            "pin again": cpu(fresh.snapshot),
            "append of one file": cpu(lambda: append(fresh, next(extra))),
            "checkpoint": cpu(lambda: write_checkpoint(fresh.log, versions)),
            "what gc asks of a table": cpu(lambda: _ask_for_gc(made.table()), 1),
            "clone": cpu(lambda: _clone(made, root), 1),
        }


def _ask_for_gc(table: Table) -> None:
    """The versions that each file is of, and the files that are there."""
    read_lifetimes(table.log)
    list_files(table)


def _clone(made: ManyFiles, root: Path) -> None:
    table = made.table()
    snapshot = table.snapshot()
    assert snapshot is not None
    clone_table(table, snapshot, open_warehouse("branch", base=root).table(ORDERS))


# ------------------------------------------------------------------ ledgers


def measure_ledger(runs: int) -> Figures:
    """What a history of so many runs of five models costs whoever comes next."""
    with a_folder() as root:
        past = LongHistory(root)
        made = cpu(lambda: past.grow(runs), 1)
        past.idle()
        whole = _verify(past, VerificationScope())
        assert not whole.findings
        since = VerificationScope(since=Point(whole.head.seq))
        seal = VerificationScope(since=Point(*whole.head))
        past.idle()
        assert _verify(past, seal).passed
        # Of the largest one look must do.
        rounds = ROUNDS if runs <= MANY_ROUNDS else 1
        looks = cpu(past.idle)
        past.shop.settled_ns = LATER_NS
        past.idle()
        return {
            "run, all reused": looks,
            "run, nothing changed": cpu(past.idle),
            "history, the newest 20": cpu(lambda: _read_newest(past)),
            "verify": cpu(lambda: _verify(past, VerificationScope()), rounds),
            "verify since the newest run": cpu(lambda: _verify(past, since), rounds),
            "verify since the newest seal": cpu(lambda: _verify(past, seal), rounds),
            "most memory until here, MB": getrusage(RUSAGE_SELF).ru_maxrss / 1024,
            "bytes of the file": past.state.stat().st_size,
            "bytes of the file for an execution": past.state.stat().st_size / past.runs / 5,
            **_forget(past),
            "making the history": made,
        }


def _verify(past: LongHistory, scope: VerificationScope) -> Verification:
    reader = open_evidence_reader(past.state)
    assert reader is not None
    with reader:
        place = open_warehouse("warehouse", base=past.shop.root)
        return verify_evidence(reader, lambda _: place, scope)


def _read_newest(past: LongHistory) -> None:
    reader = open_history_reader(past.state)
    assert reader is not None
    with reader:
        reader.runs(limit=20)


def _forget(past: LongHistory) -> Figures:
    """What it costs to forget all runs but a hundred, and how large the file is then."""
    later = past.shop.now + timedelta(days=1000)
    with open_ledger(past.state) as ledger:
        swept = cpu(lambda: sweep_ledger(ledger, [], StateRetention(), later), 1)
    size = past.state.stat().st_size
    with open_ledger(past.state) as ledger:
        compacted = cpu(lambda: compact_ledger(ledger), 1)
    return {
        "sweep of all but 100 runs": swept,
        "the file made smaller": compacted,
        "bytes of the file after the sweep": size,
        "bytes of the file made smaller": past.state.stat().st_size,
        "verify after that": cpu(lambda: _verify(past, VerificationScope()), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--files", type=int, nargs="+", default=[10, 1000, 10_000])
    parser.add_argument("--versions", type=int, nargs="+", default=[20, 200, 1000])
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 1000, 5000])
    parser.add_argument("--only", choices=["models", "files", "versions", "runs"])
    asked = parser.parse_args()
    chosen = [asked.only] if asked.only else ["runs", "files", "versions", "models"]
    if "runs" in chosen:
        show("ledgers", "runs", {size: measure_ledger(size) for size in asked.runs})
    if "files" in chosen:
        show(
            "tables of one version", "files", {size: measure_table(size, 1) for size in asked.files}
        )
    if "versions" in chosen:
        found = {size: measure_table(max(1000, size), size) for size in asked.versions}
        show("tables of 1,000 files", "versions", found)
    if "models" in chosen:
        found = {size: measure_project(size) for size in asked.models}
        show("projects", "models", found)
        idle = found.get(10_000, {}).get("rocky run, nothing changed", 0.0)
        if idle > NO_OP_SECONDS:
            sys.exit(f"nothing changed in 10,000 models: {idle:.1f} CPU s (goal {NO_OP_SECONDS})")


if __name__ == "__main__":
    main()
