"""Lineage as text, as a JSON document and as edges to draw."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import ColumnRef, Direction, Hop, Lineage, RowHop, Trace, model_edges
from rocky.cli.render.tables import render_table
from rocky.cli.targets import KnownColumn, KnownRelation, source_kind


@dataclass(frozen=True, slots=True)
class ColumnView:
    """One column and its traces."""

    relation: KnownRelation
    column: KnownColumn
    traces: tuple[Trace, ...]


@dataclass(frozen=True, slots=True)
class ModelView:
    """One relation and the ways to look from it."""

    relation: KnownRelation
    ways: tuple[Direction, ...]
    compilation: Compilation
    lineage: Lineage

    def neighbours(self, way: Direction) -> list[str]:
        graph = self.compilation.upstream if way == "upstream" else self.compilation.downstream
        return sorted(set(graph.get(self.relation.name, ())))

    def columns(self) -> Iterator[ColumnRef]:
        for column in self.relation.columns:
            yield ColumnRef(self.relation.name, column.name)


# ---------------------------------------------------------------------------- JSON


def model_document(view: ModelView) -> dict[str, Any]:
    """The relation, its direct neighbours, and every hop that touches it in the chosen ways."""
    hops: list[Hop] = []
    rows: list[RowHop] = []
    for column in view.columns():
        if "upstream" in view.ways:
            hops += view.lineage.hops_into(column)
        if "downstream" in view.ways:
            hops += view.lineage.hops_from(column)
            rows += view.lineage.rows_from(column)
    if "upstream" in view.ways:
        rows = [*view.lineage.rows_of(view.relation.name), *rows]
    beside = [name for way in view.ways for name in view.neighbours(way)]
    return {
        "model": view.relation.name,
        "columns": [
            {"name": each.name, "data_type": str(each.type), "nullable": each.nullable}
            for each in view.relation.columns
        ],
        "upstream": view.neighbours("upstream"),
        "downstream": view.neighbours("downstream"),
        "edges": [_hop(hop) for hop in dict.fromkeys(hops)],
        "influences": [_row(row) for row in dict.fromkeys(rows)],
        "nodes": [_node(view.compilation, name) for name in [view.relation.name, *beside]],
    }


def _node(compilation: Compilation, name: str) -> dict[str, Any]:
    project = compilation.project
    model = project.models.get(name.lower())
    if model is not None:
        return {"model": name, "kind": "model", "target_schema": model.target.schema}
    source = project.sources.get(name.lower())
    kind = source_kind(source) if source is not None else "seed"
    return {"model": name, "kind": kind, "source_id": name}


def column_document(view: ColumnView, consumers: Sequence[ColumnRef]) -> dict[str, Any]:
    """The column, each hop of its traces, and `consumers`: every column made from it."""
    directions = [trace.direction for trace in view.traces]
    reached = [
        {"model": column.table, "column": column.column, "transform": kind, "direction": way}
        for trace, way in zip(view.traces, directions, strict=True)
        for column, kind in trace.reached.items()
    ]
    return {
        "model": view.relation.name,
        "column": view.column.name,
        "data_type": str(view.column.type),
        "nullable": view.column.nullable,
        "direction": directions[0] if len(directions) == 1 else "both",
        "trace": [_hop(hop) for trace in view.traces for hop in trace.hops],
        "reached": reached,
        "influences": [_row(row) for trace in view.traces for row in trace.influences],
        "downstream_consumers": [_reference(column) for column in consumers],
    }


def _reference(column: ColumnRef) -> dict[str, str]:
    return {"model": column.table, "column": column.column}


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        "source": _reference(hop.source),
        "target": _reference(hop.target),
        "transform": hop.kind,
    }


def _row(row: RowHop) -> dict[str, Any]:
    return {"source": _reference(row.source), "target": {"model": row.model}, "role": row.role}


# ---------------------------------------------------------------------------- graphs


def model_graph(view: ModelView) -> list[tuple[str, str, str]]:
    """The edges between whole models, all the way up and down."""
    edges: list[tuple[str, str, str]] = []
    start = [view.relation.name]
    if "upstream" in view.ways:
        up = model_edges(view.compilation.upstream, start)
        edges += [(source, reader, "") for reader, source in up]
    if "downstream" in view.ways:
        edges += [(*edge, "") for edge in model_edges(view.compilation.downstream, start)]
    return list(dict.fromkeys(edges))


def column_graph(view: ColumnView) -> list[tuple[str, str, str]]:
    """The hops of a column's traces, labelled with their kind."""
    hops = dict.fromkeys(hop for trace in view.traces for hop in trace.hops)
    return [(".".join(hop.source), ".".join(hop.target), hop.kind) for hop in hops]


# ---------------------------------------------------------------------------- text


def render_model(view: ModelView) -> str:
    """Neighbours, then each column with the columns it is made from and goes to."""
    relation = view.relation
    lines = [f"{relation.kind} {relation.name}  ({relation.path})"]
    for way in view.ways:
        if way == "upstream" and relation.kind != "model":
            continue
        lines.append(f"{way}: {', '.join(view.neighbours(way)) or 'none'}")
    head = ["COLUMN", "TYPE", "NULLABLE"]
    head += ["COMES FROM" if way == "upstream" else "GOES TO" for way in _told(view)]
    rows = [row for column in relation.columns for row in _rows(view, column)]
    lines += ["", render_table(head, rows, right=set())]
    decided = list(dict.fromkeys(view.lineage.rows_of(relation.name)))
    if decided and "upstream" in view.ways:
        lines += ["", "rows decided by:", *_row_lines(decided)]
    return "\n".join([*lines, ""])


def _told(view: ModelView) -> list[Direction]:
    """The ways worth a column: a source comes from nowhere."""
    return [way for way in view.ways if way == "downstream" or view.relation.kind == "model"]


def _rows(view: ModelView, column: KnownColumn) -> Iterator[list[str]]:
    """A column's line; what it comes from and goes to goes on below, one a line."""
    reference = ColumnRef(view.relation.name, column.name)
    stacks: list[list[str]] = []
    for way in _told(view):
        if way == "upstream":
            hops = view.lineage.hops_into(reference)
            stacks.append([f"{'.'.join(hop.source)} ({hop.kind})" for hop in hops] or ["-"])
        else:
            reached = dict.fromkeys(hop.target for hop in view.lineage.hops_from(reference))
            stacks.append([".".join(target) for target in reached] or ["-"])
    facts = [column.name, str(column.type), "yes" if column.nullable else "no"]
    for told in zip_longest(*stacks, fillvalue=""):
        yield [*facts, *told]
        facts = ["", "", ""]


def _row_lines(rows: list[RowHop]) -> list[str]:
    roles: dict[str, list[str]] = {}
    for row in rows:
        roles.setdefault(row.role, []).append(".".join(row.source))
    return [f"  {role}: {', '.join(dict.fromkeys(names))}" for role, names in roles.items()]


def render_column(view: ColumnView) -> str:
    """A tree for each way; a column that was shown before is not opened again."""
    nullable = "nullable" if view.column.nullable else "not null"
    lines = [f"{view.relation.name}.{view.column.name}  {view.column.type}, {nullable}"]
    for trace in view.traces:
        if len(view.traces) > 1:
            lines += ["", "comes from:" if trace.direction == "upstream" else "goes to:"]
        lines += _tree(trace) if trace.hops else [_nothing(trace, view.relation)]
        if trace.influences:
            lines += ["", *_influence_lines(trace)]
    return "\n".join([*lines, ""])


def _nothing(trace: Trace, relation: KnownRelation) -> str:
    if trace.direction == "downstream":
        return "(no model makes a value from it)"
    return "(a constant)" if relation.kind == "model" else f"(a column of a {relation.kind})"


def _tree(trace: Trace) -> list[str]:
    """Depth first, without recursion: a chain of models may be longer than the stack is deep."""
    onward: dict[ColumnRef, list[Hop]] = {}
    up = trace.direction == "upstream"
    for hop in trace.hops:
        onward.setdefault(hop.target if up else hop.source, []).append(hop)
    lines: list[str] = []
    opened = {trace.start}
    waiting = _branches(onward.get(trace.start, []), "")
    while waiting:
        hop, indent, last = waiting.pop()
        far = hop.source if up else hop.target
        again = far in opened and bool(onward.get(far))
        mark = "  (see above)" if again else ""
        lines.append(f"{indent}{'└─' if last else '├─'} {'.'.join(far)}  ({hop.kind}){mark}")
        if far not in opened:
            opened.add(far)
            waiting += _branches(onward.get(far, []), indent + ("   " if last else "│  "))
    return lines


def _branches(hops: list[Hop], indent: str) -> list[tuple[Hop, str, bool]]:
    """The branches below a node, the first one on top of the stack."""
    return [(hop, indent, index == 0) for index, hop in enumerate(reversed(hops))]


def _influence_lines(trace: Trace) -> list[str]:
    if trace.direction == "downstream":
        models: dict[str, list[RowHop]] = {}
        for row in trace.influences:
            models.setdefault(row.model, []).append(row)
        listed = [f"  {name} ({', '.join(_roles(rows))})" for name, rows in models.items()]
        return ["decides rows of:", *listed]
    lines = ["rows decided on the way:"]
    models = {}
    for row in trace.influences:
        models.setdefault(row.model, []).append(row)
    for name, rows in models.items():
        lines.append(f"  in {name}")
        lines += [f"  {line}" for line in _row_lines(rows)]
    return lines


def _roles(rows: list[RowHop]) -> list[str]:
    return list(dict.fromkeys(row.role for row in rows))
