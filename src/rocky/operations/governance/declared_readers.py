"""Who may read each table, as it is declared: no catalogue is asked, so it may hold other rights.

`rocky governance who` asks it about one table.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rocky.governance.catalogues import MATRIX
from rocky.governance.readers import find_readers
from rocky.operations.governance.declaration import declared_for, governed_tables
from rocky.operations.workspace import Workspace, compile_workspace


@dataclass(frozen=True, slots=True)
class DeclaredReader:
    """A principal that is to read a table: through which rights, and the lines that say so."""

    principal: str
    through: tuple[str, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReaders:
    """The principals that are to read a table, which is known by its full name."""

    table: str
    readers: tuple[DeclaredReader, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredReadersReport:
    """Every table that the project writes. `catalogue` is its kind, None where none is governed."""

    catalogue: str | None
    roles: Mapping[str, tuple[str, ...]]
    tables: tuple[TableReaders, ...]


def declared_readers(workspace: Workspace) -> DeclaredReadersReport:
    """Who may read what, by `[[grant]]` and roles. Raises GovernanceRefused as `declare` does."""
    project = compile_workspace(workspace).project
    kind = project.config.governance.catalog.kind
    roles = {name: role.members for name, role in project.config.role.items()}
    names = {key: parts for key, (parts, _) in governed_tables(project).items()}
    abilities = dict(MATRIX).get(kind)
    if abilities is None:
        tables = tuple(TableReaders(table=".".join(each)) for each in names.values())
        return DeclaredReadersReport(catalogue=None, roles=roles, tables=tables)
    declared = declared_for(project, abilities)
    return DeclaredReadersReport(
        catalogue=kind,
        roles=roles,
        tables=tuple(
            TableReaders(
                table=".".join(parts),
                readers=tuple(
                    DeclaredReader(each.principal, each.through, each.why)
                    for each in find_readers(parts, declared, None, needs_use=False)
                ),
            )
            for parts in names.values()
        ),
    )
