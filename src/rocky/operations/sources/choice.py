"""The sources that a discovery looks at: those of the project, or what one pipeline reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, NothingSelected
from rocky.language.names import split_name
from rocky.operations.sources.live_columns import LiveColumns
from rocky.pipelines.replication.discovery import DiscoveredTable, SourcePlace, match_schema
from rocky.pipelines.replication.routes import resolve_settings
from rocky.pipelines.replication.source import open_discovery
from rocky.pipelines.source_tables import source_tables
from rocky.project.collisions import declared_sources
from rocky.project.configuration.pipelines import (
    Pipeline,
    ReplicationPipeline,
    SnapshotPipeline,
    TransformationPipeline,
)
from rocky.project.models import Target
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.schema_cache import place_of, place_of_replication
from rocky.project.sources import SourceTable

_NOWHERE: Final = SourcePlace("")


@dataclass(frozen=True, slots=True)
class ChosenSource:
    """A source to look at, as it is declared, if it is; `place` says where it is.

    `pipeline` copies it, and `parts` are its names in that one's source, where it was found there.
    `error` is why it cannot be looked at at all.
    """

    source: SourceTable
    place: str
    pipeline: str | None = None
    parts: tuple[str | None, ...] = ()
    error: str | None = None


class DiscoveryScope(NamedTuple):
    """What to look at: what a pipeline reads, or all; patterns of names and of schemas.

    With `tables`, also what pipelines write where a compile cannot look.
    """

    pipeline: str | None = None
    names: Sequence[str] = ()
    schemas: Sequence[str] = ()
    tables: bool = False


def choose_sources(
    compilation: Compilation, live: LiveColumns, scope: DiscoveryScope
) -> list[ChosenSource]:
    """The sources that are meant. Raises NothingSelected, InvalidRequest, SourceUnreadable."""
    names, schemas = scope.names, scope.schemas
    tables = list(_remote_tables(compilation, scope.pipeline)) if scope.tables else []
    if scope.pipeline is None:
        found = [*_declared(compilation), *tables]
    else:
        found = [*_of_pipeline(compilation, live, scope.pipeline, alone=not tables), *tables]
    keys = [each.source.key for each in found]
    for name in names:
        if not any(fnmatchcase(key, name.lower()) for key in keys):
            raise NothingSelected(f"no source is called `{name}`")
    for schema in schemas:
        if not any(fnmatchcase(_schema_of(each), schema.lower()) for each in found):
            known = sorted({_schema_of(each) for each in found})
            hint = suggestion(schema, known) or "there are " + ", ".join(
                f"`{x}`" for x in known[:5]
            )
            raise NothingSelected(f"no source is of a schema `{schema}`; {hint}")
    return [
        each for each in found if _fits(each.source.key, names) and _fits(_schema_of(each), schemas)
    ]


def _fits(text: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern.lower()) for pattern in patterns)


def _schema_of(chosen: ChosenSource) -> str:
    """The schema a source is of; empty for a name without one."""
    *above, _ = split_name(chosen.source.key)
    return above[-1] if above else ""


def _declared(compilation: Compilation) -> Iterator[ChosenSource]:
    """What the project declares, and what its models read without that."""
    for each in declared_sources(compilation.project.sources).values():
        source = each.as_read()
        yield ChosenSource(source, place_of(source))


def _remote_tables(compilation: Compilation, pipeline: str | None) -> Iterator[ChosenSource]:
    """What pipelines, or one, write into object stores, as far as it is known or read."""
    for each in compilation.project.sources.values():
        if isinstance(each, PipelineTable) and each.is_remote and pipeline in (None, each.pipeline):
            yield ChosenSource(replace(each, columns=()), place_of(each), each.pipeline)


def _of_pipeline(
    compilation: Compilation, live: LiveColumns, name: str, *, alone: bool
) -> Iterator[ChosenSource]:
    pipelines = compilation.project.config.pipeline
    pipeline = pipelines.get(name)
    if pipeline is None:
        hint = suggestion(name, pipelines) or "see `[pipeline]` in rocky.toml"
        raise NothingSelected(f"no pipeline `{name}`; {hint}")
    if isinstance(pipeline, ReplicationPipeline):
        yield from _of_replication(compilation, live, name, pipeline)
        return
    read = _reads(compilation, name, pipeline) if alone or _has_sources(pipeline) else set()
    yield from (each for each in _declared(compilation) if each.source.key in read)


def _has_sources(pipeline: Pipeline) -> bool:
    return isinstance(pipeline, TransformationPipeline | SnapshotPipeline)


def _reads(compilation: Compilation, name: str, pipeline: Pipeline) -> set[str]:
    """The keys of what a pipeline reads. Raises InvalidRequest for one that reads no source."""
    if isinstance(pipeline, TransformationPipeline):
        models = (x for x in compilation.project.models.values() if x.pipeline == name)
        return {read.lower() for each in models for read in compilation.upstream.get(each.name, ())}
    if isinstance(pipeline, SnapshotPipeline):
        source = pipeline.source
        return {Target(source.catalog, source.schema, source.table).key}
    what = (
        "files, whose columns a run finds" if pipeline.type == "load" else "tables of the project"
    )
    raise InvalidRequest(f"pipeline `{name}` reads {what}: there is nothing to declare")


def _of_replication(
    compilation: Compilation, live: LiveColumns, name: str, pipeline: ReplicationPipeline
) -> Iterator[ChosenSource]:
    """All that a replication copies, as its source lists it now."""
    project, source = compilation.project, pipeline.source
    settings = {**live.workspace.environment, **live.adapter.conf}
    discovery = open_discovery(pipeline, project.root, settings, live.engine)
    listing = discovery.discover(source.catalog)
    _, declared = source_tables(project, pipeline, project.root, {})
    place = place_of_replication(source)
    for found in listing.tables:
        if match_schema(found.schema, source.schema_pattern) is None:
            continue
        if not resolve_settings(pipeline, found.schema, found.table).enabled:
            continue
        known = declared.get(found.name)
        parts = (found.catalog, found.schema, found.table)
        chosen = found.declare() if known is None else known.as_read()
        yield ChosenSource(chosen, place, name, parts)
    for failed in listing.failed:
        table = failed.table or "*"
        missing = DiscoveredTable(source.catalog, failed.schema, table, _NOWHERE)
        yield ChosenSource(missing.declare(), place, name, error=failed.message)
