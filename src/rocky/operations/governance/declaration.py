"""What a project declares for its catalogue: grants, tags, masks and row filters of its tables."""

from collections.abc import Iterable, Mapping
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project
from rocky.diagnostics import Severity
from rocky.governance.catalogue import Abilities, Catalogue
from rocky.governance.declaration import TableParts, declare
from rocky.governance.facts import Fact
from rocky.governance.protection import (
    filtered_rows,
    masked_columns,
    needs_protection,
    refuse_early_readers,
)
from rocky.governance.registration import StoredTable, registration_fact
from rocky.operations.findings import refuse_errors
from rocky.project import Project
from rocky.project.collisions import target_of_seed
from rocky.project.configuration.grants import Grant
from rocky.project.configuration.strategies import has_target
from rocky.project.pipeline_tables import PipelineTable

_REGISTER: Final = "[governance.catalog] register"


def compiled_for(project: Project) -> Compilation | None:
    """The compilation where the catalogue is to hide something; None where it need not be known.

    Raises ErrorsFound: of a model that is not understood nobody knows what is to be hidden.
    """
    if not needs_protection(project):
        return None
    compilation = compile_project(project, cache=False)
    errors = [each for each in compilation.diagnostics if each.severity is Severity.ERROR]
    refuse_errors(compilation, errors, undone="what is to be masked is not known")
    return compilation


def declared_by(
    project: Project,
    catalogue: Catalogue,
    compilation: Compilation | None,
    stored: Iterable[StoredTable] = (),
) -> Mapping[Fact, str]:
    """What a project declares for a catalogue, without masks and filters where none is compiled.

    `stored` are the tables that are to be registered.
    Raises GovernanceRefused for what cannot be, as `declare` does.
    """
    declared = declared_for(project, catalogue.abilities)
    declared |= {registration_fact(each): _REGISTER for each in stored}
    if compilation is None:
        return declared
    names = {key: ".".join(parts) for key, (parts, _) in governed_tables(project).items()}
    for column, why in masked_columns(compilation, names):
        declared |= dict.fromkeys(catalogue.masks(column), why)
    for rows, why in filtered_rows(compilation):
        declared |= dict.fromkeys(catalogue.row_filters(rows), why)
    if not catalogue.abilities.masks_first:
        refuse_early_readers(catalogue.title, declared)
    return declared


def declared_for(project: Project, abilities: Abilities) -> dict[Fact, str]:
    """The grants and tags that a project declares for a catalogue of some abilities.

    Raises GovernanceRefused as `declare` does.
    """
    owners = dict(governed_tables(project).values())
    coming = bool(project.open_targets)
    declared = dict(declare(project.config, owners, abilities, more_to_come=coming))
    clear = clear_tables(project)
    if not clear:
        return declared
    # What a restricted schema has is only granted by who names that schema.
    named = tuple(each for each in project.config.grant if _names_schema(each, clear))
    own = project.config._replace(grant=named)
    meant = declare(own, owners, abilities, more_to_come=coming)
    places = {each.at(level).key for each in clear for level in ("schema", "table")}
    return {
        fact: why
        for fact, why in declared.items()
        if fact.kind != "grant" or place_of(fact) not in places or fact in meant
    }


def clear_tables(project: Project) -> tuple[TableParts, ...]:
    """The tables of models that are shown masked, and are clear themselves."""
    return tuple(
        TableParts(*project.models[key].target)
        for key in project.twins.values()
        if key in project.models
    )


def _names_schema(grant: Grant, clear: Iterable[TableParts]) -> bool:
    parts = grant.on.lower().split(".")
    return len(parts) > 1 and any(parts[1] == each.schema.lower() for each in clear)


def tables_of(project: Project) -> tuple[TableParts, ...]:
    """The tables that a project writes: of its models, its seeds and its pipelines."""
    return tuple(dict.fromkeys(parts for parts, _ in governed_tables(project).values()))


def governed_tables(project: Project) -> dict[str, tuple[TableParts, str | None]]:
    """By key the tables that a project writes, with the pipeline that each belongs to."""
    found: dict[str, tuple[TableParts, str | None]] = {
        key: (TableParts(*source.parts), source.pipeline)
        for key, source in project.sources.items()
        if isinstance(source, PipelineTable)
    }
    for key, seed in project.seeds.items():
        target = target_of_seed(seed, project.config)
        found[key] = TableParts(target.catalog, target.schema, target.table), None
    for key, model in project.models.items():
        if has_target(model.strategy):
            found[key] = TableParts(*model.target), model.pipeline
    return found


def place_of(fact: Fact) -> tuple[str, str]:
    """What a fact is about; a column's table."""
    if fact.level == "column":
        return "table", fact.on.rpartition(".")[0].lower()
    return fact.securable.key
