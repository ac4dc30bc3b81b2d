"""`rocky lineage`: where a model or a column comes from, and what it reaches."""

import click

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import ColumnRef, Direction, Lineage, reach_models
from rocky.cli.console import write_json, write_note, write_text
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.graphs import render_dot, render_mermaid
from rocky.cli.render.lineage import (
    ColumnView,
    ModelView,
    column_document,
    column_graph,
    model_document,
    model_graph,
    render_column,
    render_model,
)
from rocky.cli.targets import KnownColumn, KnownRelation, Relations
from rocky.operations.workspace import compile_workspace

FORMATS = ("text", "dot", "mermaid")


@click.command("lineage", cls=RockyCommand)
@click.argument("target")
@click.option("--column", metavar="COLUMN", help="The column, when TARGET is only a model.")
@click.option("--upstream", is_flag=True, help="What it comes from. The default for a column.")
@click.option("--downstream", is_flag=True, help="What it reaches. With --upstream, both.")
@click.option(
    "--format", "style", type=click.Choice(FORMATS), help="text, or a graph to draw. Default: text."
)
@click.pass_obj
def command(
    settings: Settings,
    target: str,
    column: str | None,
    upstream: bool,
    downstream: bool,
    style: str | None,
) -> ExitCode:
    """Show where a model's or a column's values come from.

    TARGET is MODEL or MODEL.COLUMN; sources and seeds work too: raw.orders, raw.orders.amount.
    A model is shown both ways unless a way is named.
    """
    if style is not None and settings.json and settings.asked:
        raise click.UsageError("`--format` is a form of text; leave it out or drop `-o json`")
    compilation = compile_workspace(settings.workspace)
    relation, found = Relations(compilation).resolve(target, column)
    if not upstream and not downstream:
        upstream, downstream = True, found is None
    ways: list[Direction] = []
    ways += ["upstream"] if upstream else []
    ways += ["downstream"] if downstream else []
    as_json = settings.json and style is None
    if found is not None:
        _show_column(compilation, relation, found, ways, style, as_json=as_json)
    else:
        _show_model(compilation, relation, ways, style, as_json=as_json)
    if not relation.complete and not settings.quiet:
        write_note(f"note: `{relation.name}` has errors; columns may be missing")
    return ExitCode.OK


def _show_column(
    compilation: Compilation,
    relation: KnownRelation,
    column: KnownColumn,
    ways: list[Direction],
    style: str | None,
    *,
    as_json: bool,
) -> None:
    lineage = lineage_around(compilation, relation.name)
    start = ColumnRef(relation.name, column.name)
    traces = tuple(lineage.trace(start, way) for way in ways)
    view = ColumnView(relation, column, traces)
    if as_json:
        consumers = sorted(lineage.trace(start, "downstream").reached)
        write_json("lineage", column_document(view, consumers))
    elif style in ("dot", "mermaid"):
        write_text(_draw(column_graph(view), style))
    else:
        write_text(render_column(view))


def _show_model(
    compilation: Compilation,
    relation: KnownRelation,
    ways: list[Direction],
    style: str | None,
    *,
    as_json: bool,
) -> None:
    view = ModelView(relation, tuple(ways), compilation, lineage_around(compilation, relation.name))
    if as_json:
        write_json("lineage", model_document(view))
    elif style in ("dot", "mermaid"):
        write_text(_draw(model_graph(view), style))
    else:
        write_text(render_model(view))


def _draw(edges: list[tuple[str, str, str]], style: str) -> str:
    return render_dot(edges) if style == "dot" else render_mermaid(edges)


def lineage_around(compilation: Compilation, name: str) -> Lineage:
    """The column graph of everything above and below a relation: the rest cannot matter."""
    project = compilation.project
    around = reach_models(compilation.upstream, [name]) | reach_models(
        compilation.downstream, [name]
    )
    keys = [each.lower() for each in around]
    models = {key: compilation.models[key] for key in keys if key in compilation.models}
    tables: dict[str, list[str]] = {}
    for group in (project.sources, project.seeds):
        for table in (group[key] for key in keys if key in group):
            tables[table.name] = [field.name for field in table.columns]
    return Lineage(models, tables)
