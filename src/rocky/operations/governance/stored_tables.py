"""The tables that a project has written, as its warehouses have them, for a catalogue to know."""

import json
from collections.abc import Iterator

from rocky.governance.declaration import TableParts
from rocky.governance.registration import StoredTable
from rocky.operations.governance.declaration import tables_of
from rocky.operations.warehouses import warehouses_of
from rocky.operations.workspace import Workspace
from rocky.project import Project
from rocky.project.models import Target
from rocky.store.warehouse import Warehouse


def stored_tables(
    workspace: Workspace, project: Project, wrote: frozenset[str] | None = None
) -> tuple[StoredTable, ...]:
    """The tables to be registered: none unless `[governance.catalog]` says so.

    `wrote` are full names, in lower case, of those that are looked at; without, all. One that is
    not written yet is left out. Raises StoreUnreadable where that cannot be told.
    """
    if not project.config.governance.catalog.register:
        return ()
    warehouses = warehouses_of(workspace, project)
    return tuple(
        found
        for parts in tables_of(project)
        if wrote is None or ".".join(parts).lower() in wrote
        for found in _stored(parts, warehouses)
    )


def _stored(parts: TableParts, warehouses: list[Warehouse]) -> Iterator[StoredTable]:
    for warehouse in warehouses:
        table = warehouse.table(Target(*parts))
        snapshot = table.snapshot()
        if snapshot is not None:
            yield StoredTable(
                ".".join(parts),
                table.objects.location.place(table.prefix),
                snapshot.schema,
                tuple(json.loads(snapshot.metadata["schemaString"])["fields"]),
                snapshot.partition_columns,
            )
            return
