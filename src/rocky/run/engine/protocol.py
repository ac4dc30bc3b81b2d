"""The engine as a Protocol: what a run needs of Spark, so that runs are tested without a JVM.

Strategies compose SQL over views; the engine binds views to pinned files, runs SQL and writes
results into a table's folder as content-addressed files. It never commits: that is the store's.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from rocky.diagnostics import Diagnostic
from rocky.errors import SparkUnavailable
from rocky.language.datatypes.types import StructField
from rocky.language.declared_functions import DeclaredFunction
from rocky.project.models import Imports
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable
from rocky.spark.interface import Failure, Layout, Metrics
from rocky.store.data_file import DataFile
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class Written:
    """Files that lie in the table's folder under their addresses, not yet committed."""

    files: tuple[DataFile, ...]
    rows: int
    rows_hash: str


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of a query that was run once, as files in a staging folder of a table.

    The bounds of their columns are those that a log would have.
    """

    folder: str
    files: tuple[DataFile, ...]
    columns: tuple[StructField, ...]

    @property
    def rows(self) -> int:
        return sum(file.rows for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def snapshot(self) -> Snapshot:
        """The rows as if they were a table."""
        return Snapshot(-1, self.columns, (), self.files, {}, {}, "", 0)


@dataclass(frozen=True, slots=True)
class SourcePin:
    """What a source was when it was read: its files with size and time, or a version.

    `hashes` are the BLAKE3 of the files' bytes, index by index, where somebody computed them.
    `read` is False where a hash was remembered and the bytes were not read for it. `base` is the
    folder below which folders called `key=value` are columns.
    """

    files: tuple[tuple[str, int, int], ...] = ()
    version: str | None = None
    bytes: int | None = None
    hashes: tuple[str, ...] = ()
    base: str | None = None
    read: bool = True


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What can change a result or its bytes: recorded with every run.

    `explicit` are settings that somebody has set on the session. They may hold secrets, and are not
    recorded. `remote` when it is reached through Connect.
    """

    spark_version: str
    writer: str
    settings: Mapping[str, str]
    explicit: Mapping[str, str] = field(default_factory=dict, repr=False)
    remote: bool = False


@dataclass(frozen=True, slots=True)
class EngineEnd:
    """How a Spark ended in the middle of a run, what to do, and the last lines of its log.

    `building` are the models that were being built.
    """

    message: str
    advice: str
    last_lines: tuple[str, ...] = ()
    building: tuple[str, ...] = ()


Frame = Any
"""A query that has been analysed and not run: opaque outside the engine."""


class Views(Protocol):
    """Temporary views: the names that bound SQL speaks of. Thread-safe."""

    def bind_table(self, view: str, table: Table, snapshot: Snapshot) -> None:
        """A view over exactly the snapshot's files; `input_file_name()` tells them apart."""

    def bind_source(
        self, view: str, source: SourceTable, pin: SourcePin | None = None
    ) -> SourcePin:
        """A view over a source, with its declared columns: as it was pinned, else as it is."""

    def bind_seed(self, view: str, seed: SeedTable) -> None:
        """A view over a seed's CSV, with its columns."""

    def bind_rows(
        self, view: str, columns: Sequence[StructField], rows: Sequence[Mapping[str, Any]]
    ) -> None:
        """A view over literal rows: the fixtures of unit tests. Absent keys are null."""

    def bind_frame(self, view: str, frame: Frame) -> None:
        """A view over a frame: how a strategy builds on the author's query."""

    def bind_kept(self, view: str, frame: Frame, table: Table, *, is_little: bool = False) -> Kept:
        """Run a query once; the view shows its rows, which lie in a staging folder of the table.

        There they stay until somebody removes them. Where it `is_little` that is run, and its rows
        are few, they come by way of this process; more than few are thrown away and made again.
        """

    def unbind(self, views: Sequence[str]) -> None: ...


class Jobs(Protocol):
    """The Spark jobs of a model, known by a tag. Thread-safe."""

    def tagged(self, tag: str) -> AbstractContextManager[None]:
        """Jobs this thread starts inside carry the tag."""

    def metrics(self, tag: str) -> Metrics: ...

    def progress(self, tag: str) -> tuple[int, int]:
        """Tasks done and tasks known, of the tag's jobs."""

    def cancel(self, tag: str) -> None: ...

    def watched(self, tell: Callable[[SparkUnavailable], None]) -> AbstractContextManager[None]:
        """Inside, work that waits for a first executor of a cluster is told of."""


class Catalogue(Protocol):
    """Spark's own catalogue, for whom names are registered there. Raises AdapterUnusable."""

    def register_table(self, table: Table) -> None:
        """Make a table known by its name."""

    def register_view(self, name: tuple[str, str, str], sql: str) -> str | None:
        """Make a query known as a view; why the catalogue of that name holds none, or None."""


class HashKey(Protocol):
    """What masked values are hashed with; it is in no text that Spark is given or keeps."""

    def hold(self, key: str) -> None:
        """Hash with this key from now on."""


class PythonCode(Protocol):
    """What a Python model is run from, wherever it was kept; `path` says where it stood."""

    @property
    def path(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def imports(self) -> Imports: ...


class Engine(Protocol):
    """Spark, as a run sees it. All methods may be called from several threads."""

    @property
    def facts(self) -> EngineFacts: ...

    @property
    def views(self) -> Views: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def catalogue(self) -> Catalogue: ...

    @property
    def hashes(self) -> HashKey: ...

    def explain(self, error: BaseException) -> Failure:
        """What an error of this Spark means; a JVM that died may have said why."""

    @property
    def notes(self) -> Sequence[str]:
        """What whoever asked for the run should know of how this Spark does its work."""

    @property
    def end(self) -> EngineEnd | None:
        """How this Spark ended; None while it runs, and for one that others have started."""

    @property
    def output(self) -> str:
        """What this Spark printed; nothing for one that others have started."""

    def describe(self, source: SourceTable) -> tuple[StructField, ...]:
        """The columns a source has now, whatever is declared. Raises SourceUnreadable."""

    def describe_function(self, parts: Sequence[str]) -> DeclaredFunction | None:
        """A function that the session has; not `usable` where it does not say what it takes."""

    def frame(self, sql: str) -> Frame:
        """Analyse a query over bound views."""

    def python_frame(self, model: PythonCode, inputs: Mapping[str, str]) -> Frame:
        """Call the function of a Python model with its inputs (parameter -> bound view).

        What is run is its text and what it imports as they were compiled, not the files.
        """

    def columns(self, frame: Frame) -> tuple[StructField, ...]: ...

    def rows(self, frame: Frame, limit: int) -> list[tuple[Any, ...]]:
        """The first rows, as Python values: for small answers only."""

    def table(self, frame: Frame, limit: int) -> Any:
        """The first rows as an Arrow table, columns by place: for people to look at.

        What Arrow has no type for comes as text.
        """

    def rows_hash(self, frame: Frame) -> str:
        """The order-independent hash of a query's rows, as `write` finds it, without writing."""

    def write(
        self,
        frame: Frame,
        table: Table,
        layout: Layout,
        schema: Sequence[StructField],
        kept_paths: frozenset[str],
    ) -> Written:
        """Run the query; executors write, hash and place files.

        `schema` says what may be null; `kept_paths` are paths that stay live beside the new files.
        """


@dataclass(frozen=True, slots=True)
class StepFailure:
    """Why a step failed, and whether the same step may succeed a moment later.

    `cause` is what Spark said, where it was Spark; `finding` says where in the project it was.
    `trace` is everything that is known of it, for the log; `hides` is the classified column whose
    value nobody may see there.
    """

    kind: str
    message: str
    retryable: bool = False
    condition: str | None = None
    cause: Failure | None = field(default=None, repr=False, compare=False)
    finding: Diagnostic | None = None
    trace: str = field(default="", repr=False, compare=False)
    hides: str | None = None


Classify = Callable[[BaseException], StepFailure]
"""What an error that ended a step, or a part of it, means, and where it is."""
