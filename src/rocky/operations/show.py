"""Rows of a table, read from its files: without Spark and without Java.

A table that no model makes, as a copy or what was refused, goes by its full name alone. Every value
of every Spark type has a form in JSON and one in a line of text.
"""

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.language.datatypes.types import DataType, IntervalType, StructField
from rocky.operations.report import hidden
from rocky.operations.workspace import (
    Workspace,
    known_branch,
    load_workspace,
    model_named,
    model_names,
    unknown_name,
)
from rocky.plan.adapters import adapter_of, find_adapter
from rocky.plan.arguments import Natural, Request
from rocky.project import Project
from rocky.project.models import Target
from rocky.run.materialize.seeds import seed_target
from rocky.run.prepare.pins import open_project_warehouse
from rocky.store.delta.snapshot import Snapshot
from rocky.store.parquet.rows import load_rows
from rocky.store.warehouse import RESERVED, Table, Warehouse

_DOTS: Final = 2
"""A table's full name has so many at least."""
_LISTED: Final = 5
_TABLELESS: Final = {
    "view": "is a view: it has no table of its own, only the query",
    "ephemeral": "is ephemeral: it leaves no table, its readers get the query itself",
}
_WORDS: Final = {None: "NULL", True: "true", False: "false"}


@dataclass(frozen=True, slots=True)
class ShowRequest(Request):
    """A model or a seed by its name, or any table by its full name; now, or at a `version`.

    At most `limit` rows; which come first is not defined.
    """

    model: str
    limit: Natural = 10
    version: Natural | None = None
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class ShownColumn:
    """A column of a table."""

    name: str
    type: str
    nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowReport:
    """Some rows of a table at a version. `run_id` is the run that made the version, if known.

    `fields` and `values` are the same as Python has them.
    """

    model: str
    target: str
    table_version: int
    row_count: int
    file_count: int
    bytes: int
    columns: tuple[ShownColumn, ...]
    rows: tuple[Mapping[str, Any], ...]
    run_id: str | None = None
    fields: tuple[StructField, ...] = hidden()
    values: tuple[tuple[Any, ...], ...] = hidden()


def show(workspace: Workspace, request: ShowRequest) -> ShowReport:
    """Rows of a table. Raises NothingSelected, and what reading the table raises."""
    workspace = known_branch(workspace, sure=False)
    project = load_workspace(workspace)
    declared = _find_declared(project, request.model)
    if declared is None:
        table = _find_stored(workspace, project, request.model, request.adapter)
        name, remedy = table.name, ""
    else:
        adapter = find_adapter(project, request.adapter or declared.adapter)
        warehouse = open_project_warehouse(adapter, project.root, workspace.environment)
        table = warehouse.table(declared.target)
        name, remedy = declared.name, declared.remedy
    snapshot = _find_snapshot(table, request.version, remedy)
    values = tuple(load_rows(table, snapshot, request.limit))
    return report_rows(name, table.name, snapshot, values, _find_run_id(table, snapshot))


def report_rows(
    name: str,
    target: str,
    snapshot: Snapshot,
    values: tuple[tuple[Any, ...], ...],
    run_id: str | None,
) -> ShowReport:
    """Rows of a table that were read."""
    fields = snapshot.schema
    return ShowReport(
        model=name,
        target=target,
        table_version=snapshot.version,
        row_count=snapshot.rows,
        file_count=len(snapshot.files),
        bytes=snapshot.bytes,
        columns=tuple(ShownColumn(each.name, each.type.text, each.nullable) for each in fields),
        rows=tuple(
            {
                field.name: json_value(spoken_value(value, field.type))
                for field, value in zip(fields, row, strict=True)
            }
            for row in values
        ),
        run_id=run_id,
        fields=tuple(fields),
        values=values,
    )


# ------------------------------------------------------------------ the table that is meant


class _Declared(NamedTuple):
    """What has a table to show; `remedy` says what to do when it has none yet."""

    name: str
    target: Target
    adapter: str
    remedy: str


def _find_declared(project: Project, wanted: str) -> _Declared | None:
    """The model or the seed that is meant, if any. Raises NothingSelected when it has no table."""
    seed = project.seeds.get(wanted.lower())
    if seed is not None:
        target = seed_target(seed, project.config)
        remedy = f"`rocky seed {seed.name}` loads it"
        return _Declared(seed.name, target, adapter_of(project, None), remedy)
    try:
        model = model_named(project, wanted)
    except NothingSelected:
        return None
    why = _TABLELESS.get(model.strategy.type)
    if why is not None:
        raise NothingSelected(f"model `{model.name}` {why}")
    remedy = f"`rocky run --model {model.name}` builds it"
    return _Declared(model.name, model.target, adapter_of(project, model), remedy)


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


def _find_snapshot(table: Table, version: int | None, remedy: str) -> Snapshot:
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


def _find_run_id(table: Table, snapshot: Snapshot) -> str | None:
    """The run that made a version, as the table's own log says."""
    for commit in table.history():
        if commit.get("version") == snapshot.version:
            run_id = commit.get("runId")
            return str(run_id) if run_id is not None else None
    return None


# ------------------------------------------------------------------ values


def json_value(value: Any) -> Any:
    """A value as JSON holds it: what JSON has no form for is a text, bytes in base 64."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return b64encode(value).decode()
        case Mapping():
            return {key: json_value(each) for key, each in value.items()}
        case [tuple(), *_]:
            return {text_value(key): json_value(each) for key, each in value}
        case list() | tuple():
            return [json_value(each) for each in value]
        case _:
            return text_value(value)


def spoken_value(value: Any, type: DataType) -> Any:  # noqa: A002 - the noun of our schemas
    """An interval as an interval: files hold a number of microseconds or of months."""
    if not isinstance(type, IntervalType) or not isinstance(value, int):
        return value
    if type.kind == "interval_ym":
        years, months = divmod(abs(value), 12)
        return f"{'-' if value < 0 else ''}{years}-{months}"
    return timedelta(microseconds=value)


def text_value(value: Any) -> str:
    """A value on one line, in Spark's words where it has them."""
    match value:
        case None | bool():
            return _WORDS[value]
        case datetime():
            return _moment_text(value)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return _interval_text(value)
        case Decimal():
            return f"{value:f}"
        case bytes():
            return f"0x{value.hex()}"
        case Mapping():
            return _pairs_text(value.items())
        case [tuple(), *_]:
            return _pairs_text(value)
        case list() | tuple():
            return f"[{', '.join(text_value(each) for each in value)}]"
        case _:
            return str(value)


def _pairs_text(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Fields of a struct, or entries of a map, which come as pairs."""
    shown = (f"{text_value(key)}: {text_value(each)}" for key, each in pairs)
    return f"{{{', '.join(shown)}}}"


def _moment_text(moment: datetime) -> str:
    """A moment in UTC with its zone, or a wall clock's time without one."""
    zone = "Z" if moment.tzinfo is not None else ""
    shown = moment.astimezone(UTC) if moment.tzinfo is not None else moment
    return shown.replace(tzinfo=None).isoformat(sep=" ") + zone


def _interval_text(interval: timedelta) -> str:
    sign, whole = ("-", -interval) if interval < timedelta() else ("", interval)
    hours, rest = divmod(whole.seconds, 3600)
    text = f"{sign}{whole.days} {hours:02}:{rest // 60:02}:{rest % 60:02}"
    return f"{text}.{whole.microseconds:06}" if whole.microseconds else text
