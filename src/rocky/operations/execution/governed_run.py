"""A run whose tables are governed: refused before it begins, or told of after its data is there.

A run takes care of the tables that it wrote. Of those that it only found up to date it looks at
such as the ledger knows something to be open about, so that a run after a failed one makes up for
it, and one that has nothing to do asks the catalogue nothing.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rocky.errors import RockyError, describe_failure
from rocky.governance.catalogue import refuse_unable
from rocky.governance.catalogues import open_catalogue
from rocky.governance.declaration import LEVELS, TableParts
from rocky.governance.facts import Fact
from rocky.governance.planner import applied_facts, unsettled_facts
from rocky.ledger.governance_records import load_governance
from rocky.operations.governance.catalogue import (
    ApplyRequest,
    apply_found,
    declared_by,
    person_of,
    place_of,
    tables_of,
)
from rocky.operations.workspace import Workspace, state_path
from rocky.project import Project
from rocky.run.outcomes import RunResult

_SHOWN: Final = 3


def refuse_ungovernable(project: Project) -> None:
    """Raise GovernanceRefused, before a run begins, for what the catalogue could not hold."""
    catalogue = open_catalogue(project.config.governance.catalog)
    declared = declared_by(project, catalogue)
    refuse_unable(catalogue.title, catalogue.abilities, declared)


def govern_run(workspace: Workspace, project: Project, result: RunResult) -> RunResult:
    """The result of a run whose tables are governed now, or with why they are not."""
    if workspace.branch_name is not None:
        return result
    try:
        wanted = _tables_to_govern(workspace, project, result)
        if not wanted:
            return result
        person = replace(person_of(workspace, project), run_id=result.run_id)
        report = apply_found(workspace, project, ApplyRequest(), person, wanted)
    except (RockyError, OSError) as failure:
        error = f"the tables are not governed: {describe_failure(failure)}"
        return replace(result, governance_error=error)
    lost = [each for each in report.changes if each.status != "done"]
    if not lost:
        return replace(result, warnings=(*result.warnings, *report.warnings))
    said = "; ".join(f"{each.statement}: {each.error}" for each in lost[:_SHOWN])
    more = f"; and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    error = f"the tables are not governed as declared: {said}{more}"
    return replace(result, governance_error=error)


def _tables_to_govern(workspace: Workspace, project: Project, result: RunResult) -> frozenset[str]:
    """Full names, in lower case, of tables of a run that the catalogue is asked about."""
    ran = {
        str(each.execution.target).lower(): bool(each.execution.commits)
        for each in result.outcomes
        if each.execution.target is not None
    }
    tables = [each for each in tables_of(project) if ".".join(each).lower() in ran]
    places = {place_of(fact) for fact in _open_facts(workspace, project)}
    return frozenset(
        name for each in tables if ran[name := ".".join(each).lower()] or _is_in(each, places)
    )


def _is_in(table: TableParts, places: set[tuple[str, str]]) -> bool:
    return any(table.at(level).key in places for level in LEVELS)


def _open_facts(workspace: Workspace, project: Project) -> Iterator[Fact]:
    """What the ledger does not know to be as it is declared."""
    catalogue = open_catalogue(project.config.governance.catalog)
    declared = declared_by(project, catalogue)
    records = load_governance(state_path(workspace))
    applied = applied_facts(records, catalogue.title)
    keys = {fact.key for fact in declared}
    yield from (fact for fact in declared if applied.get(fact.key) != fact)
    yield from (fact for key, fact in applied.items() if key not in keys)
    yield from unsettled_facts(records, catalogue.title)
