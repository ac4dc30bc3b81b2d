"""Rows of a table, read from its files where that can be done: without Spark and without Java.

A table that no model makes, as a copy or what was refused, goes by its full name alone. Spark is
asked for a condition that the files cannot answer, for a query, and for what has no table: a view,
a model that was never built, a source. Whatever it is asked has been compiled before.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from rocky.analysis.disclosure import Secrets, shown, tags_text
from rocky.errors import InvalidRequest, NothingSelected
from rocky.language.datatypes.types import StructField
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.placement import place_tables
from rocky.operations.report import hidden
from rocky.operations.rows.disclosure import Relation, disclosure_for, secrets_of
from rocky.operations.rows.query import ask_rows, check_query, check_rows, declared_relation
from rocky.operations.rows.table_names import (
    DOTS,
    Declared,
    find_declared,
    find_run_id,
    find_snapshot,
    find_stored,
)
from rocky.operations.rows.values import choose_columns, json_value, spoken_value
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    known_branch,
    load_workspace,
)
from rocky.plan.adapters import find_adapter
from rocky.plan.arguments import Natural, Request
from rocky.plan.steps import Read
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.delta.comments import NO_COMMENTS, comments_of
from rocky.store.delta.snapshot import Snapshot
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import Table


@dataclass(frozen=True, slots=True)
class ShowRequest(Request):
    """A model, a seed or a source by its name, or any table by its full name; or a query, `sql`.

    A table is shown as it is now, or at a `version`: all columns or those named, all rows or those
    for which the condition `where` holds. At most `limit` rows; which come first is not defined.
    With `files_only` Spark is never started: what it alone could answer is refused.
    """

    model: str | None = None
    limit: Natural = 10
    version: Natural | None = None
    adapter: str | None = None
    columns: tuple[str, ...] = ()
    where: str | None = None
    sql: str | None = None
    files_only: bool = False


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of a table, and what the table's log says of it.

    `hidden` are the tags for which its values are not shown to this person.
    """

    name: str
    type: str
    nullable: bool
    description: str | None = None
    hidden: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ShowReport(Digested):
    """Some rows, and what read them: the `files` of a table, or `spark`.

    A table has the version that is shown, with its rows, files and bytes; `run_id` is the run that
    made it, if known. What has no table is a `preview`, which says why. `fields` and `values` are
    columns and rows as Python has them.
    """

    model: str | None = None
    target: str | None = None
    table_version: int | None = None
    row_count: int | None = None
    file_count: int | None = None
    bytes: int | None = None
    columns: tuple[ShownColumn, ...]
    rows: tuple[Mapping[str, Any], ...]
    run_id: str | None = None
    read_by: Literal["files", "spark"] = "files"
    preview: str | None = None
    where: str | None = None
    fields: tuple[StructField, ...] = hidden()
    values: tuple[tuple[Any, ...], ...] = hidden()

    def digest(self) -> Digest:
        at = "" if self.table_version is None else f" at version {self.table_version}"
        known = "" if self.row_count is None else f" of {self.row_count:,}"
        why = "" if self.preview is None else f"; a preview: it {self.preview}"
        title = f"{self.model or 'query'}{at}: {counts(row=len(self.rows))}{known}{why}"
        names = tuple(each.name for each in self.columns)
        rows = (["null" if value is None else value for value in row.values()] for row in self.rows)
        return Digest(title, names, rows, len(self.rows))


def show(workspace: Workspace, request: ShowRequest) -> ShowReport:
    """Rows of a table, or of a query.

    Raises NothingSelected, InvalidRequest, ErrorsFound for a condition or a query that does not
    compile, and what reading the table or asking Spark raises.
    """
    _refuse_contradictions(request)
    workspace = known_branch(workspace, sure=False)
    if request.sql is not None:
        return _show_query(workspace, request.sql, request)
    project = place_tables(load_workspace(workspace))
    wanted = request.model or ""
    declared = find_declared(project, wanted)
    if declared is None:
        table = find_stored(workspace, project, wanted, request.adapter)
        return _show_table(workspace, table.name, table, request)
    if declared.target is not None:
        request = replace(request, adapter=request.adapter or declared.adapter)
        adapter = find_adapter(project, request.adapter or "")
        warehouse = open_project_warehouse(adapter, project.root, workspace.environment)
        table = warehouse.table(declared.target)
        if table.snapshot() is not None:
            return _show_table(workspace, declared.name, table, request, declared.read)
    elif declared.read.kind == "source" and wanted.count(".") == DOTS:
        # A source may well be a table of this warehouse, which a pipeline writes.
        stored: Table | None = None
        with suppress(NothingSelected):
            stored = find_stored(workspace, project, wanted, request.adapter)
        if stored is not None:
            return _show_table(workspace, stored.name, stored, request, declared.read)
    return _preview(workspace, declared, request)


def _refuse_contradictions(request: ShowRequest) -> None:
    if request.files_only and (request.sql is not None or request.where is not None):
        raise InvalidRequest(
            "a query and a condition may need Spark: without it, rows are as stored"
        )
    if request.sql is None:
        if request.model is None:
            raise InvalidRequest("name a model or a table, or give a query with `--sql`")
        return
    options = {
        "a model": request.model,
        "`--version`": request.version,
        "`--columns`": request.columns,
        "`--where`": request.where,
    }
    other = next((name for name, value in options.items() if value not in (None, ())), None)
    if other is not None:
        raise InvalidRequest(f"`--sql` is the whole question: {other} cannot be added to it")


def _show_table(
    workspace: Workspace, name: str, table: Table, request: ShowRequest, read: Read | None = None
) -> ShowReport:
    """Rows of a table that is stored; `read` is what the project declares it to be."""
    snapshot = find_snapshot(workspace, table, request.version)
    fields = choose_columns(snapshot.schema, request.columns, name)
    run_id = find_run_id(table, snapshot)
    where = request.where
    compilation = compile_workspace(workspace)
    relation = Relation(name, fields, snapshot.schema, table, snapshot, stored_as=read)
    looking = disclosure_for(workspace, compilation)
    secrets = secrets_of(looking, relation)
    if where is None:
        values = tuple(load_rows(table, snapshot, request.limit, fields))
        return report_rows(name, table.name, snapshot, values, run_id, fields, secrets)
    # It knows the compiler's rules, which rows without a condition do not need.
    from rocky.language.syntax.filters import parse_filter  # noqa: PLC0415
    from rocky.store.parquet.filters import can_filter  # noqa: PLC0415

    checked = check_rows(compilation, relation, where)
    simple = parse_filter(where, relation.alias)
    if simple is not None and can_filter(simple, snapshot.schema):
        values = tuple(load_rows(table, snapshot, request.limit, fields, simple))
        found = report_rows(name, table.name, snapshot, values, run_id, fields, secrets)
        return replace(found, where=where)
    adapter = request.adapter
    answer = ask_rows(workspace, compilation, checked, request.limit, adapter, relation)
    found = report_rows(
        name, table.name, snapshot, answer.values, run_id, answer.fields, answer.secrets
    )
    return replace(found, where=where, read_by="spark")


def _preview(workspace: Workspace, declared: Declared, request: ShowRequest) -> ShowReport:
    """Rows of something that has no table."""
    if request.version is not None:
        raise NothingSelected(f"`{declared.name}` {declared.why}: it has no versions")
    if request.files_only:
        raise NothingSelected(f"`{declared.name}` {declared.why}: only Spark could show its rows")
    compilation = compile_workspace(workspace)
    relation = declared_relation(compilation, declared.read, request.columns)
    checked = check_rows(compilation, relation, request.where)
    answer = ask_rows(workspace, compilation, checked, request.limit, request.adapter, relation)
    return ShowReport(
        model=declared.name,
        **_rows_of(answer.fields, answer.values, answer.secrets),
        read_by="spark",
        preview=declared.why,
        where=request.where,
    )


def _show_query(workspace: Workspace, sql: str, request: ShowRequest) -> ShowReport:
    compilation = compile_workspace(workspace)
    checked = check_query(compilation, sql)
    answer = ask_rows(workspace, compilation, checked, request.limit, request.adapter)
    return ShowReport(**_rows_of(answer.fields, answer.values, answer.secrets), read_by="spark")


def report_rows(
    name: str,
    target: str,
    snapshot: Snapshot,
    values: tuple[tuple[Any, ...], ...],
    run_id: str | None,
    fields: Sequence[StructField] | None,
    secrets: Sequence[Secrets],
) -> ShowReport:
    """Rows of a table that were read; `secrets` is what is hidden in each of the `fields`."""
    columns = snapshot.schema if fields is None else fields
    return ShowReport(
        model=name,
        target=target,
        table_version=snapshot.version,
        row_count=snapshot.rows,
        file_count=len(snapshot.files),
        bytes=snapshot.bytes,
        **_rows_of(columns, values, secrets, comments_of(snapshot).columns),
        run_id=run_id,
    )


def _rows_of(
    fields: Sequence[StructField],
    values: tuple[tuple[Any, ...], ...],
    secrets: Sequence[Secrets],
    comments: Mapping[str, str] = NO_COMMENTS,
) -> dict[str, Any]:
    said = tuple(
        tuple(shown(value, hidden) for value, hidden in zip(row, secrets, strict=True))
        for row in values
    )
    return {
        "columns": tuple(
            ShownColumn(
                each.name,
                each.type.text,
                each.nullable,
                comments.get(each.name.lower()),
                tags_text(hidden),
            )
            for each, hidden in zip(fields, secrets, strict=True)
        ),
        "rows": tuple(
            {
                field.name: json_value(spoken_value(value, field.type))
                for field, value in zip(fields, row, strict=True)
            }
            for row in said
        ),
        "fields": tuple(fields),
        "values": said,
    }
