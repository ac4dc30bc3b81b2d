"""Target patterns: the schemas a pipeline may write to, where settings do not name its tables."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from rocky.project.configuration.config import DEFAULT_CATALOG
from rocky.project.configuration.pipelines import (
    LoadPipeline,
    LoadTarget,
    Pipeline,
    QualityPipeline,
    ReplicationPipeline,
)
from rocky.project.configuration.quality_tables import QualityTable
from rocky.project.configuration.replication_rules import find_placeholders
from rocky.project.models import Target
from rocky.project.pipeline_tables import OpenTarget, PipelineTable

ANY: Final = ".+"


def target_patterns(name: str, pipeline: Pipeline, warehouse: str) -> Iterator[OpenTarget]:
    """The schemas a pipeline may write to, where the settings do not name its tables."""
    if isinstance(pipeline, ReplicationPipeline):
        target = pipeline.target
        catalog = re.escape(DEFAULT_CATALOG)
        if target.catalog_template is not None:
            catalog = _template_pattern(target.catalog_template)
        schema = ANY
        if target.schema_template is not None:
            schema = _template_pattern(target.schema_template)
        elif pipeline.source.schema_pattern is not None:
            schema = re.escape(pipeline.source.schema_pattern.prefix.lower()) + ".*"
        yield OpenTarget(name, warehouse, catalog, schema)
    elif isinstance(pipeline, LoadPipeline):
        yield _schema_target(name, warehouse, pipeline.target)
    elif isinstance(pipeline, QualityPipeline):
        for each in checked_tables(pipeline):
            yield _schema_target(name, warehouse, each)


def _schema_target(name: str, warehouse: str, place: LoadTarget | Target) -> OpenTarget:
    catalog, schema = (re.escape(each.lower()) for each in (place.catalog, place.schema))
    return OpenTarget(name, warehouse, catalog, schema)


def _template_pattern(template: str) -> str:
    made, at = [], 0
    for each in find_placeholders(template):
        made += [re.escape(template[at : each.start].lower()), ANY]
        at = each.end
    return "".join((*made, re.escape(template[at:].lower())))


def closed_patterns(
    patterns: Iterable[OpenTarget],
    found: Iterable[PipelineTable],
    others: Iterable[tuple[str, str]],
) -> Iterator[OpenTarget]:
    """The patterns, without those schemas whose tables are there: a name they lack is a mistake.

    `others` are schemas with tables that were not looked at, and the pipelines they are of.
    """
    schemas: dict[str, set[str]] = {}
    for pipeline, name in others:
        schemas.setdefault(pipeline, set()).add(name)
    for each in found:
        if each.known_by == "last_copy":
            catalog, schema, _ = each.parts
            schemas.setdefault(each.pipeline, set()).add(f"{catalog}.{schema}".lower())
    for pattern in patterns:
        there = frozenset(schemas.get(pattern.pipeline, ()))
        if pattern.schema != ANY or not there:
            yield replace(pattern, closed=there)


def checked_tables(pipeline: Pipeline) -> Iterator[Target]:
    """What a quality pipeline checks; of a whole schema without the name of a table."""
    tables: Iterable[QualityTable] = (
        pipeline.tables if isinstance(pipeline, QualityPipeline) else ()
    )
    for each in tables:
        if each.place is not None:
            catalog, schema, table = each.place
            yield Target(catalog, schema, table or "")
