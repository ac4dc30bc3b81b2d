"""Shapes: expressions of equal meaning have an equal value, whatever they are written like.

`a`, `t.a` and `T.A` have one shape, `nvl(a, b)` that of `coalesce(a, b)`, `a > b` that of `b < a`:
Spark compares expressions so when it looks for a grouping key.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.scopes import Scope, bind_expression, suppress_findings
from rocky.language.datatypes.durations import parse_duration

_SUMS: Final = (exp.Add, exp.Mul)
_CHAINS: Final = (*_SUMS, exp.And, exp.Or, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor)
_SYMMETRIC_CALLS: Final = frozenset({"greatest", "least"})
_COMMUTATIVE: Final = (exp.EQ, exp.NullSafeEQ)
_FLIPPED: Final[dict[type, str]] = {exp.GT: "LT", exp.GTE: "LTE"}
_NEGATED: Final = {"LT": "LTE", "LTE": "LT"}
_SYNONYMS: Final = {
    "ceiling": "ceil",
    "dateadd": "date_add",
    "char_length": "length",
    "character_length": "length",
    "dayofmonth": "day",
    "ifnull": "coalesce",
    "lcase": "lower",
    "len": "length",
    "nvl": "coalesce",
    "power": "pow",
    "sha": "sha1",
    "signum": "sign",
    "substr": "substring",
    "ucase": "upper",
}
_CAST_CALLS: Final = frozenset(
    "bigint binary boolean date double float int smallint string timestamp tinyint".split()
)
_FIELDS: Final = frozenset("year quarter month day hour minute dayofweek dayofyear".split())
TIME_WINDOWS: Final = frozenset({"window", "session_window"})
"""The functions that group rows by time."""


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
    special = _SPECIAL.get(kind)
    found = special(node, scope) if special is not None else None
    return found if found is not None else (kind.__name__, tuple(_parts(node, scope)))


def _parts(node: Any, scope: Scope) -> list[Any]:
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
    return parts


def _column(node: exp.Column, scope: Scope) -> Any:
    parts = tuple([part.name.lower() for part in node.parts])
    columns, used = scope.relation.find(parts)
    if not columns and scope.fallback is not None and scope.time_window is not None:
        columns, used = scope.fallback.find(parts)
    if len(columns) == 1:
        if used == len(parts):
            return ("column", columns[0].ident)
        return ("field", columns[0].ident, parts[used:])
    return ("unresolved", parts)


def _sides(node: Any, scope: Scope) -> tuple[Any, Any]:
    return shape_of(node.args["this"], scope), shape_of(node.args["expression"], scope)


def _chain(node: Any, scope: Scope) -> Any:
    """A sum, product or condition: its terms in any order."""
    terms: list[Any] = []
    stack = [node]
    kind = node.__class__
    if kind in _SUMS and not _is_of_one_type(node, scope):
        return _symmetric(node, scope)
    while stack:
        each = stack.pop()
        while each.__class__ is exp.Paren and not each.args.get("unsigned"):
            each = each.args["this"]
        if each.__class__ is kind:
            stack += [each.args["this"], each.args["expression"]]
        else:
            terms.append(shape_of(each, scope))
    return (kind.__name__, tuple(sorted(terms, key=repr)))


def _is_of_one_type(node: Any, scope: Scope) -> bool:
    """Whether a sum of sums has one type throughout, so that no cast stands between its terms."""
    kind = node.__class__
    parts = [node]
    for side in ("this", "expression"):
        part = node.args[side]
        while part.__class__ is exp.Paren:
            part = part.args["this"]
        if part.__class__ is kind:
            parts.append(part)
    if len(parts) == 1:
        return True
    with suppress_findings(scope.binding):
        types = {bind_expression(part, scope).type for part in parts}
    return (
        len(types) == 1
        and next(iter(types)).kind != "decimal"
        and all(_is_of_one_type(part, scope) for part in parts[1:])
    )


def _symmetric(node: Any, scope: Scope) -> Any:
    return (node.__class__.__name__, tuple(sorted(_sides(node, scope), key=repr)))


def _comparison(node: Any, scope: Scope) -> Any:
    left, right = _sides(node, scope)
    flipped = _FLIPPED.get(node.__class__)
    return (flipped, (right, left)) if flipped else (node.__class__.__name__, (left, right))


def _unequal(node: Any, scope: Scope) -> Any:
    return ("Not", ("EQ", tuple(sorted(_sides(node, scope), key=repr))))


def _negation(node: Any, scope: Scope) -> Any:
    inner = shape_of(node.args["this"], scope)
    opposite = _NEGATED.get(inner[0]) if isinstance(inner, tuple) else None
    # NOT a < b is b <= a.
    return (opposite, (inner[1][1], inner[1][0])) if opposite else ("Not", inner)


def _membership(node: Any, scope: Scope) -> Any:
    """`IN` a list, in any order."""
    listed = node.args.get("expressions")
    if not listed or node.args.get("query") is not None:
        return None
    members = tuple(sorted((shape_of(each, scope) for each in listed), key=repr))
    return ("In", shape_of(node.args["this"], scope), members)


def _concatenation(node: Any, scope: Scope) -> Any:
    return ("call", "concat", _sides(node, scope))


def _extraction(node: Any, scope: Scope) -> Any:
    field = node.args["this"].name.lower()
    if field not in _FIELDS:
        return None
    return ("call", field, (shape_of(node.args["expression"], scope),))


def _cast(node: Any, scope: Scope) -> Any:
    if node.__class__ is not exp.Cast:
        return None
    return ("cast", shape_of(node.args["this"], scope), node.args["to"].sql("spark").lower())


def _call(node: Any, scope: Scope) -> Any:
    written = node.args["this"]
    name = written.lower() if isinstance(written, str) else written.name.lower()
    arguments = node.args.get("expressions") or []
    if any(each.__class__ is exp.Distinct for each in arguments):
        return None
    if name in TIME_WINDOWS:
        shape = time_window_shape(node, scope)
        known = scope.time_window
        return ("column", known[1]) if known is not None and known[0] == shape else shape
    if name == "count" and len(arguments) == 1 and arguments[0].__class__ is exp.Star:
        return ("call", "count", (("literal", "1", False),))
    shapes = tuple(shape_of(each, scope) for each in arguments)
    operator = _OPERATORS.get((name, len(shapes)))
    if operator is not None:
        return operator(shapes)
    if name in ("date_part", "datepart") and arguments and arguments[0].__class__ is exp.Literal:
        field = arguments[0].name.lower()
        return ("call", field, shapes[1:]) if field in _FIELDS else ("call", "date_part", shapes)
    if name in _SYMMETRIC_CALLS:
        shapes = tuple(sorted(shapes, key=repr))
    if name in _CAST_CALLS and len(shapes) == 1:
        return ("cast", shapes[0], name)
    return ("call", _SYNONYMS.get(name, name), shapes)


_NULL: Final = ("expression", ("Null", ()))
_OPERATORS: Final[dict[tuple[str, int], Any]] = {
    ("isnull", 1): lambda s: ("Is", (("this", s[0]), _NULL)),
    ("isnotnull", 1): lambda s: ("Not", ("Is", (("this", s[0]), _NULL))),
    ("mod", 2): lambda s: ("Mod", (("this", s[0]), ("expression", s[1]))),
}


def time_window_shape(node: exp.Anonymous, scope: Scope) -> Any:
    """A time window by what it measures: `'60 minutes'` is `'1 hour'`, and a slide as long."""
    arguments = node.args.get("expressions") or []
    lengths = [_length(each, scope) for each in arguments[1:]]
    if str(node.args["this"]).lower() == "window" and lengths:
        lengths += [lengths[0], 0][len(lengths) - 1 :] if len(lengths) < 3 else []
    time = shape_of(arguments[0], scope) if arguments else None
    return ("time window", str(node.args["this"]).lower(), time, tuple(lengths))


def _length(node: Any, scope: Scope) -> Any:
    if node.__class__ is exp.Literal:
        text = str(node.args["this"])
        found = parse_duration(text) if node.args["is_string"] else None
        if found is not None and not found.months:
            return found.whole_micros
        if not node.args["is_string"] and text.isdigit():
            return int(text)
    return shape_of(node, scope)


def _dot(node: Any, scope: Scope) -> Any:
    """`window(...).start` is a field of the column the window is."""
    base = shape_of(node.args["this"], scope)
    field = node.args["expression"]
    if base[0] == "column" and field.__class__ is exp.Identifier:
        return ("field", base[1], (field.name.lower(),))
    return None


_SPECIAL: Final[dict[type, Any]] = {
    **dict.fromkeys(_CHAINS, _chain),
    **dict.fromkeys(_COMMUTATIVE, _symmetric),
    **dict.fromkeys((exp.GT, exp.GTE, exp.LT, exp.LTE), _comparison),
    exp.NEQ: _unequal,
    exp.Not: _negation,
    exp.In: _membership,
    exp.DPipe: _concatenation,
    exp.Extract: _extraction,
    exp.Cast: _cast,
    exp.Anonymous: _call,
    exp.Dot: _dot,
}
