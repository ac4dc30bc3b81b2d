"""Places of classifications: the lines that give tags to columns, and where columns have them."""

from collections.abc import Iterator
from typing import NamedTuple

from rocky.analysis.classification.facts import TagFact
from rocky.analysis.classification.patterns import every_pattern, patterns_of, table_of
from rocky.analysis.compilation import CompiledModels
from rocky.analysis.lints.settings import own_classification
from rocky.diagnostics import Label
from rocky.diagnostics.diagnostic import Span
from rocky.project import ModelFile, Project
from rocky.project.imports import ImportedTable
from rocky.project.models import setting_place
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.sources import SourceTable
from rocky.project.toml.parser import locate_keys


class TagPlace(NamedTuple):
    """A tag as some file gives it to a column."""

    tag: str
    column: str
    path: str
    span: Span | None
    model: str | None = None


def declared_tags(project: Project, models: CompiledModels) -> Iterator[TagPlace]:
    """Every tag that the project's files give, with its place.

    Tags of another project's interface are not this one's; a copy has those of what it copies.
    """
    for source in project.sources.values():
        if not isinstance(source, ImportedTable | PipelineTable):
            for name, tags in source.classification.items():
                place = source_place(source, name)
                yield from (TagPlace(tag, name, source.file, place) for tag in tags)
    for pipeline, pattern in every_pattern(project):
        place = _pattern_place(project, pipeline, pattern.written)
        for tag in pattern.tags:
            yield TagPlace(tag, pattern.column, project.config_path, place)
    for seed in project.seeds.values():
        for name, tags in seed.classification.items():
            file = seed.sidecar_path or seed.path
            yield from (TagPlace(tag, name, file, None) for tag in tags)
    for contract in project.contracts.values():
        for column in contract.columns:
            place, tags = column.classification_span, column.classification or ()
            said = (TagPlace(each, column.name, contract.path, place) for each in tags)
            yield from (each._replace(model=contract.model) for each in said)
    # What a folder says is told once, not once a model.
    inherited: set[str] = set()
    for key, record in models.records().items():
        if record.names_columns:
            yield from _of_model(project.models[key], project, inherited)


def _of_model(model: ModelFile, project: Project, inherited: set[str]) -> Iterator[TagPlace]:
    own = set(own_classification(model, project.texts))
    for name, tags in model.classification.items():
        path, span = setting_place(model, project.texts, ("classification", name))
        for tag in tags:
            if name in own or tag not in inherited:
                yield TagPlace(tag, name, path, span, model.name)
        if name not in own:
            inherited.update(tags)
    for index, said in enumerate(model.settings.declassify):
        path, span = setting_place(model, project.texts, ("declassify", index, "tag"))
        yield TagPlace(said.tag, said.column, path, span, model.name)


def declared_place(project: Project, table: str, column: str) -> tuple[str, Span | None] | None:
    """The line that classifies a column of a table, by lower-case name of the table."""
    key = column.lower()
    model = project.models.get(table)
    if model is not None:
        for name in model.classification:
            if name.lower().partition(".")[0] in (key, "*"):
                return setting_place(model, project.texts, ("classification", name), on_key=True)
        return None
    source = project.sources.get(table)
    if source is not None:
        found = source_place(source, column)
        pattern = _fitting_pattern(project, source, key) if found is None else None
        return pattern if pattern is not None else (source.file, found)
    seed = project.seeds.get(table)
    return (seed.sidecar_path or seed.path, None) if seed is not None else None


def _pattern_place(project: Project, pipeline: str, written: str) -> Span | None:
    places = locate_keys(project.texts[project.config_path].text)
    found = places.get(("pipeline", pipeline, "classification", written))
    return found.key if found is not None else None


def _fitting_pattern(
    project: Project, source: SourceTable, column: str
) -> tuple[str, Span | None] | None:
    """The line of a pipeline that classifies a column of a table that it writes."""
    writer = project.writers.get(source.key)
    for each in patterns_of(project, writer):
        if each.is_about(table_of(source)) and (column == "*" or each.fits(column)):
            return project.config_path, _pattern_place(project, writer or "", each.written)
    return None


def source_place(source: SourceTable, name: str) -> Span | None:
    """Where a source classifies a column: in its list of columns, or beside it."""
    key = name.lower()
    at = ("source", source.index)
    if not isinstance(source.document.data.get("source"), list):
        return None
    block = source.document.data["source"][source.index]
    for index, record in enumerate(block.get("columns", ())):
        if isinstance(record, dict) and str(record.get("name", "")).lower() == key:
            if "classification" in record:
                return source.document.span_of((*at, "columns", index, "classification"))
            break
    for written in block.get("classification", {}):
        if written.lower() in (key, "*") or written.lower().partition(".")[0] == key:
            return source.document.span_of((*at, "classification", written), on_key=True)
    return None


def column_place(
    project: Project, models: CompiledModels, model: ModelFile, column: str
) -> tuple[str, Span | None]:
    """Where a model names a column, or its star, or only the file."""
    ir = models[model.key]
    found = ir.column(column)
    if found is not None and found.span is not None:
        return model.path, model.place_in_file(found.span)
    return declared_place(project, model.key, column) or (model.path, None)


def origin_labels(fact: TagFact, path: str) -> tuple[Label, ...]:
    """A label at the column where a tag was declared; the compiler knows where that stands."""
    if fact.declared:
        return ()
    origin = fact.origin
    said = f"`{origin.column}` of `{origin.table}` is classified `{_first_tag(fact)}`"
    return (Label(None, said, path, column=(origin.table, origin.column)),)


def _first_tag(fact: TagFact) -> str:
    return [*fact.steps()][-1].tag


def way_notes(fact: TagFact) -> Iterator[str]:
    """The way of an inherited tag in words: the columns from the origin on."""
    if not fact.declared:
        way = " -> ".join(f"{each.table}.{each.column}" for each in fact.path)
        yield f"the way of the tag: {way}"
