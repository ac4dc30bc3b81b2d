"""The row counts of tables that pipelines check, oldest first: what an unusual size is told by."""

from dataclasses import dataclass

from rocky.ledger.pipeline_records import RowCount
from rocky.ledger.pipeline_state import load_counts
from rocky.operations.digest import Digested
from rocky.operations.workspace import Workspace, known_branch, state_path
from rocky.plan.arguments import Request


@dataclass(frozen=True, slots=True)
class CountsRequest(Request):
    """Which tables, by their full names."""

    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CountedRows:
    """A table, and what is kept of its counts."""

    table: str
    counts: tuple[RowCount, ...]


@dataclass(frozen=True, slots=True, repr=False)
class CountsReport(Digested):
    """The counts of each table that was asked for; of a table that was never checked none."""

    tables: tuple[CountedRows, ...]


def row_counts(workspace: Workspace, request: CountsRequest) -> CountsReport:
    """What was counted. Raises LedgerUnreadable."""
    found = load_counts(state_path(known_branch(workspace)), request.tables)
    return CountsReport(tuple(CountedRows(name, tuple(each)) for name, each in found.items()))
