"""Watermarks: the highest time a table has loaded, kept in the table itself.

It moves in the commit that brings the rows, so that neither can be without the other. A watermark
is a type and a text that Spark casts back to exactly the value (sessions are held to UTC, so the
text of a time means one instant); never the clock's word.
"""

import json
from dataclasses import dataclass

from rocky.datatypes.types import DataType
from rocky.errors import ModelFailed, StoreUnreadable
from rocky.run.materialize.expressions import quote_name, quote_text
from rocky.run.materialize.workspace import Workspace
from rocky.store.snapshot import WATERMARK, Snapshot


@dataclass(frozen=True, slots=True)
class Mark:
    """A value of a column, as Spark prints it."""

    column: str
    type: str
    value: str

    @property
    def sql(self) -> str:
        return f"CAST({quote_text(self.value)} AS {self.type})"

    def to_json(self) -> str:
        return json.dumps(
            {"column": self.column, "type": self.type, "value": self.value},
            sort_keys=True,
            ensure_ascii=False,
        )


def watermark_of(snapshot: Snapshot | None, column: str) -> Mark | None:
    """The watermark of a table; None when there is none, or it is one of another column.

    Raises StoreUnreadable for one that cannot be read: taking it for none would load all again.
    """
    text = snapshot.configuration.get(WATERMARK) if snapshot is not None else None
    if not text:
        return None
    try:
        found = json.loads(text)
        mark = Mark(found["column"], found["type"], found["value"])
    except (ValueError, KeyError, TypeError) as error:
        message = f"the table's watermark `{text}` cannot be read; build it with `--full-refresh`"
        raise StoreUnreadable(message) from error
    return mark if mark.column.lower() == column.lower() else None


def highest(
    workspace: Workspace, view: str, column: str, kind: DataType, above: Mark | None
) -> Mark | None:
    """The highest value of a column, of those above a watermark; None when there is none."""
    name = quote_name(column)
    where = f" WHERE {name} > {above.sql}" if above is not None else ""
    (row,) = workspace.ask(f"SELECT CAST(max({name}) AS STRING) FROM {view}{where}")
    if row[0] == "NaN":
        raise ModelFailed(f"column `{column}` holds NaN, and nothing that comes later is above it")
    return Mark(column, kind.text, row[0]) if row[0] is not None else None
