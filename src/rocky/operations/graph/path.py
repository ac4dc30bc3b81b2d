"""The way between two columns, or all that one column reaches: its blast radius."""

from dataclasses import dataclass
from typing import NamedTuple

from rocky.analysis.column_graph import column_graph
from rocky.operations.digest import Digested
from rocky.operations.graph.lineage import find_column
from rocky.operations.workspace import Workspace, compile_workspace
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
    compilation = compile_workspace(workspace, discovered=True)
    graph = column_graph(compilation)
    start = find_column(compilation, request.start)
    hops = list(dict.fromkeys(graph.walk(start, "downstream")))
    rows = graph.rows_along(start, hops, "downstream")
    if request.end is not None:
        above = {*graph.walk(find_column(compilation, request.end), "upstream")}
        hops = [each for each in hops if each in above]
    places = {start: 0}
    for each in hops:
        places.setdefault(each.source, len(places))
        places.setdefault(each.target, len(places))
    return PathReport(
        columns=tuple(PathColumn(*each) for each in places),
        edges=tuple(PathEdge(places[each.source], places[each.target], each.kind) for each in hops),
        rows=tuple(sorted({each.model for each in rows if each.source in places})),
    )
