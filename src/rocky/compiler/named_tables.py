"""Tables that tests name: that there are such tables, that they have the columns that are meant.

A test may be of another table than its model's (`table`), or ask whether each value is in one
(`to_table`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from rocky.analysis.names import Names
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.types import StructField
from rocky.language.ir import ModelIr
from rocky.language.names import split_name
from rocky.project import ModelFile, Project, setting_place
from rocky.project.configuration.model import AssertionRecord
from rocky.project.toml.variables import Keys, written


class NamedTable(NamedTuple):
    """A table that a test names, by its declared name."""

    name: str
    fields: tuple[StructField, ...]
    known: bool


def find_table(
    name: str, project: Project, names: Names, models: Mapping[str, ModelIr]
) -> NamedTable | None:
    """The model, source or seed of a name; one that could not be compiled has unknown columns."""
    parts = split_name(name.lower())
    key = names.model(parts, "")
    if key is not None:
        ir = models.get(key)
        if ir is None:
            return NamedTable(name, (), known=False)
        fields = tuple(StructField(each.name, each.type, each.nullable) for each in ir.columns)
        return NamedTable(ir.name, fields, ir.known)
    found = names.external(parts)
    if found is not None:
        return NamedTable(found.name, found.fields, found.known)
    # What models read and nobody declares is a source of unknown columns by now.
    undeclared = project.sources.get(name.lower())
    return None if undeclared is None else NamedTable(undeclared.name, (), known=False)


def names_tables(model: ModelFile) -> bool:
    """Whether a test of a model names another table."""
    return any(each.table is not None or each.to_table is not None for each in model.tests)


def check_named_tables(
    model: ModelFile, project: Project, find: Callable[[str], NamedTable | None]
) -> Iterator[Diagnostic]:
    """One finding a table that is not there, or that lacks a column."""
    for index, test in enumerate(model.tests):
        for key, columns in _named(test):
            name = getattr(test, key)
            at: Keys = ("tests", index, key)
            table = find(name)
            if table is None:
                yield _unknown(model, project, at, name)
                continue
            present = [each.name for each in table.fields]
            for column_key, column in columns:
                if table.known and column.lower() not in map(str.lower, present):
                    path, span = setting_place(model, project.texts, ("tests", index, column_key))
                    yield Diagnostic(
                        Code.SETTING_COLUMN_MISSING,
                        f"`{table.name}` has no column `{written(column)}`",
                        span,
                        path,
                        help=suggestion(written(column), present),
                        model=model.name,
                    )


def _named(test: AssertionRecord) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The keys of tables, with the keys and names of the columns that are theirs."""
    if test.table is not None:
        yield "table", [("column", test.column)] if test.column is not None else []
    if test.to_table is not None:
        yield "to_table", [("to_column", test.to_column)] if test.to_column is not None else []


def _unknown(model: ModelFile, project: Project, at: Keys, name: str) -> Diagnostic:
    path, span = setting_place(model, project.texts, at)
    groups = (project.models, project.sources, project.seeds)
    known = [each.name for group in groups for each in group.values()]
    return Diagnostic(
        Code.UNKNOWN_TABLE,
        f"no model, source or seed `{written(name)}`",
        span,
        path,
        help=suggestion(written(name), known),
        model=model.name,
    )
