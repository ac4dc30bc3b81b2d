"""Calls of functions that Spark does not ship: declared ones, and those that nobody declares.

A SQL function gives what its body gives over the arguments; of code, the declaration is believed.
"""

from collections.abc import Sequence
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.diagnostics.suggestion import closest
from rocky.language.binder.expr import (
    AGGREGATE,
    EXPRESSION,
    HAS_AGGREGATE,
    HAS_WINDOW,
    NO_SOURCES,
    VOLATILE,
    WINDOW,
    Column,
    Expr,
    Sources,
    lift,
    merge_flags,
    merge_sources,
    unknown,
)
from rocky.language.binder.expressions.calls import argument_nodes, call_parts
from rocky.language.binder.expressions.declared_arguments import (
    Argument,
    bind_parameters,
    refuse_call,
)
from rocky.language.binder.function_bodies import BodyColumn, BoundBody, bind_body, bind_default
from rocky.language.binder.scopes import Relation, Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.declared_functions import CODE_KINDS, UNDECLARED, DeclaredFunction
from rocky.language.functions.catalogue import all_names

_UNSUPPORTED_SYNTAX: Final = "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX"


def bind_declared(
    function: DeclaredFunction,
    node: exp.Expr,
    nodes: list[Any],
    scope: Scope,
    *,
    windowed: bool,
    distinct: bool,
) -> Expr:
    """The typed result of calling a declared function that gives a value."""
    aggregates = function.aggregate and not windowed
    place = scope.inside or scope if aggregates or not function.usable else scope
    problem = _misplaced(function, nodes, scope, windowed=windowed, distinct=distinct)
    if problem is not None:
        message, condition = problem
        return refuse_call(function, message, condition, node, scope)
    arguments = bind_parameters(function, node, nodes, place)
    if arguments is None:
        return unknown()
    args = [each.given for each in arguments if each.given is not None]
    note_function(function, scope)
    if not function.usable:
        scope.binding.give_up(f"function `{function.name}`, whose declaration has errors")
        return unknown(args)
    if function.kind == "sql":
        return _inlined(function, arguments, scope)
    flags = merge_flags(args)
    if aggregates:
        for flag, what in ((HAS_AGGREGATE, "aggregate"), (HAS_WINDOW, "window")):
            if flags & flag:
                message = (
                    f"`{function.name}` aggregates, and has a function of the kind {what} in it"
                )
                return refuse_call(function, message, "NESTED_AGGREGATE_FUNCTION", node, scope)
        flags |= HAS_AGGREGATE
    elif windowed:
        flags |= HAS_WINDOW
    if function.deterministic is False:
        flags |= VOLATILE
        scope.binding.chances += 1
    kind = WINDOW if windowed else AGGREGATE if aggregates else EXPRESSION
    returns = function.returns or t.UNKNOWN
    return Expr(returns, function.nullable, merge_sources(args, kind), flags)


def bind_declared_rows(
    function: DeclaredFunction, node: exp.Expr, nodes: list[Any], scope: Scope, args_scope: Scope
) -> Relation:
    """The columns of calling a declared function in FROM."""
    arguments = bind_parameters(function, node, nodes, args_scope)
    binding = scope.binding
    if not function.usable:
        note_function(function, scope)
    if arguments is None or not function.usable:
        return Relation([], known=False)
    if not function.gives_rows:
        refuse_call(
            function,
            f"`{function.name}` gives a value, not rows",
            "UNRESOLVABLE_TABLE_VALUED_FUNCTION",
            node,
            scope,
        )
        return Relation([], known=False)
    note_function(function, scope)
    if function.kind == "sql":
        body, filled = _call_body(function, arguments, scope)
        made = [
            Column(
                each.name, each.type, each.nullable, _through(each, filled, scope), binding.fresh()
            )
            for each in body.columns
        ]
        return Relation(made, body.known)
    args = [each.given for each in arguments if each.given is not None]
    sources = merge_sources(args, EXPRESSION)
    return Relation(
        [
            Column(each.name, each.type, each.nullable, sources, binding.fresh())
            for each in function.columns or ()
        ]
    )


def note_function(function: DeclaredFunction, scope: Scope) -> None:
    """Record that a query calls a function, and what that does to its determinism."""
    binding = scope.binding
    binding.functions[function.name.lower()] = function.digest
    if function.kind == "sql" or not function.usable:
        if function.deterministic is False and function.usable:
            binding.mark_volatile(f"volatile: function `{function.name}` is NOT DETERMINISTIC")
        return
    if function.deterministic is not True:
        binding.mark_volatile(
            f"volatile: function `{function.name}` is not declared `deterministic = true`"
        )
    if function.doubt is not None:
        binding.mark_volatile(f"volatile: function `{function.name}`: {function.doubt}")


def _misplaced(
    function: DeclaredFunction, nodes: list[Any], scope: Scope, *, windowed: bool, distinct: bool
) -> tuple[str, str] | None:
    """Why a call cannot stand where it does, with Spark's condition; None when it can."""
    name = function.name
    if not function.usable:
        return None
    if function.gives_rows:
        return f"`{name}` gives rows, so it can only stand in FROM", "UNRESOLVED_ROUTINE"
    if distinct:
        return f"`{name}` takes no DISTINCT", _UNSUPPORTED_SYNTAX
    if windowed and not function.aggregate:
        sql = function.kind == "sql"
        return (
            f"`{name}` is not a window or aggregate function, so it takes no OVER clause",
            "UNSUPPORTED_SQL_UDF_USAGE" if sql else "UNSUPPORTED_EXPR_FOR_WINDOW",
        )
    if any(each.__class__ is exp.Lambda for each in nodes):
        condition = "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION"
        return f"`{name}` takes no lambda", condition
    if scope.lambdas and function.kind == "sql" and _reads_lambda(nodes, scope):
        condition = "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT"
        return f"`{name}` is SQL, which Spark cannot call with a parameter of a lambda", condition
    if scope.lambdas and function.kind in CODE_KINDS:
        condition = "UNSUPPORTED_FEATURE.LAMBDA_FUNCTION_WITH_PYTHON_UDF"
        return f"`{name}` is Python, which Spark cannot call inside a lambda", condition
    return None


def _reads_lambda(nodes: list[Any], scope: Scope) -> bool:
    """Whether an argument is made from a parameter of a lambda around the call."""
    names = scope.lambdas or {}
    return any(
        found.name.lower() in names for each in nodes for found in each.find_all(exp.Identifier)
    )


def _inlined(function: DeclaredFunction, arguments: Sequence[Argument], scope: Scope) -> Expr:
    """A call of a SQL function: its body over the arguments."""
    body, filled = _call_body(function, arguments, scope)
    flags = merge_flags(filled)
    if body.gives_chance or function.deterministic is False:
        flags |= VOLATILE
        scope.binding.chances += 1
    if not body.columns:
        scope.binding.give_up(f"function `{function.name}`, whose declaration has errors")
        return Expr(function.returns or t.UNKNOWN, True, merge_sources(filled, EXPRESSION), flags)
    column = body.columns[0]
    return Expr(column.type, column.nullable, _through(column, filled, scope), flags)


def _call_body(
    function: DeclaredFunction, arguments: Sequence[Argument], scope: Scope
) -> tuple[BoundBody, list[Expr]]:
    """The body bound for some arguments, and those with the defaults of what was left out."""
    binding = scope.binding
    filled: list[Expr] = []
    told: list[BoundBody] = []
    for each in arguments:
        if each.given is not None:
            filled.append(each.given)
        else:
            value, found = bind_default(each.parameter, binding.tables)
            filled.append(value)
            told.append(found)
    body = bind_body(function, tuple(each.nullable for each in filled), binding.tables)
    for found in (*told, body):
        for reason in found.volatile:
            binding.mark_volatile(f"{reason}, in function `{function.name}`")
        for reason, count in found.unknowns:
            binding.unknowns[reason] = binding.unknowns.get(reason, 0) + count
    return body, filled


def _through(column: BodyColumn, arguments: Sequence[Expr], scope: Scope) -> Sources:
    """The sources of a value that a body makes of some arguments."""
    found: Sources = NO_SOURCES
    for place, kind, effect in column.sources:
        sources = lift(arguments[place].sources, kind)
        found = found | (scope.binding.shares.weaken(sources, effect) if effect else sources)
    return found


def bind_qualified(node: exp.Dot, scope: Scope) -> Expr:
    """A call with a schema before its name: a function of a catalogue."""
    call = node.args["expression"]
    parts = call_parts(call)
    written = ".".join(parts)
    if scope.binding.tables.function(parts) is None:
        near = closest(written, list(scope.binding.tables.function_names()))
        return scope.binding.error(
            Code.UNKNOWN_FUNCTION,
            f"no function `{written}`",
            node,
            "UNRESOLVED_ROUTINE",
            help=f"there is a function `{near}`"
            if near
            else "built-in functions are written without a schema; declare others under functions/",
        )
    return bind_unlisted(parts, written, call, scope, windowed=False)


def bind_unlisted(
    parts: tuple[str, ...], written: str, node: exp.Expr, scope: Scope, *, windowed: bool
) -> Expr:
    """A call of a function that Spark does not ship. `node` is the call, `parts` its whole name."""
    tables = scope.binding.tables
    function = tables.function(parts)
    arguments = node.args.get("expressions") or []
    distinct = bool(arguments) and arguments[0].__class__ is exp.Distinct
    if function is not None:
        scope.binding.calls.append((written.lower(), len(arguments), node))
    if function is not None and function is not UNDECLARED:
        nodes = argument_nodes(node, scope)
        return bind_declared(function, node, nodes, scope, windowed=windowed, distinct=distinct)
    near = closest(written, [*all_names(), *tables.function_names()])
    taken = function is UNDECLARED and near is None
    # It may be an aggregate, whose arguments are columns that are not grouped by.
    inside = scope.inside or scope if taken else scope
    args = [
        bind_expression(child, inside)
        for child in argument_nodes(node, scope)
        if child.__class__ not in (exp.Lambda, exp.Star, exp.Kwarg)
    ]
    if taken:
        scope.binding.mark_volatile(f"function `{written}`, which is not declared")
        scope.binding.give_up(f"function `{written}`, which is not declared")
        return unknown(args)
    return scope.binding.error(
        Code.UNKNOWN_FUNCTION,
        f"no function `{written}`",
        node,
        "UNRESOLVED_ROUTINE",
        help=f"there is a function `{near}`" if near else "declare it under functions/",
    )
