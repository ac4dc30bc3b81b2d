"""Declared data checks of a model or a pipeline (`[[tests]]`, `assertions`).

They are only read here; running them needs data. `type` decides which of the other keys an
assertion must have and may have.
"""

from typing import Annotated, Any, Final, Literal, NamedTuple

from rocky.project.documents import Problem
from rocky.project.rules import NonNegative, Problems, ReadBy
from rocky.project.shapes import INVALID, reader_for, unknown_key
from rocky.project.variables import Keys

Kind = Literal[
    "not_null",
    "unique",
    "accepted_values",
    "relationships",
    "expression",
    "row_count_range",
    "in_range",
    "regex_match",
    "aggregate",
    "composite",
    "unique_expr",
    "not_in_future",
    "older_than_n_days",
]
Comparison = Literal["lt", "lte", "gt", "gte", "eq", "ne", "<", "<=", ">", ">=", "=", "==", "!="]

# By kind: the keys it must have, then those it may have.
_KEYS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "not_null": (("column",), ()),
    "unique": (("column",), ()),
    "accepted_values": (("column", "values"), ()),
    "relationships": (("column", "to_table", "to_column"), ()),
    "expression": (("expression",), ("column",)),
    "row_count_range": ((), ("min", "max")),
    "in_range": (("column",), ("min", "max")),
    "regex_match": (("column", "pattern"), ()),
    "aggregate": (("column", "op", "cmp", "value"), ()),
    "composite": (("columns",), ("kind",)),
    "unique_expr": (("key_expr",), ()),
    "not_in_future": (("column",), ()),
    "older_than_n_days": (("column", "days"), ()),
}
ABOUT_ROWS: Final = frozenset(
    {
        "not_null",
        "accepted_values",
        "expression",
        "in_range",
        "regex_match",
        "not_in_future",
        "older_than_n_days",
    }
)
"""The kinds that one row alone decides, so that failing rows can be put aside."""
_SHARED: Final = frozenset({"type", "name", "table", "severity", "filter"})


class AssertionRecord(NamedTuple):
    """A check of one kind; only the keys of that kind are set."""

    type: Kind
    column: str | None = None
    name: str | None = None
    table: str | None = None
    severity: Literal["error", "warning"] = "error"
    filter: str | None = None
    values: tuple[Any, ...] = ()
    to_table: str | None = None
    to_column: str | None = None
    expression: str | None = None
    min: float | str | None = None
    max: float | str | None = None
    pattern: str | None = None
    op: Literal["sum", "count", "avg", "min", "max"] | None = None
    cmp: Comparison | None = None
    value: float | str | None = None
    kind: Literal["unique"] = "unique"
    columns: tuple[str, ...] = ()
    key_expr: str | None = None
    days: NonNegative | None = None


def _read_assertion(value: Any, at: Keys, problems: Problems) -> Any:
    read = reader_for(AssertionRecord)(value, at, problems)
    if read is INVALID:
        return INVALID
    must, may = _KEYS[read.type]
    problems.extend(
        Problem(at, f"an assertion of type `{read.type}` needs `{key}`")
        for key in must
        if key not in value
    )
    if "min" in may and "min" not in value and "max" not in value:
        problems.append(Problem(at, f"an assertion of type `{read.type}` needs `min` or `max`"))
    known = {*_SHARED, *must, *may}
    problems.extend(
        unknown_key(key, known, (*at, key))
        for key in value
        if key not in known and key in AssertionRecord._fields
    )
    return read


Assertion = Annotated[AssertionRecord, ReadBy(_read_assertion)]
