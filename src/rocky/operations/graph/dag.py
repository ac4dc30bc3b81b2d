"""The graph of a project: every table, which reads which, and the layers they can be built in."""

from dataclasses import dataclass

from rocky.compiler.graph import topological_levels
from rocky.operations.digest import Digest, counts
from rocky.operations.graph.layered_graph import Graph, Node
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.graph.lineage_report import Drawn, Kind, ModelEdge, ProjectLineage
from rocky.operations.workspace import Workspace
from rocky.plan.arguments import Request


@dataclass(frozen=True, slots=True)
class DagRequest(Request):
    """The whole project."""


@dataclass(frozen=True, slots=True)
class DagNode:
    """A model, or what one reads. Nothing in its `layer` or a later one is needed for it.

    A model of a cycle, or behind one, is in no layer.
    """

    name: str
    kind: Kind
    layer: int | None


@dataclass(frozen=True, slots=True, repr=False)
class DagReport(Drawn):
    """Tables by name, an edge from each to its readers, and the names layer by layer."""

    nodes: tuple[DagNode, ...]
    edges: tuple[ModelEdge, ...]
    layers: tuple[tuple[str, ...], ...]

    def digest(self) -> Digest:
        title = f"{counts(table=len(self.nodes), edge=len(self.edges), layer=len(self.layers))}"
        rows = [(each.name, each.kind, each.layer) for each in self.nodes]
        return Digest(title, ("name", "kind", "layer"), rows, len(rows))

    def graph_of(self) -> Graph:
        nodes = {each.name: Node(each.name, each.kind) for each in self.nodes}
        return Graph("the project", nodes, [(each.source, each.target, "") for each in self.edges])


def dag(workspace: Workspace, request: DagRequest) -> DagReport:  # noqa: ARG001 - as every operation
    """The graph of the project. Raises what loading raises."""
    found = lineage(workspace, LineageRequest())
    assert isinstance(found, ProjectLineage)
    needs: dict[str, list[str]] = {each.model: [] for each in found.nodes}
    for edge in found.edges:
        needs[edge.target].append(edge.source)
    levels, _ = topological_levels(needs, needs)
    layers = tuple(tuple(sorted(each)) for each in levels)
    layer_of = {name: index for index, layer in enumerate(layers) for name in layer}
    nodes = (DagNode(each.model, each.kind, layer_of.get(each.model)) for each in found.nodes)
    return DagReport(tuple(nodes), found.edges, layers)
