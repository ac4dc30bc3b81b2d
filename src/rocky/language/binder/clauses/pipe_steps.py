"""Steps of pipes: what each `|>` may hold, and the keys an AGGREGATE gives first."""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.group_by import Grouping, holds_aggregate
from rocky.language.binder.clauses.keys import is_star
from rocky.language.binder.clauses.select_list import SelectItem
from rocky.language.binder.expr import (
    HAS_AGGREGATE,
    HAS_GENERATOR,
    HAS_LATERAL_ALIAS,
    HAS_WINDOW,
    Column,
)
from rocky.language.binder.names.output_names import output_name
from rocky.language.binder.scopes import Scope
from rocky.language.datatypes import types as t
from rocky.language.syntax.dialect import PIPE

_OWN: Final = {"where": "where", "group": "aggregate", "having": "", "laterals": "join"}
_SETS: Final = ("all", "rollup", "cube", "grouping_sets")


def check_step(node: exp.Select, items: list[SelectItem], scope: Scope) -> None:
    """Check what one step holds: its own clauses, and aggregates only in AGGREGATE."""
    step = node.args[PIPE]
    _check_clauses(node, step, scope)
    if step in ("extend", "aggregate"):
        own = node.args["expressions"][1:] if step == "extend" else node.args["expressions"]
        for item in own or []:
            if is_star(item):
                scope.binding.error(
                    Code.INVALID_CLAUSE,
                    f"`*` cannot stand in a pipe {step.upper()}",
                    item,
                    "INVALID_USAGE_OF_STAR_OR_REGEX",
                )
                return
    if step == "aggregate" and _is_unsupported(node, items):
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "a pipe AGGREGATE takes neither window functions nor GROUP BY ALL, ROLLUP, CUBE or"
            " GROUPING SETS",
            None,
            "UNSUPPORTED_FEATURE.PIPE_OPERATOR_AGGREGATE_UNSUPPORTED_CASE",
            help="use SELECT ... GROUP BY in a subquery",
        )
        return
    for item in items:
        _check_item(item, step, scope)


def _check_clauses(node: exp.Select, step: str, scope: Scope) -> None:
    args = node.args
    for clause, owner in _OWN.items():
        if args.get(clause) and owner != step:
            place = args[clause][0] if isinstance(args[clause], list) else args[clause]
            scope.binding.error(
                Code.SYNTAX_ERROR,
                f"a pipe {step.upper()} ends before this clause",
                place,
                "PARSE_SYNTAX_ERROR",
                help="give the clause a `|>` of its own",
            )
            return
    if step == "order" and any(args.get(clause) for clause in ("limit", "offset")):
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "one pipe step cannot both order and limit",
            None,
            "MULTIPLE_QUERY_RESULT_CLAUSES_WITH_PIPE_OPERATORS",
            help="write `|> ORDER BY ... |> LIMIT ...`",
        )
    if step == "select" and not args.get("expressions"):
        scope.binding.error(
            Code.SYNTAX_ERROR, "a pipe SELECT without a column", None, "PARSE_SYNTAX_ERROR"
        )
    if step == "aggregate" and not args.get("expressions") and not args.get("group"):
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "a pipe AGGREGATE without an aggregate or a key",
            None,
            "_LEGACY_ERROR_TEMP_0035",
        )
    dropped = args["expressions"][0].args.get("except_") if step == "drop" else None
    for each in dropped or []:
        if each.__class__ is not exp.Column or each.args.get("table") is not None or is_star(each):
            scope.binding.error(
                Code.SYNTAX_ERROR,
                "DROP takes names of columns without a qualifier",
                each,
                "PARSE_SYNTAX_ERROR",
            )
    if args["from_"].args["this"].args.get("unwrapped"):
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "a pipe cannot follow ORDER BY",
            None,
            "PARSE_SYNTAX_ERROR",
            help="put the query before `|>` in parentheses",
        )


def _is_unsupported(node: exp.Select, items: list[SelectItem]) -> bool:
    group = node.args.get("group")
    if group is not None:
        if any(group.args.get(name) for name in _SETS):
            return True
        kinds = (exp.Rollup, exp.Cube, exp.GroupingSets)
        if any(isinstance(each, kinds) for each in group.args.get("expressions") or []):
            return True
    return any(item.expr.flags & HAS_WINDOW for item in items)


def _check_item(item: SelectItem, step: str, scope: Scope) -> None:
    # An alias of an aggregate is no aggregate.
    aggregate = item.expr.flags & HAS_AGGREGATE and not item.expr.flags & HAS_LATERAL_ALIAS
    if aggregate and step in ("select", "extend", "set") and _stands_open(item.node):
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"a pipe {step.upper()} cannot hold an aggregate",
            item.node,
            "PIPE_OPERATOR_CONTAINS_AGGREGATE_FUNCTION",
            help="use |> AGGREGATE",
        )
    elif item.expr.flags & HAS_GENERATOR:
        return
    elif not aggregate and step == "aggregate" and item.expr.type is not t.UNKNOWN:
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            "an item of a pipe AGGREGATE holds no aggregate",
            item.node,
            "PIPE_OPERATOR_AGGREGATE_EXPRESSION_CONTAINS_NO_AGGREGATE_FUNCTION",
        )


def _stands_open(node: Any) -> bool:
    """Whether an aggregate function stands outside every OVER."""
    if node.__class__ is exp.Window:
        return False
    if node.__class__ is exp.Anonymous or node.__class__ is exp.Any:
        return holds_aggregate(node)
    return any(_stands_open(child) for child in node.iter_expressions())


def pipe_keys(grouping: Grouping, scope: Scope) -> list[Column]:
    """Pipe AGGREGATE gives the grouping keys first, then the aggregates."""
    columns = []
    for node, expr in grouping.keys:
        parent: Any = node.parent
        if parent.__class__ is exp.Alias:
            name = parent.args["alias"].name
        else:
            name = expr.name if isinstance(expr, Column) else output_name(node, expr, scope)[0]
        columns.append(
            Column(
                name or "",
                expr.type,
                expr.nullable,
                expr.sources,
                scope.binding.fresh(),
                expr.qualifier if isinstance(expr, Column) else (),
            )
        )
    return columns
