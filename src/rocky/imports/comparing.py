"""Two interfaces of one project compared: everything that its readers could care about.

Tables are paired by their full names, so one that was renamed is one removed and one added: who
reads the old name finds nothing there, whatever the new one holds.
"""

from collections.abc import Iterator
from typing import NamedTuple

from rocky.changes.change import Change
from rocky.changes.columns import compare_columns
from rocky.changes.rules import change_of
from rocky.project.interfaces import Interface, InterfaceTable


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
    yield from _promises(before, after)


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


def _promises(before: InterfaceTable, after: InterfaceTable) -> Iterator[Change]:
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
