"""Subscripts: `value[key]`, and what is known of the elements of an array."""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import Expr, derived, unknown
from rocky.language.binder.expressions.dialect_notes import note_element
from rocky.language.binder.expressions.fields import bind_field
from rocky.language.binder.scopes import Scope, bind_expression, suppress_findings
from rocky.language.datatypes import types as t

_SUBSCRIPTABLE = frozenset({"array", "map", "struct", "variant", "unknown"})


def bind_bracket(node: exp.Bracket, scope: Scope) -> Expr:
    """`value[key]` on arrays, maps, structs and variants."""
    base = bind_expression(node.args["this"], scope)
    if (
        scope.clause == "order"
        and scope.fallback is not None
        and base.type.kind not in _SUBSCRIPTABLE
    ):
        # In ORDER BY a select item of that name hides a column only if it fits.
        second = Scope(scope.binding, scope.fallback, scope.parent, scope.ctes, scope.clause)
        if (
            isinstance(node.args["this"], exp.Column)
            and scope.fallback.find((node.args["this"].name.lower(),))[0]
        ):
            base = bind_expression(node.args["this"], second)
    keys = [bind_expression(key, scope) for key in node.args["expressions"]]
    parts = constructor_parts(node.args["this"], scope)
    for key in keys:
        base = _subscript(base, key, node, scope, parts)
        parts = None
    return base


def constructor_parts(node: Any, scope: Scope) -> list[bool] | None:
    """The nullability of each element when a value is written as `array(...)`, else None."""
    while node.__class__ is exp.Paren:
        node = node.args["this"]
    if node.__class__ is not exp.Array:
        return None
    with suppress_findings(scope.binding):
        return [bind_expression(each, scope).nullable for each in node.args["expressions"]]


def element_nullable(
    array: t.ArrayType, key: Expr, parts: list[bool] | None, *, first: int, safe: bool = False
) -> bool:
    """Whether an element may be null: by its place in a constructor, else by what Spark assumes.

    `first` is the index of the first element: 0 for `[...]`, 1 for `element_at`. `safe` is for
    functions that give null for an index out of range.
    """
    if not key.foldable or key.nullable:
        return safe or array.contains_null
    if parts is None:
        return True
    if not isinstance(key.value, int):
        return any(parts)
    at = key.value - first if key.value >= 0 else len(parts) + key.value
    return parts[at] if 0 <= at < len(parts) else safe


def _subscript(
    base: Expr, key: Expr, node: exp.Bracket, scope: Scope, parts: list[bool] | None
) -> Expr:
    kind = base.type
    if kind is t.UNKNOWN or key.type is t.UNKNOWN:
        return unknown([base, key])
    note_element(kind, node, scope)
    if isinstance(kind, t.ArrayType):
        if key.type.kind not in t.INTEGRAL_KINDS and key.type is not t.NULL:
            if isinstance(kind.element, t.StructType) and isinstance(key.value, str):
                return bind_field(base, key.value, node, scope)
            return _bad_index(base, key, node, scope)
        nullable = element_nullable(kind, key, parts, first=0)
        return derived(kind.element, nullable or base.nullable, [base, key])
    if isinstance(kind, t.MapType):
        return _map_value(base, kind, key, node, scope)
    if isinstance(kind, t.StructType) and isinstance(key.value, str):
        return bind_field(base, key.value, node, scope)
    return scope.binding.error(
        Code.TYPE_ERROR,
        f"a value of type `{kind}` has no elements to take",
        node,
        "INVALID_EXTRACT_BASE_FIELD_TYPE",
        help="`[...]` works on arrays, maps and structs",
    )


def _map_value(base: Expr, kind: t.MapType, key: Expr, node: exp.Bracket, scope: Scope) -> Expr:
    if key.type is not kind.key and not _fits_key(key.type, kind.key):
        return scope.binding.error(
            Code.TYPE_ERROR,
            f"the map's keys are `{kind.key}`, not `{key.type}`",
            node,
            "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
            help=f"cast the key to `{kind.key}`",
        )
    return derived(kind.value, True, [base, key])


def _fits_key(given: t.DataType, wanted: t.DataType) -> bool:
    if wanted is t.NULL:
        return given is t.NULL
    if given is t.NULL or (given.kind in t.STRING_KINDS and wanted.kind in t.STRING_KINDS):
        return True
    if given.kind in t.NUMERIC_KINDS and wanted.kind in t.NUMERIC_KINDS:
        return True
    if wanted.kind in t.STRING_KINDS or given.kind in t.STRING_KINDS:
        return given.kind not in ("array", "map", "struct")
    return given.kind == wanted.kind


def _bad_index(base: Expr, key: Expr, node: exp.Bracket, scope: Scope) -> Expr:
    return scope.binding.error(
        Code.TYPE_ERROR,
        f"an element of `{base.type}` is taken by an integer, not by `{key.type}`",
        node,
        "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        help="cast the index to `int`",
    )
