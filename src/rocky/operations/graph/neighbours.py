"""Neighbours: what a model or a column directly needs, and who directly reads it."""

from typing import Literal

from rocky.errors import InvalidRequest
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.graph.lineage_report import ColumnLineage, ModelLineage
from rocky.operations.graph.list_report import Neighbour, NeighboursReport
from rocky.operations.workspace import Workspace

Side = Literal["deps", "consumers"]


def list_neighbours(
    workspace: Workspace, side: Side, names: tuple[str, ...], errors: int
) -> NeighboursReport:
    """The direct neighbours of MODEL or MODEL.COLUMN. Raises NothingSelected, InvalidRequest."""
    if len(names) != 1:
        raise InvalidRequest(f"`{side}` are of one model, source, seed or column: name it")
    up = side == "deps"
    found = lineage(workspace, LineageRequest(names[0], upstream=up, downstream=not up))
    if isinstance(found, ColumnLineage):
        name, near = f"{found.model}.{found.column}", _beside_column(found, up=up)
    else:
        assert isinstance(found, ModelLineage)
        name, near = found.model, _beside_model(found, up=up)
    return NeighboursReport(errors=errors, name=name, side=side, neighbours=near)


def _beside_model(found: ModelLineage, *, up: bool) -> tuple[Neighbour, ...]:
    """The tables beside one: of each the columns that are read, or that are made from it."""
    columns: dict[str, set[str]] = {}
    how: dict[str, set[str]] = {}
    for edge in found.edges:
        end = edge.source if up else edge.target
        columns.setdefault(end.model, set()).add(end.column)
        how.setdefault(end.model, set()).add(edge.transform)
    for row in found.influences:
        name = row.source.model if up else row.target.model
        how.setdefault(name, set()).add(row.role)
        if up:
            columns.setdefault(name, set()).add(row.source.column)
    return tuple(
        Neighbour(
            name,
            found.kinds[name],
            tuple(sorted(columns.get(name, ()))),
            tuple(sorted(how.get(name, ()))),
        )
        for name in (found.upstream if up else found.downstream)
    )


def _beside_column(found: ColumnLineage, *, up: bool) -> tuple[Neighbour, ...]:
    """The columns beside one, and the models whose rows it decides."""
    here = (found.model, found.column)
    columns: dict[str, set[str]] = {}
    how: dict[str, set[str]] = {}
    for edge in found.trace:
        near, far = (edge.target, edge.source) if up else (edge.source, edge.target)
        if (near.model, near.column) == here:
            columns.setdefault(far.model, set()).add(far.column)
            how.setdefault(far.model, set()).add(edge.transform)
    for row in () if up else found.influences:
        if (row.source.model, row.source.column) == here:
            how.setdefault(row.target.model, set()).add(row.role)
    return tuple(
        Neighbour(
            name,
            found.kinds.get(name, "model"),
            tuple(sorted(columns.get(name, ()))),
            tuple(sorted(how[name])),
        )
        for name in sorted(how)
    )
