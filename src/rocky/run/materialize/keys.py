"""Keys: rows found again by their unique key, and the refusal of a key that is not unique."""

from collections.abc import Sequence
from typing import Final

from rocky.errors import ModelFailed
from rocky.run.materialize.expressions import column_list, quote_name
from rocky.run.materialize.file_bounds import KeyRange, is_bounded
from rocky.run.materialize.workspace import Workspace

_ROWS: Final = "__rocky_rows"


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


def inspect_keys(workspace: Workspace, view: str, keys: Sequence[str]) -> list[KeyRange] | None:
    """Where the keys of a view lie, column by column; None when it has no rows.

    Raises ModelFailed when two of its rows have one key.
    """
    columns = [workspace.column(key) for key in keys if is_bounded(workspace.column(key).type)]
    asked = [f"max({_ROWS})"]
    for each in columns:
        kind, name = each.type.kind, quote_name(each.name)
        asked += [_bound("min", name, kind), _bound("max", name, kind), f"count_if({name} IS NULL)"]
    (row,) = workspace.ask(
        f"SELECT {', '.join(asked)} FROM (SELECT {column_list(keys)}, count(*) AS {_ROWS}"
        f" FROM {view} GROUP BY {column_list(keys)})"
    )
    if row[0] is None:
        return None
    if row[0] > 1:
        check_unique(workspace, view, keys)
    return [
        KeyRange(each.name, row[3 * at + 1], row[3 * at + 2], bool(row[3 * at + 3]))
        for at, each in enumerate(columns)
    ]


def _bound(function: str, name: str, kind: str) -> str:
    # A file's bounds of dates are texts.
    value = f"{function}({name})"
    return f"CAST({value} AS STRING)" if kind == "date" else value
