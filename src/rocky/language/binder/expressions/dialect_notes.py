"""Dialect notes: forms that only types tell from their harmless neighbours, kept with their nodes.

`a / b` is the same everywhere until both are integers; a sort key needs no NULLS clause until it
may be null. The names are those of `dialects/constructs.tsv`. Nothing is judged here:
which engine reads a form otherwise is in that table.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.expr import Expr
from rocky.language.binder.scopes import Scope
from rocky.language.datatypes import types as t

_TIMESTAMPS: Final = frozenset({"timestamp", "timestamp_ntz"})
_EXACT: Final = t.INTEGRAL_KINDS | {"decimal"}
_FLOATS: Final = frozenset({"float", "double"})
_WRITTEN_TYPES: Final = frozenset(
    "string double float tinyint binary timestamp timestamp_ntz array map struct variant".split()
)


def note_arithmetic(
    op: str, left: Expr, right: Expr, result: t.DataType, node: exp.Expr, scope: Scope
) -> None:
    """Division of exact numbers, decimals that overflow, days counted by `+` and `-`."""
    one, two = left.type.kind, right.type.kind
    if op == "/":
        if one in t.INTEGRAL_KINDS and two in t.INTEGRAL_KINDS:
            _note("integer-division", node, scope)
        elif one in _EXACT and two in _EXACT:
            _note("decimal-division", node, scope)
    elif isinstance(result, t.DecimalType) and result.precision == t.MAX_PRECISION:
        if isinstance(left.type, t.DecimalType) and isinstance(right.type, t.DecimalType):
            _note("decimal-overflow", node, scope)
    elif result.kind == "date" and (one in t.INTERVAL_KINDS or two in t.INTERVAL_KINDS):
        _note("date-plus-interval", node, scope)
    elif op == "-" and one == "date" and two == "date":
        _note("date-subtraction", node, scope)
    elif (op in "+-" and one == "date" and two in t.INTEGRAL_KINDS) or (
        op == "+" and two == "date" and one in t.INTEGRAL_KINDS
    ):
        _note("date-plus-number", node, scope)


def note_cast(
    source: t.DataType, target: t.DataType, node: exp.Expr, scope: Scope, *, safe: bool
) -> None:
    """A cast whose outcome engines disagree on, one that gives null, and the type it names."""
    if safe:
        _note("try-cast", node, scope)
    if target.kind in t.INTEGRAL_KINDS and source.kind in t.FRACTIONAL_KINDS:
        _note("fraction-to-integer", node, scope)
    elif target.kind in t.STRING_KINDS and source.kind in _FLOATS:
        _note("float-to-string", node, scope)
    elif target.kind in t.STRING_KINDS and source.kind in _TIMESTAMPS:
        _note("timestamp-to-string", node, scope)
    if target.kind in _WRITTEN_TYPES:
        _note(f"type-{target.kind.replace('_', '-')}", node, scope)


def note_sort_key(item: Any, key: Expr, scope: Scope) -> None:
    """A key that may be null: where nulls go is the engine's choice, unless the author says."""
    if key.nullable and item.__class__ is exp.Ordered:
        _note("null-order-desc" if item.args.get("desc") else "null-order-asc", item, scope)


def note_element(kind: t.DataType, node: exp.Expr, scope: Scope) -> None:
    """`value[key]` on an array or a map."""
    _note("array-index" if isinstance(kind, t.ArrayType) else "map-key", node, scope)


def _note(construct: str, node: exp.Expr, scope: Scope) -> None:
    scope.binding.notes.append((construct, node))
