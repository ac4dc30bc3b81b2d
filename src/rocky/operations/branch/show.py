"""Branches listed, and one shown table by table beside production. Needs no Spark."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rocky.analysis.changes.change import Impact
from rocky.analysis.changes.columns import compare_columns
from rocky.branches.tables import BranchTable, same_content
from rocky.errors import InvalidRequest
from rocky.ledger.branch_records import BranchRecord, BranchStatus, PromotionRecord
from rocky.ledger.branches import load_branches, load_promotions
from rocky.operations.branch.lookup import open_view
from rocky.operations.digest import Digested
from rocky.operations.report import same_fields
from rocky.operations.workspace import (
    Workspace,
    find_branch,
    load_workspace,
    refreshed_state,
)
from rocky.plan.arguments import Request


@dataclass(frozen=True, slots=True)
class ListRequest(Request):
    """With `everything`, also branches that were deleted; `promotions` in place of branches."""

    everything: bool = False
    promotions: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class BranchesReport(Digested):
    """Branches, by name."""

    branches: tuple[BranchRecord, ...]
    total: int


@dataclass(frozen=True, slots=True, repr=False)
class PromotionsReport(Digested):
    """Promotions and reverts, oldest first."""

    promotions: tuple[PromotionRecord, ...]
    total: int


def list_branches(workspace: Workspace, request: ListRequest) -> BranchesReport | PromotionsReport:
    """What is recorded of branches. Raises LedgerUnreadable, InvalidRequest."""
    if request.everything and request.promotions:
        raise InvalidRequest("`--all` is for branches: `--promotions` lists all there were")
    state = refreshed_state(workspace)
    if request.promotions:
        promotions = load_promotions(state)
        return PromotionsReport(promotions, len(promotions))
    found = tuple(
        each
        for each in load_branches(state)
        if request.everything or each.status is BranchStatus.OPEN
    )
    return BranchesReport(found, len(found))


Status = Literal["same", "added", "changed", "behind", "conflict"]


@dataclass(frozen=True, slots=True)
class ShowRequest(Request):
    """Which branch."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChange:
    """What a promotion would do to one column of a table, by the rules of breaking changes.

    `before` and `after` are what production and the branch have: a type, or a position.
    """

    rule: str
    impact: Impact
    column: str | None = None
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class TableReport:
    """A table of a branch, and how it stands to its parent's.

    `base_version` is the parent's version that it was made of; what is not there has no version.
    `columns` are those that differ.
    """

    target: str
    status: Status
    base_version: int | None = None
    branch_version: int | None = None
    production_version: int | None = None
    rows: int | None = None
    production_rows: int | None = None
    content: str | None = None
    columns: tuple[ColumnChange, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class ViewReport(Digested):
    """A branch and its tables."""

    branch: BranchRecord
    tables: tuple[TableReport, ...]


def show(workspace: Workspace, request: ShowRequest) -> ViewReport:
    """A branch as it stands. Raises NothingSelected, StoreUnreadable."""
    workspace = workspace.on_production()
    record = find_branch(workspace, request.name)
    view = open_view(workspace, load_workspace(workspace), record)
    return ViewReport(record, tuple(_table(each) for each in view.tables.values()))


def _table(table: BranchTable) -> TableReport:
    branch, production = table.branch, table.production
    return TableReport(
        table.target,
        _status(table),
        table.base,
        None if branch is None else branch.version,
        None if production is None else production.version,
        None if branch is None else branch.rows,
        None if production is None else production.rows,
        table.content,
        tuple(_column_changes(table)),
    )


def _column_changes(table: BranchTable) -> Iterator[ColumnChange]:
    if table.branch is None or table.production is None:
        return
    for change in compare_columns(table.production.schema, table.branch.schema):
        yield ColumnChange(**same_fields(ColumnChange, change))


def _status(table: BranchTable) -> Status:
    if same_content(table.branch, table.production):
        return "same"
    if table.made_of is None:
        return "added"
    if table.is_changed:
        return "conflict" if table.has_moved else "changed"
    return "behind" if table.has_moved else "same"
