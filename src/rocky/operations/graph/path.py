"""The way between two columns, or all that one column reaches: its blast radius."""

from dataclasses import dataclass
from typing import NamedTuple

from rocky.errors import InvalidRequest
from rocky.operations.digest import Digested
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.graph.lineage_report import ColumnLineage, LineageEdge
from rocky.operations.workspace import Workspace
from rocky.plan.arguments import Request


@dataclass(frozen=True, slots=True)
class PathRequest(Request):
    """From MODEL.COLUMN, and to another; without one, to wherever its values go."""

    start: str
    end: str | None = None


class PathColumn(NamedTuple):
    """A column on the way."""

    model: str
    column: str


class PathEdge(NamedTuple):
    """From one column to another, by their places in `columns`, and how."""

    source: int
    target: int
    transform: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PathReport(Digested):
    """The columns on the way, the first of them first, and the edges between them.

    `rows` are models whose rows are decided by one of these columns.
    """

    columns: tuple[PathColumn, ...]
    edges: tuple[PathEdge, ...]
    rows: tuple[str, ...] = ()


def find_path(workspace: Workspace, request: PathRequest) -> PathReport:
    """The way of values. Raises NothingSelected, and InvalidRequest for a whole model."""
    down = _column(workspace, LineageRequest(request.start, downstream=True))
    edges = dict.fromkeys(down.trace)
    if request.end is not None:
        above = {*_column(workspace, LineageRequest(request.end, upstream=True)).trace}
        edges = {each: None for each in edges if each in above}
    start = PathColumn(down.model, down.column)
    places = {start: 0}
    for each in edges:
        for column in _ends(each):
            places.setdefault(column, len(places))
    return PathReport(
        columns=tuple(places),
        edges=tuple(
            PathEdge(places[source], places[target], str(each.transform))
            for each in edges
            for source, target in (_ends(each),)
        ),
        rows=tuple(
            sorted(
                {
                    each.target.model
                    for each in down.influences
                    if PathColumn(each.source.model, each.source.column) in places
                }
            )
        ),
    )


def _ends(edge: LineageEdge) -> tuple[PathColumn, PathColumn]:
    return (
        PathColumn(edge.source.model, edge.source.column),
        PathColumn(edge.target.model, edge.target.column),
    )


def _column(workspace: Workspace, request: LineageRequest) -> ColumnLineage:
    found = lineage(workspace, request)
    if not isinstance(found, ColumnLineage):
        raise InvalidRequest(f"`{request.target}` is no column: write `MODEL.COLUMN`")
    return found
