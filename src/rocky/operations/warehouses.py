"""Warehouses of the past: where a recorded one lies now.

A project may have been moved since, so a warehouse that no adapter has and that is gone is looked
for where the project's only one is. Without a project it is where it was.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rocky.errors import ProjectNotFound
from rocky.operations.workspace import Workspace, load_workspace
from rocky.plan.adapters import find_adapter
from rocky.project import Project
from rocky.project.configuration.spark_settings import NO_CONF
from rocky.store.anchor import anchored_ledgers, find_recorded_warehouse
from rocky.store.warehouse import Warehouse, open_warehouse


def recorded_warehouses(workspace: Workspace) -> Callable[[str], Warehouse]:
    """What finds a recorded warehouse, with the credentials its adapter has."""
    try:
        project = load_workspace(workspace, cache=False)
    except ProjectNotFound:
        return lambda place: open_warehouse(place, base=Path(), options=workspace.environment)
    return recorded_warehouses_of(workspace, project, warehouses_of(workspace, project))


def recorded_warehouses_of(
    workspace: Workspace,
    project: Project,
    known: Sequence[Warehouse],
    conf: Mapping[str, str] = NO_CONF,
) -> Callable[[str], Warehouse]:
    """The same for a project that is loaded, among the warehouses that are `known` of it.

    `conf` are the settings of an adapter, whose credentials others are opened with.
    """

    def reopen(place: str) -> Warehouse:
        return open_warehouse(place, base=project.root, options={**workspace.environment, **conf})

    return lambda place: find_recorded_warehouse(place, known, reopen, project.root)


def lost_ledger(workspace: Workspace) -> str | None:
    """The id of a ledger that the project's tables know, for when its file is not there."""
    try:
        project = load_workspace(workspace, cache=False)
    except ProjectNotFound:
        return None
    found = [
        each for place in warehouses_of(workspace, project) for each in anchored_ledgers(place)
    ]
    return found[0] if found else None


def warehouses_of(
    workspace: Workspace, project: Project, adapter: str | None = None
) -> list[Warehouse]:
    """The warehouses of a project's adapters, or of the one that is named.

    Raises NothingSelected when there is none of that name.
    """
    named = None if adapter is None else find_adapter(project, adapter)
    return [
        open_warehouse(
            each.warehouse, base=project.root, options={**workspace.environment, **each.conf}
        )
        for each in (project.config.adapter.values() if named is None else [named])
    ]
