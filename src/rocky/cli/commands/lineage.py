"""`rocky lineage`: where a model or a column comes from, and what it reaches."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Final

import click

from rocky.analysis.lineage import ColumnRef, Hop, RowHop, Trace
from rocky.cli.console import ExitCode, write_note, write_report, write_text
from rocky.cli.options import RockyCommand, Settings, format_option, use_json
from rocky.cli.render.supposition import render_supposition
from rocky.cli.render.tables import render_table
from rocky.cli.render.tag_lineage import render_tag
from rocky.errors import InvalidRequest
from rocky.language.datatypes.types import UNKNOWN
from rocky.operations.graph.lineage import LineageRequest, lineage
from rocky.operations.graph.lineage_report import (
    ColumnLineage,
    ColumnPlace,
    LineageColumn,
    LineageEdge,
    ModelLineage,
    ProjectLineage,
    Relation,
)
from rocky.operations.graph.supposition import (
    SuppositionReport,
    SuppositionRequest,
    suppose,
)
from rocky.operations.graph.tag_lineage import TagLineage
from rocky.operations.graph.unknown_origins import UnknownOrigin

REPORTS: Final = {
    "lineage": ModelLineage | ColumnLineage | ProjectLineage | TagLineage | SuppositionReport
}
_Edges = Sequence[tuple[str, str, str]]
"""From, to, and a label, which may be empty."""


@click.command("lineage", cls=RockyCommand)
@click.argument("target", required=False)
@click.option("--column", metavar="COLUMN", help="The column, when TARGET is only a model.")
@click.option("--upstream", is_flag=True, help="What it comes from. The default for a column.")
@click.option("--downstream", is_flag=True, help="What it reaches. With --upstream, both.")
@click.option(
    "--classification", metavar="TAG", help="Where a tag goes, in the project or in TARGET."
)
@click.option("--if-type", metavar="TYPE", help="What would not compile if a column had this type.")
@click.option("--if-nullable", is_flag=True, help="What would not compile if it could be null.")
@click.option("--if-dropped", is_flag=True, help="What would not compile if it were not there.")
@format_option(("text", "dot", "mermaid", "svg"), "text, a graph to draw, or drawn. Default: text.")
@click.pass_obj
def command(  # noqa: PLR0913 - one for each option
    settings: Settings,
    target: str | None,
    column: str | None,
    upstream: bool,
    downstream: bool,
    classification: str | None,
    if_type: str | None,
    if_nullable: bool,
    if_dropped: bool,
    style: str | None,
) -> ExitCode:
    """Show where a model's or a column's values come from.

    TARGET is MODEL or MODEL.COLUMN; sources and seeds work too: raw.orders, raw.orders.amount.
    For a model both directions are shown unless one is chosen. Without TARGET it is the whole
    project. With an --if option the project is compiled in memory with the column as it says, and
    what would break is listed; nothing is written.
    """
    as_json = use_json(settings, style)
    if if_type is not None or if_nullable or if_dropped:
        others = {
            "--upstream": upstream,
            "--downstream": downstream,
            "--classification": classification is not None,
            f"--format {style}": style in ("dot", "mermaid", "svg"),
        }
        _refuse_others(target, [option for option, is_asked in others.items() if is_asked])
        supposed = SuppositionRequest(target or "", column, if_type, if_nullable, if_dropped)
        _write_supposition(suppose(settings.workspace, supposed), as_json=as_json)
        return ExitCode.OK
    request = LineageRequest(target, column, upstream, downstream, classification)
    return _write_lineage(settings, lineage(settings.workspace, request), style, as_json=as_json)


def _refuse_others(target: str | None, others: Sequence[str]) -> None:
    """Refuse what cannot be asked together with what would break."""
    if target is None:
        raise InvalidRequest("name the column, as in `rocky lineage MODEL.COLUMN --if-dropped`")
    for option in others:
        raise InvalidRequest(
            f"`{option}` does not go with `--if-type`, `--if-nullable` and `--if-dropped`,"
            " which list what would break; leave it out"
        )


def _write_supposition(report: SuppositionReport, *, as_json: bool) -> None:
    if as_json:
        write_report("lineage", report)
    else:
        write_text(render_supposition(report))


def _write_lineage(
    settings: Settings,
    report: ModelLineage | ColumnLineage | ProjectLineage | TagLineage,
    style: str | None,
    *,
    as_json: bool,
) -> ExitCode:
    if as_json:
        write_report("lineage", report)
    elif style == "dot":
        write_text(render_dot(_edges_of(report)))
    elif style == "mermaid":
        write_text(render_mermaid(_edges_of(report)))
    elif style == "svg":
        write_text(f"{report.to_svg()}\n")
    elif isinstance(report, TagLineage):
        write_text(render_tag(report))
    elif isinstance(report, ProjectLineage):
        write_text(render_project(report))
    elif isinstance(report, ColumnLineage):
        write_text(render_column(report))
    else:
        write_text(render_model(report))
    if isinstance(report, ProjectLineage | TagLineage):
        return ExitCode.OK
    if not report.relation.complete and not settings.quiet:
        write_note(
            f"note: `{report.relation.name}` is not known to its last column; some may be missing"
        )
    for each in {each.source: each for each in report.unknown}.values():
        if each.command is not None and not settings.quiet:
            write_note(
                f"note: the columns of `{each.source}` are not known; `{each.command}` makes them"
                " known"
            )
    return ExitCode.OK


# ---------------------------------------------------------------------------- graphs


def _edges_of(report: ModelLineage | ColumnLineage | ProjectLineage | TagLineage) -> _Edges:
    if isinstance(report, TagLineage):
        return report.graph_of().edges
    if isinstance(report, ProjectLineage):
        return [(each.source, each.target, "") for each in report.edges]
    if isinstance(report, ModelLineage):
        return [(source, target, "") for source, target in report.graph]
    known = [
        (str(each.source), str(each.target), each.transform) for each in dict.fromkeys(report.trace)
    ]
    return [*known, *((each.source, each.target, "not known") for each in report.unknown)]


def render_dot(edges: _Edges) -> str:
    """A DOT digraph for Graphviz, left to right."""
    lines = ["digraph lineage {", "  rankdir=LR;", "  node [shape=box];"]
    for source, target, label in edges:
        suffix = f" [label={_dot(label)}]" if label else ""
        lines.append(f"  {_dot(source)} -> {_dot(target)}{suffix};")
    return "\n".join([*lines, "}", ""])


def _dot(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def render_mermaid(edges: _Edges) -> str:
    """A Mermaid flowchart. Its ids must be plain words, so names stand in the labels."""
    names = dict.fromkeys(name for edge in edges for name in edge[:2])
    ids = {name: f"n{index}" for index, name in enumerate(names)}
    lines = ["flowchart LR"]
    lines += [f"  {ids[name]}[{_mermaid(name)}]" for name in names]
    for source, target, label in edges:
        arrow = f"-->|{_mermaid(label)}|" if label else "-->"
        lines.append(f"  {ids[source]} {arrow} {ids[target]}")
    return "\n".join([*lines, ""])


def _mermaid(text: str) -> str:
    escaped = text.replace('"', "#quot;")
    return f'"{escaped}"'


# ---------------------------------------------------------------------------- the project


def render_project(report: ProjectLineage) -> str:
    """Every model with what it reads and what reads it."""
    reads: dict[str, list[str]] = {}
    readers: dict[str, list[str]] = {}
    for edge in report.edges:
        reads.setdefault(edge.target, []).append(edge.source)
        readers.setdefault(edge.source, []).append(edge.target)
    rows = [
        [
            each.model,
            each.kind,
            ", ".join(reads.get(each.model, ())) or "-",
            ", ".join(readers.get(each.model, ())) or "-",
        ]
        for each in report.nodes
    ]
    return render_table(["NAME", "KIND", "READS", "READ BY"], rows, right=set()) + "\n"


# ---------------------------------------------------------------------------- a model


def render_model(report: ModelLineage) -> str:
    """Neighbours, then each column with the columns it is made from and goes to."""
    relation = report.relation
    lines = [f"{relation.kind} {relation.name}  ({relation.path})"]
    # A source comes from nowhere.
    told = [each for each in report.ways if each == "downstream" or _is_made(relation)]
    lines += [f"{way}: {', '.join(getattr(report, way)) or 'none'}" for way in told]
    head = ["COLUMN", "TYPE", "NULLABLE"]
    head += ["COMES FROM" if way == "upstream" else "GOES TO" for way in told]
    into: dict[ColumnPlace, list[LineageEdge]] = {}
    out: dict[ColumnPlace, list[LineageEdge]] = {}
    for edge in report.edges:
        into.setdefault(edge.target, []).append(edge)
        out.setdefault(edge.source, []).append(edge)
    rows: list[list[str]] = []
    for column in relation.columns:
        place = ColumnPlace(relation.name, column.name)
        stacks = [
            [f"{each.source} ({each.transform})" for each in into.get(place, ())]
            if way == "upstream"
            else list(dict.fromkeys(str(each.target) for each in out.get(place, ())))
            for way in told
        ]
        rows += _rows(column, stacks)
    lines += ["", render_table(head, rows, right=set())]
    decided = [
        (each.role, str(each.source))
        for each in report.influences
        if each.target.model == relation.name
    ]
    if decided and "upstream" in report.ways:
        lines += ["", "rows decided by:", *_row_lines(decided)]
    return "\n".join([*lines, ""])


def _is_made(relation: Relation) -> bool:
    """Whether the project makes it: a model, or a table of a pipeline."""
    return relation.kind in ("model", "table")


def _rows(column: LineageColumn, stacks: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """A column's line; what it comes from and what it reaches follows below, one a line."""
    facts = [column.name, column.data_type, "yes" if column.nullable else "no"]
    for cells in zip_longest(*(stack or ["-"] for stack in stacks), fillvalue=""):
        yield [*facts, *cells]
        facts = ["", "", ""]


def _row_lines(rows: Iterable[tuple[str, str]]) -> list[str]:
    """What decides rows, a line a role."""
    roles: dict[str, list[str]] = {}
    for role, source in rows:
        roles.setdefault(role, []).append(source)
    return [f"  {role}: {', '.join(dict.fromkeys(names))}" for role, names in roles.items()]


# ---------------------------------------------------------------------------- a column


def render_column(report: ColumnLineage) -> str:
    """A tree for each way; a column that was shown before is not opened again."""
    nullable = "nullable" if report.nullable else "not null"
    lines = [f"{report.model}.{report.column}  {report.data_type}, {nullable}"]
    for trace in report.traces:
        if len(report.traces) > 1:
            lines += ["", "comes from:" if trace.direction == "upstream" else "goes to:"]
        if trace.hops:
            lines += _tree(trace)
        elif trace.direction == "downstream" or not report.unknown:
            lines.append(_nothing(trace, report.relation, report.data_type))
        if trace.direction == "upstream" and report.unknown:
            lines += _unknown_lines(report.unknown)
        if trace.influences:
            lines += ["", *_influence_lines(trace)]
    return "\n".join([*lines, ""])


def _unknown_lines(unknown: Sequence[UnknownOrigin]) -> list[str]:
    """Where the way up goes on in whole tables, a line an edge."""
    shown = [f"  {each.target} from {each.source}" for each in unknown]
    return ["not known by column, from these tables as a whole:", *shown]


def _nothing(trace: Trace, relation: Relation, data_type: str) -> str:
    if trace.direction == "downstream":
        return "(no model makes a value from it)"
    if relation.kind != "model":
        return f"(a column of a {relation.kind})"
    # Of a table whose columns nobody has declared, none can be named.
    return "(a constant)" if data_type != UNKNOWN.text else "(not known: it has no known type)"


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
    models: dict[str, list[RowHop]] = {}
    for row in trace.influences:
        models.setdefault(row.model, []).append(row)
    if trace.direction == "downstream":
        listed = [
            f"  {name} ({', '.join(dict.fromkeys(row.role for row in rows))})"
            for name, rows in models.items()
        ]
        return ["decides rows of:", *listed]
    lines = ["rows decided on the way:"]
    for name, rows in models.items():
        lines.append(f"  in {name}")
        lines += [f"  {line}" for line in _row_lines((r.role, ".".join(r.source)) for r in rows)]
    return lines
