"""CASE: the branches' common type, and the branch that is always taken."""

from typing import Any, Final

from sqlglot import exp

from rocky.binder.dispatch import bind_expression
from rocky.binder.expression import CONDITIONAL, Expr, merge_flags, merge_sources
from rocky.binder.scopes import Scope
from rocky.datatypes import types as t
from rocky.datatypes.branches import branch_type
from rocky.datatypes.casts import force_nullable
from rocky.datatypes.comparison import comparison
from rocky.datatypes.mismatch import OperandMismatch
from rocky.diagnostics import Code


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
