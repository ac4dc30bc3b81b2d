"""Governance: what a catalogue would be told, told it, and who can read a table.

A plan is known by the hash of what it does and of what it found, so applying one by its id does
exactly that or nothing. Only production is governed: nobody but its maker reads a branch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from rocky.analysis.compilation import Compilation
from rocky.errors import GovernanceRefused, PlanOutdated, RunRefused
from rocky.governance.application import ChangeOutcome, Person, apply_plan, not_in_place
from rocky.governance.catalogue import Catalogue, refuse_unable
from rocky.governance.catalogues import open_catalogue
from rocky.governance.declaration import TableParts, securables_of
from rocky.governance.facts import Fact, FactKey, Held
from rocky.governance.planner import (
    Change,
    GovernancePlan,
    applied_facts,
    is_rest_of,
    plan_changes,
    scope_of,
)
from rocky.governance.readers import Reader, find_readers
from rocky.ledger import open_ledger
from rocky.ledger.governance_records import load_governance
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.governance.declaration import (
    compiled_for,
    declared_by,
    place_of,
    tables_of,
)
from rocky.operations.governance.stored_tables import stored_tables
from rocky.operations.placement import place_tables
from rocky.operations.state.state_change import change_state, load_sound_project
from rocky.operations.workspace import (
    Workspace,
    caller_of,
    model_named,
    refresh_state,
    state_path,
    state_settings,
)
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.collisions import target_of_seed

_LEAST_OF_ID: Final = 8


@dataclass(frozen=True, slots=True)
class ApplyRequest(Request):
    """The plan to carry out, by its id or the beginning of one; without, the one made now."""

    plan_id: str | None = None


@dataclass(frozen=True, slots=True)
class WhoRequest(Request):
    """The table, by its model or seed, or by its name, with or without the catalog."""

    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """One change: what is said, about what, to whom, and why."""

    action: Literal["add", "change", "remove", "adopt"]
    kind: str
    level: str
    on: str
    subject: str = ""
    name: str = ""
    value: str = ""
    before: str | None = None
    why: str
    statement: str
    status: Literal["planned", "done", "failed", "not_tried"] = "planned"
    error: str | None = None


@dataclass(frozen=True, slots=True)
class HeldFact:
    """Something that a catalogue holds, or would: in words, and by its parts."""

    said: str
    kind: str
    level: str
    on: str
    subject: str = ""
    name: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class GovernanceReport(Digested):
    """A plan, or what came of one. `in_place` counts what is declared and held already.

    `foreign` is what somebody else said, `waiting` what is declared about tables that the
    catalogue has not got.
    """

    plan_id: str
    catalogue: str
    changes: tuple[FactChange, ...]
    foreign: tuple[HeldFact, ...]
    waiting: tuple[HeldFact, ...]
    in_place: int
    applied: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether something of the plan is not in place."""
        return any(each.status in ("failed", "not_tried") for each in self.changes)

    def digest(self) -> Digest:
        rows = [(each.action, each.on, each.statement, each.status) for each in self.changes]
        title = f"{counts(change=len(rows))} of {self.catalogue}"
        return Digest(title, ("action", "on", "statement", "status"), rows, len(rows))


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class WhoReport(Digested):
    """Who can read a table; `catalogue` is None where none is asked, and then all is declared."""

    table: str
    catalogue: str | None
    readers: tuple[Reader, ...]
    roles: Mapping[str, tuple[str, ...]]

    def digest(self) -> Digest:
        rows = [(each.principal, ", ".join(each.through), each.standing) for each in self.readers]
        title = f"{counts(reader=len(rows))} of {self.table}"
        return Digest(title, ("principal", "through", "standing"), rows, len(rows))


@dataclass(frozen=True, slots=True)
class Governed:
    """A project and its catalogue: what is declared, what was applied, what is held."""

    project: Project
    catalogue: Catalogue
    declared: Mapping[Fact, str]
    applied: Mapping[FactKey, Fact]
    held: Held
    plan: GovernancePlan


def plan_governance(workspace: Workspace) -> GovernanceReport:
    """What would make the catalogue say what is declared. Nothing is told to it.

    Raises GovernanceRefused, CatalogueUnreachable, RunRefused for errors in `rocky.toml`.
    """
    project = _project(workspace, "planned")
    state = state_path(workspace)
    refresh_state(workspace, state)
    return _report(govern(workspace, project, compiled_for(project)))


def apply_governance(workspace: Workspace, request: ApplyRequest) -> GovernanceReport:
    """Tell the catalogue what a plan says, each statement on record, and read it back.

    Raises PlanOutdated where `plan_id` is not what would be done now, and as `plan_governance`.
    """
    project = _project(workspace, "applied")
    person = person_of(workspace, project)
    refresh_state(workspace, state_path(workspace))
    make_state(workspace)
    return apply_found(workspace, project, request, person, compiled_for(project))


def who_can_read(workspace: Workspace, request: WhoRequest) -> WhoReport:
    """Who can read a table. Raises NothingSelected, and as `plan_governance`."""
    project = place_tables(load_sound_project(workspace, "said"))
    table = _table_named(project, request.table)
    config = project.config
    roles = {name: role.members for name, role in config.role.items()}
    name = ".".join(table)
    if config.governance.catalog.kind == "none":
        return WhoReport(table=name, catalogue=None, readers=(), roles=roles)
    catalogue = open_catalogue(config.governance.catalog)
    declared = declared_by(project, catalogue, None)
    held = catalogue.held(securables_of([table])).facts
    needs_use = "USE SCHEMA" in catalogue.abilities.privileges
    readers = find_readers(table, declared, held, needs_use=needs_use)
    return WhoReport(table=name, catalogue=catalogue.title, readers=readers, roles=roles)


def govern(
    workspace: Workspace,
    project: Project,
    compilation: Compilation | None,
    wrote: frozenset[str] | None = None,
) -> Governed:
    """What a project declares, what its catalogue holds, and the plan that follows.

    `wrote` are full names, in lower case, of the tables that the plan is for; without, all.
    `compilation` is needed where the catalogue is to hide something.
    """
    config = project.config
    catalogue = open_catalogue(config.governance.catalog)
    tables = tables_of(project)
    stored = stored_tables(workspace, project, wrote)
    declared = declared_by(project, catalogue, compilation, stored)
    refuse_unable(catalogue.title, catalogue.abilities, declared)
    applied = applied_facts(load_governance(state_path(workspace)), catalogue.title)
    foreign = config.governance.foreign
    if wrote is not None:
        tables = tuple(each for each in tables if ".".join(each).lower() in wrote)
        named = {each.key for each in securables_of(tables)}
        declared = {fact: why for fact, why in declared.items() if place_of(fact) in named}
        applied = {key: fact for key, fact in applied.items() if place_of(fact) in named}
    scope = scope_of(declared, applied.values(), securables_of(tables), foreign)
    held = catalogue.held(scope)
    plan = plan_changes(catalogue.title, declared, held, applied, foreign)
    return Governed(project, catalogue, declared, applied, held, plan)


def apply_found(
    workspace: Workspace,
    project: Project,
    request: ApplyRequest,
    person: Person,
    compilation: Compilation | None,
    wrote: frozenset[str] | None = None,
) -> GovernanceReport:
    state = state_path(workspace)
    found = govern(workspace, project, compilation, wrote)
    _refuse_other(found, request.plan_id, state)
    if not found.plan.changes:
        return replace(_report(found), applied=True)
    outcomes, warnings = change_state(
        workspace,
        (),
        lambda ledger: apply_plan(found.catalogue, found.plan, ledger, person),
    )
    lost = not_in_place(outcomes)
    said = [f"still open to somebody: {fact}" for fact in lost]
    return _report(found, outcomes, (*warnings, *said))


def _refuse_other(found: Governed, wanted: str | None, state: Path) -> None:
    """Raise PlanOutdated unless the plan is the one that was asked for, or what is left of it."""
    if wanted is None:
        return
    if len(wanted) < _LEAST_OF_ID:
        raise GovernanceRefused(f"`{wanted}` is too short for the id of a plan")
    if found.plan.plan_id.startswith(wanted):
        return
    if is_rest_of(found.plan, load_governance(state), wanted):
        return
    raise PlanOutdated(
        f"the plan `{wanted}` is not what would be done now: the catalogue, rocky.toml or the"
        " ledger has changed since; nothing was done, see `rocky governance plan`"
    )


def _project(workspace: Workspace, verb: str) -> Project:
    if workspace.branch_name is not None:
        raise RunRefused(
            f"branch `{workspace.branch_name}` is not governed: its tables are nobody's but its"
            f" maker's; nothing was {verb}"
        )
    return place_tables(load_sound_project(workspace, verb))


def person_of(workspace: Workspace, project: Project) -> Person:
    origin = caller_of(workspace, project, state_path(workspace)).circumstances
    return Person(origin.triggering_identity)


def make_state(workspace: Workspace) -> None:
    """Grants may come before the first table: then the ledger begins with them."""
    path = state_path(workspace)
    if not path.exists() and state_settings(workspace).backend == "local":
        open_ledger(path).close()


def _table_named(project: Project, name: str) -> TableParts:
    """A table by its model or seed, or by its name, with or without the catalog."""
    wanted = name.replace("`", "").lower()
    if wanted in project.models:
        return TableParts(*project.models[wanted].target)
    if wanted in project.seeds:
        return TableParts(*target_of_seed(project.seeds[wanted], project.config))
    found = {each for each in tables_of(project) if _ends_with(each, wanted)}
    if len(found) == 1:
        return found.pop()
    return TableParts(*model_named(project, name).target)


def _ends_with(table: TableParts, name: str) -> bool:
    return f".{'.'.join(table).lower()}".endswith(f".{name}")


def _report(
    found: Governed,
    outcomes: Iterable[ChangeOutcome] | None = None,
    warnings: tuple[str, ...] = (),
) -> GovernanceReport:
    plan = found.plan
    if outcomes is None:
        changes = tuple(_change(each, found.catalogue) for each in plan.changes)
    else:
        changes = tuple(
            replace(_change(each.change, found.catalogue), status=each.status, error=each.error)
            for each in outcomes
        )
    return GovernanceReport(
        plan_id=plan.plan_id,
        catalogue=plan.catalogue,
        changes=changes,
        foreign=tuple(map(held_fact, plan.foreign)),
        waiting=tuple(map(held_fact, plan.waiting)),
        in_place=plan.in_place,
        applied=outcomes is not None,
        warnings=warnings,
    )


def _change(change: Change, catalogue: Catalogue) -> FactChange:
    fact, removed = change.fact, change.action == "remove"
    said = str(fact)
    if change.action != "adopt":
        said = catalogue.statement(fact, removed=removed)
    return FactChange(
        action=change.action,
        kind=fact.kind,
        level=fact.level,
        on=fact.on,
        subject=fact.subject,
        name=fact.name,
        value=fact.value,
        before=None if change.before is None else change.before.value,
        why=change.why,
        statement=said,
    )


def held_fact(fact: Fact) -> HeldFact:
    """A fact as reports have it."""
    return HeldFact(str(fact), fact.kind, fact.level, fact.on, fact.subject, fact.name, fact.value)
