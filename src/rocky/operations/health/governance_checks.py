"""What `rocky doctor` says of the catalogue: what each kind can hold, and whether ours answers."""

from typing import Final

from rocky.errors import CatalogueUnreachable, GovernanceRefused
from rocky.governance.catalogue import ALL_KINDS, KIND_WORDS, Abilities, refuse_unable
from rocky.governance.catalogues import MATRIX, open_catalogue
from rocky.governance.declaration import LEVELS, securables_of
from rocky.operations.governance.declaration import declared_by, tables_of
from rocky.operations.health.health_checks import Diagnosis, Health, Subject, critical
from rocky.operations.placement import place_tables

_GROUPS: Final = {"none": "no", "by_name": "by name", "apart": "`group:NAME`"}
_MORE: Final = "`rocky doctor --check governance` shows what each can hold"


def check_governance(subject: Subject) -> Diagnosis:
    """The matrix of abilities; for the project's catalogue, whether it answers and suffices."""
    project = place_tables(subject.require_project())
    settings = project.config.governance.catalog
    if settings.kind == "none":
        return Diagnosis(
            Health.HEALTHY, f"no catalogue is told of grants; {_MORE}", details=_matrix(None)
        )
    catalogue = open_catalogue(settings)
    tables = tables_of(project)
    try:
        declared = declared_by(project, catalogue, None)
        refuse_unable(catalogue.title, catalogue.abilities, declared)
        catalogue.held(securables_of(tables[:1])[:1])
    except (GovernanceRefused, CatalogueUnreachable) as failure:
        found = critical(str(failure), "see `[governance.catalog]` and `[[grant]]`")
        return found._replace(details=_matrix(settings.kind))
    said = f"{catalogue.title} answers; {_MORE}"
    return Diagnosis(Health.HEALTHY, said, details=_matrix(settings.kind))


def _matrix(own: str | None) -> tuple[str, ...]:
    """What each kind of catalogue can hold, a line an ability, ours with a star."""
    columns = [[f"{kind}{'*' if kind == own else ''}", *_cells(each)] for kind, each in MATRIX]
    titles = ["", "grants on", "groups", *(KIND_WORDS[each] for each in ALL_KINDS[1:])]
    rows = zip(titles, *columns, strict=True)
    widths = [max(map(len, column)) for column in (titles, *columns)]
    return tuple(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _cells(abilities: Abilities) -> list[str]:
    levels = ", ".join(each for each in LEVELS if each in abilities.grant_levels)
    kinds = ["yes" if each in abilities.kinds else "no" for each in ALL_KINDS[1:]]
    return [levels, _GROUPS[abilities.groups], *kinds]
