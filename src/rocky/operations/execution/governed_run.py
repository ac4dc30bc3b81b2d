"""A run whose tables are governed: refused or guarded before it begins, told of after its data.

A run takes care of the tables that it wrote. Of those that it only found up to date it looks at
such as the ledger knows something to be open about, so that a run after a failed one makes up for
it, and one that has nothing to do asks the catalogue nothing.

Where a catalogue hides columns or rows, it is asked before anything is written: what can be hidden
already is, and a table of which something cannot be hidden yet is closed to its readers until it
is. So no version is ever current that somebody may read and must not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.errors import GovernanceRefused, RockyError, describe_failure
from rocky.governance.application import ChangeOutcome, apply_plan
from rocky.governance.catalogue import refuse_unable
from rocky.governance.catalogues import open_catalogue
from rocky.governance.declaration import LEVELS, TableParts
from rocky.governance.facts import Fact
from rocky.governance.planner import Change, GovernancePlan, applied_facts, unsettled_facts
from rocky.governance.protection import needs_protection, table_of
from rocky.ledger.governance_records import load_governance
from rocky.operations.governance.catalogue import (
    ApplyRequest,
    Governed,
    apply_found,
    govern,
    make_state,
    person_of,
)
from rocky.operations.governance.declaration import declared_by, place_of, tables_of
from rocky.operations.governance.stored_tables import stored_tables
from rocky.operations.state.state_change import change_state
from rocky.operations.workspace import Workspace, state_path
from rocky.plan.steps import RunPlan
from rocky.project.collisions import target_of_seed
from rocky.run.outcomes import RunResult

_SHOWN: Final = 3
_HIDING: Final = ("mask", "row_filter")
_CLOSED: Final = "closed until what is to be hidden of its table is"


def refuse_ungovernable(compilation: Compilation) -> None:
    """Raise GovernanceRefused, before a run begins, for what the catalogue could not hold."""
    catalogue = open_catalogue(compilation.project.config.governance.catalog)
    declared = declared_by(compilation.project, catalogue, compilation)
    refuse_unable(catalogue.title, catalogue.abilities, declared)


def guard_run(workspace: Workspace, plan: RunPlan) -> None:
    """Have the catalogue hide what it can of tables that are about to be written.

    Raises GovernanceRefused where something could not be hidden, and CatalogueUnreachable: then
    nothing is run, and the old versions stay current.
    """
    compilation, project = plan.compilation, plan.project
    if workspace.branch_name is not None or not needs_protection(project):
        return
    catalogue = open_catalogue(project.config.governance.catalog)
    declared = declared_by(project, catalogue, compilation)
    hidden = {table_of(fact).name.lower() for fact in declared if fact.hides}
    wanted = hidden.intersection(_targets(plan))
    if not wanted:
        return
    make_state(workspace)
    found = govern(workspace, project, compilation, frozenset(wanted))
    absent = {each.key for each in found.held.absent}
    late = {table_of(fact).key for fact in found.declared if fact.securable.key in absent}
    changes = [
        each
        for each in found.plan.changes
        if each.tightens and each.fact.kind in _HIDING and each.fact.securable.key not in absent
    ]
    changes += _closing(found, late - absent, changes)
    outcomes = _apply(workspace, found, changes, None)
    lost = [each for each in outcomes if each.status != "done"]
    if lost:
        raise GovernanceRefused(f"what is to be hidden is not, so nothing was run: {_said(lost)}")


def _targets(plan: RunPlan) -> Iterator[str]:
    """The full names, in lower case, of the tables that a plan writes."""
    project = plan.project
    for step in plan.steps:
        if step.key in project.models:
            yield project.models[step.key].target.key
        elif step.key in project.seeds:
            yield target_of_seed(project.seeds[step.key], project.config).key


def govern_run(workspace: Workspace, compilation: Compilation, result: RunResult) -> RunResult:
    """The result of a run whose tables are governed now, or with why they are not."""
    if workspace.branch_name is not None:
        return result
    project = compilation.project
    try:
        wanted = _tables_to_govern(workspace, compilation, result)
        if not wanted:
            return result
        person = replace(person_of(workspace, project), run_id=result.run_id)
        report = apply_found(workspace, project, ApplyRequest(), person, compilation, wanted)
        lost = [each for each in report.changes if each.status != "done"]
        bare = {
            each.on.rpartition(".")[0] if each.level == "column" else each.on
            for each in lost
            if each.kind in _HIDING
        }
        closed = _close(workspace, compilation, bare, result.run_id) if bare else ""
    except (RockyError, OSError) as failure:
        error = f"the tables are not governed: {describe_failure(failure)}"
        return replace(result, governance_error=error)
    if not lost:
        return replace(result, warnings=(*result.warnings, *report.warnings))
    said = "; ".join(f"{each.statement}: {each.error}" for each in lost[:_SHOWN])
    more = f"; and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    error = f"the tables are not governed as declared: {said}{more}{closed}"
    return replace(result, governance_error=error)


def _close(
    workspace: Workspace, compilation: Compilation, tables: Iterable[str], run_id: str
) -> str:
    """Take our grants off tables of which something is not hidden; what came of it, in words."""
    wanted = frozenset(each.lower() for each in tables)
    found = govern(workspace, compilation.project, compilation, wanted)
    changes = _closing(found, {("table", each) for each in wanted}, ())
    outcomes = _apply(workspace, found, changes, run_id)
    lost = [each for each in outcomes if each.status != "done"]
    if lost:
        return f"; and could not be closed: {_said(lost)}"
    names = ", ".join(f"`{each}`" for each in sorted(wanted))
    return f"; closed until then: {names}" if outcomes else ""


def _closing(
    found: Governed, tables: set[tuple[str, str]], planned: Iterable[Change]
) -> list[Change]:
    """Changes that take our grants off tables; those of others are not ours to take."""
    gone = {each.fact.key for each in planned}
    ours = {*found.applied, *(fact.key for fact in found.declared)}
    return [
        Change("remove", fact, _CLOSED)
        for fact in found.held.facts
        if fact.kind == "grant" and fact.securable.key in tables and fact.key in ours - gone
    ]


def _apply(
    workspace: Workspace, found: Governed, changes: Iterable[Change], run_id: str | None
) -> tuple[ChangeOutcome, ...]:
    plan = GovernancePlan(found.catalogue.title, tuple(changes))
    if not plan.changes:
        return ()
    person = replace(person_of(workspace, found.project), run_id=run_id)
    outcomes, _ = change_state(
        workspace, (), lambda ledger: apply_plan(found.catalogue, plan, ledger, person)
    )
    return outcomes


def _said(lost: list[ChangeOutcome]) -> str:
    return "; ".join(f"{each.statement}: {each.error}" for each in lost[:_SHOWN])


def _tables_to_govern(
    workspace: Workspace, compilation: Compilation, result: RunResult
) -> frozenset[str]:
    """Full names, in lower case, of tables of a run that the catalogue is asked about."""
    ran = {
        str(each.execution.target).lower(): bool(each.execution.commits)
        for each in result.outcomes
        if each.execution.target is not None
    }
    tables = [each for each in tables_of(compilation.project) if ".".join(each).lower() in ran]
    places = {place_of(fact) for fact in _open_facts(workspace, compilation, frozenset(ran))}
    return frozenset(
        name for each in tables if ran[name := ".".join(each).lower()] or _is_in(each, places)
    )


def _is_in(table: TableParts, places: set[tuple[str, str]]) -> bool:
    return any(table.at(level).key in places for level in LEVELS)


def _open_facts(
    workspace: Workspace, compilation: Compilation, ran: frozenset[str]
) -> Iterator[Fact]:
    """What the ledger does not know to be as it is declared."""
    project = compilation.project
    catalogue = open_catalogue(project.config.governance.catalog)
    stored = stored_tables(workspace, project, ran)
    declared = declared_by(project, catalogue, compilation, stored)
    records = load_governance(state_path(workspace))
    applied = applied_facts(records, catalogue.title)
    keys = {fact.key for fact in declared}
    yield from (fact for fact in declared if applied.get(fact.key) != fact)
    yield from (fact for key, fact in applied.items() if key not in keys)
    yield from unsettled_facts(records, catalogue.title)
