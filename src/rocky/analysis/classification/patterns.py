"""Tags of what pipelines write, by the patterns of their settings.

Of a table whose columns nobody knows yet, a pattern of columns may mean any of them.
"""

from collections.abc import Iterator, Mapping

from rocky.project import Project
from rocky.project.configuration.classifications import EVERY_COLUMN
from rocky.project.configuration.column_patterns import (
    ColumnPattern,
    parse_patterns,
    place_patterns,
)
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    QualityPipeline,
    ReplicationPipeline,
    SnapshotPipeline,
)
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.sources import SourceTable


def patterns_of(project: Project, pipeline: str | None) -> tuple[ColumnPattern, ...]:
    """The patterns of a pipeline; none where it has, or is, none."""
    found = project.config.pipeline.get(pipeline or "")
    if not isinstance(found, ReplicationPipeline | LoadPipeline | SnapshotPipeline):
        return ()
    return tuple(parse_patterns(found.classification))


def every_pattern(project: Project) -> Iterator[tuple[str, ColumnPattern]]:
    """The patterns of all pipelines, each with the pipeline's name."""
    for name in project.config.pipeline:
        for each in patterns_of(project, name):
            yield name, each


def table_of(source: SourceTable) -> str:
    """The name, without schema, of the table that a pipeline writes and a source is."""
    place = None if isinstance(source, PipelineTable) else source.path
    if place is not None and source.format != "table":
        return place.rstrip("/").rpartition("/")[2]
    return (place or source.name).replace("`", "").rpartition(".")[2]


def writer_of(project: Project, key: str) -> str | None:
    """The pipeline that writes a source; None for one that the project only reads.

    A quality pipeline writes what it puts aside, and not the tables that it checks.
    """
    name, source = project.writers.get(key), project.sources.get(key)
    pipeline = project.config.pipeline.get(name or "")
    if isinstance(pipeline, QualityPipeline) and source is not None:
        settings = pipeline.checks.quarantine
        made = (settings.suffix_valid.lower(), settings.suffix_quarantine.lower())
        return name if table_of(source).lower().endswith(made) else None
    return name


def pattern_tags(project: Project, key: str, source: SourceTable) -> Mapping[str, tuple[str, ...]]:
    """The tags that patterns give to columns of a source, by column, field or `*`."""
    writer = source.pipeline if isinstance(source, PipelineTable) else project.writers.get(key)
    patterns = patterns_of(project, writer)
    if not patterns:
        return {}
    table = table_of(source)
    if source.columns:
        return place_patterns(patterns, table, [each.name for each in source.columns])
    found: dict[str, tuple[str, ...]] = {}
    for each in patterns:
        if each.is_about(table):
            name = each.at(each.column) if each.names_column else EVERY_COLUMN
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *each.tags)))
    return found
