"""Operators: arithmetic, comparison, logic, LIKE, IN and BETWEEN, over the rules of `datatypes`."""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import EXPRESSION, Column, Expr, derived, merge_flags, merge_sources
from rocky.language.binder.expressions.calls import bind_arguments
from rocky.language.binder.expressions.dialect_notes import note_arithmetic
from rocky.language.binder.expressions.literals import bind_negative
from rocky.language.binder.scopes import Scope, bind_expression, bind_query, label_at, origin_labels
from rocky.language.datatypes import types as t
from rocky.language.datatypes.arithmetic import arithmetic, sign
from rocky.language.datatypes.comparison import between, comparison, concatenation, in_list
from rocky.language.datatypes.operators import OperandMismatch, Typing, conjunction, like, negation
from rocky.language.datatypes.text import is_collation

_ARITHMETIC: Final[dict[type, str]] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
_COMPARISON: Final[dict[type, str]] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.NullSafeNEQ: "<=>",
}
_JOINING: Final = frozenset(("join", "where"))
"""Clauses in which a comparison of two tables' columns joins these; elsewhere it only compares."""
_LIKE: Final[dict[type, str]] = {
    exp.Like: "LIKE",
    exp.ILike: "ILIKE",
    exp.RegexpLike: "RLIKE",
}


def bind_arithmetic(node: exp.Binary, scope: Scope) -> Expr:
    left, right = _sides(node, scope)
    op = _ARITHMETIC[node.__class__]
    outcome = arithmetic(op, left, right)
    if not isinstance(outcome, OperandMismatch):
        note_arithmetic(op, left, right, outcome[0], node, scope)
    return _finish(outcome, (left, right), node, scope)


def _sides(node: exp.Expr, scope: Scope) -> tuple[Expr, Expr]:
    """Both operands; a long chain such as `1 + 1 + ...` is walked without recursion."""
    args = node.args
    return bind_expression(args["this"], scope), bind_expression(args["expression"], scope)


def _finish(
    outcome: Typing | OperandMismatch,
    operands: tuple[Expr, ...],
    node: exp.Expr,
    scope: Scope,
    code: Code = Code.TYPE_ERROR,
) -> Expr:
    if isinstance(outcome, OperandMismatch):
        return scope.binding.error(
            code, outcome.message, node, outcome.condition, labels=_labels(node, operands, scope)
        )
    return derived(outcome[0], outcome[1], operands)


def _labels(node: exp.Expr, operands: tuple[Expr, ...], scope: Scope) -> tuple[Any, ...]:
    if len(operands) != 2:
        return ()
    sides = (node.args.get("this"), node.args.get("expression"))
    here = tuple(
        label_at(scope.binding, side, f"this is `{operand.type}`")
        for side, operand in zip(sides, operands, strict=True)
        if isinstance(side, exp.Expr)
    )
    return here + origin_labels(scope.binding, operands)


def bind_comparison(node: exp.Binary, scope: Scope) -> Expr:
    """A comparison; tuples compare as structs, `= ANY (...)` as IN."""
    right_node = node.args["expression"]
    if right_node.__class__ is exp.Any and right_node.args["this"].__class__ is exp.Subquery:
        return _quantified(node, right_node, scope)
    left, right = _sides(node, scope)
    outcome = comparison(_COMPARISON[node.__class__], left, right)
    if isinstance(outcome, OperandMismatch):
        return scope.binding.error(
            Code.INCOMPARABLE_TYPES,
            outcome.message,
            node,
            outcome.condition,
            labels=_labels(node, (left, right), scope),
            help="cast one side to the other's type",
        )
    if outcome.unsafe:
        scope.binding.notes.append(("implicit-cast", node))
    if outcome.unsafe and _joins(left, right, scope):
        warn_unsafe_key(left, right, node, scope)
    return derived(t.BOOLEAN, outcome.nullable, (left, right))


def _joins(left: Expr, right: Expr, scope: Scope) -> bool:
    """Whether a comparison joins: columns of two relations, in ON, WHERE or a correlation."""
    if not (isinstance(left, Column) and isinstance(right, Column)):
        return scope.clause == "join" and bool(left.sources and right.sources)
    return left.qualifier != right.qualifier or left.outer != right.outer


def warn_unsafe_key(left: Expr, right: Expr, node: exp.Expr, scope: Scope) -> None:
    """A join of a string with a number compiles, and fails at the first row that is no number."""
    joins = scope.clause in _JOINING
    what = "join keys" if joins else "values"
    made = "the key" if joins else "it"
    scope.binding.warn(
        Code.IMPLICIT_JOIN_CAST,
        f"{what} of types `{left.type}` and `{right.type}` are comparable only through an"
        " implicit cast",
        node,
        labels=_labels(node, (left, right), scope),
        help=f"cast one side explicitly, or fix the type where {made} is made",
    )


def _quantified(node: exp.Binary, right: exp.Any, scope: Scope) -> Expr:
    value = bind_expression(node.args["this"], scope)
    relation = bind_query(right.args["this"], scope)
    return derived(t.BOOLEAN, True, (value, *relation.visible()))


def bind_conjunction(node: exp.Connector, scope: Scope) -> Expr:
    """AND and OR; a chain of thousands is one loop, not one recursion each."""
    kind = node.__class__
    word = "AND" if kind is exp.And else "OR"
    pending: list[Any] = []
    at: Any = node
    while at.__class__ is kind:
        pending.append(at)
        at = at.args["this"]
    left = bind_expression(at, scope)
    for step in reversed(pending):
        right = bind_expression(step.args["expression"], scope)
        left = _finish(conjunction(word, left, right), (left, right), step, scope)
    return left


def bind_not(node: exp.Not, scope: Scope) -> Expr:
    operand = bind_expression(node.args["this"], scope)
    return _finish(negation(operand), (operand,), node, scope)


def bind_sign(node: exp.Expr, scope: Scope) -> Expr:
    if node.__class__ is exp.Neg:
        literal = bind_negative(node, scope)
        if literal is not None:
            return literal
    operand = bind_expression(node.args["this"], scope)
    return _finish(
        sign("~" if node.__class__ is exp.BitwiseNot else "-", operand), (operand,), node, scope
    )


def bind_like(node: exp.Expr, scope: Scope) -> Expr:
    """LIKE, ILIKE, RLIKE, and LIKE ANY/ALL over a list of patterns."""
    value = bind_expression(node.args["this"], scope)
    pattern = node.args["expression"]
    nodes = [pattern]
    quantified = pattern.__class__ in (exp.Any, exp.All)
    if quantified:
        inner = pattern.args["this"]
        nodes = inner.args.get("expressions") or [inner.args.get("this", inner)]
        if inner.__class__ is exp.Paren:
            nodes = [inner.args["this"]]
    elif pattern.__class__ is exp.Tuple:
        nodes = pattern.args["expressions"]
    patterns = [bind_expression(each, scope) for each in nodes]
    outcome = like(_LIKE[node.__class__], value, patterns, quantified=quantified)
    return _finish(outcome, (value, *patterns), node, scope)


def bind_escape(node: exp.Escape, scope: Scope) -> Expr:
    mark = node.args["expression"]
    if mark.__class__ is exp.Literal and len(mark.name) != 1:
        return scope.binding.error(
            Code.SYNTAX_ERROR, "ESCAPE takes a single character", mark, "INVALID_ESC"
        )
    return bind_expression(node.args["this"], scope)


def bind_between(node: exp.Between, scope: Scope) -> Expr:
    args = node.args
    if args.get("symmetric"):
        return not_spark("BETWEEN SYMMETRIC", "order the bounds yourself", node, scope)
    value = bind_expression(args["this"], scope)
    low = bind_expression(args["low"], scope)
    high = bind_expression(args["high"], scope)
    return _finish(
        between(value, low, high), (value, low, high), node, scope, Code.INCOMPARABLE_TYPES
    )


def bind_in_list(node: exp.In, scope: Scope) -> Expr:
    value = bind_expression(node.args["this"], scope)
    items = bind_arguments("in", node.args.get("expressions") or [], scope)
    if not items:
        return scope.binding.error(
            Code.SYNTAX_ERROR, "an IN list needs a value", node, "PARSE_SYNTAX_ERROR"
        )
    outcome = in_list(value, items)
    if isinstance(outcome, OperandMismatch):
        return scope.binding.error(
            Code.INCOMPARABLE_TYPES,
            outcome.message,
            node,
            outcome.condition,
            help="cast the list or the value to one type",
        )
    return derived(t.BOOLEAN, outcome.nullable, (value, *items))


def bind_is(node: exp.Is, scope: Scope) -> Expr:
    """IS NULL, IS TRUE, IS FALSE: never null themselves."""
    value = bind_expression(node.args["this"], scope)
    if node.args["expression"].__class__ is exp.Boolean and value.type not in (
        t.BOOLEAN,
        t.UNKNOWN,
        t.NULL,
    ):
        outcome = negation(value)
        if isinstance(outcome, OperandMismatch):
            return scope.binding.error(Code.TYPE_ERROR, outcome.message, node, outcome.condition)
    return derived(t.BOOLEAN, False, (value,))


def bind_concat(node: exp.DPipe, scope: Scope) -> Expr:
    left, right = _sides(node, scope)
    return _finish(concatenation((left, right)), (left, right), node, scope)


def bind_paren(node: exp.Paren, scope: Scope) -> Expr:
    inner: Any = node.args["this"]
    if inner is None:
        return scope.binding.error(
            Code.SYNTAX_ERROR, "an operand is missing", node, "PARSE_SYNTAX_ERROR"
        )
    if node.args.get("plus"):
        operand = bind_expression(inner, scope)
        return _finish(sign("+", operand), (operand,), node, scope)
    while inner.__class__ is exp.Paren and not inner.args.get("plus"):
        inner = inner.args["this"]
    return bind_expression(inner, scope)


def bind_tuple(node: exp.Tuple, scope: Scope) -> Expr:
    """`(a, b)`: a struct with fields named after its columns."""
    items = bind_arguments("struct", node.args.get("expressions") or [], scope)
    fields = tuple(
        t.StructField(item.name or f"col{index + 1}", item.type, item.nullable)
        for index, item in enumerate(items)
    )
    return Expr(t.struct(fields), False, merge_sources(items, EXPRESSION), merge_flags(items))


def bind_collate(node: exp.Collate, scope: Scope) -> Expr:
    value = bind_expression(node.args["this"], scope)
    name = node.args["expression"].name.upper()
    if not is_collation(name):
        return scope.binding.error(
            Code.TYPE_ERROR,
            f"`{name}` is not a collation",
            node,
            "COLLATION_INVALID_NAME",
            help="for example `UTF8_LCASE` or `UNICODE_CI`",
        )
    return derived(t.string(name), value.nullable, (value,))


def bind_variant_path(node: exp.Expr, scope: Scope) -> Expr:
    """`value:path`: a piece of a variant."""
    value = bind_expression(node.args["this"], scope)
    if value.type not in (t.VARIANT, t.UNKNOWN):
        return scope.binding.error(
            Code.TYPE_ERROR,
            f"`:` takes a path out of a variant, not out of `{value.type}`",
            node,
            "INVALID_EXTRACT_BASE_FIELD_TYPE",
        )
    return derived(t.VARIANT, True, (value,))


def not_spark(what: str, instead: str, node: exp.Expr, scope: Scope) -> Expr:
    """The report for syntax the parser library knows from other dialects."""
    return scope.binding.error(
        Code.SYNTAX_ERROR, f"Spark has no {what}", node, "PARSE_SYNTAX_ERROR", help=instead
    )


def bind_at_time_zone(node: exp.Expr, scope: Scope) -> Expr:
    return not_spark("AT TIME ZONE", "use `from_utc_timestamp` or `convert_timezone`", node, scope)


def bind_null_operator(node: exp.Expr, scope: Scope) -> Expr:
    return not_spark("`??`", "use `coalesce`", node, scope)


OPERATORS: Final[dict[type, Any]] = {
    **dict.fromkeys(_ARITHMETIC, bind_arithmetic),
    **dict.fromkeys(_COMPARISON, bind_comparison),
    **dict.fromkeys(_LIKE, bind_like),
    exp.And: bind_conjunction,
    exp.Or: bind_conjunction,
    exp.Not: bind_not,
    exp.Neg: bind_sign,
    exp.BitwiseNot: bind_sign,
    exp.Escape: bind_escape,
    exp.Between: bind_between,
    exp.Is: bind_is,
    exp.DPipe: bind_concat,
    exp.Paren: bind_paren,
    exp.Tuple: bind_tuple,
    exp.Collate: bind_collate,
    exp.AtTimeZone: bind_at_time_zone,
    exp.JSONExtract: bind_variant_path,
    exp.Coalesce: bind_null_operator,
}
