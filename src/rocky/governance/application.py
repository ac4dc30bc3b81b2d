"""A plan carried out: each change recorded before it is made and after, then all read back.

A crash leaves the records of what was done and of the one change that may have been; the next plan
takes both into account, so that applying again does what is left. A change that takes rights away
or masks something, and fails, is what fails a run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final, Literal

from rocky.errors import CatalogueUnreachable, RockyError, describe_failure
from rocky.governance.catalogue import Catalogue
from rocky.governance.facts import Fact, Held
from rocky.governance.planner import Change, GovernancePlan, scope_of
from rocky.governance.rest import HttpRefusal
from rocky.ledger.governance_records import (
    ABOUT_TO,
    DONE,
    PLANNED,
    REFUSED,
    UNANSWERED,
    GovernanceRecord,
    application_at,
    record_statements,
)
from rocky.ledger.ledger_file import LedgerFile

_SERVERS_OWN: Final = 500
"""Statuses from here on are failures of a server, or of a proxy that did not wait for it."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who has a plan applied, and in which run, if in one."""

    name: str | None
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """What came of one change; `error` says why it is not in place."""

    change: Change
    statement: str
    status: Literal["done", "failed", "not_tried"]
    error: str | None = None


def apply_plan(
    catalogue: Catalogue, plan: GovernancePlan, ledger: LedgerFile, person: Person
) -> tuple[ChangeOutcome, ...]:
    """Make the changes of a plan in their order, and what came of each.

    After one that fails no grant is added: what is missing must not be made up for by it.
    """
    application = application_at(datetime.now(UTC))
    outcomes: list[ChangeOutcome] = []
    failed = False
    statements = [_statement(catalogue, each) for each in plan.changes]
    planned = [
        _record(plan, change, statement, person, application, number)
        for number, (change, statement) in enumerate(zip(plan.changes, statements, strict=True))
    ]
    record_statements(ledger, planned)
    for change, statement, record in zip(plan.changes, statements, planned, strict=True):
        if failed and not change.tightens:
            outcomes.append(ChangeOutcome(change, statement, "not_tried", "a change before failed"))
            continue
        begun = replace(record, stage=ABOUT_TO, at=datetime.now(UTC))
        record_statements(ledger, [begun])
        stage, error = _make(catalogue, change)
        failed = failed or error is not None
        ended = replace(record, stage=stage, at=datetime.now(UTC), error=error)
        record_statements(ledger, [ended])
        outcomes.append(
            ChangeOutcome(change, statement, "done" if error is None else "failed", error)
        )
    checked = _read_back(catalogue, outcomes)
    taken_back = _not_taken_away(planned, outcomes, checked)
    if taken_back:
        record_statements(ledger, taken_back)
    return checked


def _not_taken_away(
    planned: Sequence[GovernanceRecord],
    said: Sequence[ChangeOutcome],
    checked: Sequence[ChangeOutcome],
) -> list[GovernanceRecord]:
    """Rows that take `done` back of what was to be removed and is there, or may be.

    It is ours still, so the next plan removes it again, and does not take it for somebody else's.
    """
    return [
        replace(record, stage=REFUSED, at=datetime.now(UTC), error=after.error)
        for record, before, after in zip(planned, said, checked, strict=True)
        if before.status == "done" != after.status and after.change.action == "remove"
    ]


def _make(catalogue: Catalogue, change: Change) -> tuple[str, str | None]:
    """Make a change: how far that came, and why no further.

    What got no answer may have been done: then it is ours, and a right that is declared no longer
    is taken back and not taken for somebody else's.
    """
    try:
        if change.action == "remove":
            catalogue.remove(change.fact)
        elif change.action != "adopt":
            catalogue.put(change.fact, change.before)
    except CatalogueUnreachable as failure:
        return UNANSWERED, describe_failure(failure)
    except HttpRefusal as failure:
        stage = UNANSWERED if failure.status >= _SERVERS_OWN else REFUSED
        return stage, describe_failure(failure)
    except RockyError as failure:
        return REFUSED, describe_failure(failure)
    return DONE, None


def _statement(catalogue: Catalogue, change: Change) -> str:
    if change.action == "adopt":
        return f"nothing: {change.fact} is there"
    return catalogue.statement(change.fact, removed=change.action == "remove")


def _record(
    plan: GovernancePlan,
    change: Change,
    statement: str,
    person: Person,
    application: str,
    number: int,
) -> GovernanceRecord:
    fact = change.fact
    return GovernanceRecord(
        application,
        number,
        PLANNED,
        datetime.now(UTC),
        plan.catalogue,
        plan.plan_id,
        change.action,
        fact.kind,
        fact.level,
        fact.on,
        statement,
        change.why,
        fact.subject,
        fact.name,
        fact.value,
        None if change.before is None else change.before.value,
        person.name,
        person.run_id,
    )


def _read_back(
    catalogue: Catalogue, outcomes: Sequence[ChangeOutcome]
) -> tuple[ChangeOutcome, ...]:
    """The outcomes, with those as failed that the catalogue does not hold as it was told."""
    done = [each for each in outcomes if each.status == "done"]
    if not done:
        return tuple(outcomes)
    scope = scope_of((each.change.fact for each in done), (), (), "keep")
    try:
        held = catalogue.held(scope)
    except RockyError as failure:
        why = f"it could not be read back: {describe_failure(failure)}"
        return tuple(_failed(each, why) if each in done else each for each in outcomes)
    return tuple(_checked(each, held) for each in outcomes)


def _checked(outcome: ChangeOutcome, held: Held) -> ChangeOutcome:
    if outcome.status != "done":
        return outcome
    found = {fact.key: fact for fact in held.facts}
    there = found.get(outcome.change.fact.key)
    if outcome.change.action == "remove":
        is_so = there is None
    else:
        is_so = there is not None and there.value == outcome.change.fact.value
    said = "the catalogue took it, and does not hold it"
    if outcome.change.action == "remove":
        said = "the catalogue took it, and still holds it"
    return outcome if is_so else _failed(outcome, said)


def _failed(outcome: ChangeOutcome, why: str) -> ChangeOutcome:
    return replace(outcome, status="failed", error=why)


def not_in_place(outcomes: Sequence[ChangeOutcome]) -> tuple[Fact, ...]:
    """Masks, filters and revokes that could not be put in place."""
    return tuple(
        each.change.fact for each in outcomes if each.status != "done" and each.change.tightens
    )
