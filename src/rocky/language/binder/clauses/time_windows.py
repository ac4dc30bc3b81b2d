"""Time windows: `window(...)` and `session_window(...)`, which Spark computes before the query.

A query has one such window at most. It becomes a column called `window` or `session_window` of the
rows the query reads, so its select list may name it; one in WHERE even stays there, and is the
first column of `*`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.group_by import Grouping, holds_aggregate
from rocky.language.binder.expr import Column
from rocky.language.binder.expressions.calls import function_name
from rocky.language.binder.names.printer import bind_quietly
from rocky.language.binder.scopes import Relation, Scope
from rocky.language.binder.shapes import TIME_WINDOWS, time_window_shape

_QUERIES: Final = (exp.Subquery, exp.Exists, exp.Select)


def time_calls(nodes: Iterable[Any], names: frozenset[str] = TIME_WINDOWS) -> Iterator[Any]:
    """The calls of these functions below some nodes, the outermost; queries are left alone."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.__class__ in _QUERIES:
            continue
        if node.__class__ is exp.Anonymous and function_name(node).lower() in names:
            yield node
        else:
            stack.extend(node.iter_expressions())


def offer_time_window(select: exp.Select, grouping: Grouping | None, scope: Scope) -> None:
    """Make the time window of a query a column that its select list may name."""
    if not scope.binding.has_windows:
        return
    written = [*(select.args.get("expressions") or [])]
    written += [node for node, _ in grouping.keys] if grouping is not None else []
    calls = {time_window_shape(call, scope): call for call in time_calls(written)}
    if not calls:
        return
    if len(calls) > 1:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "a query takes one time window, and here are two",
            select.args.get("group") or next(iter(calls.values())),
            "_LEGACY_ERROR_TEMP_1039",
            help="compute one of them in a subquery or CTE first",
        )
        return
    ((shape, call),) = calls.items()
    if _is_misplaced(call, select, scope):
        return
    column = _column(call, scope)
    scope.time_window = (shape, column.ident)
    if not scope.relation.find((column.key,))[0]:
        scope.fallback = Relation([column])
    if grouping is not None:
        grouping.renew(column, scope)


def keep_time_window(condition: Any, scope: Scope) -> None:
    """Put the time window of a WHERE before the columns of the rows that it filters."""
    if scope.binding.has_windows:
        for call in time_calls([condition]):
            relation = scope.relation
            scope.relation = Relation([_column(call, scope), *relation.columns], relation.known)
            return


def check_having(condition: Any, scope: Scope) -> None:
    """Report a time window in HAVING: rows are grouped by then."""
    if not scope.binding.has_windows:
        return
    for call in time_calls([condition], frozenset({"window_time"})):
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "`window_time` cannot stand in HAVING",
            call,
            "_LEGACY_ERROR_TEMP_3101",
        )
    for call in time_calls([condition]):
        for column in call.find_all(exp.Column):
            scope.binding.error(
                Code.UNKNOWN_COLUMN,
                f"no column `{column.name}` in scope: rows are grouped before HAVING",
                column,
                "UNRESOLVED_COLUMN.WITH_SUGGESTION",
                help="name the window of GROUP BY as `window`",
            )
            return


def refuse_time_window(nodes: Iterable[Any], where: str, scope: Scope) -> None:
    """Report a time window where Spark has no rows of one relation to compute it for."""
    for call in time_calls(nodes) if scope.binding.has_windows else ():
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"a time window cannot stand in {where}",
            call,
            "UNSUPPORTED_EXPR_FOR_OPERATOR",
            help="compute it in a subquery or CTE first",
        )
        return


def _column(call: Any, scope: Scope) -> Column:
    """The column a window is computed into; of a wrong one it is unknown, and reported once."""
    expr = bind_quietly(call, scope)
    name = function_name(call).lower()
    return Column(name, expr.type, expr.nullable, expr.sources, scope.binding.fresh())


def _is_misplaced(call: Any, select: exp.Select, scope: Scope) -> bool:
    """Report a window of what is only known after the query has begun."""
    arguments = call.args.get("expressions") or []
    if arguments and holds_aggregate(arguments[0]):
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a time window is computed before rows are aggregated",
            select.args.get("group") or call,
            "INVALID_WHERE_CONDITION",
            help="aggregate in a subquery or CTE first",
        )
        return True
    aliases = {
        item.args["alias"].name.lower()
        for item in select.args.get("expressions") or []
        if item.__class__ is exp.Alias
    }
    for column in arguments[0].find_all(exp.Column) if arguments else ():
        name = column.parts[0].name.lower()
        if name in aliases and not scope.relation.find((name,))[0]:
            scope.binding.error(
                Code.INVALID_CLAUSE,
                "a time window cannot use an alias of its own select list",
                column,
                "INTERNAL_ERROR",
                help="write the expression out, or compute it in a CTE first",
            )
            return True
    return False
