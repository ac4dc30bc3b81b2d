"""Branches of a large warehouse: what making one costs, whatever its tables hold, next to copying.

The files are sparse, so that ten gigabytes, and a hundred times as much, cost no disk; making a
branch never opens one, which is the point. What is copied for comparison has real bytes. Times are
of the wall, because links and copies wait for the disk; each is the least of several turns.
"""

import argparse
import json
import logging
import os
import shutil
import sys
import tempfile
import urllib.request
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from blake3 import blake3
from moto.server import ThreadedMotoServer

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rocky.language.datatypes.types import BIGINT, StructField
from rocky.store.branch_folder import drop_branch_folder
from rocky.store.clone import clone_tables
from rocky.store.data_file import Address, DataFile, path_of
from rocky.store.delta.change import Change
from rocky.store.warehouse import Warehouse, open_warehouse

TABLES = 100
FILES = 200
"""Files of a table: with half a megabyte each, a hundred tables have ten gigabytes."""
FILE_BYTES = 512 * 1024
SIZES = (1, 10, 100)
COPIED_TABLES = 4
TURNS = 3
GOAL_SIZE = 1.5
"""How much longer a branch of a hundred times the bytes may take: the noise of a shared disk."""
GOAL_COPY = 10.0
COLUMNS = (StructField("id", BIGINT, True),)


class Name(NamedTuple):
    catalog: str
    schema: str
    table: str


def name_of(number: int) -> Name:
    return Name("shop", f"schema{number // 20}", f"table{number}")


def write_table(warehouse: Warehouse, name: Name, files: int, size: int) -> None:
    """A table of sparse files, whose names are those of some bytes, if not of theirs."""
    table = warehouse.table(name)
    folder = table.objects.local_path(table.prefix)
    assert folder is not None
    folder.mkdir(parents=True)
    adds = []
    for number in range(files):
        address = Address(blake3(f"{name}/{number}".encode()).hexdigest())
        with (folder / path_of(address)).open("wb") as opened:
            opened.truncate(size)
        stats = json.dumps({"numRecords": 1000})
        adds.append(DataFile(path_of(address), size, 1000, stats, {}, 1_700_000_000_000))
    table.commit(Change("REPLACE", None, COLUMNS, (), tuple(adds)))


def write_warehouse(folder: Path, tables: int, files: int, size: int) -> Warehouse:
    warehouse = open_warehouse("warehouse", base=folder)
    for number in range(tables):
        write_table(warehouse, name_of(number), files, size)
    return warehouse


def make_branch(folder: Path, tables: int) -> Warehouse:
    """What a branch costs in the store: every log is read once, every file gets a second name."""
    warehouse = open_warehouse("warehouse", base=folder)
    branch = open_warehouse("warehouse/branch__bench", base=folder)
    wanted = []
    for number in range(tables):
        table = warehouse.table(name_of(number))
        snapshot = table.snapshot()
        assert snapshot is not None
        wanted.append((table, snapshot, branch.table(name_of(number))))
    clone_tables(wanted)
    return branch


def time_branch(folder: Path, tables: int, turns: int) -> tuple[float, int, int]:
    """The least seconds of a branch, and the bytes it wrote to the disk: of logs, and of data."""
    seconds = []
    logs = data = 0
    for _ in range(turns):
        start = perf_counter()
        branch = make_branch(folder, tables)
        seconds.append(perf_counter() - start)
        logs, data = written_bytes(folder / "warehouse/branch__bench")
        drop_branch_folder(branch)
    return min(seconds), logs, data


def written_bytes(folder: Path) -> tuple[int, int]:
    """The bytes that only a branch has: in logs, and in data files."""
    found = {True: 0, False: 0}
    for path in folder.rglob("*"):
        if path.is_file():
            status = path.stat()
            if status.st_nlink == 1:
                found["_delta_log" in path.parts] += status.st_size
    return found[True], found[False]


def time_copy(folder: Path, tables: int, files: int, turns: int) -> float:
    """The least seconds that copying real bytes took."""
    source = folder / "real"
    block = os.urandom(FILE_BYTES)
    for number in range(tables):
        (source / f"table{number}").mkdir(parents=True)
        for file in range(files):
            # Each its own bytes: a file system may notice equal ones.
            data = number.to_bytes(8, "big") + file.to_bytes(8, "big") + block[16:]
            (source / f"table{number}/{file}.parquet").write_bytes(data)
    found = []
    for _ in range(turns):
        start = perf_counter()
        shutil.copytree(source, folder / "copied", copy_function=shutil.copyfile)
        os.sync()
        found.append(perf_counter() - start)
        shutil.rmtree(folder / "copied")
    return min(found)


def measure_sizes(tables: int, files: int, turns: int) -> tuple[dict[int, float], int]:
    """The seconds of a branch by how many times the bytes, and the bytes of data it wrote."""
    took: dict[int, float] = {}
    written = 0
    for times in SIZES:
        with tempfile.TemporaryDirectory(prefix="rocky-branch-") as folder:
            write_warehouse(Path(folder), tables, files, FILE_BYTES * times)
            took[times], logs, data = time_branch(Path(folder), tables, turns)
        held = tables * files * FILE_BYTES * times / 1e9
        print(
            f"branch of {tables} tables of {files} files, {held:,.1f} GB: {took[times]:.3f} s,"
            f" {logs / 1e6:.2f} MB of logs and {data} bytes of data written",
            flush=True,
        )
        written += data
    return took, written


def measure_counts(tables: int, files: int, turns: int) -> float:
    """The seconds of a branch of as many files in fewer and larger tables."""
    with tempfile.TemporaryDirectory(prefix="rocky-branch-") as folder:
        few = max(tables // 10, 1)
        write_warehouse(Path(folder), few, tables * files // few, FILE_BYTES)
        return time_branch(Path(folder), few, turns)[0]


def measure_copy(tables: int, files: int, turns: int) -> float:
    """The seconds that copying all files would take, from copying some."""
    some = min(COPIED_TABLES, tables)
    with tempfile.TemporaryDirectory(prefix="rocky-branch-") as folder:
        took = time_copy(Path(folder), some, files, turns)
    print(f"copying {some} of the tables, with real bytes: {took:.2f} s")
    return took * tables / some


def measure_bucket(tables: int, files: int) -> int:
    """A branch of tables in an object store on loopback: how many objects of data it made."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    host, port = server.get_host_and_port()
    options = {
        "endpoint": f"http://{host}:{port}",
        "access_key_id": "key",
        "secret_access_key": "secret",
    }
    made = urllib.request.Request(f"{options['endpoint']}/lake", method="PUT")
    with urllib.request.urlopen(made):
        pass
    warehouse = open_warehouse("s3://lake/wh", base=Path(), options=options)
    branch = open_warehouse("s3://lake/wh/branch__bench", base=Path(), options=options)
    wanted = []
    for number in range(tables):
        table = warehouse.table(name_of(number))
        adds = []
        for file in range(files):
            data = f"{number}/{file}".encode()
            path = path_of(Address(blake3(data).hexdigest()))
            table.objects.put(f"{table.prefix}/{path}", data)
            adds.append(DataFile(path, len(data), 1, '{"numRecords":1}', {}, 1_700_000_000_000))
        change = Change("REPLACE", None, COLUMNS, (), tuple(adds))
        wanted.append((table, table.commit(change).snapshot, branch.table(name_of(number))))
    start = perf_counter()
    clone_tables(wanted)
    took = perf_counter() - start
    placed = [each for each in branch.objects.list("") if "_delta_log" not in each.path]
    server.stop()
    print(f"branch of {tables} tables of {files} objects in a bucket: {took:.3f} s", flush=True)
    return len(placed)


def claim(said: str, *, holds: bool) -> bool:
    print(f"{'ok  ' if holds else 'FAIL'}  {said}", flush=True)
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--files", type=int, default=FILES, help="files of a table")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--bucket", action="store_true", help="also in an S3 server on loopback")
    asked = parser.parse_args()
    took, written = measure_sizes(asked.tables, asked.files, asked.turns)
    more = measure_counts(asked.tables, asked.files, asked.turns)
    each, in_larger = (1e6 * each / (asked.tables * asked.files) for each in (took[1], more))
    print(f"a file costs {each:.1f} us; in tables of ten times as many files {in_larger:.1f} us")
    larger = took[SIZES[-1]] / took[1]
    faster = measure_copy(asked.tables, asked.files, asked.turns) / took[1]
    held = [
        claim(f"a branch writes {written} bytes of data", holds=written == 0),
        claim(
            f"{SIZES[-1]} times the bytes take {larger:.2f}x the time (goal {GOAL_SIZE})",
            holds=larger < GOAL_SIZE,
        ),
        claim(f"copying takes {faster:.0f}x the time (goal {GOAL_COPY})", holds=faster > GOAL_COPY),
    ]
    if asked.bucket:
        placed = measure_bucket(asked.tables, 20)
        held.append(claim(f"in a bucket it makes {placed} objects of data", holds=placed == 0))
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
