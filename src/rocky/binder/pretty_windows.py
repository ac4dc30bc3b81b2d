"""Printing window functions: the OVER clause with its frame spelt out.

A frame nobody wrote still shows: the whole partition without ORDER BY, up to the current row with
one, and a frame of its own for functions such as `rank` and `lag`.
"""

from operator import add, mul, sub
from typing import Any, Final

from sqlglot import exp

from rocky.binder.pretty import bind_quietly, pretty, pretty_list
from rocky.binder.pretty_calls import ordering
from rocky.binder.scopes import Scope
from rocky.catalog.operand import NO_VALUE
from rocky.datatypes import types as t

_RANKING: Final = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "ntile"})
_OFFSETS: Final = frozenset({"lag", "lead"})
_FOLDS: Final[dict[type, Any]] = {exp.Add: add, exp.Sub: sub, exp.Mul: mul}
_WRAPPERS: Final = (exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)


def print_window(node: exp.Window, scope: Scope) -> str:
    partition, order, spec = _specification(node, scope)
    parts: list[str] = []
    if partition:
        parts.append(f"PARTITION BY {pretty_list(partition, scope)}")
    if order:
        parts.append(f"ORDER BY {', '.join([ordering(each, scope) for each in order])}")
    parts.append(_frame(node, order, spec, scope))
    return f"{pretty(node.args['this'], scope)} OVER ({' '.join(parts)})"


def _specification(node: exp.Window, scope: Scope) -> tuple[list[Any], list[Any], Any]:
    """The partition keys, ordering and frame, with a named window filled in."""
    args = node.args
    partition = list(args.get("partition_by") or [])
    order = list(args["order"].args["expressions"]) if args.get("order") is not None else []
    spec = args.get("spec")
    alias = args.get("alias")
    named = (scope.windows or {}).get(alias.name.lower()) if alias is not None else None
    if named is None:
        return partition, order, spec
    below, below_order, below_spec = _specification(named, scope)
    return partition or below, order or below_order, spec or below_spec


def _frame(node: exp.Window, order: list[Any], spec: Any, scope: Scope) -> str:
    call = node.args["this"]
    while call.__class__ in _WRAPPERS:
        call = call.args["this"]
    name = call.args.get("this")
    key = name.lower() if isinstance(name, str) else ""
    if key in _RANKING:
        return "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    if key in _OFFSETS:
        bound = f"{_offset(call, scope, negative=key == 'lag')} FOLLOWING"
        return f"ROWS BETWEEN {bound} AND {bound}"
    if spec is not None:
        return _written_frame(spec, order, scope)
    if order:
        return "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    return "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"


def _offset(call: exp.Anonymous, scope: Scope, *, negative: bool) -> str:
    """How many rows `lag` or `lead` looks away, as the bound of a frame."""
    nodes = call.args.get("expressions") or []
    if len(nodes) < 2:
        return "-1" if negative else "1"
    value = _whole(nodes[1], scope)
    if value is None:
        text = pretty(nodes[1], scope)
        return f"(- {text})" if negative else text
    return str(-value if negative else value)


def _whole(node: Any, scope: Scope) -> int | None:
    """The value of a whole number or a sum of such, which Spark works out while it analyses."""
    kind = node.__class__
    if kind is exp.Paren:
        return _whole(node.args["this"], scope)
    if kind in _FOLDS:
        left, right = _whole(node.args["this"], scope), _whole(node.args["expression"], scope)
        if left is None or right is None:
            return None
        return int(_FOLDS[kind](left, right))
    value = bind_quietly(node, scope).value
    return value if value is not NO_VALUE and isinstance(value, int) else None


def _written_frame(spec: exp.WindowSpec, order: list[Any], scope: Scope) -> str:
    args = spec.args
    unit = str(args.get("kind") or "ROWS").upper()
    key = bind_quietly(order[0].args["this"], scope).type if unit == "RANGE" and order else None
    start = _bound(args.get("start"), args.get("start_side"), key, scope)
    end = args.get("end")
    shown = "CURRENT ROW" if end is None else _bound(end, args.get("end_side"), key, scope)
    return f"{unit} BETWEEN {start} AND {shown}"


def _bound(value: Any, side: Any, key: t.DataType | None, scope: Scope) -> str:
    word = str(side or "").upper()
    if not isinstance(value, exp.Expr):
        return f"{str(value).upper()} {word}".strip()
    text = pretty(value, scope)
    if word == "PRECEDING" and key is not None and _is_cast(value, key, scope):
        # Spark negates the bound, and the cast it puts around that hides which way it points.
        return f"(- {text}) FOLLOWING"
    return f"{text} {word}"


def _is_cast(value: exp.Expr, key: t.DataType, scope: Scope) -> bool:
    kind = bind_quietly(value, scope).type
    return kind is not key and kind.kind in t.NUMERIC_KINDS and key.kind in t.NUMERIC_KINDS


WINDOW_PRINTERS: Final[dict[type, Any]] = {exp.Window: print_window}
