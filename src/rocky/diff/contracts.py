"""Changes of contracts: a promise that is withdrawn weakens one, a new promise tightens it."""

from collections.abc import Iterator
from typing import NamedTuple

from rocky.changes.change import Change
from rocky.changes.rules import change_of
from rocky.changes.widening import loosened
from rocky.project.contracts import Contract


class _Promise(NamedTuple):
    """One promise: about what, and what it says; `column` absent for the whole table."""

    name: str
    column: str | None
    value: str


def compare_contracts(before: Contract | None, after: Contract | None) -> Iterator[Change]:
    """What changed of the promises about one model."""
    old, new = _promises(before), _promises(after)
    for key, promise in old.items():
        kept = new.get(key)
        if kept is None or kept.value != promise.value:
            value = kept.value if kept else None
            yield change_of("contract_weakened", promise.column, promise.value, value, promise.name)
    for key, promise in new.items():
        if key not in old:
            yield change_of("contract_tightened", promise.column, None, promise.value, promise.name)


def _promises(contract: Contract | None) -> dict[tuple[str, str], _Promise]:
    """What a contract promises, by what it is about."""
    if contract is None:
        return {}
    found: list[_Promise] = []
    for column in contract.columns:
        found.append(_Promise("the column", column.name, "listed"))
        if column.type is not None:
            found.append(_Promise("its type", column.name, str(loosened(column.type))))
        if column.nullable is False:
            found.append(_Promise("its nullability", column.name, "NOT NULL"))
    found += [_Promise("`required`", rule.column, "required") for rule in contract.required]
    found += [_Promise("`protected`", rule.column, "protected") for rule in contract.protected]
    if contract.strict:
        found.append(_Promise("`strict`", None, "true"))
    if contract.no_new_nullable:
        found.append(_Promise("`no_new_nullable`", None, "true"))
    return {(each.name, (each.column or "").lower()): each for each in found}
