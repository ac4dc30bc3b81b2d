"""Binding the SQL of pipelines' checks, against the models whose tables they check.

Of a table that no model of the project makes the columns are not known here: what is asked of it is
still read, and its functions and literals are checked.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from rocky.analysis.names import Names
from rocky.compiler.model_binder import ModelTables
from rocky.compiler.named_tables import NamedTable
from rocky.compiler.setting_binder import SettingFinding, Subject, bind_setting, bind_tests
from rocky.compiler.validity import Schemas
from rocky.diagnostics import Diagnostic, Label
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.types import StructField
from rocky.language.ir import ModelIr
from rocky.language.names import split_name
from rocky.project import ModelFile, Project, SourceTable
from rocky.project.check_sql import CheckSql, find_check_sql, place_check
from rocky.project.configuration.pipelines import QualityPipeline
from rocky.project.configuration.quality_tables import QualityTable
from rocky.project.setting_sql import SettingPlace, place_setting


def bind_checks(
    project: Project, names: Names, models: Mapping[str, ModelIr]
) -> Iterator[Diagnostic]:
    """What is wrong with the SQL of checks, each at its place in the settings file."""
    tables = ModelTables("", names, Schemas({}, {}))
    for check in find_check_sql(project.config):
        keys = check.setting.keys
        expansion = project.check_expansions.get(keys)
        if expansion is None and keys in project.check_expansions:
            continue
        bans = expansion.bans if expansion is not None else {}
        for subject in _subjects(check, project, models):
            found = bind_setting(check.setting, subject, tables, bans)
            if found:
                place = place_check(
                    project.texts[project.config_path], check.setting, project.check_expansions
                )
                yield from (_placed(each, place, subject) for each in found)
                # Of several tables, one is enough to say what is wrong.
                break


def bind_named_tests(
    model: ModelFile, find: Callable[[str], NamedTable | None], project: Project, names: Names
) -> Iterator[Diagnostic]:
    """What is wrong with the SQL of a model's tests of other tables."""
    tables = ModelTables("", names, Schemas({}, {}))
    for other in dict.fromkeys(each.table for each in model.tests if each.table is not None):
        table = find(other)
        if table is not None:
            subject = Subject(table.name, table.fields, table.known)
            for found in bind_tests(model, subject, tables, other):
                place = place_setting(model, project.texts, found.keys, found.sql)
                yield replace(_placed(found, place, subject), model=model.name)


def _subjects(
    check: CheckSql, project: Project, models: Mapping[str, ModelIr]
) -> Sequence[Subject]:
    """The tables that a check is asked of, as far as models of the project make them."""
    pipeline = project.config.pipeline[check.pipeline]
    found: list[Subject] = []
    if isinstance(pipeline, QualityPipeline):
        for key, model in project.models.items():
            if _is_checked(model, pipeline, project) and _is_meant(check.table, model):
                ir = models.get(key)
                if ir is not None:
                    found.append(_subject(model, ir))
        found += (
            Subject(source.name, source.columns, bool(source.columns))
            for source in _checked_sources(pipeline, project)
            if check.table is None or _ends_with(source.name.lower().split("."), check.table)
        )
    return found or [Subject("", (), known=False)]


def _subject(model: ModelFile, ir: ModelIr) -> Subject:
    fields = [StructField(each.name, each.type, each.nullable) for each in ir.columns]
    return Subject(model.name, fields, ir.known)


def _is_checked(model: ModelFile, pipeline: QualityPipeline, project: Project) -> bool:
    own = project.config.pipeline.get(model.pipeline or "")
    of_pipeline = getattr(getattr(own, "target", None), "adapter", "default")
    if (model.settings.adapter or of_pipeline) != pipeline.target.adapter:
        return False
    return any(_names(each, model) for each in pipeline.tables)


def _names(table: QualityTable, model: ModelFile) -> bool:
    target = model.target
    if table.place is None:
        return False
    catalog, schema, name = table.place
    wanted = (catalog, schema, name or target.table)
    return [each.lower() for each in wanted] == [each.lower() for each in target]


def _is_meant(table: str | None, model: ModelFile) -> bool:
    return table is None or _ends_with([each.lower() for each in model.target], table)


def _ends_with(parts: Sequence[str], table: str) -> bool:
    wanted = split_name(table.lower())
    return tuple(parts)[-len(wanted) :] == wanted


def _checked_sources(pipeline: QualityPipeline, project: Project) -> Iterator[SourceTable]:
    for each in pipeline.tables:
        source = project.sources.get((each.source or "").lower())
        if source is not None:
            yield source


def _placed(each: SettingFinding, place: SettingPlace, subject: Subject) -> Diagnostic:
    found = each.found
    span = found.span or Span(0, len(each.sql))
    labels = tuple(
        label if label.span is None else replace(label, span=place.span(label.span))
        for label in found.labels
    )
    told: tuple[Label, ...] = (*place.labels(span), *labels)
    notes = (f"asked of the table of `{subject.name}`",) if subject.name else ()
    return replace(found, path=place.path, span=place.span(span), labels=told, notes=notes)
