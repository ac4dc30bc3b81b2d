"""Shapes: a hashable form of an expression in which equal meaning gives an equal value.

Names are replaced by the column they resolve to, so `a`, `t.a` and `T.A` have one shape; the sides
of commutative operators are ordered. Used to tell whether a select item is a grouping key.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.binder.scopes import Scope

_COMMUTATIVE: Final = frozenset(
    {exp.Add, exp.Mul, exp.EQ, exp.And, exp.Or, exp.BitwiseAnd, exp.BitwiseOr}
)


def shape_of(node: Any, scope: Scope) -> Any:
    """The shape of a syntax node as it reads in `scope`."""
    kind = node.__class__
    if kind is exp.Paren or kind is exp.Alias:
        inner = shape_of(node.args["this"], scope)
        return ("unsigned", inner) if node.args.get("unsigned") else inner
    if kind is exp.Column:
        return _column(node, scope)
    if kind is exp.Literal:
        return ("literal", node.args["this"], node.args["is_string"])
    if kind is exp.Identifier:
        return ("name", node.args["this"].lower())
    parts: list[Any] = []
    for name, value in node.args.items():
        if isinstance(value, exp.Expr):
            parts.append((name, shape_of(value, scope)))
        elif isinstance(value, list):
            parts.append(
                (name, tuple(shape_of(v, scope) if isinstance(v, exp.Expr) else v for v in value))
            )
        elif value is not None and value is not False:
            parts.append((name, value.lower() if isinstance(value, str) else str(value)))
    if kind in _COMMUTATIVE:
        parts.sort(key=lambda part: repr(part[1]))
        parts = [part[1] for part in parts]
    return (kind.__name__, tuple(parts))


def ordinal_of(node: Any) -> int | None:
    """The position a plain integer literal means in GROUP BY and ORDER BY; `-1` is one too."""
    sign = 1
    while node.__class__ is exp.Neg or node.__class__ is exp.Paren:
        sign = -sign if node.__class__ is exp.Neg else sign
        node = node.args["this"]
    if node.__class__ is exp.Literal and not node.args["is_string"] and node.args["this"].isdigit():
        return sign * int(node.args["this"])
    return None


def _column(node: exp.Column, scope: Scope) -> Any:
    parts = tuple(part.name.lower() for part in node.parts)
    columns, used = scope.relation.find(parts)
    if len(columns) == 1:
        if used == len(parts):
            return ("column", columns[0].ident)
        return ("field", columns[0].ident, parts[used:])
    return ("unresolved", parts)
