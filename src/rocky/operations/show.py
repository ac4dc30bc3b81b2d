"""Rows of a table, read from its files where that can be done: without Spark and without Java.

A table that no model makes, as a copy or what was refused, goes by its full name alone. Spark is
asked for a condition that the files cannot answer, for a query, and for what has no table: a view,
a model that was never built, a source. Whatever it is asked has been compiled before.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import InvalidRequest, NothingSelected
from rocky.language.datatypes.types import StructField
from rocky.operations.report import hidden
from rocky.operations.row_values import choose_columns, json_value, spoken_value
from rocky.operations.workspace import (
    Workspace,
    compile_workspace,
    known_branch,
    load_workspace,
    model_named,
    model_names,
    unknown_name,
)
from rocky.plan.adapters import adapter_of, find_adapter
from rocky.plan.arguments import Natural, Request
from rocky.plan.steps import Read
from rocky.project import Project
from rocky.project.models import Target
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.delta.comments import NO_COMMENTS, comments_of
from rocky.store.delta.snapshot import Snapshot
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import RESERVED, Table, Warehouse

_DOTS: Final = 2
"""A table's full name has so many at least."""
_LISTED: Final = 5
_TABLELESS: Final = {"view": "is a view", "ephemeral": "is ephemeral"}


@dataclass(frozen=True, slots=True)
class ShowRequest(Request):
    """A model, a seed or a source by its name, or any table by its full name; or a query, `sql`.

    A table is shown as it is now, or at a `version`: all columns or those named, all rows or those
    for which the condition `where` holds. At most `limit` rows; which come first is not defined.
    """

    model: str | None = None
    limit: Natural = 10
    version: Natural | None = None
    adapter: str | None = None
    columns: tuple[str, ...] = ()
    where: str | None = None
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of a table, and what the table's log says of it."""

    name: str
    type: str
    nullable: bool
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowReport:
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


def show(workspace: Workspace, request: ShowRequest) -> ShowReport:
    """Rows of a table, or of a query.

    Raises NothingSelected, InvalidRequest, ErrorsFound for a condition or a query that does not
    compile, and what reading the table or asking Spark raises.
    """
    _refuse_contradictions(request)
    workspace = known_branch(workspace, sure=False)
    if request.sql is not None:
        return _show_query(workspace, request.sql, request)
    project = load_workspace(workspace)
    wanted = request.model or ""
    declared = _find_declared(project, wanted)
    if declared is None:
        table = _find_stored(workspace, project, wanted, request.adapter)
        return _show_table(workspace, table.name, table, request)
    if declared.target is not None:
        request = replace(request, adapter=request.adapter or declared.adapter)
        adapter = find_adapter(project, request.adapter or "")
        warehouse = open_project_warehouse(adapter, project.root, workspace.environment)
        table = warehouse.table(declared.target)
        if table.snapshot() is not None:
            return _show_table(workspace, declared.name, table, request)
    elif declared.read.kind == "source" and wanted.count(".") == _DOTS:
        # A source may well be a table of this warehouse, which a pipeline writes.
        stored: Table | None = None
        with suppress(NothingSelected):
            stored = _find_stored(workspace, project, wanted, request.adapter)
        if stored is not None:
            return _show_table(workspace, stored.name, stored, request)
    return _preview(workspace, declared, request)


def _refuse_contradictions(request: ShowRequest) -> None:
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


def _show_table(workspace: Workspace, name: str, table: Table, request: ShowRequest) -> ShowReport:
    """Rows of a table that is stored."""
    snapshot = _find_snapshot(table, request.version)
    fields = choose_columns(snapshot.schema, request.columns, name)
    run_id = _find_run_id(table, snapshot)
    where = request.where
    if where is None:
        values = tuple(load_rows(table, snapshot, request.limit, fields))
        return report_rows(name, table.name, snapshot, values, run_id, fields)
    # These know the compiler, which rows without a condition do not need.
    from rocky.language.syntax.filters import parse_filter  # noqa: PLC0415
    from rocky.operations.row_query import Relation, ask_rows, check_rows  # noqa: PLC0415
    from rocky.store.parquet.filters import can_filter  # noqa: PLC0415

    compilation = compile_workspace(workspace)
    relation = Relation(name, fields, snapshot.schema, table, snapshot)
    checked = check_rows(compilation, relation, where)
    simple = parse_filter(where, relation.alias)
    if simple is not None and can_filter(simple, snapshot.schema):
        values = tuple(load_rows(table, snapshot, request.limit, fields, simple))
        found = report_rows(name, table.name, snapshot, values, run_id, fields)
        return replace(found, where=where)
    adapter = request.adapter
    answer = ask_rows(workspace, compilation, checked, request.limit, adapter, relation)
    found = report_rows(name, table.name, snapshot, answer.values, run_id, answer.fields)
    return replace(found, where=where, read_by="spark")


def _preview(workspace: Workspace, declared: "_Declared", request: ShowRequest) -> ShowReport:
    """Rows of something that has no table."""
    if request.version is not None:
        raise NothingSelected(f"`{declared.name}` {declared.why}: it has no versions")
    from rocky.operations.row_query import ask_rows, check_rows, declared_relation  # noqa: PLC0415

    compilation = compile_workspace(workspace)
    relation = declared_relation(compilation, declared.read, request.columns)
    checked = check_rows(compilation, relation, request.where)
    answer = ask_rows(workspace, compilation, checked, request.limit, request.adapter, relation)
    return ShowReport(
        model=declared.name,
        **_rows_of(answer.fields, answer.values),
        read_by="spark",
        preview=declared.why,
        where=request.where,
    )


def _show_query(workspace: Workspace, sql: str, request: ShowRequest) -> ShowReport:
    from rocky.operations.row_query import ask_rows, check_query  # noqa: PLC0415

    compilation = compile_workspace(workspace)
    checked = check_query(compilation, sql)
    answer = ask_rows(workspace, compilation, checked, request.limit, request.adapter)
    return ShowReport(**_rows_of(answer.fields, answer.values), read_by="spark")


def report_rows(
    name: str,
    target: str,
    snapshot: Snapshot,
    values: tuple[tuple[Any, ...], ...],
    run_id: str | None,
    fields: Sequence[StructField] | None = None,
) -> ShowReport:
    """Rows of a table that were read."""
    return ShowReport(
        model=name,
        target=target,
        table_version=snapshot.version,
        row_count=snapshot.rows,
        file_count=len(snapshot.files),
        bytes=snapshot.bytes,
        **_rows_of(
            snapshot.schema if fields is None else fields, values, comments_of(snapshot).columns
        ),
        run_id=run_id,
    )


def _rows_of(
    fields: Sequence[StructField],
    values: tuple[tuple[Any, ...], ...],
    comments: Mapping[str, str] = NO_COMMENTS,
) -> dict[str, Any]:
    return {
        "columns": tuple(
            ShownColumn(each.name, each.type.text, each.nullable, comments.get(each.name.lower()))
            for each in fields
        ),
        "rows": tuple(
            {
                field.name: json_value(spoken_value(value, field.type))
                for field, value in zip(fields, row, strict=True)
            }
            for row in values
        ),
        "fields": tuple(fields),
        "values": values,
    }


# ------------------------------------------------------------------ the table that is meant


class _Declared(NamedTuple):
    """What the project declares; without a `target` it has no table. `why` says that it is none."""

    name: str
    read: Read
    target: Target | None
    adapter: str
    why: str


def _find_declared(project: Project, wanted: str) -> _Declared | None:
    """The model, the seed or the source that is meant, if any."""
    key = wanted.replace("`", "").lower()
    seed = project.seeds.get(key)
    if seed is not None:
        target = seed_target(seed, project.config)
        why = "has not been loaded"
        return _Declared(seed.name, Read("seed", key), target, adapter_of(project, None), why)
    try:
        model = model_named(project, wanted)
    except NothingSelected:
        source = project.sources.get(key)
        if source is None:
            return None
        read = Read("source", key)
        return _Declared(source.name, read, None, adapter_of(project, None), "is a source")
    why = _TABLELESS.get(model.strategy.type, "has not been built")
    own = None if model.strategy.type in _TABLELESS else model.target
    return _Declared(model.name, Read("model", model.key), own, adapter_of(project, model), why)


def _find_stored(workspace: Workspace, project: Project, wanted: str, target: str | None) -> Table:
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


def _find_snapshot(table: Table, version: int | None) -> Snapshot:
    """The table now or at a version. Raises NothingSelected when it never was."""
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
    return asked


def _find_run_id(table: Table, snapshot: Snapshot) -> str | None:
    """The run that made a version, as the table's own log says."""
    for commit in table.history():
        if commit.get("version") == snapshot.version:
            run_id = commit.get("runId")
            return str(run_id) if run_id is not None else None
    return None
