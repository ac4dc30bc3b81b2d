"""Changed tables as programs get them: what a table was and is, and each of its differences."""

from dataclasses import dataclass
from typing import Final, Literal

from rocky.analysis.changes.change import (
    Change,
    Impact,
    Status,
    TableDiff,
    UncomparedModel,
    count_reached,
)
from rocky.operations.report import flat

_TYPE_RULES: Final = ("column_type_changed", "column_type_widened")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReport:
    """One difference; without a column it is of the whole table. `reaches` counts columns."""

    column_name: str | None = None
    change_type: str
    impact: Impact
    old_type: str | None = None
    new_type: str | None = None
    before: str | None = None
    after: str | None = None
    detail: str | None = None
    reaches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTable:
    """A table that is not as it was; what begins with `base_` says what it was, if that differs."""

    model_name: str
    kind: Literal["model", "source", "seed"]
    status: Status
    path: str | None = None
    resolved_target: str | None = None
    base_name: str | None = None
    base_path: str | None = None
    base_target: str | None = None
    affected_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChanges:
    """A table with its changes."""

    table: ChangedTable = flat()
    column_changes: tuple[ChangeReport, ...]
    table_changes: tuple[ChangeReport, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPlanReport:
    """A Python model without a declared `output` whose code was not run on a side."""

    model_name: str
    side: Literal["base", "head"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UncomparedReport:
    """A model that was not compared, and the plans that are missing for it: its own, or others."""

    model_name: str
    path: str
    missing_plans: tuple[MissingPlanReport, ...]


def name_table(table: TableDiff) -> ChangedTable:
    """A table without its changes."""
    return ChangedTable(
        model_name=table.name,
        kind=table.kind,
        status=table.status,
        path=table.path,
        resolved_target=table.target,
        base_name=table.base_name,
        base_path=table.base_path,
        base_target=table.base_target,
        affected_by=table.affected_by,
    )


def report_table(table: TableDiff) -> TableChanges:
    """A table with its changes, of which each says how many columns it reaches."""
    of_columns, of_table = sort_out(table)
    return TableChanges(
        table=name_table(table),
        column_changes=tuple(map(report_change, of_columns)),
        table_changes=tuple(map(report_change, of_table)),
    )


def sort_out(table: TableDiff) -> tuple[list[Change], list[Change]]:
    """The changes of single columns, and those of the table as a whole."""
    return (
        [each for each in table.changes if each.column is not None],
        [each for each in table.changes if each.column is None],
    )


def report_change(change: Change) -> ChangeReport:
    """A difference without what it reaches."""
    typed = change.rule in _TYPE_RULES
    return ChangeReport(
        column_name=change.column,
        change_type=change.rule,
        impact=change.impact,
        old_type=change.before if typed else None,
        new_type=change.after if typed else None,
        before=change.before,
        after=change.after,
        detail=change.detail or None,
        reaches=count_reached(change),
    )


def report_uncompared(model: UncomparedModel) -> UncomparedReport:
    """A model that was not compared, and why."""
    return UncomparedReport(
        model_name=model.name,
        path=model.path,
        missing_plans=tuple(
            MissingPlanReport(model_name=each.model, side=each.side) for each in model.missing
        ),
    )
