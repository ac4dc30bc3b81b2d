"""The engine of real runs: Spark behind the `Engine` protocol.

Everything that touches pyspark is in `rocky.spark`; this module joins it with the store, which
names the files that Spark wrote by their bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any

from rocky.datatypes.types import StructField
from rocky.errors import InternalError
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.run.delta_sources import read_delta_source
from rocky.run.delta_versions import NotPlain, find_delta_source
from rocky.run.engine import EngineFacts, Frame, Jobs, SourcePin, Written
from rocky.run.python_models import call_model
from rocky.spark.answers import take_rows
from rocky.spark.connections import Connection
from rocky.spark.failure_kinds import Failure
from rocky.spark.jobs import jobs_of
from rocky.spark.layout import WRITER, Layout
from rocky.spark.live_columns import describe_source
from rocky.spark.readers import read_files, read_rows, read_seed, read_source
from rocky.spark.registration import register_table
from rocky.spark.rows_hash import hash_rows
from rocky.spark.schemas import fields_of
from rocky.spark.source_files import Pinned, PinnedFile
from rocky.spark.tasks import map_on_executors
from rocky.spark.writer import write_staged
from rocky.store.placing import place_files
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class SparkViews:
    """Temporary views of one Spark session."""

    session: Any
    root: Path
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def bind_table(self, view: str, table: Table, snapshot: Snapshot) -> None:
        uris = [table.file_uri(file) for file in snapshot.files]
        read_files(self.session, snapshot.schema, uris).createOrReplaceTempView(view)

    def bind_source(
        self, view: str, source: SourceTable, pin: SourcePin | None = None
    ) -> SourcePin:
        if source.format == "delta":
            version = pin.version if pin is not None else None
            read = read_delta_source(self.session, source, self.root, self.options, version)
        else:
            pinned = (
                None if pin is None else Pinned(tuple(starmap(PinnedFile, pin.files)), pin.base)
            )
            read = read_source(self.session, source, self.root, pinned)
        read.frame.createOrReplaceTempView(view)
        return pin or SourcePin(read.files, read.version, read.bytes)

    def bind_seed(self, view: str, seed: SeedTable) -> None:
        read_seed(self.session, seed, self.root).createOrReplaceTempView(view)

    def bind_rows(
        self, view: str, columns: Sequence[StructField], rows: Sequence[Mapping[str, Any]]
    ) -> None:
        read_rows(self.session, columns, rows).createOrReplaceTempView(view)

    def bind_frame(self, view: str, frame: Frame) -> None:
        frame.createOrReplaceTempView(view)

    def unbind(self, views: Sequence[str]) -> None:
        for view in views:
            self.session.catalog.dropTempView(view)


class SparkEngine:
    """Spark as a run sees it."""

    def __init__(
        self, connection: Connection, root: Path, options: Mapping[str, str] | None = None
    ) -> None:
        self._connection = connection
        self._session = connection.session
        self.views = SparkViews(connection.session, root, options or {})
        self.jobs: Jobs = jobs_of(connection)
        self.facts = EngineFacts(
            connection.facts.spark_version,
            WRITER,
            dict(connection.facts.settings),
            dict(connection.facts.explicit),
        )

    def explain(self, error: BaseException) -> Failure:
        return self._connection.explain(error)

    def describe(self, source: SourceTable) -> tuple[StructField, ...]:
        if source.format == "delta" and source.path is not None:
            try:
                found = find_delta_source(source, self.views.root, self.views.options)
            except NotPlain:
                # Delta's own connector may know what we do not.
                return describe_source(self._session, source, self.views.root)
            return found.snapshot.schema
        return describe_source(self._session, source, self.views.root)

    def frame(self, sql: str) -> Frame:
        return self._session.sql(sql)

    def python_frame(self, path: Path, text: str, inputs: Mapping[str, str]) -> Frame:
        frames = {name: self._session.table(view) for name, view in inputs.items()}
        return call_model(self.views.root / path, text, frames)

    def columns(self, frame: Frame) -> tuple[StructField, ...]:
        return fields_of(frame)

    def rows(self, frame: Frame, limit: int) -> list[tuple[Any, ...]]:
        return take_rows(frame, limit)

    def rows_hash(self, frame: Frame) -> str:
        return hash_rows(frame, self.columns(frame))

    def register(self, table: Table) -> None:
        catalog, schema, name = table.prefix.split("/")
        register_table(self._session, (catalog, schema, name), table.uri)

    def write(
        self,
        frame: Frame,
        table: Table,
        layout: Layout,
        schema: Sequence[StructField],
        taken: frozenset[str],
    ) -> Written:
        """Stage with Spark's writer, then name every file by its bytes, where the data is."""
        staging = table.new_staging()
        staged = write_staged(frame, f"{table.uri}/{staging}", layout, schema)
        files = place_files(
            table,
            staging,
            schema,
            layout.partition_columns,
            taken,
            run_tasks=self._run_tasks(),
        )
        placed = sum(file.rows for file in files)
        if placed != staged.rows:
            raise InternalError(
                f"Spark counted {staged.rows} rows for `{table.name}` and its files hold {placed}"
            )
        return Written(files, staged.rows, staged.rows_hash)

    def _run_tasks(self) -> Callable[..., list[Any]] | None:
        """Executors hash what they wrote, except where the driver is the executor."""
        if self._connection.kind == "local":
            return None
        session = self._session

        def run_tasks(function: Callable[[str], Any], texts: Sequence[str]) -> list[Any]:
            return map_on_executors(session, function, texts)

        return run_tasks
