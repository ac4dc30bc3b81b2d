"""The engine of real runs: Spark behind the `Engine` protocol, opened from `[adapter]`.

Everything that touches pyspark is in `rocky.spark`; this module joins it with the store, which
names the files that Spark wrote by their bytes. A run that builds nothing never loads it. A Python
model is executed from the texts that were compiled, its own and those of modules that it imports,
not from their files, which may have been edited.
"""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from rocky.errors import (
    AdapterUnusable,
    InternalError,
    ModelFailed,
    SourceUnreadable,
    SparkUnavailable,
)
from rocky.language.datatypes.types import StructField
from rocky.language.declared_functions import DeclaredFunction
from rocky.project.configuration.blocks import Adapter
from rocky.project.functions import ProjectFunction
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.run.engine.protocol import (
    Catalogue,
    EngineEnd,
    EngineFacts,
    Frame,
    Jobs,
    Kept,
    PythonCode,
    SourcePin,
    Written,
)
from rocky.run.engine.sources import NeedsDeltaConnector, find_delta_source
from rocky.spark.active_session import active_session
from rocky.spark.connection import Connection, adopt_session, function_mode
from rocky.spark.executors import Executors
from rocky.spark.failures import SPARK_ERRORS
from rocky.spark.frame import fields_of, take_few, take_rows, take_table
from rocky.spark.function_descriptions import describe_function
from rocky.spark.function_modules import shared_code
from rocky.spark.functions import NO_FUNCTIONS, SessionFunctions
from rocky.spark.interface import WRITER, Failure, Layout
from rocky.spark.jobs import jobs_of
from rocky.spark.keyed_hashes import KeyedHashes
from rocky.spark.output import last_lines
from rocky.spark.reader import (
    SourceRead,
    describe_source,
    read_files,
    read_lake_files,
    read_rows,
    read_seed,
    read_source,
)
from rocky.spark.rows_hash import hash_rows
from rocky.spark.session import (
    CONNECTOR_HELP,
    check_object_store,
    connect_spark,
    has_connector,
    open_catalogue,
    register_table,
    register_view,
)
from rocky.spark.settings import refuse_substitution
from rocky.spark.source_files import Pinned, PinnedFile, source_label
from rocky.spark.writer import keep_rows, write_staged
from rocky.store.delta.snapshot import Snapshot
from rocky.store.parquet.kept_rows import find_kept, place_kept
from rocky.store.parquet.staging import place_files
from rocky.store.warehouse import Table

_LAST_LINES: Final = 10
FUNCTION: Final = "model"
_MODULE: Final = "<rocky model>"
"""No module's name, so that what the file defines is sent to executors by value."""


def call_model(path: Path, text: str, frames: Mapping[str, Any]) -> Any:
    """The frame that the `model` function of a file's text makes of its inputs.

    Raises ModelFailed.
    """
    defined: dict[str, Any] = {"__name__": _MODULE, "__file__": str(path)}
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), defined)
        function = defined.get(FUNCTION)
        made = function(**frames) if callable(function) else None
    except SPARK_ERRORS:
        raise
    # What an author's code may raise is anything; it fails this model and no other.
    except Exception as error:
        at = _line_in(path, error)
        raise ModelFailed(f"`{path.name}`{at} raised {type(error).__name__}: {error}") from error
    if not callable(function):
        raise ModelFailed(f"`{path.name}` defines no function `{FUNCTION}`")
    if not hasattr(made, "createOrReplaceTempView"):
        raise ModelFailed(f"`{FUNCTION}` in `{path.name}` must return a DataFrame, not {made!r}")
    return made


def _line_in(path: Path, error: BaseException) -> str:
    """The last line of the author's file that an error came through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return f" line {lines[-1]}" if lines else ""


def read_delta_source(
    session: Any,
    source: SourceTable,
    root: Path,
    options: Mapping[str, str],
    version: str | None = None,
) -> SourceRead:
    """A Delta table at a version that was found before, or as it is now. Raises SourceUnreadable.

    What plain Spark cannot read is left to Delta's connector, if there is one.
    """
    try:
        found = find_delta_source(source, root, options, version)
    except NeedsDeltaConnector as error:
        if has_connector(session):
            return read_source(session, source, root)
        raise SourceUnreadable(
            f"{source_label(source)} cannot be read: {error}; {CONNECTOR_HELP}"
        ) from error
    files = tuple(
        PinnedFile(found.file_uri(file), file.size, file.modified_ms)
        for file in found.snapshot.files
    )
    base = found.base if found.has_folders else None
    frame = read_lake_files(session, source, found.snapshot.schema, files, base=base)
    return SourceRead(frame, files, found.version)


@dataclass(frozen=True, slots=True)
class SparkViews:
    """Temporary views of one Spark session."""

    session: Any
    root: Path
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def bind_table(self, view: str, table: Table, snapshot: Snapshot) -> None:
        uris = [table.file_uri(file) for file in snapshot.files]
        self.bind_frame(view, read_files(self.session, snapshot.schema, uris))

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
        self.bind_frame(view, read.frame)
        return pin or SourcePin(read.files, read.version, read.bytes)

    def bind_seed(self, view: str, seed: SeedTable) -> None:
        self.bind_frame(view, read_seed(self.session, seed, self.root))

    def bind_rows(
        self, view: str, columns: Sequence[StructField], rows: Sequence[Mapping[str, Any]]
    ) -> None:
        self.bind_frame(view, read_rows(self.session, columns, rows))

    def bind_frame(self, view: str, frame: Frame) -> None:
        frame.createOrReplaceTempView(view)

    def bind_kept(self, view: str, frame: Frame, table: Table, *, is_little: bool = False) -> Kept:
        folder, columns = table.new_staging(), fields_of(frame)
        rows = take_few(frame, columns) if is_little else None
        if rows is not None:
            place_kept(table, folder, rows)
        else:
            keep_rows(frame, f"{table.uri}/{folder}")
        kept = Kept(folder, find_kept(table, folder, columns), columns)
        self.bind_table(view, table, kept.snapshot)
        return kept

    def frame_of(self, view: str) -> Frame:
        return self.session.table(view)

    def unbind(self, views: Sequence[str]) -> None:
        for view in views:
            self.session.catalog.dropTempView(view)


@dataclass(frozen=True, slots=True)
class SparkCatalogue:
    """The catalogue of one Spark session."""

    session: Any

    def register_table(self, table: Table) -> None:
        catalog, schema, name = table.prefix.split("/")
        register_table(self.session, (catalog, schema, name), table.uri)

    def register_view(self, name: tuple[str, str, str], sql: str) -> str | None:
        refuse_substitution(self.session, sql)
        return register_view(self.session, name, sql)


class SparkEngine:
    """Spark as a run sees it."""

    def __init__(
        self,
        connection: Connection,
        root: Path,
        options: Mapping[str, str] | None = None,
        functions: Mapping[str, ProjectFunction] = NO_FUNCTIONS,
    ) -> None:
        self._connection = connection
        self._session = connection.session
        self._functions = SessionFunctions(self._session, functions, root)
        self.hashes = KeyedHashes(self._session)
        self._executors = Executors(self._session)
        self.notes: Sequence[str] = self._executors.notes
        self.views: SparkViews = self._views(root, options or {})
        self.jobs: Jobs = jobs_of(connection)
        self.catalogue: Catalogue = SparkCatalogue(self._session)
        self.facts = EngineFacts(
            connection.facts.spark_version,
            WRITER,
            dict(connection.facts.settings),
            dict(connection.facts.explicit),
            remote=connection.kind == "connect",
        )

    def _views(self, root: Path, options: Mapping[str, str]) -> SparkViews:
        return SparkViews(self._session, root, options)

    def explain(self, error: BaseException) -> Failure:
        return self._connection.explain(error)

    @property
    def end(self) -> EngineEnd | None:
        end = self._connection.ending()
        if end is None:
            return None
        return EngineEnd(end.message, end.advice, last_lines(self.output, _LAST_LINES))

    @property
    def output(self) -> str:
        return self._connection.output

    def describe(self, source: SourceTable) -> tuple[StructField, ...]:
        if source.format == "delta" and source.path is not None:
            try:
                found = find_delta_source(source, self.views.root, self.views.options)
            except NeedsDeltaConnector:
                # Delta's own connector may know what we do not.
                return describe_source(self._session, source, self.views.root)
            return found.snapshot.schema
        return describe_source(self._session, source, self.views.root)

    def describe_function(self, parts: Sequence[str]) -> DeclaredFunction | None:
        return describe_function(self._session, parts)

    def frame(self, sql: str) -> Frame:
        refuse_substitution(self._session, sql)
        self._functions.make_named(sql)
        self.hashes.make_named(sql)
        return self._session.sql(sql)

    def python_frame(self, model: PythonCode, inputs: Mapping[str, str]) -> Frame:
        self._functions.make_named(model.text)
        frames = {name: self.views.frame_of(view) for name, view in inputs.items()}
        with active_session(self._session), shared_code(self.views.root, model.path, model.imports):
            return call_model(self.views.root / model.path, model.text, frames)

    def columns(self, frame: Frame) -> tuple[StructField, ...]:
        return fields_of(frame)

    def rows(self, frame: Frame, limit: int) -> list[tuple[Any, ...]]:
        return take_rows(frame, limit)

    def table(self, frame: Frame, limit: int) -> Any:
        return take_table(frame, limit)

    def rows_hash(self, frame: Frame) -> str:
        return hash_rows(frame, self.columns(frame))

    def write(
        self,
        frame: Frame,
        table: Table,
        layout: Layout,
        schema: Sequence[StructField],
        kept_paths: frozenset[str],
    ) -> Written:
        """Stage with Spark's writer, then name every file by its bytes, where the data is."""
        staging = table.new_staging()
        staged = write_staged(frame, f"{table.uri}/{staging}", layout, schema)
        files = place_files(
            table,
            staging,
            schema,
            layout.partition_columns,
            kept_paths,
            hashes=staged.file_hashes,
            run_tasks=self._run_tasks(),
        )
        placed = sum(file.rows for file in files)
        if staged.rows and not files and self._connection.kind != "local":
            raise AdapterUnusable(
                f"executors wrote {staged.rows} rows for `{table.name}`, and no file of theirs lies"
                f" at `{table.uri}` as this machine sees it: on a cluster the `warehouse` is a"
                " folder that all machines share, or an `s3://` URI"
            )
        if placed != staged.rows:
            raise InternalError(
                f"Spark counted {staged.rows} rows for `{table.name}` and its files hold {placed}"
            )
        return Written(files, staged.rows, staged.rows_hash)

    def _run_tasks(self) -> Callable[..., list[Any]] | None:
        """Executors hash what they wrote, except where the driver is the executor."""
        if self._connection.kind == "local":
            return None
        return self._executors.map


@contextmanager
def open_project_engine(
    adapter: Adapter,
    root: Path,
    spark: Any = None,
    functions: Mapping[str, ProjectFunction] = NO_FUNCTIONS,
) -> Iterator[SparkEngine]:
    """Spark as `[adapter]` asks for it, or the caller's session, which is left as it was.

    `functions` are those that queries may call; they are made when one does.
    """
    connection = (
        connect_spark(adapter, root) if spark is None else adopt_session(spark, adapter.conf)
    )
    try:
        if adapter.register:
            open_catalogue(connection.session)
        check_object_store(connection.session, adapter.warehouse)
        with function_mode(connect=connection.kind == "connect"):
            yield SparkEngine(connection, root, adapter.conf, functions)
    except (*SPARK_ERRORS, ConnectionError) as error:
        end = connection.ending(wait=True)
        if end is None:
            raise
        raise SparkUnavailable(f"{end.message}: {end.advice}", output=connection.output) from error
    finally:
        connection.close()
