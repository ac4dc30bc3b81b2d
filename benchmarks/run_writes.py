"""Writes and reads of tables, each next to Spark's own of the same data with the same codec.

All variants run in one warm Spark, in turns, and every ratio is taken within a round, so that what
a busy machine does to one it does to the other. Judged are CPU seconds of the JVM and of Python;
wall time is printed beside them. The pieces: naming files by their bytes, the rows hash, canonical
order (of queries whose rows stay in the task that reads them, row-wise ones and those that look
rows up, and of others, whose rows are spread by their hash), and reading a table of many files by
its pinned list.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from rocky.project.configuration.blocks import Adapter
from rocky.run.engine.input_pieces import pieces_together
from rocky.spark.frame import fields_of
from rocky.spark.interface import Layout
from rocky.spark.reader import read_files
from rocky.spark.session import connect_spark
from rocky.spark.writer import OPTIONS, write_staged
from rocky.store.parquet.staging import place_files
from rocky.store.warehouse import Table, open_warehouse

CODEC = {name: OPTIONS[name] for name in ("compression", "parquet.compression.codec.zstd.level")}
TICKS = os.sysconf("SC_CLK_TCK")
MANY_FILES = 1000
PIECES = 4


class Spent(NamedTuple):
    """What one piece of work took, in seconds."""

    cpu: float
    wall: float


@dataclass(frozen=True, slots=True)
class Name:
    """A table's name, as the warehouse takes it."""

    catalog: str
    schema: str
    table: str


def narrow(session: Any, rows: int) -> Any:
    """Seven columns: a key, small numbers, a decimal, dates, a status and a long text."""
    return session.range(0, rows, 1, PIECES).selectExpr(
        "id",
        "CAST(pmod(hash(id), 100000) AS INT) AS customer",
        "CAST(pmod(xxhash64(id), 100000000) / 100 AS DECIMAL(18, 2)) AS amount",
        "date_add(DATE'2020-01-01', CAST(pmod(hash(id, 1), 1500) AS INT)) AS day",
        "timestamp_micros(1600000000000000 + pmod(xxhash64(id, 2), 100000000000000)) AS at",
        "concat('status_', pmod(hash(id, 3), 8)) AS status",
        "hex(xxhash64(id, 4)) AS reference",
    )


def wide(session: Any, rows: int, columns: int = 60) -> Any:
    """Many columns of six types."""
    kinds = (
        "xxhash64(id, {0})",
        "CAST(pmod(hash(id, {0}), 1000) AS INT)",
        "CAST(hash(id, {0}) AS DOUBLE) / 1000",
        "concat('v', pmod(hash(id, {0}), 500))",
        "date_add(DATE'2020-01-01', CAST(pmod(hash(id, {0}), 2000) AS INT))",
        "CAST(pmod(hash(id, {0}), 100000) AS DECIMAL(10, 2))",
    )
    made = [f"{kinds[n % len(kinds)].format(n)} AS c{n}" for n in range(columns)]
    return session.range(0, rows, 1, PIECES).selectExpr(*made)


def measure(work: Callable[[], object], jvm: int) -> Spent:
    watched = (jvm, os.getpid())
    cpu, wall = cpu_of(watched), time.monotonic()
    work()
    return Spent(cpu_of(watched) - cpu, time.monotonic() - wall)


def cpu_of(processes: tuple[int, ...]) -> float:
    """User and system seconds of some processes and their dead children."""
    total = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        total += sum(int(each) for each in fields[11:15])
    return total / TICKS


def take_turns(
    variants: Mapping[str, Callable[[], object]], rounds: int, jvm: int
) -> dict[str, list[Spent]]:
    """What each variant took, round by round; the first two rounds only warm up."""
    spent: dict[str, list[Spent]] = {name: [] for name in variants}
    names = list(variants)
    for number in range(rounds + 2):
        # Nobody always runs first, or always after the same one.
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            found = measure(variants[name], jvm)
            if number >= 2:
                spent[name].append(found)
    return spent


def show(label: str, ours: list[Spent], theirs: list[Spent], goal: float) -> None:
    cpu = [one.cpu / other.cpu for one, other in zip(ours, theirs, strict=True)]
    wall = [one.wall / other.wall for one, other in zip(ours, theirs, strict=True)]
    print(
        f"{label:<46} cpu {median(cpu):5.2f}x ({min(cpu):.2f} to {max(cpu):.2f})"
        f"  wall {median(wall):5.2f}x ({min(wall):.2f} to {max(wall):.2f})  goal {goal:.2f}x",
        flush=True,
    )


LOOKED_UP = """\
SELECT b.id, b.customer, d.name, d.country, b.amount, b.day, b.at, b.status, b.reference
FROM {big} b LEFT JOIN {customers} d ON b.customer = d.customer"""
JOINED = """\
SELECT b.id, b.customer, b.amount, b.day, b.at, b.status, b.reference, o.other, o.twice
FROM {} b JOIN {} o ON b.id = o.id"""
HANDED_OVER = {
    "grouped to a thirtieth": """\
SELECT customer, count(*) AS n, sum(amount) AS total, max(day) AS last
FROM big GROUP BY customer""",
    "grouped to half": """\
SELECT id DIV 2 AS pair, count(*) AS n, sum(amount) AS total, max(day) AS last,
max(reference) AS reference FROM big GROUP BY id DIV 2""",
}
"""Queries that hand rows over anyway, and once more for canonical order."""

RANKED = "SELECT *, row_number() OVER (PARTITION BY customer ORDER BY at, id) AS nth FROM {}"
BY_KEY = f"(SELECT /*+ REPARTITION({PIECES}, {{1}}) */ * FROM {{0}})"
KEPT = f"(SELECT * FROM {BY_KEY} WHERE monotonically_increasing_id() >= 0)"
"""As `rocky.run.prepare.keyed_rows` hands rows over, once."""

ORDERS = {"two large tables joined": ("id",), "a window": ("customer", "at", "id")}
"""What the rows of these are put in order by, before they are written."""


class Writes:
    """The ways to write the rows of a query; `in_pieces` is the same without handing rows over."""

    def __init__(
        self,
        frame: Any,
        table: Table,
        folder: Path,
        in_pieces: Any = None,
        cluster_by: tuple[str, ...] = (),
    ) -> None:
        self._frame = frame
        self._in_pieces = in_pieces
        self._cluster_by = cluster_by
        self._fields = fields_of(frame)
        self._table = table
        self._folder = folder
        self.canonical_bytes = 0

    def by_spark(self) -> None:
        """Spark's own write."""
        self._frame.write.mode("overwrite").options(**CODEC).parquet(str(self._folder / "plain"))

    def addressed(self) -> None:
        """The same, and every file named by its bytes; no rows hash."""
        staging = self._table.new_staging()
        self._frame.write.options(**OPTIONS).parquet(f"{self._table.uri}/{staging}")
        self._place(staging)

    def hashed(self) -> None:
        """As a model is written that is not canonical."""
        self._staged(Layout())

    def staying(self) -> None:
        """As a row-wise model is written by default, and one of windows or joins."""
        by_key = bool(self._cluster_by)
        layout = Layout(
            canonical=True,
            pieces=PIECES,
            cluster_by=self._cluster_by,
            by_files=not by_key,
            by_key=by_key,
        )
        self.canonical_bytes = self._staged(layout, self._in_pieces)

    def spread(self) -> None:
        """As any other model is, where it reads that much."""
        self._staged(Layout(canonical=True, pieces=PIECES))

    def spark_bytes(self) -> int:
        """The size of what Spark wrote last."""
        return sum(file.stat().st_size for file in (self._folder / "plain").glob("*.parquet"))

    def _staged(self, layout: Layout, frame: Any = None) -> int:
        staging = self._table.new_staging()
        rows = self._frame if frame is None else frame
        write_staged(rows, f"{self._table.uri}/{staging}", layout, self._fields)
        return self._place(staging)

    def _place(self, staging: str) -> int:
        """The bytes of the files, which are gone again."""
        placed = place_files(self._table, staging, self._fields, (), frozenset())
        for file in placed:
            Path(self._table.file_uri(file).removeprefix("file://")).unlink()
        return sum(file.size for file in placed)


def compare_writes(session: Any, shape: str, frame: Any, folder: Path, rounds: int) -> None:
    """Print what naming, hashing and ordering cost for one shape."""
    frame.write.parquet(str(folder / f"{shape}-input"))
    source = session.read.parquet(str(folder / f"{shape}-input"))
    table = open_warehouse("warehouse", base=folder).table(Name("c", "s", shape))
    writes = Writes(source, table, folder, read_in_pieces(session, shape, folder))
    variants = {
        "spark": writes.by_spark,
        "addressed": writes.addressed,
        "hashed": writes.hashed,
        "staying": writes.staying,
    }
    spent = take_turns(variants, rounds, jvm_of(session))
    plain = median(each.cpu for each in spent["spark"])
    print(
        f"{shape}: {source.count():,} x {len(source.columns)}, Spark's own write {plain:.1f} s cpu"
    )
    show("  files named by their bytes / Spark's write", spent["addressed"], spent["spark"], 1.0)
    show("  with rows hash / without", spent["hashed"], spent["addressed"], 1.05)
    show("  canonical, row-wise / without order", spent["staying"], spent["hashed"], 1.25)
    show("  canonical, row-wise / Spark's write", spent["staying"], spent["spark"], 1.3)
    size = writes.canonical_bytes / writes.spark_bytes()
    label = "  size of the files / of Spark's"
    print(f"{label:<46}     {size:5.2f}x  goal 1.00x", flush=True)


def read_in_pieces(session: Any, shape: str, folder: Path) -> Any:
    """The input as a row-wise model reads it: each piece in one task."""
    views = []
    for number, path in enumerate(sorted((folder / f"{shape}-input").glob("*.parquet"))):
        views.append(f"{shape}_{number}")
        session.read.parquet(str(path)).createOrReplaceTempView(views[-1])
    assert len(views) == PIECES
    return session.sql(pieces_together(views))


def compare_queries(session: Any, folder: Path, rows: int, rounds: int) -> None:
    """Print what canonical order costs the results of joins, groupings and windows."""
    big, customers = folder / "big-input", folder / "customers-input"
    narrow(session, rows).write.parquet(str(big))
    narrow(session, rows).selectExpr(
        "id", "reference AS other", "amount * 2 AS twice"
    ).write.parquet(str(folder / "other-input"))
    session.range(0, 100_000, 1, 1).selectExpr(
        "CAST(id AS INT) AS customer", "concat('name ', id) AS name", "id % 20 AS country"
    ).write.parquet(str(customers))
    for name in ("big", "other", "customers"):
        session.read.parquet(str(folder / f"{name}-input")).createOrReplaceTempView(name)
    read_in_pieces(session, "big", folder).createOrReplaceTempView("big_in_pieces")
    session.sql("SELECT /*+ BROADCAST(customers) */ * FROM customers").createOrReplaceTempView(
        "customers_looked_up"
    )
    looked_up = session.sql(LOOKED_UP.format(big="big", customers="customers"))
    in_pieces = session.sql(LOOKED_UP.format(big="big_in_pieces", customers="customers_looked_up"))
    queries = {"rows of a small table looked up": (looked_up, in_pieces)}
    queries |= {name: (session.sql(sql), None) for name, sql in HANDED_OVER.items()}
    ranked = RANKED.format(BY_KEY.format("big", "customer"))
    queries["a window"] = (session.sql(RANKED.format("big")), session.sql(ranked))
    joined = JOINED.format(BY_KEY.format("big", "id"), KEPT.format("other", "id"))
    queries["two large tables joined"] = (
        session.sql(JOINED.format("big", "other")),
        session.sql(joined),
    )
    print(f"queries over {rows:,} rows of 7 columns, canonical")
    for name, (frame, stays) in queries.items():
        table = open_warehouse("warehouse", base=folder).table(
            Name("c", "s", name.replace(" ", "_"))
        )
        writes = Writes(frame, table, folder, stays, ORDERS.get(name, ()))
        ours = writes.spread if stays is None else writes.staying
        variants = {"spark": writes.by_spark, "hashed": writes.hashed, "canonical": ours}
        spent = take_turns(variants, rounds, jvm_of(session))
        show(f"  {name} / without order", spent["canonical"], spent["hashed"], 1.25)
        show(f"  {name} / Spark's write", spent["canonical"], spent["spark"], 1.3)


def compare_reads(session: Any, folder: Path, rounds: int) -> None:
    """Print what reading a pinned list of many files costs next to reading their folder."""
    target = folder / "many"
    narrow(session, 500_000).repartition(MANY_FILES).write.options(**CODEC).parquet(str(target))
    schema = session.read.parquet(str(target)).schema
    fields = fields_of(session.read.parquet(str(target)))
    uris = [f"file://{path}" for path in sorted(target.glob("*.parquet"))]
    total = "sum(amount)"
    variants = {
        "plain": lambda: (
            session.read.schema(schema).parquet(str(target)).selectExpr(total).collect()
        ),
        "pinned": lambda: read_files(session, fields, uris).selectExpr(total).collect(),
    }
    spent = take_turns(variants, rounds, jvm_of(session))
    show(f"read of {MANY_FILES} pinned files / of the folder", spent["pinned"], spent["plain"], 1.1)


def jvm_of(session: Any) -> int:
    return int(session.sparkContext._jvm.java.lang.ProcessHandle.current().pid())  # noqa: SLF001


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--narrow", type=int, default=3_000_000, help="rows of seven columns")
    arguments.add_argument("--wide", type=int, default=300_000, help="rows of sixty columns")
    arguments.add_argument("--widest", type=int, default=40_000, help="rows of 500 columns")
    arguments.add_argument("--rounds", type=int, default=4)
    given = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="rocky-bench-"))
    connection = connect_spark(Adapter(master="local[2]"), folder)
    session = connection.session
    try:
        compare_writes(session, "narrow", narrow(session, given.narrow), folder, given.rounds)
        compare_writes(session, "wide", wide(session, given.wide), folder, given.rounds)
        widest = wide(session, given.widest, 500)
        compare_writes(session, "widest", widest, folder, given.rounds)
        compare_queries(session, folder, given.narrow, given.rounds)
        compare_reads(session, folder, given.rounds)
    finally:
        connection.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
