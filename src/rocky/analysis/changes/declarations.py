"""Changes of what is declared and not computed: sources, seeds, contracts, interfaces.

A source belongs to somebody else, so what its declaration says is a warning and no verdict: what it
does to the models shows in their own columns. A seed is a table of the project, with readers. A
promise that is withdrawn weakens a contract, a new one tightens it. Tables of two interfaces are
paired by their full names, so one that was renamed is one removed and one added.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from rocky.analysis.changes.change import Change, Status, TableDiff, change_of
from rocky.analysis.changes.columns import compare_columns, compared_type
from rocky.analysis.changes.settings import compare_classification
from rocky.project import Project
from rocky.project.configuration.model import TargetSetting
from rocky.project.contracts import Contract
from rocky.project.interfaces import Interface, InterfaceTable
from rocky.project.seeds import SeedTable
from rocky.project.sources import SourceTable


class InterfaceChange(NamedTuple):
    """A change of one table of another project; `model` is what it is called there."""

    target: str
    model: str
    change: Change


def compare_interfaces(before: Interface, after: Interface) -> tuple[InterfaceChange, ...]:
    """What changed from one interface to the next, in the order of the tables' names."""
    old = {table.key: table for table in before.tables}
    new = {table.key: table for table in after.tables}
    found: list[InterfaceChange] = []
    for key in sorted(old.keys() | new.keys()):
        was, now = old.get(key), new.get(key)
        shown = now or was
        assert shown is not None
        changes = compare_tables(was, now)
        found += [InterfaceChange(shown.target, shown.name, change) for change in changes]
    return tuple(found)


def compare_tables(before: InterfaceTable | None, after: InterfaceTable | None) -> list[Change]:
    """What changed of one table; None is a side on which it does not exist."""
    if before is None or after is None:
        if before is not None:
            return [change_of("model_removed", before=before.name)]
        return [change_of("model_added", after=after.name)] if after is not None else []
    found = list(compare_columns(before.columns, after.columns))
    if before.name != after.name:
        found.append(change_of("model_renamed", None, before.name, after.name))
    found += compare_promises(before, after)
    return found


def compare_promises(before: InterfaceTable, after: InterfaceTable) -> Iterator[Change]:
    """What changed of a table beside its columns."""
    if before.strategy != after.strategy:
        yield change_of("strategy_changed", None, before.strategy, after.strategy)
    yield from _classifications(before, after)
    yield from _interface_promises(before, after)


def _classifications(before: InterfaceTable, after: InterfaceTable) -> Iterator[Change]:
    for column in before.columns:
        now = after.column(column.name)
        if now is None or now.classification == column.classification:
            continue
        rule = "classification_changed"
        if now.classification is None:
            rule = "classification_removed"
        elif column.classification is None:
            rule = "classification_added"
        yield change_of(rule, column.name, column.classification, now.classification)


def _interface_promises(before: InterfaceTable, after: InterfaceTable) -> Iterator[Change]:
    """Columns that are not held to any more, or newly are; and whether others may come."""
    for key in ("required", "protected"):
        old = {name.lower(): name for name in getattr(before.contract, key)}
        new = {name.lower(): name for name in getattr(after.contract, key)}
        for name in sorted(old.keys() - new.keys()):
            if after.column(name) is None and before.column(name) is not None:
                # That the column is gone says it all.
                continue
            yield change_of("contract_weakened", old[name], key, None)
        for name in sorted(new.keys() - old.keys()):
            yield change_of("contract_tightened", new[name], None, key)
    if before.contract.strict != after.contract.strict:
        rule = "contract_tightened" if after.contract.strict else "contract_weakened"
        yield change_of(rule, None, _strictness(before), _strictness(after))


def _strictness(table: InterfaceTable) -> str:
    return "strict" if table.contract.strict else "not strict"


class _ContractPromise(NamedTuple):
    """One promise: about what, and what it says; `column` absent for the whole table."""

    name: str
    column: str | None
    value: str


def compare_contracts(before: Contract | None, after: Contract | None) -> Iterator[Change]:
    """What changed of the promises about one model."""
    old, new = _contract_promises(before), _contract_promises(after)
    for key, promise in old.items():
        kept = new.get(key)
        if kept is None or kept.value != promise.value:
            value = kept.value if kept else None
            yield change_of("contract_weakened", promise.column, promise.value, value, promise.name)
    for key, promise in new.items():
        if key not in old:
            yield change_of("contract_tightened", promise.column, None, promise.value, promise.name)


def _contract_promises(contract: Contract | None) -> dict[tuple[str, str], _ContractPromise]:
    """What a contract promises, by what it is about."""
    if contract is None:
        return {}
    found: list[_ContractPromise] = []
    for column in contract.columns:
        said = "optional" if column.optional else "listed"
        found.append(_ContractPromise("the column", column.name, said))
        if column.type is not None:
            found.append(_ContractPromise("its type", column.name, str(compared_type(column.type))))
        if column.nullable is False:
            found.append(_ContractPromise("its nullability", column.name, "NOT NULL"))
    found += [_ContractPromise("`required`", rule.column, "required") for rule in contract.required]
    found += [
        _ContractPromise("`protected`", rule.column, "protected") for rule in contract.protected
    ]
    if contract.strict:
        found.append(_ContractPromise("`strict`", None, "true"))
    if contract.no_new_nullable:
        found.append(_ContractPromise("`no_new_nullable`", None, "true"))
    return {(each.name, (each.column or "").lower()): each for each in found}


def compare_sources(base: Project, head: Project) -> Iterator[TableDiff]:
    """Every source that is not declared as it was, without what that reaches."""
    for key in {**base.sources, **head.sources}:
        old, new = base.sources.get(key), head.sources.get(key)
        changes = tuple(_compare_source(old, new))
        shown = new or old
        if changes and shown is not None:
            status = _status(old, new)
            diff = TableDiff(shown.name, "source", status, shown.file, changes=changes)
            yield replace(diff, base_name=_other_name(old, shown))


def compare_seeds(base: Project, head: Project) -> Iterator[TableDiff]:
    """Every seed that is not as it was, without what that reaches."""
    for key in {**base.seeds, **head.seeds}:
        old, new = base.seeds.get(key), head.seeds.get(key)
        changes = tuple(_compare_seed(old, new))
        shown = new or old
        if changes and shown is not None:
            status = _status(old, new)
            target = _target(shown.target)
            diff = TableDiff(shown.name, "seed", status, shown.path, target, changes=changes)
            yield replace(diff, base_name=_other_name(old, shown))


def _other_name(old: SourceTable | SeedTable | None, shown: SourceTable | SeedTable) -> str | None:
    """The name it had, where that differs: names are compared without case."""
    return old.name if old is not None and old.name != shown.name else None


def _status(old: object | None, new: object | None) -> Status:
    return "added" if old is None else "removed" if new is None else "modified"


def _compare_source(old: SourceTable | None, new: SourceTable | None) -> Iterator[Change]:
    if old is None or new is None:
        yield change_of("source_added" if old is None else "source_removed")
        return
    for change in compare_columns(old.columns, new.columns):
        yield change_of(
            "source_column_changed",
            change.column,
            change.before,
            change.after,
            change.rule.replace("_", " "),
        )
    yield from compare_classification(old.classification, new.classification)
    # Paths and options can hold what is not for everybody: they are named, not shown.
    for name in ("format", "path", "options"):
        if getattr(old, name) != getattr(new, name):
            yield change_of("source_changed", detail=f"`{name}`")


def _compare_seed(old: SeedTable | None, new: SeedTable | None) -> Iterator[Change]:
    if old is None or new is None:
        yield change_of("seed_added" if old is None else "seed_removed")
        return
    yield from compare_columns(old.columns, new.columns)
    yield from compare_classification(old.classification, new.classification)
    if old.target != new.target:
        yield change_of("target_changed", None, _target(old.target), _target(new.target))
    if old.content_hash != new.content_hash or old.delimiter != new.delimiter:
        yield change_of("seed_data_changed")


def _target(target: TargetSetting) -> str | None:
    return ".".join(part for part in target if part) or None
