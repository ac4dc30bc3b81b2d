"""Mentions: where TOML files and the headers of seeds name tables and columns of the project.

The settings of a model, contracts, sources and seeds. A mention is the name alone, without the
quotes around it; of `address.street` it is the column's part.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rocky.analysis.compilation import fields_of
from rocky.analysis.lints.settings import setting_columns
from rocky.compiler.setting_binder import Subject, setting_names
from rocky.diagnostics.diagnostic import Span
from rocky.ide.view import OpenFile
from rocky.language.names import split_name
from rocky.project import Contract, ModelFile, SeedTable, SourceTable, setting_place
from rocky.project.setting_sql import assertion_sql, place_setting
from rocky.project.toml.variables import Keys, Substituted


class Mention(NamedTuple):
    """A name of a table, or of a column of one, in a file that is no query."""

    span: Span
    table: str
    column: str = ""


def mentions_in(file: OpenFile) -> list[Mention]:
    """All mentions in a file, in order."""
    view, path = file.view, file.path
    if file.text != view.text_of(path):
        # What is said of settings is said of the text that was loaded.
        return []
    found: list[Mention] = []
    model = file.model
    if model is not None and model.settings_path == path:
        found += _in_settings(file, model)
    for contract in view.project.contracts.values():
        if contract.path == path:
            found += _in_contract(contract, file.text)
    for source in view.project.sources.values():
        if source.is_declared and source.file == path:
            found += _in_source(source, file.text)
    for seed in view.project.seeds.values():
        if path in (seed.file, seed.sidecar_path, seed.path):
            found += _in_seed(seed, file)
    return sorted(set(found))


def mention_paths(file: OpenFile) -> Iterator[str]:
    """The files that may mention a model and its columns, besides its query."""
    model = file.model
    if model is None:
        return
    if model.settings_path is not None:
        yield model.settings_path
    contract = file.view.project.contracts.get(model.key)
    if contract is not None:
        yield contract.path


def _in_settings(file: OpenFile, model: ModelFile) -> Iterator[Mention]:
    texts = file.view.project.texts
    text = file.text
    for setting in setting_columns(model, texts):
        yield from _placed(
            text, model, setting.keys, texts, setting.on_key, model.name, setting.column
        )
    tables = file.view.tables(model.key)

    def declared(name: str) -> str:
        table = tables.find(split_name(name.lower()))
        return table.name if table is not None else name

    for keys, table, column in _named(model):
        yield from _placed(text, model, keys, texts, False, declared(table), column)
    for index, test in enumerate(model.settings.test):
        for at, given in enumerate(test.given):
            rows: Keys = ("test", index, "given", at, "rows")
            yield from _rows(text, model, rows, given.rows, texts, declared(given.ref))
        rows = ("test", index, "expect", "rows")
        yield from _rows(text, model, rows, test.expect.rows, texts, model.name)
    for index, column in enumerate(model.settings.output if model.is_python else ()):
        name = str(column.get("name", "")) if isinstance(column, dict) else ""
        yield from _placed(text, model, ("output", index, "name"), texts, False, model.name, name)
    yield from _in_sql(file, model)


def _named(model: ModelFile) -> Iterator[tuple[Keys, str, str]]:
    """Settings that name other tables, and columns of these."""
    settings = model.settings
    for index, name in enumerate(settings.depends_on):
        yield ("depends_on", index), name, ""
    for parameter, name in settings.inputs.items():
        yield ("inputs", parameter), name, ""
    for index, test in enumerate(settings.tests):
        if test.to_table is not None:
            yield ("tests", index, "to_table"), test.to_table, ""
            if test.to_column is not None:
                yield ("tests", index, "to_column"), test.to_table, test.to_column
        if test.table is not None:
            yield ("tests", index, "table"), test.table, ""
            if test.column is not None:
                yield ("tests", index, "column"), test.table, test.column
    for index, unit in enumerate(settings.test):
        for at, given in enumerate(unit.given):
            yield ("test", index, "given", at, "ref"), given.ref, ""


def _rows(
    text: str,
    model: ModelFile,
    at: Keys,
    rows: tuple[Mapping[str, Any], ...],
    texts: Mapping[str, Any],
    table: str,
) -> Iterator[Mention]:
    for index, row in enumerate(rows):
        for name in row:
            yield from _placed(text, model, (*at, index, name), texts, True, table, name)


def _placed(
    text: str,
    model: ModelFile,
    keys: Keys,
    texts: Mapping[str, Any],
    on_key: bool,  # noqa: FBT001 - as setting_place has it
    table: str,
    column: str,
) -> Iterator[Mention]:
    path, span = setting_place(model, texts, keys, on_key=on_key)
    if path == model.settings_path and span is not None:
        yield from _mention(text, span, table, column)


def _mention(text: str, span: Span, table: str, column: str) -> Iterator[Mention]:
    """The mention at a value or a key, if it says so; one that is written otherwise is none."""
    if isinstance(column, Substituted) or isinstance(table, Substituted):
        return
    start, end = span
    if text[start : start + 1] in ("'", '"'):
        start, end = start + 1, end - 1
    written = text[start:end]
    if column:
        name = column.partition(".")[0]
        if written.lower() in (column.lower(), name.lower()):
            yield Mention(Span(start, start + len(name)), table, name)
    elif split_name(written.lower())[-1:] == split_name(table.lower())[-1:]:
        yield Mention(Span(start, end), table)


def _in_sql(file: OpenFile, model: ModelFile) -> Iterator[Mention]:
    """The columns that the SQL of a model's own tests names."""
    texts, models = file.view.project.texts, file.view.compilation.models
    if model.key not in models:
        return
    fields, known = fields_of(models.record(model.key))
    subject = Subject(model.name, fields, known)
    for setting in assertion_sql(model.settings.tests, ("tests",)):
        index = setting.keys[1]
        assert isinstance(index, int)
        expansion = model.setting_expansions.get(setting.keys, True)
        if model.tests[index].table is not None or expansion is not True:
            continue
        place = place_setting(model, texts, setting.keys, setting.sql)
        if place.path != file.path:
            continue
        for use in setting_names(setting, subject, file.view.tables(model.key), {}):
            span = place.span(use.span)
            if use.table == model.name and use.column is not None and span is not None:
                written = file.text[span.start : span.end]
                if written == setting.sql[use.span.start : use.span.end]:
                    yield Mention(span, model.name, use.column)


def _in_contract(contract: Contract, text: str) -> Iterator[Mention]:
    for column in contract.columns:
        if column.span is not None:
            yield from _mention(text, column.span, contract.model, column.name)
    for rule in (*contract.required, *contract.protected):
        if rule.span is not None:
            yield from _mention(text, rule.span, contract.model, rule.column)


def _in_source(source: SourceTable, text: str) -> Iterator[Mention]:
    if source.place is not None:
        yield from _mention(text, source.place, source.name, "")
    for field, place in zip(source.columns, source.column_places, strict=False):
        if place is not None:
            yield from _mention(text, place, source.name, field.name)
    for name in source.classification:
        keys: Keys = ("source", source.index, "classification", name)
        span = source.document.span_of(keys, on_key=True)
        if span is not None:
            yield from _mention(text, span, source.name, name)


def _in_seed(seed: SeedTable, file: OpenFile) -> Iterator[Mention]:
    if file.path == seed.file:
        for field, place in zip(seed.columns, seed.column_places, strict=False):
            if place is not None:
                yield from _mention(file.text, place, seed.name, field.name)
    if file.path == seed.path and seed.file != seed.path:
        yield from _header(seed, file.text)


def _header(seed: SeedTable, text: str) -> Iterator[Mention]:
    """The columns in the header of a CSV whose sidecar declares them."""
    line = text.partition("\n")[0].rstrip("\r")
    at = 0
    for cell in line.split(seed.delimiter):
        yield from _mention(text, Span(at, at + len(cell)), seed.name, cell.strip('"'))
        at += len(cell) + len(seed.delimiter)
