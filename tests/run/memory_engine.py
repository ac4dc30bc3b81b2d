"""An engine without a JVM: DuckDB runs the queries, pyarrow writes the files.

Everything else of a run is real: the compiler, the store, the ledger. A write can be made to fail
or to wait, which is how the tests look at retries, interrupts and order.
"""

import io
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from blake3 import blake3
from pyspark.errors import PySparkException

from rocky.errors import RowsRefused, SourceUnreadable, SparkUnavailable
from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import StructField
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.run.engine.protocol import EngineFacts, Kept, PythonCode, SourcePin, Written
from rocky.run.engine.sources import find_delta_source
from rocky.spark.failures import classify_failure
from rocky.spark.interface import Failure, Layout, Metrics
from rocky.spark.reader import read_seed_text
from rocky.spark.source_files import pin_local_files
from rocky.store.data_file import TAIL, Address, DataFile, footer_start, path_of
from rocky.store.delta.snapshot import Snapshot
from rocky.store.objects import FileLocation
from rocky.store.parquet.footer import parse_footer
from rocky.store.parquet.kept_rows import find_kept, place_kept
from rocky.store.parquet.rows import arrow_schema
from rocky.store.parquet.statistics import stats_of
from rocky.store.warehouse import Table

_TYPES = {
    "int64": "bigint",
    "int32": "int",
    "string": "string",
    "double": "double",
    "bool": "boolean",
    "int16": "smallint",
    "int8": "tinyint",
    "float": "float",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "timestamp[ns]": "timestamp",
    "timestamp[us, tz=UTC]": "timestamp",
}
_READERS = {"csv": "read_csv", "json": "read_json_auto", "parquet": "read_parquet"}


_FILE = "__file"
_DAY = re.compile(r'date_format\(("[^"]*"), "yyyy-MM-dd"\)')
_STRUCT = re.compile(r"\bstruct\(([^()]*)\) AS r\b")


def _struct_literal(found: re.Match[str]) -> str:
    """The row of quoted columns that a merge makes."""
    names = [name.strip() for name in found[1].split(",")]
    return "{" + ", ".join(f"""'{name.strip('"')}': {name}""" for name in names) + "} AS r"


_FILE_NAME = re.compile(
    r"substring_index\(input_file_name\(\), '/', -1\) AS (\S+) FROM (\w+)(\)| WHERE)"
)

USED = Metrics(executor_run_ms=3_600_000, bytes_read=10**9)


@cache
def _database() -> Any:
    """The DuckDB of this process: to open one costs more than a run. What cursors make is temporary."""
    database = duckdb.connect(config={"threads": 1})
    # DuckDB has no unsigned shift; of numbers that are not negative it is the other one.
    database.execute('CREATE MACRO ">>>"(a, b) AS a >> b')
    database.execute("CREATE MACRO raise_error(message) AS error(message)")
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    return database


class MemoryViews:
    """Views of one DuckDB connection."""

    def __init__(self, connection: Any, root: Path, lock: threading.RLock) -> None:
        self.connection = connection
        self.root = root
        self.lock = lock
        self.bound: list[str] = []

    def bind_table(self, view: str, table: Table, snapshot: Snapshot) -> None:
        places = [table.place_of(each) for each in snapshot.files]
        paths = [each.name for each in snapshot.files]
        schema = arrow_schema(snapshot.schema)
        tables = [_filled(pq.read_table(_opened(each)), schema) for each in places]
        self._register(view, pa.concat_tables(tables) if tables else schema.empty_table())
        # What `input_file_name()` tells, beside the view that everybody else reads.
        named = [
            rows.append_column(_FILE, pa.array([path] * len(rows), pa.string()))
            for rows, path in zip(tables, paths, strict=True)
        ]
        if named:
            self._register(f"{view}{_FILE}", pa.concat_tables(named))

    def bind_source(
        self, view: str, source: SourceTable, pin: SourcePin | None = None
    ) -> SourcePin:
        if source.format == "delta":
            found = find_delta_source(source, self.root, {}, pin.version if pin else None)
            paths = [found.file_uri(each).removeprefix("file://") for each in found.snapshot.files]
            read = self.read("parquet", paths) if paths else arrow_schema(()).empty_table()
            pin = pin or SourcePin(version=found.version, bytes=found.snapshot.bytes)
        else:
            # Those of a pin, and no later ones.
            files = pin.files if pin else pin_local_files(source, self.root).files
            paths = [each[0] for each in files]
            read = self.read(source.format, paths, _csv_options(source))
            pin = pin or SourcePin(tuple(map(tuple, files)), None, sum(each[1] for each in files))
        self._register(view, _as_declared(read, arrow_schema(source.columns)))
        return pin

    def read(
        self, form: str, paths: Sequence[str], options: str = "union_by_name = true"
    ) -> pa.Table:
        """The rows of files: columns that only some have are null in the others."""
        listed = ", ".join(f"'{path}'" for path in paths)
        with self.lock:
            sql = f"SELECT * FROM {_READERS[form]}([{listed}], {options})"
            try:
                return self.connection.sql(sql).to_arrow_table()
            except duckdb.Error as error:
                raise PySparkException(str(error)) from error

    def bind_seed(self, view: str, seed: SeedTable) -> None:
        data = io.BytesIO(read_seed_text(seed, self.root).encode())
        schema = arrow_schema(seed.columns)
        types = pacsv.ConvertOptions(column_types=schema, strings_can_be_null=True)
        self._register(view, pacsv.read_csv(data, convert_options=types).cast(schema))

    def bind_rows(
        self, view: str, columns: Sequence[StructField], rows: Sequence[Mapping[str, Any]]
    ) -> None:
        self._register(view, pa.Table.from_pylist(list(rows), schema=arrow_schema(columns)))

    def bind_frame(self, view: str, frame: str) -> None:
        with self.lock:
            self.connection.execute(f'CREATE OR REPLACE TEMP VIEW "{view}" AS {frame}')
            self.bound.append(view)

    def bind_kept(self, view: str, frame: str, table: Table, *, is_little: bool = False) -> Kept:
        with self.lock:
            rows = self.connection.sql(frame).to_arrow_table()
            # DuckDB replaces a view by a query, not by rows.
            self.connection.execute(f'DROP VIEW IF EXISTS "{view}"')
        folder = table.new_staging()
        columns = tuple(StructField(each.name, _type(each.type), True) for each in rows.schema)
        place_kept(table, folder, rows)
        kept = Kept(folder, find_kept(table, folder, columns), columns)
        self._register(view, rows)
        return kept

    def unbind(self, views: Sequence[str]) -> None:
        self.bound = [each for each in self.bound if each.removesuffix(_FILE) not in views]

    def _register(self, view: str, rows: pa.Table) -> None:
        with self.lock:
            self.connection.register(view, rows)
            self.bound.append(view)


@dataclass
class MemoryJobs:
    """Jobs that only remember who asked for them."""

    used: Metrics = USED
    tags: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    cancel_event: threading.Event = field(default_factory=threading.Event)
    _current: threading.local = field(default_factory=threading.local)

    @contextmanager
    def tagged(self, tag: str) -> Iterator[None]:
        self.tags.append(tag)
        yield

    def metrics(self, tag: str) -> Metrics:
        return self.used

    def progress(self, tag: str) -> tuple[int, int]:
        return 1, 2

    def watched(self, tell: Callable[[SparkUnavailable], None]) -> AbstractContextManager[None]:
        return nullcontext()

    def cancel(self, tag: str) -> None:
        self.cancelled.append(tag)
        self.cancel_event.set()


class MemoryCatalogue:
    """A catalogue that remembers where a table is, and the query of a view."""

    def __init__(self) -> None:
        self.registered: dict[str, str] = {}

    def register_table(self, table: Table) -> None:
        self.registered[table.name] = table.uri

    def register_view(self, name: tuple[str, str, str], sql: str) -> str | None:
        self.registered[".".join(name)] = sql
        return None


class MemoryEngine:
    """Runs queries in DuckDB. `before_write` is called with a table's name before each write.

    With another `compression` the same rows are other bytes. Where it `tells_bounds`, logs have the
    statistics that they have of Spark's files; where it `cuts_partitions`, each is a file.
    """

    tells_bounds = False
    cuts_partitions = False

    def __init__(self, root: Path) -> None:
        self._connection = _database().cursor()
        self._lock = threading.RLock()
        self.facts = EngineFacts("4.1.4", "memory", {"spark.sql.ansi.enabled": "true"})
        self.views = MemoryViews(self._connection, root, self._lock)
        self.jobs = MemoryJobs()
        self.before_write: Callable[[str], None] = lambda _: None
        self.compression = "snappy"
        self.queries: list[str] = []
        self.layouts: dict[str, Layout] = {}
        self.catalogue = MemoryCatalogue()

    def describe(self, source: SourceTable) -> tuple[StructField, ...]:
        if source.format == "delta":
            return find_delta_source(source, self.views.root, {}).snapshot.schema
        paths = [each.path for each in pin_local_files(source, self.views.root).files]
        try:
            schema = self.views.read(source.format, paths, _csv_options(source)).schema
        except PySparkException as error:
            raise SourceUnreadable(f"source `{source.name}` cannot be read: {error}") from error
        return tuple(StructField(each.name, _type(each.type), True) for each in schema)

    def frame(self, sql: str) -> str:
        self.queries.append(sql)
        if sql.startswith("CACHE LAZY TABLE "):
            return sql
        spoken = _FILE_NAME.sub(rf"{_FILE} AS \1 FROM \2{_FILE}\3", sql).replace("`", '"')
        spoken = spoken.replace("<=>", "IS NOT DISTINCT FROM")
        spoken = spoken.replace("LEFT ANTI JOIN", "ANTI JOIN").replace("raise_error(", "error(")
        spoken = spoken.replace("xxhash64(", "hash(")
        spoken = _STRUCT.sub(_struct_literal, spoken)
        spoken = _DAY.sub(r"strftime(\1, '%Y-%m-%d')", spoken)
        self._ask(f"DESCRIBE {spoken}")
        return spoken

    def python_frame(self, model: PythonCode, inputs: Mapping[str, str]) -> str:
        # No Python is run: the query stands in a remark.
        query = model.text.split("# query: ")[1].splitlines()[0]
        return self.frame(query.format(**inputs))

    def columns(self, frame: str) -> tuple[StructField, ...]:
        schema = self._ask(f"SELECT * FROM ({frame}) LIMIT 0").schema
        return tuple(StructField(each.name, _type(each.type), True) for each in schema)

    def rows(self, frame: str, limit: int) -> list[tuple[Any, ...]]:
        found = self._ask(f"SELECT * FROM ({frame}) LIMIT {limit}")
        return [tuple(row.values()) for row in found.to_pylist()]

    def table(self, frame: str, limit: int) -> pa.Table:
        return self._ask(f"SELECT * FROM ({frame}) LIMIT {limit}")

    def explain(self, error: BaseException) -> Failure:
        return classify_failure(error)

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def end(self) -> None:
        return None

    @property
    def output(self) -> str:
        return ""

    def rows_hash(self, frame: str) -> str:
        return _rows_hash(self._ask(frame))

    def write(
        self,
        frame: str,
        table: Table,
        layout: Layout,
        schema: tuple[StructField, ...],
        kept_paths: frozenset[str],
    ) -> Written:
        self.before_write(table.name)
        self.layouts[table.name] = layout
        rows = self._ask(frame)
        wanted = pa.schema([each.with_nullable(True) for each in arrow_schema(schema)])
        rows = rows.cast(wanted)
        for each in schema:
            if not each.nullable and rows[each.name].null_count:
                raise RowsRefused(f"`{each.name}` of `{table.name}` is NOT NULL, but holds a null")
        if not rows.num_rows:
            return Written((), 0, _rows_hash(rows))
        parts = layout.partition_columns if self.cuts_partitions else ()
        files = [self._put(each, table, schema, parts) for each in _cut(rows, parts)]
        return Written(tuple(files), rows.num_rows, _rows_hash(rows))

    def _put(
        self, rows: pa.Table, table: Table, schema: tuple[StructField, ...], parts: Sequence[str]
    ) -> DataFile:
        data = io.BytesIO()
        by = [each.name for each in rows.schema if not pa.types.is_nested(each.type)]
        ordered = rows.sort_by([(name, "ascending") for name in by])
        pq.write_table(ordered, data, compression=self.compression)
        address = Address(blake3(data.getvalue()).hexdigest())
        table.objects.put(f"{table.prefix}/{path_of(address)}", data.getvalue())
        first = rows.slice(0, 1).to_pylist()[0]
        return DataFile(
            path_of(address),
            len(data.getvalue()),
            rows.num_rows,
            self._stats(data.getvalue(), schema, rows.num_rows, parts),
            {each: None if first[each] is None else str(first[each]) for each in parts},
            0,
        )

    def _stats(
        self, data: bytes, schema: Sequence[StructField], rows: int, parts: Sequence[str] = ()
    ) -> str:
        if not self.tells_bounds:
            return json.dumps({"numRecords": rows})
        footer = parse_footer(data[footer_start(len(data), data[-TAIL:]) : -TAIL])
        return stats_of(footer, schema, parts)

    def _ask(self, sql: str) -> pa.Table:
        try:
            with self._lock:
                return self._connection.sql(sql).to_arrow_table()
        except duckdb.Error as error:
            raise PySparkException(str(error)) from error


def _cut(rows: pa.Table, parts: Sequence[str]) -> list[pa.Table]:
    """Rows by the values of some columns; all as they are without any."""
    if not parts:
        return [rows]
    keys = [tuple(each[name] for name in parts) for each in rows.select(list(parts)).to_pylist()]
    return [
        rows.filter(pa.array([each == wanted for each in keys])) for wanted in dict.fromkeys(keys)
    ]


def _opened(place: FileLocation) -> str | io.BytesIO:
    """A file as pyarrow reads it: from a disk, or from an object store."""
    return str(place.local) if place.local is not None else io.BytesIO(place.read() or b"")


def _csv_options(source: SourceTable) -> str:
    """How DuckDB is to read a source: a CSV that says so by position, with its declared types."""
    if source.format != "csv" or "header" not in source.options:
        return "union_by_name = true"
    said = f"header = {source.options['header']}, delim = '{source.options.get('sep', ',')}'"
    if not source.columns:
        return said
    columns = ", ".join(
        f"'{each.name}': '{'varchar' if each.type.kind == 'string' else each.type.text}'"
        for each in source.columns
    )
    return f"{said}, columns = {{{columns}}}"


def _filled(rows: pa.Table, wanted: pa.Schema) -> pa.Table:
    """The rows of a file of a table that may have got columns since; a file's types hold."""
    columns = [
        rows[each.name] if each.name in rows.column_names else pa.nulls(len(rows), each.type)
        for each in wanted
    ]
    return pa.table(dict(zip(wanted.names, columns, strict=True)))


def _as_declared(rows: pa.Table, wanted: pa.Schema) -> pa.Table:
    """The declared columns, whatever order the files have them in."""
    given = {name.lower(): name for name in rows.column_names}
    return (
        rows.select([given[name.lower()] for name in wanted.names])
        .rename_columns(wanted.names)
        .cast(pa.schema([each.with_nullable(True) for each in wanted]))
    )


def _type(arrow: pa.DataType) -> Any:
    if pa.types.is_decimal(arrow):
        return parse_type(f"decimal({arrow.precision},{arrow.scale})")
    return parse_type(_TYPES[str(arrow)])


def _rows_hash(rows: pa.Table) -> str:
    hashes = (blake3(repr(row).encode()).digest(16) for row in rows.to_pylist())
    return f"{sum(int.from_bytes(each) for each in hashes) % 2**128:032x}"
