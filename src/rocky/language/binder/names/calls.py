"""Printing function calls and window functions, the OVER clause with its frame spelt out.

A frame nobody wrote still shows: the whole partition without ORDER BY, up to the current row with
one, and a frame of its own for functions such as `rank` and `lag`.
"""

import re
from collections.abc import Callable
from operator import add, mul, sub
from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.expr import Expr
from rocky.language.binder.expressions.calls import argument_nodes, call_kind
from rocky.language.binder.names.named_arguments import named_arguments
from rocky.language.binder.names.printer import (
    LAMBDA_VARIABLE,
    UNIT_CALLS,
    bind_quietly,
    call_text,
    opening_before,
    place_of,
    pretty,
    pretty_list,
    text_before,
)
from rocky.language.binder.scopes import Scope
from rocky.language.datatypes import types as t
from rocky.language.functions.operand import NO_VALUE

_BARE_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SUBSTRING: Final = re.compile(r"(?i)\b(substr|substring)\s*\(")
_FROM_BEFORE: Final = re.compile(r"(?i)\bfrom\s*[-+(]*\s*$")
_IN_BEFORE: Final = re.compile(r"(?i)\bin\s*[-+(]*\s*$")
_IGNORING: Final = {"first_value": "first", "last_value": "last"}


def print_call(node: exp.Anonymous, scope: Scope) -> str:
    """A call by its written name."""
    name = node.args["this"]
    key = str(name if isinstance(name, str) else name.name).lower()
    return print_named(key, node, scope)


def print_named(key: str, node: exp.Expr, scope: Scope) -> str:
    nodes = argument_nodes(node, scope)
    written = node.args.get("expressions") or []
    distinct = bool(written) and written[0].__class__ is exp.Distinct
    if key == "struct":
        return f"struct({', '.join(_struct_argument(each, scope) for each in nodes)})"
    if len(nodes) == 3 and key in UNIT_CALLS and nodes[0].__class__ is exp.Column:
        return f"{UNIT_CALLS[key]}({nodes[0].name}, {pretty_list(nodes[1:], scope)})"
    args: list[str] = []
    if any(each.__class__ is exp.Kwarg for each in nodes) and not call_kind(key):
        args = named_arguments(node, nodes, scope)
        nodes = []
    for each in nodes:
        args.extend(argument_texts(key, each, scope))
    if distinct and args:
        args[0] = f"DISTINCT {args[0]}"
    if key in _TYPED_CALLS and len(args) == 2:
        return _TYPED_CALLS[key](key, args, bind_quietly(nodes[0], scope).type.kind)
    return call_text(key, args)


def _mode(key: str, args: list[str], kind: str) -> str:
    if args[1] != "true":
        return f"mode({args[0]})"
    return f"mode() WITHIN GROUP (ORDER BY {args[0]} DESC)"


def _padded(key: str, args: list[str], kind: str) -> str:
    return call_text(key, [*args, "X'00'"] if kind == "binary" else args)


def _formatted(key: str, args: list[str], kind: str) -> str:
    """`to_char` and `to_varchar` are other functions for dates and bytes."""
    if kind in t.DATETIME_KINDS:
        return call_text("date_format", args)
    if kind != "binary":
        return call_text("to_char", args)
    encoding = args[1].lower()
    if encoding in ("base64", "hex"):
        return call_text(encoding if key == "to_char" else key, args[:1])
    return call_text("decode" if key == "to_char" else key, args)


_TYPED_CALLS: Final[dict[str, Callable[[str, list[str], str], str]]] = {
    "mode": _mode,
    "lpad": _padded,
    "rpad": _padded,
    "to_char": _formatted,
    "to_varchar": _formatted,
}


def argument_texts(key: str, node: Any, scope: Scope) -> list[str]:
    """An argument's text; a star gives one for each column it means."""
    kind = node.__class__
    if kind is exp.Star or (kind is exp.Column and node.args["this"].__class__ is exp.Star):
        return _star(key, node, scope)
    if kind is exp.Lambda:
        return [_lambda(node, scope)]
    if kind is exp.Kwarg or kind is exp.PropertyEQ:
        return [pretty(node.args["expression"], scope)]
    if kind is exp.Alias or kind is exp.IgnoreNulls or kind is exp.RespectNulls:
        return [pretty(node.args["this"], scope)]
    return [pretty(node, scope)]


def _star(key: str, node: Any, scope: Scope) -> list[str]:
    if key == "count" and node.__class__ is exp.Star and node.parent.__class__ is not exp.Distinct:
        return ["1"]
    star = node if node.__class__ is exp.Star else node.args["this"]
    path = tuple(
        node.args[part].name.lower() for part in ("catalog", "db", "table") if node.args.get(part)
    )
    columns = scope.relation.of_qualifier(path) if path else scope.relation.visible()
    dropped = {each.name.lower() for each in star.args.get("except_") or []}
    return [column.name or "" for column in columns if column.key not in dropped]


def _lambda(node: exp.Lambda, scope: Scope) -> str:
    names = [parameter.name.lower() for parameter in node.args["expressions"]]
    inner = scope.within(scope.clause)
    # The types of the parameters are not known here: what needs them prints in its plain form.
    inner.lambdas = {**(scope.lambdas or {}), **{name: Expr(t.UNKNOWN, True) for name in names}}
    body = pretty(node.args["this"], inner)
    return f"lambdafunction({', '.join([body, *[LAMBDA_VARIABLE] * len(names)])})"


def _struct_argument(node: Any, scope: Scope) -> str:
    """`a AS x`, when the author named the field: the parser library names every field."""
    if node.__class__ is exp.Star or node.__class__ is exp.Column:
        return ", ".join(argument_texts("struct", node, scope))
    if node.__class__ is exp.Alias:
        value, name = node.args["this"], node.args["alias"]
    elif node.__class__ is exp.PropertyEQ:
        value, name = node.args["expression"], node.args["this"]
    else:
        return pretty(node, scope)
    text = ", ".join(argument_texts("struct", value, scope))
    if not _is_written(name, value):
        return text
    word = str(name.args["this"])
    return f"{text} AS {word if _BARE_WORD.fullmatch(word) else f'`{word}`'}"


def _is_written(name: exp.Expr, value: exp.Expr) -> bool:
    meta = name._meta
    if not meta or "start" not in meta:
        return False
    return not any(
        leaf._meta and leaf._meta.get("start") == meta["start"]
        for leaf in value.find_all(exp.Identifier)
    )


# -- aggregates with clauses ------------------------------------------------------------------


def print_filter(node: exp.Filter, scope: Scope) -> str:
    condition = pretty(node.args["expression"].args["this"], scope)
    return f"{pretty(node.args['this'], scope)} FILTER (WHERE {condition})"


def print_ignore_nulls(node: exp.IgnoreNulls, scope: Scope) -> str:
    """IGNORE NULLS does not show, but makes an alias of the function print its real name."""
    inner = node.args["this"]
    if inner.__class__ is exp.Anonymous:
        key = str(inner.args["this"]).lower()
        shown = print_named(_IGNORING.get(key, key), inner, scope)
        return f"{shown} ignore nulls" if key == "nth_value" else shown
    return pretty(inner, scope)


def print_respect_nulls(node: exp.RespectNulls, scope: Scope) -> str:
    return pretty(node.args["this"], scope)


def print_within_group(node: exp.WithinGroup, scope: Scope) -> str:
    call, order = node.args["this"], node.args["expression"].args["expressions"]
    key = str(call.args.get("this") or "").lower()
    if key in ("listagg", "string_agg"):
        shown = print_named("listagg", call, scope)
        keys = ", ".join([ordering(each, scope) for each in order])
        return f"{shown} WITHIN GROUP (ORDER BY {keys})"
    # `mode` keeps the smallest of equals, which it prints as the other direction.
    descending = bool(order[0].args.get("desc")) != (key == "mode")
    keys = pretty_list([each.args["this"] for each in order], scope)
    return f"{pretty(call, scope)} WITHIN GROUP (ORDER BY {keys}{' DESC' if descending else ''})"


def ordering(node: exp.Ordered, scope: Scope) -> str:
    """One key of an ORDER BY, its direction and place of nulls spelt out."""
    text = pretty(node.args["this"], scope)
    nulls = "FIRST" if node.args.get("nulls_first") else "LAST"
    return f"{text} {'DESC' if node.args.get('desc') else 'ASC'} NULLS {nulls}"


# -- calls with a syntax of their own ---------------------------------------------------------


def print_extract(node: exp.Extract, scope: Scope) -> str:
    """EXTRACT keeps its unit as written; the library makes it upper case."""
    unit = str(node.args["this"].name)
    found = re.search(rf"(?i)\bextract\s*\(\s*({re.escape(unit)})\s+from\b", scope.binding.text)
    return f"extract({found[1] if found else unit} FROM {pretty(node.args['expression'], scope)})"


def print_trim(node: exp.Trim, scope: Scope) -> str:
    position = str(node.args.get("position") or "BOTH").upper()
    subject = pretty(node.args["this"], scope)
    if node.args.get("expression") is None:
        return f"{ {'LEADING': 'ltrim', 'TRAILING': 'rtrim'}.get(position, 'trim') }({subject})"
    return f"TRIM({position} {pretty(node.args['expression'], scope)} FROM {subject})"


def print_substring(node: exp.Substring, scope: Scope) -> str:
    args = node.args
    key = "substr" if _says_substr(node, scope) else "substring"
    parts = [args["this"], args.get("start"), args.get("length")]
    return call_text(key, [pretty(part, scope) for part in parts if part is not None])


def _says_substr(node: exp.Substring, scope: Scope) -> bool:
    """Whether the call is written `substr(a, 1)`; with FROM, as `substring`, Spark renames it."""
    start = node.args.get("start")
    if start is not None and _FROM_BEFORE.search(text_before(start, scope)):
        return False
    at = place_of(node)
    # Calls nested in the first argument begin at the same word: the innermost stands last.
    nested = sum(1 for each in node.find_all(exp.Substring) if place_of(each) == at) - 1
    words = _SUBSTRING.findall(opening_before(node, scope))
    return len(words) > nested and words[-1 - nested].lower() == "substr"


def print_overlay(node: exp.Overlay, scope: Scope) -> str:
    parts = [
        node.args["this"],
        node.args.get("expression"),
        node.args.get("from_"),
        node.args.get("for_"),
    ]
    return call_text("overlay", [pretty(part, scope) for part in parts if part is not None])


def print_position(node: exp.StrPosition, scope: Scope) -> str:
    """`position(a, b)`; with IN it is `locate`."""
    sought, subject = node.args["substr"], node.args["this"]
    parts = [sought, subject, node.args.get("position")]
    texts = [pretty(part, scope) for part in parts if part is not None]
    key = "locate" if _IN_BEFORE.search(text_before(subject, scope)) else "position"
    return call_text(key, texts)


def print_array(node: exp.Array, scope: Scope) -> str:
    return print_named("array", node, scope)


def print_any(node: exp.Any, scope: Scope) -> str:
    return f"any({pretty(node.args['this'], scope)})"


def _bare(word: str) -> Any:
    def print_bare(node: exp.Expr, scope: Scope) -> str:
        # A column of that name goes before the function.
        return word if word in scope.relation.index() else f"{word}()"

    return print_bare


CALL_PRINTERS: Final[dict[type, Any]] = {
    exp.Anonymous: print_call,
    exp.Filter: print_filter,
    exp.IgnoreNulls: print_ignore_nulls,
    exp.RespectNulls: print_respect_nulls,
    exp.WithinGroup: print_within_group,
    exp.Extract: print_extract,
    exp.Trim: print_trim,
    exp.Substring: print_substring,
    exp.Overlay: print_overlay,
    exp.StrPosition: print_position,
    exp.Array: print_array,
    exp.Any: print_any,
    exp.CurrentDate: _bare("current_date"),
    exp.CurrentTimestamp: _bare("current_timestamp"),
    exp.CurrentUser: _bare("current_user"),
    exp.SessionUser: _bare("current_user"),
}


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
