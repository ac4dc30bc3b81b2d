"""Keys: rows found again by their unique key, and the refusal of a key that is not unique."""

from collections.abc import Sequence

from rocky.errors import ModelFailed
from rocky.run.materialize.expressions import column_list, quote_name
from rocky.run.materialize.file_bounds import KeyRange, is_bounded
from rocky.run.materialize.starting_point import StartingPoint
from rocky.run.materialize.workspace import Workspace
from rocky.store.files import DataFile


def check_unique(workspace: Workspace, view: str, keys: Sequence[str]) -> None:
    """Raises ModelFailed, with an example, when two rows of a view have one key."""
    shown = ", ".join(f"CAST({quote_name(key)} AS STRING)" for key in keys)
    found = workspace.ask(
        f"SELECT count(*), {shown} FROM {view} GROUP BY {column_list(keys)}"
        " HAVING count(*) > 1 LIMIT 1"
    )
    for count, *values in found:
        example = ", ".join(
            f"{key} = {'NULL' if value is None else value}"
            for key, value in zip(keys, values, strict=True)
        )
        raise ModelFailed(
            f"model `{workspace.build.model.name}` gives {count} rows for one unique key"
            f" ({example}); which of them should stay is not known"
        )


def files_in_reach(
    workspace: Workspace, base: StartingPoint, view: str, keys: Sequence[str]
) -> tuple[DataFile, ...]:
    """The files that may hold a key of the view, as far as their bounds tell."""
    columns = [workspace.column(key) for key in keys if is_bounded(workspace.column(key).type)]
    if not columns or not base.files:
        return base.files
    asked = ", ".join(
        f"{_bound('min', each.name, each.type.kind)}, {_bound('max', each.name, each.type.kind)},"
        f" count_if({quote_name(each.name)} IS NULL)"
        for each in columns
    )
    (row,) = workspace.ask(f"SELECT {asked} FROM {view}")
    ranges = [
        KeyRange(each.name, row[3 * at], row[3 * at + 1], bool(row[3 * at + 2]))
        for at, each in enumerate(columns)
    ]
    return tuple(file for file in base.files if all(each.may_meet(file) for each in ranges))


def _bound(function: str, column: str, kind: str) -> str:
    value = f"{function}({quote_name(column)})"
    # A file's bounds of dates are texts.
    return f"CAST({value} AS STRING)" if kind == "date" else value
