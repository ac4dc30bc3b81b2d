"""The arguments of a call: stars spread out, units as literals, lambdas, refusals put into words.

Lambdas are bound after the other arguments, which type their parameters.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import (
    EXPRESSION,
    HAS_SUBQUERY,
    Expr,
    merge_flags,
    merge_sources,
    unknown,
)
from rocky.language.binder.expressions.fields import expand_star
from rocky.language.binder.expressions.named_arguments import by_position
from rocky.language.binder.scopes import Scope, bind_expression, origin_labels
from rocky.language.datatypes import types as t
from rocky.language.declared_functions import UNDECLARED
from rocky.language.functions.catalogue import find_function
from rocky.language.functions.operand import Refusal
from rocky.language.functions.special import SPECIAL_KINDS
from rocky.language.functions.special.higher_order import HIGHER_ORDER
from rocky.language.tables import Tables

_DECLARED: Final = "declared"
# Functions whose first of three arguments is a bare unit word.
_UNIT_FUNCTIONS: Final = frozenset(
    "date_add dateadd timestampadd date_diff datediff timediff timestampdiff".split()
)
_UNITS: Final = frozenset(
    "year quarter month week day dayofyear hour minute second millisecond microsecond".split()
)
_NO_CODES: Final = {
    "WRONG_NUM_ARGS": Code.UNKNOWN_FUNCTION,
    "INVALID_LAMBDA_FUNCTION_CALL": Code.UNKNOWN_FUNCTION,
}


def call_kind(key: str) -> str:
    """What a function is: scalar, aggregate, window or generator; empty when there is none."""
    kind = SPECIAL_KINDS.get(key)
    if kind is None:
        info = find_function(key)
        kind = info.kind if info is not None else ""
    return kind


def kind_of_call(node: Any) -> str:
    """`call_kind` of a call, that of a declared function where `mark_declared` has noted it."""
    meta = node._meta
    marked: str | None = meta.get(_DECLARED) if meta else None
    return marked if marked is not None else call_kind(function_name(node).lower())


def mark_declared(tree: exp.Expr, tables: Tables) -> None:
    """Note on the calls of declared functions what part those play in a query."""
    if not tables.declares_functions:
        return
    for node in tree.find_all(exp.Anonymous):
        if not call_kind(function_name(node).lower()):
            found = tables.function(call_parts(node))
            if found is not None and found is not UNDECLARED:
                node.meta[_DECLARED] = found.call_kind


def call_parts(node: exp.Expr) -> tuple[str, ...]:
    """The whole name of a call in lower case, with the schema before it."""
    words = [function_name(node).lower()]
    above = node.parent
    if above.__class__ is exp.Dot and above.args["expression"] is node:
        qualifier = above.args["this"]
        while qualifier.__class__ is exp.Dot:
            words.append(qualifier.args["expression"].name.lower())
            qualifier = qualifier.args["this"]
        words.append(qualifier.name.lower())
    return tuple(reversed(words))


def function_name(node: exp.Expr) -> str:
    """The name as written, also when it is quoted."""
    name = node.args["this"]
    return name if isinstance(name, str) else str(name.name)


def argument_nodes(node: exp.Expr, scope: Scope) -> list[Any]:
    """The argument nodes of a call, DISTINCT taken off."""
    nodes = node.args.get("expressions")
    if nodes is None:
        this = node.args.get("this")
        nodes = [this] if isinstance(this, exp.Expr) else []
    if nodes and nodes[0].__class__ is exp.Distinct:
        nodes = [*nodes[0].args["expressions"], *nodes[1:]]
    return nodes


def bind_arguments(key: str, nodes: list[Any], scope: Scope) -> list[Expr]:
    """The bound arguments, in order, with `*` replaced by the columns it means."""
    args: list[Expr] = []
    if exp.Kwarg in [node.__class__ for node in nodes]:
        ordered = by_position(key, nodes, scope)
        if ordered is None:
            return [unknown() for _ in nodes]
        nodes = ordered
    for index, node in enumerate(nodes):
        kind = node.__class__
        if kind is exp.Star or (kind is exp.Column and node.args["this"].__class__ is exp.Star):
            args.extend(_star_arguments(key, node, scope))
        elif kind is exp.PropertyEQ or kind is exp.Alias:
            if key != "struct":
                scope.binding.error(
                    Code.SYNTAX_ERROR, "an argument takes no alias", node, "PARSE_SYNTAX_ERROR"
                )
            args.append(_named(node, scope))
        elif index == 0 and len(nodes) == 3 and key in _UNIT_FUNCTIONS:
            args.append(_unit(node, scope))
        else:
            args.append(bind_expression(node, scope))
    return args


def _unit(node: exp.Expr, scope: Scope) -> Expr:
    if node.__class__ is exp.Column and node.args.get("table") is None:
        word = node.name
        if word.lower() in _UNITS:
            return Expr(t.STRING, False, value=word.upper(), foldable=True)
    if node.__class__ is exp.Literal or node.__class__ is exp.Column:
        return scope.binding.error(
            Code.INVALID_CLAUSE,
            f"`{node.name}` is not a unit of time",
            node,
            "INVALID_PARAMETER_VALUE.DATETIME_UNIT",
            help="write a bare word such as DAY, MONTH or HOUR",
        )
    return bind_expression(node, scope)


def _named(node: exp.Expr, scope: Scope) -> Expr:
    """`value AS name` inside struct(...); names the parser made up carry no place."""
    if node.__class__ is exp.Alias:
        value, name = node.args["this"], node.args["alias"]
    else:
        value, name = node.args["expression"], node.args["this"]
    bound = bind_expression(value, scope)
    written = name._meta and "start" in name._meta
    if not written or (value.__class__ is exp.Column and name is value.args.get("this")):
        return bound
    if value.__class__ is exp.Column and name.args == value.args["this"].args:
        return bound
    return Expr(
        bound.type,
        bound.nullable,
        bound.sources,
        bound.flags,
        bound.value,
        bound.foldable,
        name.name,
    )


_NO_STARS: Final = {
    "group": "GROUP BY",
    "having": "HAVING",
    "join": "a join condition",
    "order": "ORDER BY",
    "view": "LATERAL VIEW",
}


def _star_arguments(key: str, node: exp.Expr, scope: Scope) -> list[Expr]:
    if scope.clause in _NO_STARS and not (key == "count" and node.__class__ is exp.Star):
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"`*` cannot stand in {_NO_STARS[scope.clause]}",
            node,
            "INVALID_USAGE_OF_STAR_OR_REGEX",
            help="name the columns",
        )
        return [unknown()]
    if key == "count" and (node.__class__ is exp.Star or _is_alone(node, scope)):
        if node.__class__ is not exp.Star:
            scope.binding.error(
                Code.INVALID_AGGREGATION,
                "`count` takes `*` or columns, not the star of one relation",
                node,
                "_LEGACY_ERROR_TEMP_1021",
            )
        elif node.parent.__class__ is exp.Distinct:
            # Alone it counts rows; with DISTINCT it reads every column.
            return list(expand_star(node, scope))
        return [Expr(t.INT, False, value=1, foldable=True)]
    return list(expand_star(node, scope))


def _is_alone(node: exp.Expr, scope: Scope) -> bool:
    """Whether `t.*` of one relation is the only argument; a struct's star is its fields."""
    table, call = node.args.get("table"), node.parent
    if table is None or node.args.get("db") is not None or call is None:
        return False
    whole = bool(scope.relation.of_qualifier((table.name.lower(),)))
    return whole and len(call.args.get("expressions") or []) == 1


def report_refusal(
    key: str, refusal: Refusal, args: list[Expr], node: exp.Expr, scope: Scope
) -> Expr:
    """Spark's refusal of a call, at the call, unless an argument is already unknown."""
    if any(arg.type is t.UNKNOWN for arg in args) and not refusal.condition.startswith("WRONG_NUM"):
        return scope.binding.give_up(f"function `{key}` of an unknown argument")
    code = _NO_CODES.get(refusal.condition.partition(".")[0], Code.TYPE_ERROR)
    at = refusal.argument
    wrong = args[at : at + 1] if at is not None else args
    labels = origin_labels(scope.binding, wrong) if code is Code.TYPE_ERROR else ()
    return scope.binding.error(code, refusal.message, node, refusal.condition, labels=labels)


_TWO_VALUES: Final = frozenset({"aggregate", "reduce", "zip_with", "map_zip_with"})


def bind_higher_order(key: str, node: exp.Expr, nodes: list[Any], scope: Scope) -> Expr:
    """Plain arguments first; then each lambda with the parameter types they give it."""
    rule = HIGHER_ORDER[key]
    scope.binding.calls.append((key, len(nodes), node))
    bound: list[Expr | None] = [
        None if each.__class__ is exp.Lambda else bind_expression(each, scope) for each in nodes
    ]
    for index, each in enumerate(nodes):
        if bound[index] is not None:
            continue
        if index < (2 if key in _TWO_VALUES else 1):
            return scope.binding.error(
                Code.UNKNOWN_FUNCTION,
                f"argument {index + 1} of `{key}` is a value, not a lambda",
                node,
                "INVALID_LAMBDA_FUNCTION_CALL.PARAMETER_DOES_NOT_ACCEPT_LAMBDA_FUNCTION",
            )
        names = [parameter.name.lower() for parameter in each.args["expressions"]]
        outer = [arg for arg in bound if arg is not None]
        if len(set(names)) < len(names):
            return scope.binding.error(
                Code.UNKNOWN_FUNCTION,
                "two parameters of a lambda have the same name",
                each,
                "INVALID_LAMBDA_FUNCTION_CALL.DUPLICATE_ARG_NAMES",
            )
        try:
            parameters = rule.parameters(key, bound, index, len(names))
        except Refusal as refusal:
            return report_refusal(key, refusal, outer, node, scope)
        sources = merge_sources(outer, EXPRESSION)
        inner = scope.within(scope.clause)
        inner.lambdas = dict(scope.lambdas or {})
        for name, (kind, nullable) in zip(names, parameters, strict=False):
            inner.lambdas[name] = Expr(kind, nullable, sources, name=name)
        body = bind_expression(each.args["this"], inner)
        if body.flags & HAS_SUBQUERY:
            return scope.binding.error(
                Code.INVALID_SUBQUERY,
                "a lambda cannot hold a subquery",
                each,
                "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.HIGHER_ORDER_FUNCTION",
            )
        bound[index] = body
    args = [arg for arg in bound if arg is not None]
    try:
        found, nullable = rule.typing(key, args)
    except Refusal as refusal:
        return report_refusal(key, refusal, args, node, scope)
    return Expr(found, nullable, merge_sources(args, EXPRESSION), merge_flags(args))
