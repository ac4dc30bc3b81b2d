"""The files of a table: where each lies, and the hash by which anybody can check it without Rocky.

They are those that the table's log names now or named at a version, whichever runs wrote them.
"""

from dataclasses import dataclass

from rocky.operations.digest import Digested
from rocky.operations.placement import place_tables
from rocky.operations.rows.table_names import (
    find_declared,
    find_run_id,
    find_snapshot,
    find_stored,
)
from rocky.operations.workspace import Workspace, known_branch, load_workspace
from rocky.plan.adapters import find_adapter
from rocky.plan.arguments import Natural, Request
from rocky.project import Project
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.data_file import is_addressed
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class FilesRequest(Request):
    """A model, a seed or a table that a pipeline writes, as it is now or at a `version`."""

    table: str
    version: Natural | None = None


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a table. `blake3_hash` is absent where another tool named the file."""

    path: str
    size_bytes: int
    rows: int
    blake3_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FilesReport(Digested):
    """The files of one version of a table; `run_id` is the run that made it, if known.

    `is_local` says whether the paths are of this machine. `columns` are those that the table was
    built with: the code may have others by now.
    """

    table: str
    version: int
    rows: int
    bytes: int
    is_local: bool
    run_id: str | None = None
    columns: tuple[str, ...]
    files: tuple[StoredFile, ...]


def list_files(workspace: Workspace, request: FilesRequest) -> FilesReport:
    """The files of a table. Raises NothingSelected where there is none, and StoreUnreadable."""
    workspace = known_branch(workspace, sure=False)
    project = place_tables(load_workspace(workspace))
    table = _find_table(workspace, project, request.table)
    snapshot = find_snapshot(workspace, table, request.version)
    return FilesReport(
        table=table.name,
        version=snapshot.version,
        rows=snapshot.rows,
        bytes=snapshot.bytes,
        is_local=table.objects.location.folder is not None,
        run_id=find_run_id(table, snapshot),
        columns=tuple(each.name for each in snapshot.schema),
        files=tuple(
            StoredFile(
                str(table.place_of(each)),
                each.size,
                each.rows,
                each.address if is_addressed(each.path) else None,
            )
            for each in snapshot.files
        ),
    )


def _find_table(workspace: Workspace, project: Project, wanted: str) -> Table:
    declared = find_declared(project, wanted)
    if declared is None or declared.target is None:
        return find_stored(workspace, project, wanted, None)
    adapter = find_adapter(project, declared.adapter)
    warehouse = open_project_warehouse(adapter, project.root, workspace.environment)
    return warehouse.table(declared.target)
