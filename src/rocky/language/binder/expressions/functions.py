"""Function calls: hand rules first, then the catalogue, then a report.

The name is the one the author wrote. Lambdas are bound here because their parameters take their
types from the arguments before them.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import (
    AGGREGATE,
    CONDITIONAL,
    EXPRESSION,
    HAS_AGGREGATE,
    HAS_CORRELATED,
    HAS_GENERATOR,
    HAS_LATERAL_ALIAS,
    HAS_OUTER,
    HAS_WINDOW,
    VOLATILE,
    WINDOW,
    Expr,
    derived,
    merge_flags,
    merge_sources,
    unknown,
)
from rocky.language.binder.expressions.calls import (
    argument_nodes,
    bind_arguments,
    bind_higher_order,
    call_kind,
    function_name,
    report_refusal,
)
from rocky.language.binder.expressions.columns import resolve_name
from rocky.language.binder.expressions.correlation import (
    belongs_to_having,
    misplaced_outer_aggregate,
)
from rocky.language.binder.expressions.declared_calls import bind_unlisted
from rocky.language.binder.expressions.determinism import (
    COLLECTORS,
    has_unique_order,
    note_call,
    note_order,
)
from rocky.language.binder.expressions.grouping_calls import GROUPING_CALLS, check_grouping_call
from rocky.language.binder.expressions.identifiers import named_parts
from rocky.language.binder.expressions.percentages import check_percentages
from rocky.language.binder.expressions.subscripts import constructor_parts, element_nullable
from rocky.language.binder.scopes import Scope, bind_expression
from rocky.language.binder.shapes import TIME_WINDOWS
from rocky.language.datatypes import types as t
from rocky.language.datatypes.arithmetic import arithmetic
from rocky.language.datatypes.comparison import comparison
from rocky.language.datatypes.operators import OperandMismatch
from rocky.language.functions.catalogue import FunctionInfo, find_function, type_call
from rocky.language.functions.generators import GENERATORS, TABLE_ONLY
from rocky.language.functions.operand import NO_VALUE, Refusal, Typing
from rocky.language.functions.special import SPECIAL
from rocky.language.functions.special.higher_order import HIGHER_ORDER
from rocky.language.functions.special.inference import fold_call
from rocky.language.functions.tag_rules import tag_effect

ARITHMETIC_AGGREGATES: Final = frozenset(
    "sum avg mean try_sum try_avg stddev stddev_pop stddev_samp std variance var_pop "
    "var_samp".split()
)
# Names the grammar knows and the function registry does not.
_SYNONYMS: Final = {"timediff": "timestampdiff"}
# Functions that take one element: the index of the first one, and whether a miss gives null.
_ELEMENTS: Final = {"element_at": (1, False), "try_element_at": (1, True), "get": (0, True)}
_CONDITIONAL: Final = frozenset(
    "coalesce if iff ifnull nvl nvl2 nullif nullifzero zeroifnull decode greatest least".split()
)
_ORDERED_BY_ARGUMENT: Final = frozenset({"percentile_cont", "percentile_disc"})
_LENGTHS: Final = (exp.Literal, exp.Neg, exp.Cast, exp.Kwarg)
_FIRST: Final = frozenset({"any_value", "first", "last"})
_ORDERED: Final = (exp.Order, exp.IgnoreNulls, exp.RespectNulls)
_OPERATORS: Final = frozenset("+ - * / % & | ^ div".split())
_COMPARISONS: Final = {
    "==": "=",
    "!=": "<>",
    **{op: op for op in ("=", "<>", "<", "<=", ">", ">=", "<=>")},
}


def bind_call(node: exp.Anonymous, scope: Scope) -> Expr:
    """A call that stands on its own, not under OVER."""
    return bind_function(function_name(node), node, scope, windowed=False)


def bind_function(name: str, node: exp.Expr, scope: Scope, *, windowed: bool) -> Expr:
    """The typed result of calling `name` with the node's arguments."""
    key = name.lower()
    key = _SYNONYMS.get(key, key)
    info = find_function(key)
    kind = call_kind(key)
    if key == "identifier":
        words = [exp.Identifier(this=word) for word in named_parts(node, scope) or []]
        if not words:
            return unknown()
        return resolve_name(words, tuple(word.name.lower() for word in words), node, scope)
    if key in TABLE_ONLY:
        return scope.binding.error(
            Code.UNKNOWN_FUNCTION,
            f"`{key}` gives rows, so it can only stand in FROM",
            node,
            "UNRESOLVED_ROUTINE",
        )
    if not (kind or key in SPECIAL or key in _OPERATORS or key in _COMPARISONS):
        return bind_unlisted((key,), name, node, scope, windowed=windowed)
    if kind == "aggregate" and not windowed:
        scope = scope.inside or scope
    elif key in GROUPING_CALLS and scope.clause == "having":
        scope = scope.within("having")
        scope.keyed = None
    nodes = argument_nodes(node, scope)
    if key == "exists" and len(nodes) == 1 and nodes[0].__class__ in (exp.Values, exp.Subquery):
        return bind_expression(exp.Exists(this=nodes[0]), scope)
    kinds = {each.__class__ for each in nodes}
    form = _form_problem(key, kind, nodes, kinds, node)
    if form is not None:
        condition, message, code = form
        return scope.binding.error(code, message, node, condition)
    if exp.Lambda in kinds:
        return bind_higher_order(key, node, nodes, scope)
    args = bind_arguments(key, nodes, scope)
    found = type_function(key, info, args, node, scope, windowed=windowed)
    if key in GROUPING_CALLS:
        check_grouping_call(key, nodes, node, scope)
    elif key in _ELEMENTS and len(args) == 2 and isinstance(args[0].type, t.ArrayType):
        parts = constructor_parts(nodes[0], scope)
        first, safe = _ELEMENTS[key]
        nullable = element_nullable(args[0].type, args[1], parts, first=first, safe=safe)
        found.nullable = nullable or args[0].nullable
    return found


def _form_problem(
    key: str, kind: str, nodes: list[Any], kinds: set[type], node: exp.Expr
) -> tuple[str, str, Code] | None:
    """What is wrong with how a call is written, before its arguments are looked at."""
    if not kinds.isdisjoint(_ORDERED):
        written = next(each for each in nodes if each.__class__ in _ORDERED)
        if not (written.__class__ is exp.IgnoreNulls and key in _FIRST):
            message = "no ORDER BY and no IGNORE NULLS inside the arguments of a call"
            return "PARSE_SYNTAX_ERROR", message, Code.SYNTAX_ERROR
    distinct = is_distinct(node)
    if distinct and not nodes:
        return "UNRESOLVED_COLUMN.WITH_SUGGESTION", "no column `DISTINCT`", Code.UNKNOWN_COLUMN
    if distinct and key == "mode":
        condition = "INVALID_WITHIN_GROUP_EXPRESSION.DISTINCT_UNSUPPORTED"
        return condition, "`mode` takes no DISTINCT", Code.INVALID_AGGREGATION
    if distinct and kind != "aggregate":
        return (
            "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX",
            f"`{key}` is not an aggregate function, so it takes no DISTINCT",
            Code.INVALID_AGGREGATION,
        )
    if key == "window" and any(each.__class__ not in _LENGTHS for each in nodes[1:]):
        message = "the lengths of a time window are literals such as '5 minutes'"
        return "_LEGACY_ERROR_TEMP_1207", message, Code.TYPE_ERROR
    call = nodes[0] if nodes and nodes[0].__class__ is exp.Anonymous else None
    if key == "window_time" and call and function_name(call).lower() not in TIME_WINDOWS:
        message = "`window_time` takes a time window or a column that is one"
        return "_LEGACY_ERROR_TEMP_3101", message, Code.TYPE_ERROR
    if exp.Lambda in kinds and key not in HIGHER_ORDER:
        condition = "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION"
        return condition, f"`{key}` takes no lambda", Code.UNKNOWN_FUNCTION
    if key in _ORDERED_BY_ARGUMENT and len(nodes) != 1:
        return (
            "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
            f"`{key}` takes 1 argument, not {len(nodes)}",
            Code.UNKNOWN_FUNCTION,
        )
    return None


def is_distinct(node: exp.Expr) -> bool:
    """Whether a call was written `f(DISTINCT ...)`."""
    arguments = node.args.get("expressions") or []
    return bool(arguments) and arguments[0].__class__ is exp.Distinct


def type_function(
    key: str,
    info: FunctionInfo | None,
    args: list[Expr],
    node: exp.Expr,
    scope: Scope,
    *,
    windowed: bool = False,
) -> Expr:
    """The result of a call whose arguments are bound."""
    kind = call_kind(key) or "scalar"
    scope.binding.calls.append((key, len(args), node))
    if key in _OPERATORS or key in _COMPARISONS:
        return _operator(key, args, node, scope)
    if key in GENERATORS and kind != "aggregate":
        return Expr(
            t.UNKNOWN, True, merge_sources(args, EXPRESSION), merge_flags(args) | HAS_GENERATOR
        )
    problem = _misplaced(key, kind, args, node, scope, windowed=windowed)
    if problem is not None:
        return problem
    rule = SPECIAL.get(key)
    try:
        check_percentages(key, node)
        if rule is not None:
            outcome = rule(key, args)
        elif info is not None:
            outcome = type_call(info, args)
        else:
            return scope.binding.give_up(f"function `{key}`")
    except Refusal as refusal:
        return report_refusal(key, refusal, args, node, scope)
    if outcome[0] is t.UNKNOWN and all(arg.type is not t.UNKNOWN for arg in args):
        scope.binding.give_up(f"function `{key}`")
    return _result(key, info, args, outcome, "window" if windowed else kind, node, scope)


def _is_sorted(node: exp.Expr) -> bool:
    """Whether a call stands inside one that sorts what it collected, by the values themselves."""
    above = node.parent
    if above.__class__ is exp.Filter:
        above = above.parent
    if above.__class__ is not exp.Anonymous:
        return False
    # A second argument of `array_sort` compares as it likes; that of `sort_array` is a direction.
    name, count = function_name(above).lower(), len(above.args["expressions"])
    return name == "sort_array" or (name == "array_sort" and count == 1)


def _result(
    key: str,
    info: FunctionInfo | None,
    args: list[Expr],
    typing: Typing,
    role: str,
    node: exp.Expr,
    scope: Scope,
) -> Expr:
    """The typed call. `role` is the part it plays: window, aggregate, or anything else."""
    flags = merge_flags(args)
    lineage = EXPRESSION
    foldable = False
    if role == "window":
        flags |= HAS_WINDOW
        lineage = WINDOW
    elif role == "aggregate":
        lineage = AGGREGATE
        # A correlated subquery may stand in an aggregate's argument, though not beside one.
        flags &= ~HAS_CORRELATED
        if flags & HAS_OUTER and belongs_to_having(args, scope):
            flags &= ~HAS_OUTER
        else:
            flags |= HAS_AGGREGATE
        misplaced = misplaced_outer_aggregate(key, args, node, scope)
        if misplaced is not None:
            return misplaced
    else:
        foldable = all([arg.foldable for arg in args])  # noqa: C419 - faster for so few
        if key in _CONDITIONAL:
            lineage = CONDITIONAL
    if info is not None and not info.deterministic:
        flags |= VOLATILE
        foldable = False
        scope.binding.chances += 1
    note_call(key, info, args, scope)
    sorts = key in COLLECTORS and _is_sorted(node) and has_unique_order(args[0].type)
    if role == "aggregate" and node.__class__ is not exp.WithinGroup and not sorts:
        note_order(key, scope)
    if key in ARITHMETIC_AGGREGATES and args and args[0].type.kind in t.STRING_KINDS:
        scope.binding.warn(
            Code.STRING_AGGREGATION,
            f"`{key}` of a string casts every value to a number",
            node,
            help="cast the string where it enters the project, or use `try_cast`",
        )
    value = fold_call(key, args) if foldable else NO_VALUE
    sources = merge_sources(args, lineage)
    if sources:
        effect = tag_effect(key, args, windowed=role == "window")
        if effect:
            scope.binding.groups.note_call(node, sources, effect)
            sources = scope.binding.shares.weaken(sources, effect)
    return Expr(*typing, sources, flags, value, foldable)


def _operator(key: str, args: list[Expr], node: exp.Expr, scope: Scope) -> Expr:
    """An operator called by its name, as in `` `+`(1, 2) ``."""
    if len(args) != 2:
        return scope.binding.error(
            Code.UNKNOWN_FUNCTION,
            f"`{key}` takes 2 arguments, not {len(args)}",
            node,
            "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
        )
    if key in _OPERATORS:
        outcome = arithmetic(key, args[0], args[1])
        if not isinstance(outcome, OperandMismatch):
            return derived(outcome[0], outcome[1], args)
        return scope.binding.error(Code.TYPE_ERROR, outcome.message, node, outcome.condition)
    compared = comparison(_COMPARISONS[key], args[0], args[1])
    if not isinstance(compared, OperandMismatch):
        return derived(t.BOOLEAN, compared.nullable, args)
    return scope.binding.error(Code.INCOMPARABLE_TYPES, compared.message, node, compared.condition)


# What an aggregate's argument may not hold: the flag, the words, Spark's condition, the way out.
_NOT_INSIDE_AGGREGATES: Final = (
    (
        HAS_LATERAL_ALIAS,
        "cannot use an alias of its own select list",
        "UNSUPPORTED_FEATURE.LATERAL_COLUMN_ALIAS_IN_AGGREGATE_FUNC",
        "write the expression out, or compute it in a CTE first",
    ),
    (
        HAS_AGGREGATE,
        "has an aggregate function inside it",
        "NESTED_AGGREGATE_FUNCTION",
        "compute the inner aggregate in a subquery or CTE first",
    ),
    (
        VOLATILE,
        "takes no value that is not deterministic",
        "AGGREGATE_FUNCTION_WITH_NONDETERMINISTIC_EXPRESSION",
        "compute the value in a subquery or CTE first",
    ),
    (
        HAS_WINDOW,
        "has a window function inside it",
        "_LEGACY_ERROR_TEMP_1031",
        "compute the window function in a subquery or CTE first",
    ),
)


def refuse_inside_aggregate(
    key: str, args: list[Expr], node: exp.Expr, scope: Scope
) -> Expr | None:
    """The report for what an aggregate's arguments or ordering may not hold, or None."""
    flags = merge_flags(args)
    for flag, what, condition, instead in _NOT_INSIDE_AGGREGATES:
        if flags & flag:
            return scope.binding.error(
                Code.INVALID_AGGREGATION, f"`{key}` {what}", node, condition, help=instead
            )
    return None


def _misplaced(
    key: str, kind: str, args: list[Expr], node: exp.Expr, scope: Scope, *, windowed: bool
) -> Expr | None:
    """The report for a call that cannot stand where it does, or None."""
    if kind == "aggregate" and not windowed:
        problem = refuse_inside_aggregate(key, args, node, scope)
        if problem is not None:
            return problem
    if kind == "window" and not windowed:
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{key}` needs an OVER clause",
            node,
            "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE",
            help=f"write `{key}(...) OVER (PARTITION BY ... ORDER BY ...)`",
        )
    if windowed and kind not in ("window", "aggregate"):
        return scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"`{key}` is not a window or aggregate function, so it takes no OVER clause",
            node,
            "UNSUPPORTED_EXPR_FOR_WINDOW",
        )
    return None


FUNCTIONS: Final[dict[type, Any]] = {exp.Anonymous: bind_call}
