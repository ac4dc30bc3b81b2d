"""Unknown tables: what is read without declared columns, and what is known of it all the same."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.project.collisions import declared_sources
from rocky.project.pipeline_tables import PipelineTable

_FRESH: Final = timedelta(days=7)
"""How long columns that were discovered pass for what is there."""


@dataclass(frozen=True, slots=True)
class UnknownTable:
    """A table that models read, of unknown columns, and the pipeline that writes it.

    One that `is_remote` lies in an object store, which a compile does not ask; any other has not
    been written yet.
    """

    name: str
    pipeline: str
    is_remote: bool


@dataclass(frozen=True, slots=True)
class CachedTable:
    """A table whose columns a discovery kept. `is_old` after a week: they may be others by now."""

    name: str
    discovered_at: datetime
    is_old: bool


@dataclass(frozen=True, slots=True)
class IgnoredSchema:
    """A file of kept columns that is not believed, and why."""

    file: str
    why: str


def untyped_sources(compilation: Compilation) -> tuple[str, ...]:
    """Tables that declare no columns, or that nobody declares, where that is no error."""
    if compilation.project.config.compile.undeclared == "error":
        return ()
    sources = declared_sources(compilation.project.sources).values()
    return tuple(sorted(each.name for each in sources if not each.columns))


def unknown_tables(compilation: Compilation) -> tuple[UnknownTable, ...]:
    """What models read of pipelines and nobody knows the columns of."""
    project = compilation.project
    return tuple(
        UnknownTable(each.name, each.pipeline, each.is_remote)
        for _, each in sorted(project.sources.items())
        if isinstance(each, PipelineTable)
        and not each.columns
        and compilation.downstream.get(each.name)
    )


def cached_tables(compilation: Compilation, now: datetime) -> tuple[CachedTable, ...]:
    """What is read, directly or by way of a copy, whose columns are those of a discovery."""
    found: list[CachedTable] = []
    for _, each in sorted(compilation.project.sources.items()):
        at_ms = each.discovered_ms
        if isinstance(each, PipelineTable):
            at_ms = each.at_ms if each.known_by == "cache" else 0
        if at_ms and compilation.downstream.get(each.name):
            at = datetime.fromtimestamp(at_ms / 1000, UTC)
            found.append(CachedTable(each.name, at, now - at > _FRESH))
    return tuple(found)
