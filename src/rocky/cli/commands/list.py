"""`rocky list`: what the project has, and how it hangs together.

It compiles, because who reads whom is known only from the SQL; findings are only counted.
"""

from typing import Any

import click

from rocky.analysis.compilation import Compilation
from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.compilation import counted
from rocky.cli.render.tables import render_table
from rocky.cli.targets import source_kind
from rocky.diagnostics import Severity
from rocky.operations.workspace import compile_workspace

KINDS = ("models", "sources", "seeds")


@click.command("list", cls=RockyCommand)
@click.argument("kind", required=False, type=click.Choice(KINDS))
@click.pass_obj
def command(settings: Settings, kind: str | None) -> ExitCode:
    """List models, sources and seeds.

    With KIND only those. Upstream and downstream count direct neighbours.
    """
    compilation = compile_workspace(settings.workspace)
    entries = list_entries(compilation)
    if kind is not None:
        entries = {kind: entries[kind]}
    if settings.json:
        write_json("list", dict(entries))
    else:
        write_line(render_entries(entries))
    errors = sum(each.severity is Severity.ERROR for each in compilation.diagnostics)
    if errors and not settings.quiet:
        write_note(f"note: {counted(errors, 'error')} in the project; `rocky compile` shows them")
    return ExitCode.OK


def list_entries(compilation: Compilation) -> dict[str, list[dict[str, Any]]]:
    """Everything the project has, by KINDS; models in the order they would run."""
    project = compilation.project
    models = []
    for name in compilation.order:
        model = project.models[name.lower()]
        ir = compilation.models.get(model.key)
        models.append(
            {
                **_neighbours(compilation, model.name),
                "kind": "model",
                "path": model.path,
                "target": model.target.full_name,
                "strategy": model.strategy.type,
                "columns": len(ir.columns) if ir is not None else 0,
                "tags": dict(model.tags),
            }
        )
    sources = [
        {
            **_neighbours(compilation, source.name),
            "kind": source_kind(source),
            "path": source.file,
            "format": source.format,
            "columns": len(source.columns),
        }
        for source in project.sources.values()
    ]
    seeds = [
        {
            **_neighbours(compilation, seed.name),
            "kind": "seed",
            "path": seed.path,
            "columns": len(seed.columns),
        }
        for seed in project.seeds.values()
    ]
    return {"models": models, "sources": sources, "seeds": seeds}


def _neighbours(compilation: Compilation, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "upstream": len(compilation.upstream.get(name, ())),
        "downstream": len(compilation.downstream.get(name, ())),
    }


def render_entries(entries: dict[str, list[dict[str, Any]]]) -> str:
    rows = [
        (
            each["name"],
            each["kind"],
            str(each["columns"]),
            str(each["upstream"]) if each["kind"] == "model" else "",
            str(each["downstream"]),
            each["path"],
        )
        for kind in ("sources", "seeds", "models")
        for each in entries.get(kind, ())
    ]
    head = ("NAME", "KIND", "COLUMNS", "UPSTREAM", "DOWNSTREAM", "FILE")
    return render_table(head, rows, right={2, 3, 4})
