"""`rocky gc`: files that nothing needs any more, removed and recorded. Starts no Spark.

It deletes data, so a `rocky.toml` that cannot be read as it was meant stops it: a mistyped setting
would leave a default to decide what goes.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime

import click

from rocky.cli.console import write_json, write_line, write_note
from rocky.cli.exit_codes import ExitCode
from rocky.cli.options import RockyCommand, Settings
from rocky.cli.render.gc import collection_document, render_collection
from rocky.diagnostics import Severity
from rocky.errors import NothingSelected, RunRefused
from rocky.evidence.retention.collection import CollectionReport, CollectionRequest, collect_files
from rocky.evidence.retention.decisions import Retention
from rocky.operations.workspace import load_workspace, state_path, unknown_name
from rocky.project import Project
from rocky.project.configuration.config import Config
from rocky.store.warehouse import Warehouse, open_warehouse


class CollectCommand(RockyCommand):
    """A command that keeps state."""

    uses_state = True


@click.command("gc", cls=CollectCommand)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--target", metavar="ADAPTER", help="Only the warehouse of `[adapter.ADAPTER]`.")
@click.pass_obj
def command(settings: Settings, dry_run: bool, target: str | None) -> ExitCode:
    """Remove files that no table, branch or retained run needs."""
    project = load_workspace(settings.workspace, cache=False)
    _refuse_unclear(project)
    config = project.config
    orders = CollectionRequest(
        retention_of(config), dry_run or not config.gc.physical_delete, datetime.now(UTC)
    )
    warehouses = open_warehouses(project, target, os.environ)
    path = state_path(settings.workspace)
    collection = collect_files(path, warehouses, orders)
    _show(settings, collection, orders.retention)
    if orders.dry_run and not dry_run and not settings.quiet:
        write_note("nothing was removed: `[gc] physical_delete = false`")
    return exit_code_of(collection)


def retention_of(config: Config) -> Retention:
    """What the project asks to keep."""
    kept, collected = config.state.retention, config.gc
    days = kept.max_age_days if collected.retention_days is None else collected.retention_days
    return Retention(days, kept.min_runs_kept, collected.min_age_days)


def open_warehouses(
    project: Project, name: str | None, environment: Mapping[str, str]
) -> list[Warehouse]:
    """Where the project's adapters keep their tables, each place once. Raises NothingSelected."""
    adapters = project.config.adapter
    if name is not None and name not in adapters:
        raise NothingSelected(unknown_name("adapter", name, adapters))
    found: dict[str, Warehouse] = {}
    for each in [adapters[name]] if name is not None else adapters.values():
        options = {**environment, **each.conf}
        warehouse = open_warehouse(each.warehouse, base=project.root, options=options)
        found.setdefault(warehouse.uri, warehouse)
    return list(found.values())


def exit_code_of(collection: CollectionReport) -> ExitCode:
    failed = any(each.failed is not None for each in collection.tables)
    return ExitCode.FAILED if failed else ExitCode.OK


def _refuse_unclear(project: Project) -> None:
    wrong = [
        each
        for each in project.diagnostics
        if each.path == project.config_path and each.severity is Severity.ERROR
    ]
    if wrong:
        raise RunRefused(
            f"`{project.config_path}` has errors, so what to keep is not certain"
            f" ({wrong[0].message}): nothing was removed; `rocky validate` shows them"
        )
    backend = project.config.state.backend
    if backend != "local":
        raise RunRefused(
            f'the state is kept elsewhere (`[state] backend = "{backend}"`), and what runs on other'
            " machines are about to need cannot be seen from here: nothing was removed"
        )


def _show(settings: Settings, collection: CollectionReport, retention: Retention) -> None:
    if settings.json:
        write_json("gc", collection_document(collection, retention))
    elif not settings.quiet or exit_code_of(collection) is not ExitCode.OK:
        write_line(render_collection(collection))
