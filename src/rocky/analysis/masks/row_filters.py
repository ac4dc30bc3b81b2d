"""Row filters of tables: `[[row_filter]]` joined with the columns of the tables that it names.

What is wrong with one is found for each table and told once, at its line.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocky.analysis.compilation import Compilation
from rocky.analysis.masks.check import check_condition
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.types import StructField
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.row_filters import RowFilter
from rocky.project.configuration.strategies import has_target
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.variables import Keys

TableName = tuple[str, str, str]
"""Catalog, schema and table."""


@dataclass(frozen=True, slots=True)
class TableFilter:
    """The row filter of one table; `number` is the place of its block, from 1."""

    table: TableName
    columns: tuple[StructField, ...]
    expression: str
    clear_for: tuple[str, ...]
    number: int


def plan_row_filters(
    compilation: Compilation,
) -> tuple[Mapping[TableName, TableFilter], tuple[Diagnostic, ...]]:
    """The filters by table, and what is wrong with them."""
    tables = dict(_columns_of_tables(compilation))
    found: dict[TableName, TableFilter] = {}
    problems: dict[Keys, Diagnostic] = {}
    for index, each in enumerate(compilation.project.config.row_filter):
        covered = [name for name in tables if each.covers(*name)]
        if not covered:
            message = f'`on = "{each.on}"` names no table of the project'
            _report(compilation, problems, (index, "on"), message)
        for name in covered:
            fault = _fault(each, name, tables[name], found.get(name))
            if fault is not None:
                _report(compilation, problems, (index, fault[0]), *fault[1:])
                continue
            known = {column.name.lower(): column for column in tables[name]}
            columns = tuple(known[column.lower()] for column in each.columns)
            found[name] = TableFilter(name, columns, each.expression, each.clear_for, index + 1)
    return found, tuple(problems.values())


def _columns_of_tables(
    compilation: Compilation,
) -> Iterator[tuple[TableName, tuple[StructField, ...]]]:
    """The tables that the project writes; those whose columns are not known have none."""
    project = compilation.project
    for key, model in project.models.items():
        if has_target(model.strategy):
            columns = compilation.models[key].columns if key in compilation.models else ()
            fields = tuple(StructField(each.name, each.type, each.nullable) for each in columns)
            yield (model.target.catalog, model.target.schema, model.target.table), fields
    for seed in project.seeds.values():
        target = target_of_seed(seed, project.config)
        yield (target.catalog, target.schema, target.table), tuple(seed.columns)
    for source in project.sources.values():
        if isinstance(source, PipelineTable):
            yield source.parts, tuple(source.columns)


def _fault(
    wanted: RowFilter,
    table: TableName,
    columns: Sequence[StructField],
    other: TableFilter | None,
) -> tuple[str, str, str | None] | None:
    """The key at which a filter does not fit a table, why, and what would help."""
    name = ".".join(table)
    if other is not None:
        message = f"`{name}` has two row filters: this one, and `[[row_filter]]` {other.number}"
        return "on", message, "put both conditions into one expression"
    known = {column.name.lower(): column for column in columns}
    for column in wanted.columns:
        if column.lower() not in known:
            message = f"`{name}` has no column `{column}`"
            return "columns", message, suggestion(column, [each.name for each in columns])
    chosen = [known[column.lower()] for column in wanted.columns]
    wrong = check_condition(wanted.expression, chosen)
    if wrong is None:
        return None
    help_text = "it may use what `columns` lists, here `" + "`, `".join(wanted.columns) + "`"
    return "expression", f"this is no condition for rows of `{name}`: {wrong}", help_text


def _report(
    compilation: Compilation,
    problems: dict[Keys, Diagnostic],
    at: tuple[int, str],
    message: str,
    help_text: str | None = None,
) -> None:
    project = compilation.project
    keys: Keys = ("row_filter", *at)
    place = locate_keys(project.texts[project.config_path].text).get(keys)
    problems.setdefault(
        keys,
        Diagnostic(
            Code.UNUSABLE_CONFIG,
            message,
            None if place is None else place.value,
            project.config_path,
            help=help_text,
        ),
    )
