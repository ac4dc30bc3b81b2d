"""`rocky show`: rows of a model's table, read from its files. Needs no Spark and no Java."""

import os
from typing import Final, NamedTuple

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.projects import load_chosen, model_named
from rocky.cli.render.rows import RowsView, render_rows, rows_document
from rocky.diagnostics.suggest import suggestion
from rocky.errors import NothingSelected
from rocky.project import Project
from rocky.project.adapter import Adapter
from rocky.project.models import Target
from rocky.run.seeds import seed_target
from rocky.store.rows import load_rows
from rocky.store.snapshot import Snapshot
from rocky.store.warehouse import Table, open_warehouse

_TABLELESS: Final = {
    "view": "is a view: it has no table of its own, only the query",
    "ephemeral": "is ephemeral: it leaves no table, its readers get the query itself",
}


class Shown(NamedTuple):
    """What has a table to show; `remedy` says what to do when it has none yet."""

    name: str
    target: Target
    adapter: str
    remedy: str


@click.command("show", cls=RockyCommand)
@click.argument("model")
@click.option(
    "--limit", type=click.IntRange(min=0), default=10, show_default=True, help="At most so many."
)
@click.option(
    "--version",
    type=click.IntRange(min=0),
    metavar="N",
    help="The table as it was at a version. Default: now.",
)
@click.option("--target", metavar="ADAPTER", help="The table of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(
    settings: Settings, model: str, limit: int, version: int | None, target: str | None
) -> ExitCode:
    """Show rows of a model's table.

    MODEL is the name of a model or a seed, or its table's full name. Which rows come first is not
    defined.
    """
    project = load_chosen(settings)
    shown = find_shown(project, model)
    adapter = find_adapter(project, target or shown.adapter)
    options = {**os.environ, **adapter.conf}
    warehouse = open_warehouse(adapter.warehouse, base=project.root, options=options)
    table = warehouse.table(shown.target)
    snapshot = find_snapshot(table, version, shown.remedy)
    view = RowsView(
        shown.name,
        shown.target.full_name,
        snapshot,
        snapshot.schema,
        tuple(load_rows(table, snapshot, limit)),
        find_run_id(table, snapshot),
    )
    if settings.json:
        write_json("show", rows_document(view))
    else:
        write_line(render_rows(view))
    return ExitCode.OK


def find_shown(project: Project, wanted: str) -> Shown:
    """The model or the seed that is meant. Raises NothingSelected, also when it has no table."""
    seed = project.seeds.get(wanted.lower())
    if seed is not None:
        target = seed_target(seed, project.config)
        remedy = f"`rocky seed {seed.name}` loads it"
        return Shown(seed.name, target, "default", remedy)
    model = model_named(project, wanted)
    why = _TABLELESS.get(model.strategy.type)
    if why is not None:
        raise NothingSelected(f"model `{model.name}` {why}")
    pipeline = project.config.pipeline.get(model.pipeline or "")
    adapter = model.settings.adapter or (pipeline.target.adapter if pipeline else "default")
    remedy = f"`rocky run --model {model.name}` builds it"
    return Shown(model.name, model.target, adapter, remedy)


def find_adapter(project: Project, name: str) -> Adapter:
    """The adapter of a name; the only one is also the default. Raises NothingSelected."""
    adapters = project.config.adapter
    if name in adapters:
        return adapters[name]
    if name == "default" and len(adapters) == 1:
        return next(iter(adapters.values()))
    hint = suggestion(name, adapters) or "adapters: " + ", ".join(f"`{one}`" for one in adapters)
    raise NothingSelected(f"no adapter `{name}`; {hint}")


def find_snapshot(table: Table, version: int | None, remedy: str) -> Snapshot:
    """The table now or at a version. Raises NothingSelected when it never was."""
    newest = table.snapshot()
    if newest is None:
        raise NothingSelected(f"`{table.name}` has not been built; {remedy}")
    if version is None or version == newest.version:
        return newest
    asked = table.snapshot(version) if version < newest.version else None
    if asked is None:
        raise NothingSelected(
            f"`{table.name}` has no version {version}; the newest is {newest.version}"
        )
    return asked


def find_run_id(table: Table, snapshot: Snapshot) -> str | None:
    """The run that made a version, as the table's own log says."""
    for commit in table.history():
        if commit.get("version") == snapshot.version:
            run_id = commit.get("runId")
            return str(run_id) if run_id is not None else None
    return None
