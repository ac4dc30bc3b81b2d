"""What lineage came to: of a column, of a model, or of a whole project; in a notebook a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from rocky.analysis.lineage import Direction, Trace
from rocky.errors import NothingSelected
from rocky.language.ir import INFLUENCE_ROLES, LINEAGE_KINDS
from rocky.operations.digest import Digest, Digested, counts, render_html
from rocky.operations.graph.layered_graph import Graph, Node, render_svg
from rocky.operations.graph.unknown_origins import UnknownOrigin
from rocky.operations.report import hidden
from rocky.operations.workspace import unknown_name

Kind = Literal["model", "source", "import", "seed", "table"]
Transform = Annotated[str, LINEAGE_KINDS]
Role = Annotated[str, INFLUENCE_ROLES]


class Drawn(Digested):
    """A report that a notebook shows as a picture, with its table folded below."""

    __slots__ = ()

    def graph_of(self) -> Graph:
        """What is drawn."""
        raise NotImplementedError

    def to_svg(self) -> str:
        """The picture, as the text of an SVG file."""
        return render_svg(self.graph_of())

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        digest = self.digest()
        table = render_html(digest)
        if digest.total:
            shown = counts(row=digest.total)
            table = f"<details><summary>as a table, {shown}</summary>{table}</details>"
        return f"{self.to_svg()}{table}"


@dataclass(frozen=True, slots=True)
class LineageColumn:
    """A column and what is known of it."""

    name: str
    data_type: str
    nullable: bool


@dataclass(frozen=True, slots=True)
class Relation:
    """A model, source or seed with its columns; `complete` is False when some may be missing."""

    name: str
    kind: Kind
    path: str
    columns: tuple[LineageColumn, ...]
    complete: bool = True

    def column(self, name: str) -> LineageColumn:
        """The column of a name. Raises NothingSelected."""
        key = name.lower()
        for column in self.columns:
            if column.name.lower() == key:
                return column
        message = unknown_name("column", name, [each.name for each in self.columns])
        message = message.replace(
            "`rocky list` shows what there is", f"`rocky lineage {self.name}` shows them"
        )
        raise NothingSelected(f"{message} (in {self.kind} `{self.name}`)")


@dataclass(frozen=True, slots=True)
class ColumnPlace:
    """A column of a model, source or seed."""

    model: str
    column: str

    def __str__(self) -> str:
        return f"{self.model}.{self.column}"


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """A model."""

    model: str


@dataclass(frozen=True, slots=True)
class LineageEdge:
    """`target` is made from `source`."""

    source: ColumnPlace
    target: ColumnPlace
    transform: Transform


@dataclass(frozen=True, slots=True)
class LineageInfluence:
    """`source` decides which rows `target` has, or their order."""

    source: ColumnPlace
    target: ModelPlace
    role: Role


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A model, or what one reads."""

    model: str
    kind: Kind
    target_schema: str | None = None
    source_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReachedColumn:
    """A column on the way; `transform` is the strongest of any path to it."""

    model: str
    column: str
    transform: Transform
    direction: Direction


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelLineage(Drawn):
    """A relation, its direct neighbours, and every edge that touches it in the ways looked at.

    `unknown` are tables above whose columns nobody knows: columns come from them as a whole.
    `graph` has the edges between whole models, all the way up and down; `kinds` what each of them
    is.
    """

    relation: Relation = hidden()
    ways: tuple[Direction, ...] = hidden()
    graph: tuple[tuple[str, str], ...] = hidden()
    kinds: Mapping[str, Kind] = hidden()
    model: str
    columns: tuple[LineageColumn, ...]
    upstream: tuple[str, ...]
    downstream: tuple[str, ...]
    edges: tuple[LineageEdge, ...]
    influences: tuple[LineageInfluence, ...]
    unknown: tuple[UnknownOrigin, ...]
    nodes: tuple[LineageNode, ...]

    def digest(self) -> Digest:
        rows: list[Sequence[object]] = [
            (each.source, each.target, each.transform) for each in self.edges
        ]
        rows += [(each.source, each.target.model, each.role) for each in self.influences]
        rows += [(each.source, each.target, "not known") for each in self.unknown]
        title = (
            f"{self.relation.kind} {self.model}: {counts(column=len(self.columns))},"
            f" reads {len(self.upstream)}, read by {len(self.downstream)}"
        )
        return Digest(title, ("from", "to", "how"), rows, len(rows))

    def graph_of(self) -> Graph:
        names = dict.fromkeys([self.model, *(name for edge in self.graph for name in edge)])
        nodes = {name: Node(name, self.kinds[name]) for name in names}
        edges = [(source, target, "") for source, target in self.graph]
        return Graph(f"lineage of {self.relation.kind} {self.model}", nodes, edges, self.model)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnLineage(Drawn):
    """A column, each edge of its way, and `downstream_consumers`: every column made from it.

    Where the way up ends in tables of unknown columns, `unknown` has the edges to these.
    """

    relation: Relation = hidden()
    traces: tuple[Trace, ...] = hidden()
    kinds: Mapping[str, Kind] = hidden()
    model: str
    column: str
    data_type: str
    nullable: bool
    direction: Literal["upstream", "downstream", "both"]
    trace: tuple[LineageEdge, ...]
    reached: tuple[ReachedColumn, ...]
    influences: tuple[LineageInfluence, ...]
    unknown: tuple[UnknownOrigin, ...]
    downstream_consumers: tuple[ColumnPlace, ...]

    def digest(self) -> Digest:
        rows: list[Sequence[object]] = [
            (each.source, each.target, each.transform) for each in self.trace
        ]
        rows += [(each.source, each.target.model, each.role) for each in self.influences]
        rows += [(each.source, each.target, "not known") for each in self.unknown]
        null = "" if self.nullable else " not null"
        title = f"{self.model}.{self.column} {self.data_type}{null}, {self.direction}"
        return Digest(title, ("from", "to", "how"), rows, len(rows))

    def graph_of(self) -> Graph:
        start = ColumnPlace(self.model, self.column)
        edges = list(dict.fromkeys(self.trace))
        places = dict.fromkeys([start, *(p for e in edges for p in (e.source, e.target))])
        nodes = {str(p): Node(p.column, self.kinds[p.model], above=p.model) for p in places}
        drawn = [(str(each.source), str(each.target), each.transform) for each in edges]
        return Graph(f"lineage of column {start}", nodes, drawn, str(start))


@dataclass(frozen=True, slots=True)
class ModelEdge:
    """The model `target` reads `source`."""

    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProjectLineage(Drawn):
    """Every model of a project, every source and seed, and which model reads which of them."""

    nodes: tuple[LineageNode, ...]
    edges: tuple[ModelEdge, ...]

    def digest(self) -> Digest:
        models = sum(each.kind == "model" for each in self.nodes)
        title = (
            f"the project: {counts(model=models)}, {len(self.nodes) - models} sources and seeds,"
            f" {counts(edge=len(self.edges))}"
        )
        rows = [(each.source, each.target) for each in self.edges]
        return Digest(title, ("from", "to"), rows, len(rows))

    def graph_of(self) -> Graph:
        nodes = {each.model: Node(each.model, each.kind) for each in self.nodes}
        edges = [(each.source, each.target, "") for each in self.edges]
        return Graph("lineage of the project", nodes, edges)
