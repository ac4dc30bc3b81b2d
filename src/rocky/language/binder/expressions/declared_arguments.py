"""Arguments of declared functions: put in the order of the parameters and fitted to their types.

A SQL function casts its arguments as CAST does; code takes them as they are, so there they must be
of the type that is declared. What does not fit is reported at the call, with the place of the
declaration.
"""

from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code, Label
from rocky.language.binder.expr import CAST, Expr, lift, unknown
from rocky.language.binder.expressions.calls import bind_arguments
from rocky.language.binder.scopes import Scope
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast, cast_nullable, cast_refusal
from rocky.language.datatypes.parts import make_nullable
from rocky.language.datatypes.types import DataType
from rocky.language.declared_functions import DeclaredFunction, FunctionParameter

_WHOLE: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
_FLOATS: Final = frozenset({"float", "double"})


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call; `given` is None where the call leaves it out."""

    parameter: FunctionParameter
    given: Expr | None


def bind_parameters(
    function: DeclaredFunction, node: exp.Expr, nodes: list[Any], scope: Scope
) -> list[Argument] | None:
    """The arguments by parameter, fitted to its type; None when that was refused."""
    if not function.usable:
        bound = [arg for each in nodes for arg in _bind(function, each, scope)]
        return [Argument(FunctionParameter("", t.UNKNOWN), arg) for arg in bound]
    given = _by_parameter(function, node, nodes, scope)
    if given is None:
        return None
    return [
        Argument(each, _fit(function, each, at, given[at], node, scope) if at in given else None)
        for at, each in enumerate(function.parameters)
    ]


def _bind(function: DeclaredFunction, node: Any, scope: Scope) -> list[Expr]:
    value = node.args["expression"] if node.__class__ is exp.Kwarg else node
    if value.__class__ is exp.Lambda:
        return [unknown()]
    return bind_arguments(function.name.lower(), [value], scope)


def _by_parameter(
    function: DeclaredFunction, node: exp.Expr, nodes: list[Any], scope: Scope
) -> dict[int, Expr] | None:
    """The bound arguments by the places of their parameters; None when that was refused."""
    names = [each.name.lower() for each in function.parameters]
    found: dict[int, Expr] = {}
    named = False
    positional = 0
    for each in nodes:
        bound = _bind(function, each, scope)
        if each.__class__ is not exp.Kwarg:
            if named:
                message = f"an argument of `{function.name}` without a name after one with a name"
                refuse_call(function, message, "UNEXPECTED_POSITIONAL_ARGUMENT", node, scope)
                return None
            for value in bound:
                found[positional] = value
                positional += 1
            continue
        named = True
        written = each.args["this"].name
        problem = None
        if function.kind == "java":
            problem = (
                f"`{function.name}` is Java, which takes no named parameters",
                "NAMED_PARAMETERS_NOT_SUPPORTED",
            )
        elif written.lower() not in names:
            problem = (
                f"`{function.name}` has no parameter `{written}`",
                "UNRECOGNIZED_PARAMETER_NAME",
            )
        elif names.index(written.lower()) in found:
            twice = names.index(written.lower()) >= positional
            kind = "DOUBLE_NAMED_ARGUMENT_REFERENCE" if twice else "BOTH_POSITIONAL_AND_NAMED"
            problem = (
                f"`{function.name}` is given its parameter `{written}` twice",
                f"DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.{kind}",
            )
        if problem is not None:
            refuse_call(function, *problem, node, scope)
            return None
        found[names.index(written.lower())] = bound[0]
    return found if _is_complete(function, found, node, scope, named=named) else None


def _is_complete(
    function: DeclaredFunction,
    found: dict[int, Expr],
    node: exp.Expr,
    scope: Scope,
    *,
    named: bool,
) -> bool:
    """Whether every parameter has an argument or may go without, and no argument is left over."""
    most = len(function.parameters)
    least = sum(not each.may_be_left_out for each in function.parameters)
    missing = [
        each.name
        for at, each in enumerate(function.parameters)
        if at not in found and not each.may_be_left_out
    ]
    if named and missing:
        message = f"`{function.name}` needs its parameter `{missing[0]}`"
        refuse_call(function, message, "REQUIRED_PARAMETER_NOT_FOUND", node, scope)
        return False
    if not missing and len(found) <= most:
        return True
    expected = str(most) if least == most else f"{least} to {most}"
    plural = "" if expected == "1" else "s"
    message = f"`{function.name}` takes {expected} argument{plural}, not {len(found)}"
    refuse_call(function, message, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", node, scope)
    return False


def _fit(
    function: DeclaredFunction,
    parameter: FunctionParameter,
    at: int,
    given: Expr,
    node: exp.Expr,
    scope: Scope,
) -> Expr:
    """An argument as the function gets it."""
    source, target = given.type, parameter.type
    if source is t.UNKNOWN or target is t.UNKNOWN or source is target:
        return given
    here = f"`{parameter.name}` is declared `{target}` here"
    if function.kind in ("sql", "catalog"):
        if can_cast(source, target):
            nullable = cast_nullable(source, target, given.nullable)
            return Expr(target, nullable, lift(given.sources, CAST), given.flags)
        refusal = cast_refusal(source, target)
        scope.binding.error(
            Code.TYPE_ERROR,
            f"argument {at + 1} of `{function.name}` is `{source}`, which cannot be cast to"
            f" `{target}`",
            node,
            refusal.condition if refusal else "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
            labels=function.declared_here(here),
        )
        return unknown([given])
    if source is t.NULL or _arrives_as(function.kind, source) == _arrives_as(function.kind, target):
        return given
    scope.binding.error(
        Code.TYPE_ERROR,
        f"argument {at + 1} of `{function.name}` is `{source}`, and it takes `{target}`",
        node,
        None,
        labels=function.declared_here(here),
        help=f"Spark does not cast what code is given: write `CAST(... AS {target})`",
    )
    return unknown([given])


def _arrives_as(kind: str, given: DataType) -> Any:
    """What code of a kind sees of a type: Python has one sort of whole number, Java has four."""
    if kind == "python":
        if given.kind in _WHOLE:
            return "whole"
        if given.kind in _FLOATS:
            return "float"
    if kind != "arrow" and given.kind == "decimal":
        return "decimal"
    if given.kind in t.STRING_KINDS:
        return "string"
    return make_nullable(given)


def refuse_call(
    function: DeclaredFunction, message: str, condition: str, node: exp.Expr, scope: Scope
) -> Expr:
    """A call that Spark would refuse, or that would fail, with the place of the declaration."""
    code = _CODES.get(condition.partition(".")[0], Code.UNKNOWN_FUNCTION)
    labels: tuple[Label, ...] = function.declared_here(f"`{function.name}` is declared here")
    return scope.binding.error(code, message, node, condition, labels=labels)


_CODES: Final = {
    "INVALID_SQL_SYNTAX": Code.INVALID_AGGREGATION,
    "UNSUPPORTED_SQL_UDF_USAGE": Code.INVALID_AGGREGATION,
    "UNSUPPORTED_EXPR_FOR_WINDOW": Code.INVALID_AGGREGATION,
    "NESTED_AGGREGATE_FUNCTION": Code.INVALID_AGGREGATION,
}
