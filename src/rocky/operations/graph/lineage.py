"""Lineage: where a model or a column comes from, and what it reaches.

A source's name may hold dots, so `raw.orders` is a source and `raw.orders.amount` a column
of it, while `fct_revenue.amount` is a column of a model: the longest relation that fits wins.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rocky.analysis.column_graph import column_graph
from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import (
    ColumnRef,
    Direction,
    Hop,
    Lineage,
    RowHop,
    Trace,
    model_edges,
    reach_models,
)
from rocky.analysis.python_plans import lacks_plan
from rocky.errors import InvalidRequest, NothingSelected
from rocky.language.datatypes.types import UNKNOWN, StructField
from rocky.language.ir import OutputColumn
from rocky.operations.graph.lineage_report import (
    ColumnLineage,
    ColumnPlace,
    Kind,
    LineageColumn,
    LineageEdge,
    LineageInfluence,
    LineageNode,
    ModelEdge,
    ModelLineage,
    ModelPlace,
    ProjectLineage,
    ReachedColumn,
    Relation,
)
from rocky.operations.graph.source_kinds import source_kind
from rocky.operations.graph.tag_lineage import TagLineage, tag_lineage
from rocky.operations.graph.unknown_origins import UnknownOrigin, typing_command, unknown_origins
from rocky.operations.workspace import Workspace, compile_workspace, unknown_name
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.pipeline_tables import PipelineTable


@dataclass(frozen=True, slots=True)
class LineageRequest(Request):
    """MODEL or MODEL.COLUMN; sources and seeds work too. Which ways to look, if any is named.

    Without a way a model is looked at both ways, a column at what it comes from. Without a target
    it is the whole project. With a `classification` it is where that tag goes, in the project or in
    the target.
    """

    target: str | None = None
    column: str | None = None
    upstream: bool = False
    downstream: bool = False
    classification: str | None = None


def lineage(
    workspace: Workspace, request: LineageRequest
) -> ModelLineage | ColumnLineage | ProjectLineage | TagLineage:
    """Where values come from and go to. Raises NothingSelected, InvalidRequest."""
    if request.classification is not None:
        _refuse_ways(request)
        compilation = compile_workspace(workspace, discovered=True)
        target = None
        if request.target is not None:
            target = _Relations(compilation).resolve(request.target, None)[0].name
        return tag_lineage(compilation, request.classification, target)
    if request.target is None:
        _refuse_details(request)
        return _project_lineage(compile_workspace(workspace, discovered=True))
    compilation = compile_workspace(workspace, discovered=True)
    relation, column = _Relations(compilation).resolve(request.target, request.column)
    upstream, downstream = request.upstream, request.downstream
    if not upstream and not downstream:
        upstream, downstream = True, column is None
    ways: list[Direction] = []
    ways += ["upstream"] if upstream else []
    ways += ["downstream"] if downstream else []
    graph = column_graph(compilation)
    if column is not None:
        return _column_lineage(compilation, graph, relation, column, ways)
    return _model_lineage(compilation, graph, relation, ways)


def find_column(compilation: Compilation, target: str) -> ColumnRef:
    """The column that a text names. Raises NothingSelected, and InvalidRequest for a table."""
    relation, column = find_relation_column(compilation, target)
    return ColumnRef(relation.name, column.name)


def find_relation_column(
    compilation: Compilation, target: str, column: str | None = None
) -> tuple[Relation, LineageColumn]:
    """The column that a text names, or that of a table, with the table. Raises as `find_column`."""
    relation, found = _Relations(compilation).resolve(target, column)
    if found is None:
        raise InvalidRequest(f"`{target}` is no column: write `MODEL.COLUMN`")
    return relation, found


def _refuse_ways(request: LineageRequest) -> None:
    """Refuse what cannot be asked of a tag."""
    asked = {
        "--column": request.column is not None,
        "--upstream": request.upstream,
        "--downstream": request.downstream,
    }
    for option, is_asked in asked.items():
        if is_asked:
            raise InvalidRequest(
                f"`{option}` does not go with `--classification`, which shows the whole way of a"
                " tag; leave it out"
            )


def _refuse_details(request: LineageRequest) -> None:
    """Refuse what can only be asked of one model."""
    asked = {
        "--column": request.column is not None,
        "--upstream": request.upstream,
        "--downstream": request.downstream,
    }
    for option, is_asked in asked.items():
        if is_asked:
            raise InvalidRequest(f"`{option}` is of a model: name it, as in `rocky lineage MODEL`")


def _project_lineage(compilation: Compilation) -> ProjectLineage:
    project = compilation.project
    # A model hides a source of its name.
    known = {each.lower(): each for each in reversed(_names(project))}
    edges = {
        (source, reader)
        for reader, read in compilation.upstream.items()
        for source in read
        if source.lower() in known
    }
    return ProjectLineage(
        nodes=tuple(_node(compilation, known[key]) for key in sorted(known)),
        edges=tuple(ModelEdge(*each) for each in sorted(edges)),
    )


def _names(project: Project) -> list[str]:
    declared = (project.models, project.sources, project.seeds)
    return [each.name for group in declared for each in group.values()]


def _kinds(compilation: Compilation, names: Iterable[str]) -> dict[str, Kind]:
    return {name: _node(compilation, name).kind for name in names}


def _model_lineage(
    compilation: Compilation, graph: Lineage, relation: Relation, ways: list[Direction]
) -> ModelLineage:
    name = relation.name
    hops: list[Hop] = []
    rows: list[RowHop] = list(graph.rows_of(name)) if "upstream" in ways else []
    edges: list[tuple[str, str]] = []
    if "upstream" in ways:
        edges += [(source, reader) for reader, source in model_edges(compilation.upstream, [name])]
    if "downstream" in ways:
        edges += model_edges(compilation.downstream, [name])
    for each in relation.columns:
        column = ColumnRef(name, each.name)
        if "upstream" in ways:
            hops += graph.hops_into(column)
        if "downstream" in ways:
            hops += graph.hops_from(column)
            rows += graph.rows_from(column)
    neighbours: dict[Direction, tuple[str, ...]] = {
        "upstream": tuple(sorted(set(compilation.upstream.get(name, ())))),
        "downstream": tuple(sorted(set(compilation.downstream.get(name, ())))),
    }
    beside = [each for way in ways for each in neighbours[way]]
    return ModelLineage(
        relation=relation,
        ways=tuple(ways),
        graph=tuple(dict.fromkeys(edges)),
        kinds=_kinds(compilation, {name, *(each for edge in edges for each in edge)}),
        model=name,
        columns=relation.columns,
        **neighbours,
        edges=_edges(dict.fromkeys(hops)),
        influences=_influences(dict.fromkeys(rows)),
        unknown=_unknown_above(compilation, relation) if "upstream" in ways else (),
        nodes=tuple(_node(compilation, each) for each in [name, *beside]),
    )


def _node(compilation: Compilation, name: str) -> LineageNode:
    project = compilation.project
    model = project.models.get(name.lower())
    if model is not None:
        return LineageNode(name, "model", target_schema=model.target.schema)
    source = project.sources.get(name.lower())
    kind: Kind = source_kind(source) if source is not None else "seed"
    return LineageNode(name, kind, source_id=name)


def _column_lineage(
    compilation: Compilation,
    graph: Lineage,
    relation: Relation,
    column: LineageColumn,
    ways: list[Direction],
) -> ColumnLineage:
    start = ColumnRef(relation.name, column.name)
    traces = {way: graph.trace(start, way) for way in ways}
    hops = [hop for trace in traces.values() for hop in trace.hops]
    down = traces.get("downstream") or graph.trace(start, "downstream")
    return ColumnLineage(
        relation=relation,
        traces=tuple(traces.values()),
        kinds=_kinds(
            compilation,
            {relation.name, *(end.table for hop in hops for end in (hop.source, hop.target))},
        ),
        model=relation.name,
        column=column.name,
        data_type=column.data_type,
        nullable=column.nullable,
        direction=ways[0] if len(ways) == 1 else "both",
        trace=_edges(hops),
        reached=tuple(
            ReachedColumn(each.table, each.column, kind, way)
            for way, trace in traces.items()
            for each, kind in trace.reached.items()
        ),
        influences=_influences(row for trace in traces.values() for row in trace.influences),
        unknown=_unknown_ends(compilation, graph, traces.get("upstream")),
        downstream_consumers=tuple(ColumnPlace(*each) for each in sorted(down.reached)),
    )


def _unknown_above(compilation: Compilation, relation: Relation) -> tuple[UnknownOrigin, ...]:
    is_open = not relation.complete or any(
        each.data_type == UNKNOWN.text for each in relation.columns
    )
    is_copy = relation.kind == "table" and not relation.columns
    return unknown_origins(compilation, [relation.name]) if is_open or is_copy else ()


def _unknown_ends(
    compilation: Compilation, graph: Lineage, trace: Trace | None
) -> tuple[UnknownOrigin, ...]:
    """The tables that a way up ends in: those read by models in which a column has no origin."""
    if trace is None:
        return ()
    ends: list[str] = []
    for column in (trace.start, *trace.reached):
        ir = compilation.models.get(column.table.lower())
        if ir is None or graph.hops_into(column):
            continue
        key = column.column.lower()
        typed = {each.name.lower() for each in ir.columns if each.type != UNKNOWN}
        if key not in typed:
            ends.append(column.table)
    return unknown_origins(compilation, ends)


def _edges(hops: Iterable[Hop]) -> tuple[LineageEdge, ...]:
    return tuple(
        LineageEdge(ColumnPlace(*hop.source), ColumnPlace(*hop.target), hop.kind) for hop in hops
    )


def _influences(rows: Iterable[RowHop]) -> tuple[LineageInfluence, ...]:
    return tuple(
        LineageInfluence(ColumnPlace(*row.source), ModelPlace(row.model), row.role) for row in rows
    )


class _Relations:
    """Every relation of a compiled project, by the names people may type."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation
        project = compilation.project
        self._targets = {model.target.key: key for key, model in project.models.items()}
        for key, source in project.sources.items():
            short = key.partition(".")[2]
            if isinstance(source, PipelineTable) and short not in project.sources:
                self._targets.setdefault(short, key)

    def find(self, name: str) -> Relation | None:
        """The relation a name stands for; a model hides a source of its name."""
        project = self._compilation.project
        key = name.lower()
        key = self._targets.get(key, key)
        if key in project.models:
            model = project.models[key]
            ir = self._compilation.models.get(key)
            columns = _columns(ir.columns if ir is not None else ())
            complete = ir is not None and ir.known
            return Relation(model.name, "model", model.path, columns, complete)
        source, seed = project.sources.get(key), project.seeds.get(key)
        if source is not None:
            columns = _columns(source.columns)
            return Relation(source.name, source_kind(source), source.file, columns)
        if seed is not None:
            return Relation(seed.name, "seed", seed.path, _columns(seed.columns))
        return None

    def names(self) -> list[str]:
        return _names(self._compilation.project)

    def resolve(self, target: str, column: str | None) -> tuple[Relation, LineageColumn | None]:
        """The relation, and the column if one is named; named twice, it must be one column.

        Raises NothingSelected, and InvalidRequest for two columns.
        """
        text = target.replace("`", "")
        relation = self.find(text)
        if relation is not None:
            return relation, self._column(relation, column) if column is not None else None
        owner, _, name = text.rpartition(".")
        relation = self.find(owner) if owner else None
        if relation is not None:
            if column is not None and column.replace("`", "").lower() != name.lower():
                raise InvalidRequest(
                    f"`{target}` names the column `{name}` and `--column` names `{column}`:"
                    " leave one of them out"
                )
            return relation, self._column(relation, name)
        raise NothingSelected(self._unknown(text))

    def _column(self, relation: Relation, name: str) -> LineageColumn:
        """The column; one of unknown type where a table of unknown columns may have it.

        Raises NothingSelected, with the command that makes the columns of a source known.
        """
        try:
            return relation.column(name)
        except NothingSelected:
            command = typing_command(self._compilation.project, relation.name)
            if command is not None:
                raise NothingSelected(
                    f"the columns of {relation.kind} `{relation.name}` are not known: `{command}`"
                    " makes them known"
                ) from None
            missing = self._missing_plan(relation)
            if missing is not None:
                raise NothingSelected(
                    f"the columns of {relation.kind} `{relation.name}` are not known: the code of"
                    f" `{missing}` was not run; `rocky compile` builds its plan"
                ) from None
            if relation.complete or not unknown_origins(self._compilation, [relation.name]):
                raise
            return LineageColumn(name.replace("`", ""), UNKNOWN.text, nullable=True)

    def _missing_plan(self, relation: Relation) -> str | None:
        """A Python model without a plan by which the columns of a relation are not known."""
        if relation.complete or relation.kind != "model":
            return None
        models, project = self._compilation.models, self._compilation.project
        above = reach_models(self._compilation.upstream, (relation.name,))
        return next(
            (
                project.models[name.lower()].name
                for name in sorted(above)
                if name.lower() in models and lacks_plan(models.record(name.lower()))
            ),
            None,
        )

    def _unknown(self, text: str) -> str:
        """The nearest relation, with the column kept if the text could name one."""
        message = unknown_name("model, source or seed", text, self.names())
        owner, _, column = text.rpartition(".")
        if owner and "did you mean" not in message:
            near = unknown_name("model, source or seed", owner, self.names())
            if "did you mean" in near:
                return near.replace("`?", f".{column}`?")
        return message


def _columns(columns: Iterable[OutputColumn | StructField]) -> tuple[LineageColumn, ...]:
    return tuple(LineageColumn(each.name, str(each.type), each.nullable) for each in columns)
