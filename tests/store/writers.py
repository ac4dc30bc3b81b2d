"""Writers that run as processes of their own, for the tests of concurrency and of crashes."""

import io
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq

from rocky.errors import ConcurrentChange
from rocky.store.delta.change import Change, FilesRead
from rocky.store.warehouse import Table
from tests.store.tables import COLUMNS, append, ids, latest, replace_with, table_in

COUNTER_START = 1_000_000


def append_many(folder: str, first: int, rounds: int, step: int) -> None:
    """Append one row a commit: `first`, `first + step` ..."""
    table = table_in(Path(folder))
    for number in range(rounds):
        append(table, ids(table, first + number * step))


def replace_many(folder: str, first: int, rounds: int) -> None:
    table = table_in(Path(folder))
    for number in range(rounds):
        replace_with(table, ids(table, first + number))


def count_up(folder: str, rounds: int) -> None:
    """A merge: read the counter's row, write it one higher; computed again on a conflict."""
    table = table_in(Path(folder))
    done = 0
    while done < rounds:
        base = latest(table)
        path, value = next(
            (file.path, value)
            for file in base.files
            for value in _ids_in(table, file.path)
            if value >= COUNTER_START
        )
        file = ids(table, value + 1)
        try:
            table.commit(Change("MERGE", base, COLUMNS, (), (file,), removes=frozenset({path})))
        except ConcurrentChange:
            continue
        done += 1


def count_own(table: Table, start: int, rounds: int) -> None:
    """Merge one row of its own, again and again; what others write is none of its business.

    Nothing is computed again: a conflict ends the writer.
    """
    for _ in range(rounds):
        table.commit(_one_higher(table, start))


def count_own_in(folder: str, start: int, rounds: int) -> None:
    count_own(table_in(Path(folder)), start, rounds)


def count_shared_in(folder: str, start: int, rounds: int) -> None:
    """Merge a row that others merge too; computed again on a conflict."""
    table, done = table_in(Path(folder)), 0
    while done < rounds:
        try:
            table.commit(_one_higher(table, start))
        except ConcurrentChange:
            continue
        done += 1


def _one_higher(table: Table, start: int) -> Change:
    """A merge of the row that is `start` or above, which reads no other."""
    mine = range(start, start + COUNTER_START)
    base = latest(table)
    held = {file.path: _ids_in(table, file.path)[0] for file in base.files}
    path, value = next((path, held[path]) for path in held if held[path] in mine)
    return Change(
        "MERGE",
        base,
        COLUMNS,
        (),
        (ids(table, value + 1),),
        removes=frozenset({path}),
        reads=FilesRead(frozenset({path}), lambda file: _ids_in(table, file.path)[0] not in mine),
    )


def create(folder: str, names: list[str], value: int) -> None:
    """Be the first to build each of these tables."""
    for name in names:
        table = table_in(Path(folder) / name)
        replace_with(table, ids(table, value), base=None)


def append_once_each(folder: str, start: int) -> None:
    """Append rows `start`, ... each in a transaction of its number, and say which are committed."""
    table = table_in(Path(folder))
    for number in range(start, 10_000):
        append(table, ids(table, number), transaction=("writer", number))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


def place_and_wait(folder: str) -> None:
    """Place a file, leave a staged one, and never commit."""
    table = table_in(Path(folder))
    ids(table, 99)
    table.objects.put(f"{table.prefix}/{table.new_staging()}/part-0.parquet", b"half")
    sys.stdout.write("placed\n")
    sys.stdout.flush()
    time.sleep(600)


def _ids_in(table: Table, path: str) -> list[int]:
    data = table.objects.read(f"{table.prefix}/{path}")
    assert data is not None
    return pq.read_table(io.BytesIO(data))["id"].to_pylist()
