"""What `rocky doctor` says of the catalogue: what it can hold, and whether it answers."""

from rocky.errors import CatalogueUnreachable, GovernanceRefused
from rocky.governance.catalogue import ALL_KINDS, KIND_WORDS, Abilities, refuse_unable
from rocky.governance.catalogues import MATRIX, open_catalogue
from rocky.governance.declaration import securables_of
from rocky.operations.governance.catalogue import declared_by, tables_of
from rocky.operations.health.health_checks import Diagnosis, Health, Subject, critical
from rocky.operations.placement import place_tables


def check_governance(subject: Subject) -> Diagnosis:
    """The matrix of abilities; for the project's catalogue, whether it answers and suffices."""
    project = place_tables(subject.require_project())
    settings = project.config.governance.catalog
    if settings.kind == "none":
        told = "; ".join(f"{kind}: {_can(each)}" for kind, each in MATRIX)
        return Diagnosis(Health.HEALTHY, f"no catalogue is told of grants; {told}")
    catalogue = open_catalogue(settings)
    said = f"{catalogue.title}: {_can(catalogue.abilities)}"
    tables = tables_of(project)
    try:
        declared = declared_by(project, catalogue)
        refuse_unable(catalogue.title, catalogue.abilities, declared)
        catalogue.held(securables_of(tables[:1])[:1])
    except (GovernanceRefused, CatalogueUnreachable) as failure:
        return critical(f"{failure} ({said})", "see `[governance.catalog]` and `[[grant]]`")
    return Diagnosis(Health.HEALTHY, f"{said}; it answers")


def _can(abilities: Abilities) -> str:
    """What a catalogue can hold, and what it cannot."""
    levels = ", ".join(each for each in ("catalog", "schema", "table") if _grants(abilities, each))
    groups = {"none": "no groups", "by_name": "groups", "apart": "groups as `group:NAME`"}
    can = ", ".join(KIND_WORDS[kind] for kind in ALL_KINDS if kind in abilities.kinds)
    cannot = ", ".join(KIND_WORDS[kind] for kind in ALL_KINDS if kind not in abilities.kinds)
    without = f"; no {cannot}" if cannot else ""
    return f"{can} (grants on {levels}; {groups[abilities.groups]}){without}"


def _grants(abilities: Abilities, level: str) -> bool:
    return level in abilities.grant_levels
