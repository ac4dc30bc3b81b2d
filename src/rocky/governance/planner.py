"""The plan: what is declared, held and was applied before, and what makes the first two equal.

Pure. What was applied is known from the ledger; what is held and neither declared nor applied is
foreign. Changes are ordered so that nobody sees more than before until what takes rights away is in
place: masks and filters first, then revokes, and grants last.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from rocky.canonical import canonical_json, text_hash
from rocky.governance.facts import Fact, FactKey, Held, Kind, Level, Securable
from rocky.ledger.governance_records import (
    ABOUT_TO,
    DONE,
    PLANNED,
    REFUSED,
    UNANSWERED,
    GovernanceRecord,
    newest,
)

Action = Literal["add", "change", "remove", "adopt"]
Foreign = Literal["keep", "report", "remove"]

_GONE: Final = "no longer declared"
_FOREIGN: Final = 'somebody else said it, and `[governance] foreign = "remove"`'


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do. `before` is the fact that a change replaces; `why` what asks for it."""

    action: Action
    fact: Fact
    why: str
    before: Fact | None = None

    @property
    def tightens(self) -> bool:
        """Whether rows would stay visible to somebody who must not see them if it failed."""
        if _protects(self.fact):
            return self.action != "remove"
        return self.fact.kind not in ("tag", "registration") and self.action == "remove"

    def to_json(self) -> dict[str, Any]:
        """What a plan is known by."""
        document = {name: getattr(self.fact, name) for name in _COMPARED}
        before = None if self.before is None else self.before.value
        return {**document, "action": self.action, "before": before}


def _protects(fact: Fact) -> bool:
    return fact.hides or fact.kind == "isolation"


_COMPARED: Final = ("kind", "level", "on", "subject", "name", "value")


@dataclass(frozen=True, slots=True)
class GovernancePlan:
    """What to do, in order; what others said; and what waits for a table to be there."""

    catalogue: str
    changes: tuple[Change, ...] = ()
    foreign: tuple[Fact, ...] = ()
    waiting: tuple[Fact, ...] = ()
    in_place: int = 0

    @property
    def plan_id(self) -> str:
        """The hash of the catalogue, of what is to be done, and of what others said."""
        said = {
            "catalogue": self.catalogue,
            "changes": [each.to_json() for each in self.changes],
            "foreign": [[*each.key, each.value] for each in self.foreign],
            "waiting": [[*each.key, each.value] for each in self.waiting],
        }
        return text_hash(canonical_json(said))


def plan_changes(
    catalogue: str,
    declared: Mapping[Fact, str],
    held: Held,
    applied: Mapping[FactKey, Fact],
    foreign: Foreign,
) -> GovernancePlan:
    """What makes the catalogue say what is declared, as far as it has what is declared about."""
    absent = {each.key for each in held.absent}
    wanted = {fact.key: fact for fact in declared}
    found = {fact.key: fact for fact in held.facts if fact.kind != "policy"}
    absent -= {fact.securable.key for fact in declared if fact.kind == "registration"}
    changes: list[Change] = []
    waiting: list[Fact] = []
    in_place = 0
    for key, fact in wanted.items():
        there = found.get(key)
        if _whole(fact).key in absent:
            waiting.append(fact)
        elif there is None:
            changes.append(Change("add", fact, declared[fact]))
        elif there.value != fact.value:
            changes.append(Change("change", fact, declared[fact], there))
        elif key not in applied:
            changes.append(Change("adopt", fact, declared[fact]))
        else:
            in_place += 1
    strange = [fact for fact in held.facts if fact.kind == "policy"]
    for key, there in found.items():
        if key in wanted:
            continue
        if key in applied:
            changes.append(Change("remove", there, _GONE))
        elif there.kind == "registration":
            # Somebody else's table, which is neither wrong nor ours to take out.
            continue
        elif foreign == "remove" and _is_ours_to_remove(there):
            changes.append(Change("remove", there, _FOREIGN))
        else:
            strange.append(there)
    return GovernancePlan(
        catalogue,
        tuple(sorted(changes, key=_turn)),
        () if foreign == "keep" else tuple(sorted(strange)),
        tuple(sorted(waiting)),
        in_place,
    )


def _is_ours_to_remove(fact: Fact) -> bool:
    """Whether what somebody else said may be taken back for them.

    What hides something is stricter than the project, and a catalog or a schema may have tables of
    others in it, whose readers need what was granted there.
    """
    return fact.level in ("table", "column") and not _protects(fact)


def _turn(change: Change) -> tuple[int, Fact]:
    protects = _protects(change.fact)
    if change.fact.kind == "registration":
        # What is said about a table needs the table.
        return (4 if change.action == "remove" else -1), change.fact
    if protects and change.action != "remove":
        return 0, change.fact
    if change.action == "remove" and not protects:
        return 1, change.fact
    return (3 if change.action == "remove" else 2), change.fact


def applied_facts(records: Sequence[GovernanceRecord], catalogue: str) -> dict[FactKey, Fact]:
    """What we have had a catalogue hold, and have not taken back, by key.

    What was about to be said counts as said: it may have been, and then it is ours.
    """
    found: dict[FactKey, Fact] = {}
    for each in newest(records):
        fact = fact_of(each)
        if each.catalogue != catalogue or fact is None or each.stage in (PLANNED, REFUSED):
            continue
        if each.action != "remove":
            found[fact.key] = fact
        elif each.stage == DONE:
            found.pop(fact.key, None)
    return found


def unsettled_facts(records: Sequence[GovernanceRecord], catalogue: str) -> tuple[Fact, ...]:
    """Facts of which nobody knows whether the last that was said of them was heard."""
    last: dict[FactKey, tuple[str, Fact]] = {}
    for each in newest(records):
        fact = fact_of(each)
        if each.catalogue == catalogue and fact is not None:
            last[fact.key] = (each.stage, fact)
    return tuple(fact for stage, fact in last.values() if stage in (ABOUT_TO, UNANSWERED))


def fact_of(record: GovernanceRecord) -> Fact | None:
    """The fact that a record is about; None for a kind that this Rocky does not know."""
    for kind in get_args(Kind):
        for level in get_args(Level):
            if (kind, level) == (record.kind, record.level):
                return Fact(kind, level, record.on, record.subject, record.name, record.value)
    return None


def is_rest_of(plan: GovernancePlan, records: Sequence[GovernanceRecord], plan_id: str) -> bool:
    """Whether a plan is what is left of one that was begun and not finished."""
    begun = [
        each
        for each in newest(records)
        if each.catalogue == plan.catalogue and each.plan_id.startswith(plan_id)
    ]
    if all(each.stage == DONE for each in begun):
        return False
    meant = {(each.action, fact_of(each)) for each in begun if each.stage != DONE}
    return all((each.action, each.fact) in meant for each in plan.changes)


@dataclass(frozen=True, slots=True)
class CatalogueDrift:
    """What a catalogue holds otherwise than it was told: gone, changed, and said by others."""

    missing: tuple[Fact, ...]
    changed: tuple[tuple[Fact, Fact], ...]
    foreign: tuple[Fact, ...]


def find_drift(held: Held, applied: Mapping[FactKey, Fact], foreign: Foreign) -> CatalogueDrift:
    """What a catalogue holds against what was applied."""
    found = {fact.key: fact for fact in held.facts}
    pairs = [(fact, found.get(key)) for key, fact in applied.items()]
    others = [
        fact for key, fact in found.items() if key not in applied and fact.kind != "registration"
    ]
    return CatalogueDrift(
        tuple(sorted(fact for fact, there in pairs if there is None)),
        tuple(
            sorted((fact, there) for fact, there in pairs if there and there.value != fact.value)
        ),
        () if foreign == "keep" else tuple(sorted(others)),
    )


def scope_of(
    declared: Iterable[Fact],
    applied: Iterable[Fact],
    tables: Sequence[Securable],
    foreign: Foreign,
) -> tuple[Securable, ...]:
    """What a catalogue is asked about: all of the project where others' facts matter."""
    facts = [*declared, *applied]
    named = [each for fact in facts for each in (_whole(fact), fact.securable)]
    found = {each.key: each for each in (*named, *(tables if foreign != "keep" else ()))}
    return tuple(sorted(found.values(), key=lambda each: (each.name.count("."), each.key)))


def _whole(fact: Fact) -> Securable:
    """What is asked for a fact: a column's table."""
    if fact.level != "column":
        return fact.securable
    return Securable("table", fact.on.rpartition(".")[0])
