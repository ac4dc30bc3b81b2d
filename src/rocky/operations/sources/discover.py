"""Discover: the columns that sources have now, and their declarations brought up to date.

That is asked of every source of the project, of every table that models read and nobody declares,
or of what one pipeline reads. Files that tell it themselves are read; Spark starts for the rest
alone. What it says of files without types of their own (CSV, JSON) is a guess from their values: it
fills in what is not declared and never overrides what is.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from rocky.errors import InternalError, InvalidRequest, RockyError, SourceUnreadable
from rocky.language.datatypes.text import format_type
from rocky.language.datatypes.types import UNKNOWN, StructField
from rocky.language.declared_functions import DeclaredFunction
from rocky.language.names import split_name
from rocky.operations.digest import Digested
from rocky.operations.sources.choice import ChosenSource, DiscoveryScope, choose_sources
from rocky.operations.sources.function_discovery import (
    DiscoveredFunction,
    describe_found,
    find_functions,
    write_functions,
)
from rocky.operations.sources.live_columns import Asked, LiveColumns, open_live
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.pipelines.drift.live import holds
from rocky.plan.adapters import main_adapter
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.files import write_atomically
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.schema_cache import SCHEMAS_FOLDER, CachedSchema, file_of, save_schemas
from rocky.project.setting_places import placed_settings
from rocky.project.source_declarations import (
    declare_columns,
    declare_tables,
    is_declarable,
    order_columns,
)
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import spelled, unescaped
from rocky.store.folder import refuse_escape

_ENFORCED: Final = frozenset({"delta", "iceberg", "jdbc", "table"})
"""Formats whose NOT NULL is kept by whoever writes them; files of others may hold anything."""
_UNTYPED: Final = frozenset({"csv", "json"})
_ORDERED: Final = "csv"


Status = Literal["undeclared", "untyped", "changed", "same", "unreadable", "table"]
"""How a source stands to its declaration; a `table` is one that a pipeline of the project writes
into an object store, which nobody declares."""


@dataclass(frozen=True, slots=True)
class DiscoverRequest(Request):
    """Which sources, by names in which `*` stands for anything; all without any.

    With a `pipeline` what that reads is meant; `schemas` are patterns of the names of schemas. With
    `write` the declarations are brought up to date; with `cache` what nobody declares is kept for
    compiles. `adapter` is whose Spark is asked.
    """

    names: tuple[str, ...] = ()
    write: bool = False
    adapter: str | None = None
    pipeline: str | None = None
    schemas: tuple[str, ...] = ()
    cache: bool = False

    @property
    def is_of_everything(self) -> bool:
        """Whether nothing was chosen: then functions that nobody declares are looked at too."""
        return not (self.names or self.pipeline or self.schemas or self.cache)


@dataclass(frozen=True, slots=True)
class DiscoveredColumn:
    """A column as it is now."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """How a column differs from its declaration; None for what one side does not have."""

    column: str
    declared: str | None
    found: str | None


@dataclass(frozen=True, slots=True)
class DiscoveredSource:
    """A source as it is now. `file` declares it, or will; types may be `guessed` from values.

    `asked` is who told: the `files` themselves, or `spark`. `pipeline` copies it, if one does.
    """

    name: str
    file: str
    status: Status
    columns: tuple[DiscoveredColumn, ...] = ()
    changes: tuple[ColumnChange, ...] = ()
    error: str | None = None
    guessed: bool = False
    asked: Asked | None = None
    pipeline: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class DiscoverReport(Digested):
    """Every source that was looked at, and the files that were written; `cached` are schemas.

    `functions` are those that models call, nobody declares and Spark has.
    """

    sources: tuple[DiscoveredSource, ...]
    written: tuple[str, ...]
    cached: tuple[str, ...] = ()
    functions: tuple[DiscoveredFunction, ...] = ()

    @property
    def has_errors(self) -> bool:
        """Whether a source could not be looked at."""
        return any(each.error is not None for each in self.sources)


@dataclass(frozen=True, slots=True)
class _Found:
    """A source and its columns as they should be declared; `error` is why that is not known."""

    chosen: ChosenSource
    columns: tuple[StructField, ...] = ()
    error: str | None = None
    asked: Asked | None = None

    @property
    def source(self) -> SourceTable:
        return self.chosen.source

    @property
    def differs(self) -> bool:
        return self.error is None and bool(self.changes)

    @property
    def changes(self) -> tuple[ColumnChange, ...]:
        declared = {field.name.lower(): field for field in self.source.columns}
        live = {field.name.lower(): field for field in self.columns}
        changed = [
            ColumnChange((live.get(key) or declared[key]).name, before, after)
            for key in dict.fromkeys((*declared, *live))
            if (before := _text(declared.get(key))) != (after := _text(live.get(key)))
        ]
        return (*changed, *self._moved(list(declared), list(live)))

    def _moved(self, declared: list[str], live: list[str]) -> Iterator[ColumnChange]:
        """Columns that stand elsewhere; only a CSV is read by the order of its columns."""
        if self.source.format != _ORDERED:
            return
        names = {field.name.lower(): field.name for field in self.columns}
        before = [key for key in declared if key in live]
        after = [key for key in live if key in declared]
        for key in (new for old, new in zip(before, after, strict=True) if old != new):
            places = (f"column {each.index(key) + 1}" for each in (declared, live))
            yield ColumnChange(names[key], *places)


def discover(
    workspace: Workspace,
    request: DiscoverRequest,
    *,
    looked: Callable[[int, int, DiscoveredSource], None] = lambda _number, _of, _source: None,
) -> DiscoverReport:
    """Look at sources, and declare what they have. Raises NothingSelected, SparkUnavailable.

    Of a source that cannot be looked at nothing is written. `looked` hears of each as it is done:
    the how manieth it is, of how many. Raises InvalidRequest for `write` and `cache` at once.
    """
    if request.write and request.cache:
        raise InvalidRequest("`--write` declares what `--cache` would keep: use one of them")
    compilation = compile_workspace(workspace)
    project = compilation.project
    adapter = main_adapter(project, request.adapter)[1]
    found: list[_Found] = []
    functions: list[DeclaredFunction] = []
    with placed_settings(project, adapter), open_live(workspace, project, adapter) as live:
        scope = DiscoveryScope(request.pipeline, request.names, request.schemas, request.cache)
        chosen = choose_sources(compilation, live, scope)
        for number, each in enumerate(chosen, start=1):
            looked_at = _look(live, each)
            if looked_at is not None:
                found.append(looked_at)
                looked(number, len(chosen), _describe(looked_at))
        if request.is_of_everything:
            functions = find_functions(compilation, live)
    written: list[str] = []
    if request.write:
        written += _write(project, [each for each in found if each.differs])
        written += write_functions(project, functions)
    cached = _cache(project, found) if request.cache else ()
    return DiscoverReport(
        tuple(_describe(each) for each in found),
        tuple(written),
        cached,
        tuple(map(describe_found, functions)),
    )


def _look(live: LiveColumns, chosen: ChosenSource) -> _Found | None:
    """A source as it is; None for a table that its pipeline has not written yet."""
    if chosen.error is not None:
        return _Found(chosen, error=chosen.error)
    try:
        columns, asked = live.of(chosen.source)
    except RockyError as error:
        if isinstance(chosen.source, PipelineTable) and isinstance(error, SourceUnreadable):
            return None
        return _Found(chosen, error=str(error))
    return _Found(chosen, tuple(_to_declare(chosen.source, columns)), asked=asked)


def _cache(project: Project, found: Iterable[_Found]) -> tuple[str, ...]:
    """Keep what nobody declares; the files. What is declared stands in no need of it."""
    kept = [
        CachedSchema(
            each.source.name,
            each.columns,
            datetime.now(UTC),
            each.chosen.place,
            each.chosen.pipeline,
            each.chosen.parts,
        )
        for each in found
        if each.error is None and not each.source.columns
    ]
    refuse_escape(project.root, f"{SCHEMAS_FOLDER}/.gitignore")
    for schema in kept:
        refuse_escape(project.root, file_of(schema.name))
    return save_schemas(project.root, kept) if kept else ()


def _to_declare(source: SourceTable, live: Iterable[StructField]) -> Iterator[StructField]:
    """Live columns as a declaration has them: NOT NULL only where the source keeps it."""
    declared = {field.name.lower(): field for field in source.columns}
    for field in live:
        before = declared.get(field.name.lower())
        nullable = field.nullable or source.format not in _ENFORCED
        if before is None:
            yield StructField(field.name, field.type, nullable)
            continue
        keeps = source.format in _UNTYPED or holds(source.format, before.type, field.type)
        # What a person says of nulls in files is theirs to say.
        known = nullable if source.format in _ENFORCED else before.nullable
        yield StructField(before.name, before.type if keeps else field.type, known)


def _write(project: Project, found: Sequence[_Found]) -> Iterator[str]:
    """Bring files up to date, each whole or not at all; their paths. Raises InvalidRequest."""
    for each in found:
        if not each.source.is_declared and not is_declarable(each.source):
            raise InvalidRequest(
                f"`{each.source.name}` cannot be declared by itself: how it is reached holds a"
                " secret; declare it with a variable, or keep its columns with `--cache`"
            )
    files: dict[str, list[_Found]] = {}
    for each in found:
        files.setdefault(_file_of(each), []).append(each)
    for path in sorted(files):
        place = project.root / path
        before = place.read_text(encoding="utf-8") if place.exists() else ""
        here = files[path]
        declared = [(each.source, each.columns) for each in here if each.source.is_declared]
        new = [(each.source, each.columns) for each in here if not each.source.is_declared]
        new.sort(key=lambda each: each[0].name)
        after = declare_columns(before, declared)
        for source, columns in declared:
            if source.format == _ORDERED:
                after = order_columns(after, source, [field.name for field in columns])
        after = declare_tables(after, new)
        _check_written(path, after, here)
        place.parent.mkdir(exist_ok=True)
        write_atomically(place, after)
        yield path


def _check_written(path: str, text: str, found: Iterable[_Found]) -> None:
    """Nothing is put in place that would not be read as what was found."""
    blocks = tomllib.loads(text)["source"]
    by_name = {unescaped(str(each["name"])).lower(): each for each in blocks}
    for each in found:
        # By its place where it has one: a name may stand there as a variable.
        source = each.source
        block = blocks[source.index] if source.is_declared else by_name[source.key]
        names = {unescaped(column["name"]) for column in block["columns"]}
        if names != {unescaped(spelled(field.name)) for field in each.columns}:
            raise InternalError(f"the columns of `{each.source.name}` do not fit into `{path}`")


def _file_of(found: _Found) -> str:
    """The file that declares a source; of a table that none declares, that of its schema."""
    if found.source.is_declared or isinstance(found.source, PipelineTable):
        return found.source.file
    parts = split_name(found.source.key)
    return f"sources/{parts[-2] if len(parts) > 1 else 'default'}.toml"


def _describe(found: _Found) -> DiscoveredSource:
    source, changes = found.source, found.changes
    status: Status
    pipeline = found.chosen.pipeline
    if found.error is not None:
        return DiscoveredSource(
            source.name, _file_of(found), "unreadable", error=found.error, pipeline=pipeline
        )
    if isinstance(source, PipelineTable):
        status = "table"
    elif not source.is_declared:
        status = "undeclared"
    elif not source.columns:
        status = "untyped"
    else:
        status = "changed" if changes else "same"
    columns = (DiscoveredColumn(f.name, format_type(f.type), f.nullable) for f in found.columns)
    guessed = source.format in _UNTYPED
    return DiscoveredSource(
        source.name,
        _file_of(found),
        status,
        tuple(columns),
        changes,
        guessed=guessed,
        asked=found.asked,
        pipeline=pipeline,
    )


def _text(field: StructField | None) -> str | None:
    if field is None:
        return None
    shown = "unknown" if field.type is UNKNOWN else format_type(field.type)
    return shown if field.nullable else f"{shown} not null"
