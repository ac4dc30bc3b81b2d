"""Names of tables: what a name that somebody gives stands for, in the project or in a warehouse.

A table that no model makes, as a copy or what was refused, goes by its full name alone.
"""

from typing import Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.ledger.erasure_records import load_erasures
from rocky.operations.workspace import (
    Workspace,
    model_named,
    model_names,
    state_path,
    unknown_name,
)
from rocky.plan.adapters import adapter_of, find_adapter
from rocky.plan.steps import Read
from rocky.project import Project
from rocky.project.models import Target
from rocky.project.pipeline_tables import PipelineTable
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.data_file import SUFFIX
from rocky.store.delta.snapshot import Snapshot
from rocky.store.warehouse import RESERVED, Table, Warehouse

DOTS: Final = 2
"""A table's full name has so many at least."""
_LISTED: Final = 5
_TABLELESS: Final = {"view": "is a view", "ephemeral": "is ephemeral"}


class Declared(NamedTuple):
    """What the project declares; without a `target` it has no table. `why` says that it is none."""

    name: str
    read: Read
    target: Target | None
    adapter: str
    why: str


def find_declared(project: Project, wanted: str) -> Declared | None:
    """The model, the seed or the source that is meant, if any."""
    key = wanted.replace("`", "").lower()
    seed = project.seeds.get(key)
    if seed is not None:
        target = seed_target(seed, project.config)
        why = "has not been loaded"
        return Declared(seed.name, Read("seed", key), target, adapter_of(project, None), why)
    try:
        model = model_named(project, wanted)
    except NothingSelected:
        source = project.sources.get(key)
        if source is None:
            return None
        read = Read("source", key)
        if isinstance(source, PipelineTable):
            pipeline = project.config.pipeline[source.pipeline]
            why = f"is not there yet: `rocky run --pipeline {source.pipeline}` writes it"
            target = Target(*source.parts)
            return Declared(source.name, read, target, pipeline.target.adapter, why)
        return Declared(source.name, read, None, adapter_of(project, None), "is a source")
    why = _TABLELESS.get(model.strategy.type, "has not been built")
    own = None if model.strategy.type in _TABLELESS else model.target
    return Declared(model.name, Read("model", model.key), own, adapter_of(project, model), why)


def find_stored(workspace: Workspace, project: Project, wanted: str, target: str | None) -> Table:
    """The table of a full name, whoever made it, in the adapters' warehouses or in one's.

    Raises NothingSelected when there is none, or when two warehouses have one.
    """
    name = wanted.replace("`", "").lower()
    declared = [*model_names(project), *(seed.name for seed in project.seeds.values())]
    near = suggestion(wanted, declared)
    if near is not None and name.count(".") < DOTS:
        raise NothingSelected(f"no model `{wanted}`; {near}")
    chosen = project.config.adapter if target is None else {target: find_adapter(project, target)}
    warehouses: dict[str, tuple[str, Warehouse]] = {}
    for key, adapter in chosen.items():
        warehouse = open_project_warehouse(adapter, project.root, workspace.environment)
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
    if len(parts) != DOTS + 1 or parts[0] == RESERVED or not level:
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


def find_snapshot(workspace: Workspace, table: Table, version: int | None) -> Snapshot:
    """The table now or at a version.

    Raises NothingSelected when it never was, and when files of it were erased since.
    """
    newest = table.snapshot()
    if newest is None:
        raise NothingSelected(f"`{table.name}` has not been built")
    if version is None or version == newest.version:
        return newest
    asked = table.snapshot(version) if version < newest.version else None
    if asked is None:
        raise NothingSelected(
            f"`{table.name}` has no version {version}; the newest is {newest.version}"
        )
    _refuse_erased(workspace, table, asked)
    return asked


def _refuse_erased(workspace: Workspace, table: Table, asked: Snapshot) -> None:
    addresses = {file.address for file in asked.files}
    for certificate in load_erasures(state_path(workspace)):
        for told in certificate.tables:
            gone = addresses & {each.blake3_hash for each in told.files}
            here = (told.target, told.warehouse) == (table.name, table.objects.place(""))
            # The same bytes may have been written again since.
            if here and any(
                table.objects.info(f"{table.prefix}/{each}{SUFFIX}") is None for each in gone
            ):
                raise NothingSelected(
                    f"version {asked.version} of `{table.name}` can no longer be read: files of it"
                    f" were erased, by the certificate of {certificate.run_id}"
                )


def find_run_id(table: Table, snapshot: Snapshot) -> str | None:
    """The run that made a version, as the table's own log says."""
    for commit in table.history():
        if commit.get("version") == snapshot.version:
            run_id = commit.get("runId")
            return str(run_id) if run_id is not None else None
    return None
