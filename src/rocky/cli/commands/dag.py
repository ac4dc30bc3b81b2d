"""`rocky dag`: every table of the project, layer by layer, and what each reads."""

from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.tables import render_table
from rocky.operations.graph.dag import DagReport, DagRequest, dag

REPORTS: Final = {"dag": DagReport}


@click.command(
    "dag",
    cls=RockyCommand,
    examples=(("rocky dag -o json", "nodes, edges and layers, as a JSON document"),),
)
@click.pass_obj
def command(settings: Settings) -> ExitCode:
    """Show the graph of the project, layer by layer.

    Tables of one layer need nothing of each other. A model in or behind a cycle has no layer.
    """
    report = dag(settings.workspace, DagRequest())
    if settings.json:
        write_report("dag", report)
    else:
        write_line(_render(report))
    return ExitCode.OK


def _render(report: DagReport) -> str:
    reads: dict[str, list[str]] = {}
    for edge in report.edges:
        reads.setdefault(edge.target, []).append(edge.source)
    last = len(report.layers)
    nodes = sorted(report.nodes, key=lambda each: last if each.layer is None else each.layer)
    rows = [
        (
            "-" if each.layer is None else str(each.layer),
            each.name,
            each.kind,
            ", ".join(reads.get(each.name, ())),
        )
        for each in nodes
    ]
    return render_table(("layer", "name", "kind", "reads"), rows, {0})
