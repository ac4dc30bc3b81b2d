"""Frames: a table or a query of the project as a DataFrame, on the session of the caller.

A frame is pinned when it is made: it reads the same files whatever runs later, until `rocky gc`
removes files of versions that nobody keeps. A query is checked before Spark sees it.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from rocky.errors import InputNotBuilt, InvalidRequest, NothingSelected
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.records.run_lookup import find_run
from rocky.operations.rows.disclosure import CheckedRows, Relation
from rocky.operations.rows.query import (
    check_query,
    check_rows,
    declared_relation,
    frame_rows,
)
from rocky.operations.rows.show import ShownColumn
from rocky.operations.rows.table_names import Declared, find_declared, find_snapshot, find_stored
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    known_branch,
    open_history,
)
from rocky.plan.adapters import find_adapter
from rocky.plan.arguments import Natural, Request
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.warehouse import Table

_NO_SESSION: Final = (
    "a DataFrame lives on a session of yours, and this workspace was opened without one:"
    " `rocky.open(path, spark=spark)`"
)


@dataclass(frozen=True, slots=True)
class TableRequest(Request):
    """A model, a seed or a source by its name, or any table by its full name.

    As it is now, at a `version`, or as a `run` left it (`latest`, or an id).
    """

    name: str
    version: Natural | None = None
    run: str | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class QueryRequest(Request):
    """A query over names of the project. Findings call its text by a `name`."""

    sql: str
    adapter: str | None = None
    name: str = "sql"


@dataclass(frozen=True, slots=True, repr=False)
class QueryReport(Digested):
    """A query that compiles: the columns it has, and the names of what it reads.

    `note` is why no more than that is known.
    """

    columns: tuple[ShownColumn, ...]
    reads: tuple[str, ...]
    note: str | None = None

    def digest(self) -> Digest:
        reads = f" of {', '.join(self.reads)}" if self.reads else ""
        rows = [(each.name, each.type, each.nullable) for each in self.columns]
        title = f"the query compiles: {counts(column=len(rows))}{reads}"
        title += f"; {self.note}" if self.note is not None else ""
        return Digest(title, ("column", "type", "nullable"), rows, len(rows))


def table_frame(workspace: Workspace, request: TableRequest) -> Any:
    """The rows of a table; of a view, an ephemeral model or a source, those of its query.

    Raises InvalidRequest without a session, NothingSelected, InputNotBuilt for a table that was
    never built, ErrorsFound for a view that does not compile, and what reading the table raises.
    """
    if workspace.spark is None:
        raise InvalidRequest(_NO_SESSION)
    if request.version is not None and request.run is not None:
        raise InvalidRequest("a table is pinned by `version` or by `run`, not by both")
    workspace = known_branch(workspace, sure=False)
    compilation = compile_workspace(workspace)
    project = compilation.project
    declared = find_declared(project, request.name)
    if declared is None:
        table = find_stored(workspace, project, request.name, request.adapter)
        relation = _pinned(workspace, table.name, table, request)
    elif declared.target is None:
        if request.version is not None or request.run is not None:
            raise NothingSelected(f"`{declared.name}` {declared.why}: it has no versions")
        relation = declared_relation(compilation, declared.read, ())
    else:
        request = replace(request, adapter=request.adapter or declared.adapter)
        table = _table_of(workspace, project, declared, request)
        relation = _pinned(workspace, declared.name, table, request)._replace(
            stored_as=declared.read
        )
    checked = check_rows(compilation, relation, None)
    return frame_rows(workspace, compilation, checked, request.adapter, relation)


def query_frame(workspace: Workspace, request: QueryRequest) -> Any:
    """The rows of a query; a model that was never built is read by its own query.

    Raises ErrorsFound for one that does not compile, InvalidRequest without a session.
    """
    if workspace.spark is None:
        raise InvalidRequest(_NO_SESSION)
    workspace = known_branch(workspace, sure=False)
    compilation = compile_workspace(workspace)
    checked = check_query(compilation, request.sql, request.name)
    return frame_rows(workspace, compilation, checked, request.adapter)


def describe_query(workspace: Workspace, request: QueryRequest) -> QueryReport:
    """What can be said of a query without Spark. Raises ErrorsFound where it does not compile."""
    compilation = compile_workspace(known_branch(workspace, sure=False))
    checked: CheckedRows = check_query(compilation, request.sql, request.name)
    return QueryReport(
        tuple(ShownColumn(each.name, each.type.text, each.nullable) for each in checked.fields),
        tuple(each.key for each in checked.reads),
    )


def _table_of(
    workspace: Workspace, project: Any, declared: Declared, request: TableRequest
) -> Table:
    assert declared.target is not None
    adapter = find_adapter(project, request.adapter or "")
    warehouse = open_project_warehouse(adapter, project.root, workspace.environment)
    table = warehouse.table(declared.target)
    if table.snapshot() is None:
        raise InputNotBuilt(
            f"`{declared.target.full_name}` {declared.why}: `rocky run {declared.name}` makes it"
        )
    return table


def _pinned(workspace: Workspace, name: str, table: Table, request: TableRequest) -> Relation:
    version = request.version
    if request.run is not None:
        version = _version_after(workspace, name, table, request.run)
    snapshot = find_snapshot(workspace, table, version)
    return Relation(name, snapshot.schema, snapshot.schema, table, snapshot)


def _version_after(workspace: Workspace, name: str, table: Table, wanted: str) -> int:
    """The version that a run made of a table, or found good. Raises NothingSelected."""
    run = find_run(workspace, wanted)
    with open_history(workspace) as reader:
        executions = reader.executions(name) if reader is not None else ()
    until = [each for each in executions if each.run_id <= run.run_id]
    if not until or until[0].run_id != run.run_id:
        raise NothingSelected(f"run `{run.run_id}` had nothing to do with `{name}`")
    for each in until:
        version, target = each.execution.commit_version, each.execution.target
        if version is not None and target in (None, table.name):
            return version
    raise NothingSelected(f"no version of `{name}` is recorded up to run `{run.run_id}`")
