"""Fields: the way into structs, maps and arrays of structs by name."""

from typing import Any

from sqlglot import exp

from rocky.binder.expression import EXPRESSION, Expr, derived, unknown
from rocky.binder.scopes import Scope
from rocky.datatypes import types as t
from rocky.diagnostics import Code
from rocky.diagnostics.suggest import closest


def word_of(identifier: Any) -> str:
    return (
        str(identifier.args.get("this", ""))
        if identifier.__class__ is exp.Identifier
        else identifier.name
    )


def has_path(kind: t.DataType, path: tuple[str, ...]) -> bool:
    """Whether fields of these names can be taken from a value, one inside the other."""
    for name in path:
        if isinstance(kind, t.ArrayType):
            kind = kind.element
        if isinstance(kind, t.MapType):
            kind = kind.value
        elif isinstance(kind, t.StructType):
            field = next((f for f in kind.fields if f.name.lower() == name), None)
            if field is None:
                return False
            kind = field.type
        else:
            return kind is t.UNKNOWN
    return True


def bind_fields(base: Expr, identifiers: list[Any], node: exp.Expr, scope: Scope) -> Expr:
    """The value inside structs that a path of names leads to."""
    for identifier in identifiers:
        base = bind_field(base, word_of(identifier), node, scope)
    return base


def bind_field(base: Expr, name: str, node: exp.Expr, scope: Scope) -> Expr:
    """One step into a struct, a map by key, or an array of structs."""
    kind = base.type
    if isinstance(kind, t.StructType):
        field = _field(kind, name, node, scope)
        if field is None:
            return unknown([base])
        found = derived(field.type, base.nullable or field.nullable, [base], EXPRESSION)
        found.name = field.name
        return found
    if isinstance(kind, t.ArrayType) and isinstance(kind.element, t.StructType):
        field = _field(kind.element, name, node, scope)
        if field is None:
            return unknown([base])
        contains_null = kind.contains_null or field.nullable
        found = derived(t.array(field.type, contains_null), base.nullable, [base], EXPRESSION)
        found.name = field.name
        return found
    if isinstance(kind, t.MapType):
        found = derived(kind.value, True, [base], EXPRESSION)
        found.name = name
        return found
    if kind is t.UNKNOWN or kind is t.VARIANT:
        return unknown([base])
    return scope.binding.error(
        Code.TYPE_ERROR,
        f"`{name}` cannot be taken from a value of type `{kind}`",
        node,
        "INVALID_EXTRACT_BASE_FIELD_TYPE",
        help="only structs, maps and arrays of structs have fields",
    )


def _field(kind: t.StructType, name: str, node: exp.Expr, scope: Scope) -> t.StructField | None:
    key = name.lower()
    matches = [field for field in kind.fields if field.name.lower() == key]
    if len(matches) == 1:
        return matches[0]
    if matches:
        scope.binding.error(
            Code.AMBIGUOUS_COLUMN,
            f"the struct has {len(matches)} fields called `{name}`",
            node,
            "AMBIGUOUS_REFERENCE_TO_FIELDS",
        )
        return None
    near = closest(name, [field.name for field in kind.fields])
    scope.binding.error(
        Code.UNKNOWN_COLUMN,
        f"no field `{name}` in `{kind}`",
        node,
        "FIELD_NOT_FOUND",
        help=f"there is a field `{near}`"
        if near
        else f"its fields are {', '.join(f'`{field.name}`' for field in kind.fields[:8])}",
    )
    return None
