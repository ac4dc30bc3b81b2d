"""`rocky show`: rows of a table, read from its files. Needs no Spark and no Java.

A table that no model makes, as a copy or what was refused, goes by its full name alone.
"""

import os
from typing import Final, NamedTuple

import click

from rocky.cli.console import write_json, write_line
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import Settings, TableCommand
from rocky.cli.render.rows import RowsView, render_rows, rows_document
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.operations.workspace import load_workspace, model_named, model_names, unknown_name
from rocky.plan.adapters import find_adapter
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.models import Target
from rocky.run.materialize.seeds import seed_target
from rocky.store.delta.snapshot import Snapshot
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import RESERVED, Table, Warehouse, open_warehouse

_DOTS: Final = 2
"""A table's full name has so many at least."""
_LISTED: Final = 5
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


@click.command("show", cls=TableCommand)
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

    MODEL is the name of a model or a seed, or the full name of any table. Which rows come first is
    not defined.
    """
    project = load_workspace(settings.workspace)
    shown = find_shown(project, model)
    if shown is None:
        table = find_stored(project, model, target)
        name, remedy = table.name, ""
    else:
        adapter = find_adapter(project, target or shown.adapter)
        table = open_adapter(project, adapter).table(shown.target)
        name, remedy = shown.name, shown.remedy
    snapshot = find_snapshot(table, version, remedy)
    view = RowsView(
        name,
        table.name,
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


def find_shown(project: Project, wanted: str) -> Shown | None:
    """The model or the seed that is meant, if any. Raises NothingSelected when it has no table."""
    seed = project.seeds.get(wanted.lower())
    if seed is not None:
        target = seed_target(seed, project.config)
        remedy = f"`rocky seed {seed.name}` loads it"
        return Shown(seed.name, target, "default", remedy)
    try:
        model = model_named(project, wanted)
    except NothingSelected:
        return None
    why = _TABLELESS.get(model.strategy.type)
    if why is not None:
        raise NothingSelected(f"model `{model.name}` {why}")
    pipeline = project.config.pipeline.get(model.pipeline or "")
    adapter = model.settings.adapter or (pipeline.target.adapter if pipeline else "default")
    remedy = f"`rocky run --model {model.name}` builds it"
    return Shown(model.name, model.target, adapter, remedy)


def find_stored(project: Project, wanted: str, target: str | None) -> Table:
    """The table of a full name, whoever made it, in the adapters' warehouses or in one's.

    Raises NothingSelected when there is none, or when two warehouses have one.
    """
    name = wanted.replace("`", "").lower()
    declared = [*model_names(project), *(seed.name for seed in project.seeds.values())]
    near = suggestion(wanted, declared)
    if near is not None and name.count(".") < _DOTS:
        raise NothingSelected(f"no model `{wanted}`; {near}")
    chosen = project.config.adapter if target is None else {target: find_adapter(project, target)}
    warehouses: dict[str, tuple[str, Warehouse]] = {}
    for key, adapter in chosen.items():
        warehouse = open_adapter(project, adapter)
        # Adapters may share a warehouse, and then the table is the same.
        warehouses.setdefault(warehouse.uri, (key, warehouse))
    found = {
        key: table
        for key, each in warehouses.values()
        if (table := _table_named(each, name)) is not None
    }
    if len(found) > 1:
        listed = ", ".join(f"`{key}`" for key in found)
        raise NothingSelected(
            f"table `{wanted}` is in the warehouses of the adapters {listed}: choose one with"
            " `--target`"
        )
    if found:
        return next(iter(found.values()))
    names = [table.name for _, each in warehouses.values() for table in each.tables()]
    raise NothingSelected(_unknown(wanted, declared, names))


def _table_named(warehouse: Warehouse, name: str) -> Table | None:
    """The table of a name in lower case; only folders on its way are listed."""
    level = [""]
    parts = name.split(".")
    for part in parts:
        level = [
            folder
            for above in level
            for folder in warehouse.objects.folders(above)
            if folder.rpartition("/")[2].lower() == part
        ]
    if len(parts) != _DOTS + 1 or parts[0] == RESERVED or not level:
        return None
    found = (warehouse.table(Target(*folder.split("/"))) for folder in level)
    return next((table for table in found if table.snapshot() is not None), None)


def _unknown(wanted: str, declared: list[str], stored: list[str]) -> str:
    """What to say of a name that neither a model nor a table has."""
    noun = "model or table" if stored else "model"
    last = f".{wanted.lower()}"
    hint = suggestion(wanted, [*declared, *stored])
    if hint is None:
        whole = next((each for each in stored if each.lower().endswith(last)), None)
        hint = f"did you mean `{whole}`?" if whole is not None else None
    if hint is None and stored and not declared:
        more = f" and {len(stored) - _LISTED} more" if len(stored) > _LISTED else ""
        hint = "there are " + ", ".join(f"`{each}`" for each in stored[:_LISTED]) + more
    return f"no {noun} `{wanted}`; {hint}" if hint else unknown_name(noun, wanted, declared)


def open_adapter(project: Project, adapter: Adapter) -> Warehouse:
    """The warehouse of an adapter, with the credentials it has."""
    options = {**os.environ, **adapter.conf}
    return open_warehouse(adapter.warehouse, base=project.root, options=options)


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
