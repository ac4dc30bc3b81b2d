"""Suppositions: a compiled project with one column other than it is, compiled again in memory.

Nothing is written, and no file and no cache is touched: the project is a value, and one of its
tables is replaced in it. The records of the compilation at hand are believed as far as they hold,
so that only readers who would see the difference are bound. A column of a model is another to all
that look at the model's table, its contract among them; the query that makes it is taken as it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from rocky.analysis.compilation import (
    Compilation,
    Record,
    Schema,
    Share,
    unpack_body,
    unpack_schema,
)
from rocky.compiler.passes import compile_project
from rocky.compiler.validity import face_of
from rocky.language.datatypes.text import encode_type
from rocky.language.datatypes.types import DataType, StructField
from rocky.project import ModelFile, Project, SeedTable
from rocky.project.cache import pack
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.sources import SourceTable

Item = TypeVar("Item")
See = Callable[[Project], Project]
"""The project with its pipelines' tables looked at again: they may copy what has changed."""


@dataclass(frozen=True, slots=True)
class Supposition:
    """A column of the model, source or seed with this key, and what becomes of it.

    None leaves the type as it is; a `dropped` column is not there at all.
    """

    table: str
    column: str
    type: DataType | None = None
    nullable: bool = False
    dropped: bool = False


def is_typed(compilation: Compilation, table: str, column: str) -> bool:
    """Whether a table has the column for sure, so that another can be put in its place."""
    return _place(_names(compilation, table), column) is not None


def is_only_column(compilation: Compilation, table: str) -> bool:
    """Whether nothing would be left of a table without its column."""
    return len(_names(compilation, table)) == 1


def compile_supposed(
    compilation: Compilation, supposed: Supposition, see_pipelines: See
) -> Compilation:
    """The project of a compilation, as it would be compiled with the column as it is supposed."""
    project = compilation.loaded
    known: Mapping[str, Record] = compilation.models.records()
    if supposed.table in project.models:
        model = project.models[supposed.table]
        changed = _changed_record(model, known[supposed.table], supposed)
        return compile_project(project, cache=False, known={**known, supposed.table: changed})
    source = project.sources.get(supposed.table)
    if source is None:
        seeds = dict(project.seeds)
        seeds[supposed.table] = _changed_seed(seeds[supposed.table], supposed)
        project = see_pipelines(replace(project, seeds=seeds))
    else:
        sources = {**project.sources, supposed.table: _changed_source(source, supposed)}
        project = replace(project, sources=sources)
        # What a pipeline writes is itself what is found by looking again.
        project = project if isinstance(source, PipelineTable) else see_pipelines(project)
    return compile_project(project, cache=False, known=known)


def _names(compilation: Compilation, table: str) -> list[str]:
    project = compilation.loaded
    if table in project.models:
        return [each.name for each in compilation.models[table].columns]
    declared = project.sources.get(table) or project.seeds.get(table)
    return [each.name for each in declared.columns] if declared is not None else []


def _place(names: list[str], column: str) -> int | None:
    wanted = column.lower()
    return next((at for at, name in enumerate(names) if name.lower() == wanted), None)


# ------------------------------------------------------------------ sources and seeds


def _changed_source(source: SourceTable, supposed: Supposition) -> SourceTable:
    return replace(
        source,
        columns=_changed_fields(source.columns, supposed),
        classification=_left(source.classification, supposed),
        described=_left(source.described, supposed),
    )


def _changed_seed(seed: SeedTable, supposed: Supposition) -> SeedTable:
    places = seed.column_places
    if supposed.dropped:
        at = _place([each.name for each in seed.columns], supposed.column)
        places = tuple(each for place, each in enumerate(places) if place != at)
    return replace(
        seed,
        columns=_changed_fields(seed.columns, supposed),
        column_places=places,
        classification=_left(seed.classification, supposed),
        described=_left(seed.described, supposed),
    )


def _changed_fields(
    fields: tuple[StructField, ...], supposed: Supposition
) -> tuple[StructField, ...]:
    at = _place([each.name for each in fields], supposed.column)
    found = list(fields)
    if at is not None:
        old = found[at]
        new = StructField(old.name, supposed.type or old.type, old.nullable or supposed.nullable)
        found[at : at + 1] = [] if supposed.dropped else [new]
    return tuple(found)


def _left(said: Mapping[str, Item], supposed: Supposition) -> Mapping[str, Item]:
    """What is said of columns, without what is said of one that is gone."""
    if not supposed.dropped:
        return said
    return {name: each for name, each in said.items() if name.lower() != supposed.column.lower()}


# ------------------------------------------------------------------ models


def _changed_record(model: ModelFile, record: Record, supposed: Supposition) -> Record:
    """The record of a model with the column as it is supposed; its findings are those it has."""
    columns, known = unpack_schema(record)
    at = _place([name for name, _, _ in columns], supposed.column)
    if at is None:
        return record
    if supposed.dropped:
        record = _without_column(record, at)
        columns = [each for place, each in enumerate(columns) if place != at]
    else:
        name, kind, nullable = columns[at]
        kind = kind if supposed.type is None else encode_type(supposed.type)
        columns = [*columns]
        columns[at] = (name, kind, nullable or supposed.nullable)
    packed = pack(tuple(Schema(columns, known)))
    return record._replace(schema=packed, face=face_of(model, packed), columns=len(columns))


def _without_column(record: Record, at: int) -> Record:
    body = unpack_body(record)
    shares = [
        Share(each.column - (each.column > at), each.origin, each.ways)
        for each in body.shares
        if each.column != at
    ]
    details = [each for place, each in enumerate(body.details) if place != at]
    return record._replace(body=pack(tuple(body._replace(details=details, shares=shares))))
