"""Declared tags: what sources, seeds, models and contracts say of columns, by table.

A name is that of a column, of a field inside one (`address.street`), or `*` for every column.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rocky.analysis.classification.patterns import every_pattern, pattern_tags
from rocky.analysis.compilation import CompiledModels, Record, unpack_schema
from rocky.project import Project
from rocky.project.configuration.classifications import EVERY_COLUMN


class DeclaredTag(NamedTuple):
    """A tag that is written down; `field` is the path inside its column, "" for all of it."""

    tag: str
    field: str = ""


ColumnDeclarations = Mapping[str, Sequence[DeclaredTag]]
"""The declared tags of a table, by lower-case column; `*` where its columns are not known."""


def has_tags(project: Project, models: CompiledModels) -> bool:
    """Whether any file of a project gives a tag, or takes one off."""
    if any(each.classification for each in project.sources.values()):
        return True
    if any(each.classification for each in project.seeds.values()):
        return True
    if any(True for _ in every_pattern(project)):
        return True
    promised = (each for contract in project.contracts.values() for each in contract.columns)
    if any(each.classification for each in promised):
        return True
    settings = (
        project.models[key].settings
        for key, record in models.records().items()
        if record.names_columns
    )
    return any(each.classification or each.declassify for each in settings)


def find_declared(project: Project, records: Mapping[str, Record]) -> dict[str, ColumnDeclarations]:
    """The declared tags of every table that has any, by lower-case name of the table.

    Only settings that name columns are looked at: most models' have not even been read.
    """
    found: dict[str, ColumnDeclarations] = {}
    patterned = any(True for _ in every_pattern(project))
    for key, source in project.sources.items():
        told = [*source.classification.items()]
        told += pattern_tags(project, key, source).items() if patterned else ()
        if told:
            found[key] = place_tags(told, [each.name for each in source.columns])
    for key, seed in project.seeds.items():
        if seed.classification:
            names = [each.name for each in seed.columns]
            found[key] = place_tags(seed.classification.items(), names)
    promised = {
        key: [(each.name, each.classification) for each in contract.columns if each.classification]
        for key, contract in project.contracts.items()
    }
    for key, record in records.items():
        said = [*promised[key]] if key in promised else []
        if record.names_columns:
            said += project.models[key].classification.items()
        if said:
            columns, known = unpack_schema(record)
            placed = place_tags(said, [name for name, _, _ in columns])
            if known:
                # A folder may name a column that only some of its models have.
                there = {name.lower() for name, _, _ in columns}
                placed = {column: tags for column, tags in placed.items() if column in there}
            found[key] = placed
        else:
            # A model hides a source of its name.
            found.pop(key, None)
    return found


def place_tags(
    said: Iterable[tuple[str, Iterable[str]]], columns: Sequence[str]
) -> ColumnDeclarations:
    """Tags by names as they are written -> by lower-case column of a table with these columns."""
    placed: dict[str, dict[DeclaredTag, None]] = {}
    keys = [each.lower() for each in columns]
    for name, tags in said:
        for column, field in _places(name.lower(), keys):
            here = placed.setdefault(column, {})
            here.update(dict.fromkeys(DeclaredTag(tag, field) for tag in tags))
    return {column: _without_parts(tags) for column, tags in placed.items()}


def _places(name: str, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    if name == EVERY_COLUMN:
        for column in columns or (EVERY_COLUMN,):
            yield column, ""
    elif name in columns or "." not in name:
        yield name, ""
    else:
        column, _, field = name.partition(".")
        yield column, field


def _without_parts(tags: Iterable[DeclaredTag]) -> tuple[DeclaredTag, ...]:
    """Tags without those of fields that the whole column has."""
    found = tuple(tags)
    whole = {each.tag for each in found if not each.field}
    return tuple(each for each in found if not each.field or each.tag not in whole)
