"""Expressions with a syntax of their own: CASE, EXTRACT, TRIM, SUBSTRING, OVERLAY, POSITION.

Most of them are calls of a plain function, which types them; CASE takes its branches' common type.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import (
    CONDITIONAL,
    Expr,
    merge_flags,
    merge_sources,
)
from rocky.language.binder.expressions.calls import (
    argument_nodes,
    bind_arguments,
)
from rocky.language.binder.expressions.functions import bind_function, type_function
from rocky.language.binder.scopes import Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import force_nullable
from rocky.language.datatypes.comparison import branch_type, comparison
from rocky.language.datatypes.operators import OperandMismatch
from rocky.language.functions.catalogue import find_function


def _call(key: str, nodes: list[Any], node: exp.Expr, scope: Scope) -> Expr:
    args = [bind_expression(each, scope) for each in nodes if each is not None]
    return type_function(key, find_function(key), args, node, scope)


def bind_extract(node: exp.Extract, scope: Scope) -> Expr:
    """`EXTRACT(field FROM source)` is `date_part('field', source)`."""
    source = bind_expression(node.args["expression"], scope)
    field = Expr(t.STRING, False, value=node.args["this"].name, foldable=True)
    return type_function("date_part", find_function("date_part"), [field, source], node, scope)


def bind_trim(node: exp.Trim, scope: Scope) -> Expr:
    position = (node.args.get("position") or "BOTH").upper()
    key = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(position, "trim")
    return _call(key, [node.args.get("expression"), node.args["this"]], node, scope)


def bind_substring(node: exp.Substring, scope: Scope) -> Expr:
    args = node.args
    return _call("substring", [args["this"], args.get("start"), args.get("length")], node, scope)


def bind_overlay(node: exp.Overlay, scope: Scope) -> Expr:
    args = node.args
    nodes = [args["this"], args.get("expression"), args.get("from_"), args.get("for_")]
    return _call("overlay", nodes, node, scope)


def bind_position(node: exp.StrPosition, scope: Scope) -> Expr:
    args = node.args
    return _call("position", [args.get("substr"), args["this"], args.get("position")], node, scope)


def bind_array(node: exp.Array, scope: Scope) -> Expr:
    """`array(...)`; square brackets by themselves are no Spark SQL."""
    if not node._meta:
        return scope.binding.error(
            Code.SYNTAX_ERROR,
            "square brackets do not make an array",
            node,
            "PARSE_SYNTAX_ERROR",
            help="write `array(...)`, or a name in backticks",
        )
    args = bind_arguments("array", node.args["expressions"], scope)
    return type_function("array", find_function("array"), args, node, scope)


def bind_any(node: exp.Any, scope: Scope) -> Expr:
    """`any(condition)`, the aggregate."""
    args = bind_arguments("any", argument_nodes(node, scope), scope)
    return type_function("any", find_function("any"), args, node, scope)


def _bare(key: str) -> Any:
    def bind_bare(node: exp.Expr, scope: Scope) -> Expr:
        return bind_function(key, node, scope, windowed=False)

    return bind_bare


FORMS: Final[dict[type, Any]] = {
    exp.Extract: bind_extract,
    exp.Trim: bind_trim,
    exp.Substring: bind_substring,
    exp.Overlay: bind_overlay,
    exp.StrPosition: bind_position,
    exp.Array: bind_array,
    exp.Any: bind_any,
    exp.CurrentDate: _bare("current_date"),
    exp.CurrentTimestamp: _bare("current_timestamp"),
    exp.CurrentUser: _bare("current_user"),
    exp.SessionUser: _bare("session_user"),
}


def bind_case(node: exp.Case, scope: Scope) -> Expr:
    """`CASE WHEN ...` and `CASE value WHEN ...`."""
    args = node.args
    subject = args.get("this")
    operand = bind_expression(subject, scope) if subject is not None else None
    conditions: list[Expr] = []
    results: list[Expr] = []
    for branch in args["ifs"]:
        condition = bind_expression(branch.args["this"], scope)
        if operand is None:
            _require_boolean(condition, branch.args["this"], node, scope)
        else:
            compare_branch(operand, condition, node, scope)
        conditions.append(condition)
        results.append(bind_expression(branch.args["true"], scope))
    default = args.get("default")
    if default is not None:
        results.append(bind_expression(default, scope))
    found = branch_type("CASE", [result.type for result in results])
    everything = [*conditions, *results, *([operand] if operand is not None else [])]
    if isinstance(found, OperandMismatch):
        return _no_common_type(node, results, scope)
    nullable = _nullable(
        conditions, results, found, simple=operand is not None, full=default is not None
    )
    return Expr(
        found,
        nullable,
        merge_sources(everything, CONDITIONAL),
        merge_flags(everything),
        foldable=all(each.foldable for each in everything),
    )


def compare_branch(operand: Expr, condition: Expr, node: exp.Expr, scope: Scope) -> None:
    """Each WHEN of a simple CASE is compared with the value in front."""
    outcome = comparison("=", operand, condition)
    if isinstance(outcome, OperandMismatch):
        scope.binding.error(Code.INCOMPARABLE_TYPES, outcome.message, node, outcome.condition)


def _require_boolean(condition: Expr, place: Any, node: exp.Expr, scope: Scope) -> None:
    if condition.type not in (t.BOOLEAN, t.UNKNOWN):
        scope.binding.error(
            Code.TYPE_ERROR,
            f"a WHEN condition is `{condition.type}`, not a boolean",
            place,
            "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        )


def _nullable(
    conditions: list[Expr], results: list[Expr], found: t.DataType, *, simple: bool, full: bool
) -> bool:
    """Nullable when a reachable branch is, or when no branch may be taken.

    Branches after a literal TRUE cannot be reached, and Spark knows.
    """
    reachable = results
    if not simple:
        for index, condition in enumerate(conditions):
            if condition.value is True:
                reachable = results[: index + 1]
                full = True
                break
    if not full:
        return True
    return any(
        each.nullable or (each.type is not found and force_nullable(each.type, found))
        for each in reachable
    )


def _no_common_type(node: exp.Case, results: list[Expr], scope: Scope) -> Expr:
    types = list(dict.fromkeys(f"`{result.type}`" for result in results))
    return scope.binding.error(
        Code.TYPE_ERROR,
        f"the branches of CASE have no common type: {', '.join(types)}",
        node,
        "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
        help="cast the branches to one type",
    )


CONDITIONALS: Final[dict[type, Any]] = {exp.Case: bind_case}
