"""Findings about tables that are no models: sources, seeds, and what pipelines copy."""

from collections.abc import Iterator, Mapping, Sequence

from rocky.analysis.classification.facts import Classifications, TagFact
from rocky.analysis.classification.places import declared_place, source_place
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.types import ArrayType, DataType, MapType, StructField, StructType
from rocky.project import Project
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.classifications import EVERY_COLUMN, TagAllowance
from rocky.project.imports import ImportedTable
from rocky.project.models import Target
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable


def find_missing_columns(project: Project) -> Iterator[Diagnostic]:
    """Tags of a source or a seed for a column, or a field, that it has not got: they guard nothing.

    Of models the same is told by the check of their settings.
    """
    tables: list[SourceTable | SeedTable] = [
        each
        for each in project.sources.values()
        if not isinstance(each, ImportedTable | PipelineTable)
    ]
    for table in (*tables, *project.seeds.values()):
        for name in table.classification if table.columns else ():
            problem = _missing(name, table.columns)
            if problem is None or _is_copied_tag(project, table, name):
                continue
            message, wanted, known = problem
            path, span = declared_place(project, table.name.lower(), name.partition(".")[0]) or (
                table.file,
                None,
            )
            yield Diagnostic(
                Code.SETTING_COLUMN_MISSING,
                f"`{table.name}` classifies `{name}`, and {message}",
                span,
                path,
                help=suggestion(wanted, known) or "name one that it has, or remove the tag",
            )


def _is_copied_tag(project: Project, table: SourceTable | SeedTable, name: str) -> bool:
    """Whether a table that a pipeline writes has a tag from what it is copied from."""
    if table.key not in project.writers or not isinstance(table, SourceTable):
        return False
    return source_place(table, name) is None


def _missing(name: str, columns: Sequence[StructField]) -> tuple[str, str, list[str]] | None:
    """What a name of a column or a field misses, the part that is not there, and what there is."""
    names = {each.name.lower(): each for each in columns}
    if name == EVERY_COLUMN or name.lower() in names:
        return None
    first, *inside = name.split(".")
    found = names.get(first.lower())
    if found is None:
        return f"has no column `{first}`", first, [each.name for each in columns]
    kind = found.type
    for part in inside:
        kind = _element(kind)
        fields = {each.name.lower(): each for each in getattr(kind, "fields", ())}
        if not isinstance(kind, StructType) or part.lower() not in fields:
            return f"`{first}` has no field `{part}`", part, [each.name for each in fields.values()]
        kind = fields[part.lower()].type
    return None


def _element(kind: DataType) -> DataType:
    while isinstance(kind, ArrayType | MapType):
        kind = kind.element if isinstance(kind, ArrayType) else kind.value
    return kind


def find_not_allowed(
    project: Project, facts: Classifications, limited: Mapping[str, TagAllowance]
) -> Iterator[Diagnostic]:
    """Seeds and copies of pipelines that hold a tag where it is not allowed."""
    targets = {
        key: (table.name, Target(*table.parts))
        for key, table in project.sources.items()
        if isinstance(table, PipelineTable)
    }
    for key, seed in project.seeds.items():
        targets[key] = seed.name, target_of_seed(seed, project.config)
    for key, (name, target) in targets.items():
        if key in project.models:
            continue
        for column, found in facts.table(key).items():
            for fact in found:
                allow = limited.get(fact.tag)
                if allow is not None and not allows(allow, target, name):
                    yield _refused(project, key, name, column, fact)


def allows(allow: TagAllowance, target: Target, name: str) -> bool:
    """Whether a tag is allowed in a table, by its schema or its name."""
    schemas = {target.schema.lower(), f"{target.catalog}.{target.schema}".lower()}
    return not schemas.isdisjoint(each.lower() for each in allow.schemas) or name.lower() in {
        each.lower() for each in allow.models
    }


def _refused(project: Project, key: str, name: str, column: str, fact: TagFact) -> Diagnostic:
    writer = project.writers.get(key)
    what = f"pipeline `{writer}` copies it" if writer else "it is loaded"
    path, span = declared_place(project, key, column) or (project.config_path, None)
    return Diagnostic(
        Code.TAG_NOT_ALLOWED,
        f"column `{column}` has the tag `{fact.tag}`, which is not allowed in `{name}`,"
        f" into which {what}",
        span,
        path or project.config_path,
        help=f"give it a schema that `[classifications.tags.{fact.tag}] allow` names",
    )
