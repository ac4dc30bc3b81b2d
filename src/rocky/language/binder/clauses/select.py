"""SELECT: its clauses in the order Spark resolves them.

FROM makes the relation, WHERE reads it, GROUP BY is bound before the select list (which it may
make nullable), and HAVING, QUALIFY and ORDER BY see both the relation and the list.
"""

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.correlation import (
    check_correlated,
    check_outer,
    check_windows,
)
from rocky.language.binder.clauses.group_by import Grouping, bind_grouping
from rocky.language.binder.clauses.having import check_condition, having_scope, needs_more
from rocky.language.binder.clauses.joins import bind_from
from rocky.language.binder.clauses.keys import bind_tail, is_star
from rocky.language.binder.clauses.pipe_steps import check_step, pipe_keys
from rocky.language.binder.clauses.select_list import SelectItem, project
from rocky.language.binder.clauses.subqueries import bind_with
from rocky.language.binder.clauses.time_windows import keep_time_window, offer_time_window
from rocky.language.binder.clauses.ungrouped import check_grouping
from rocky.language.binder.expr import (
    HAS_AGGREGATE,
    HAS_GENERATOR,
    HAS_WINDOW,
    Column,
    Expr,
    merge_flags,
)
from rocky.language.binder.expressions.operators import not_spark
from rocky.language.binder.groups import is_count, lower_bound
from rocky.language.binder.scopes import (
    EMPTY_RELATION,
    FROM_CLAUSE,
    INFLUENCE_FILTER,
    INFLUENCE_GROUP,
    Relation,
    Scope,
    bind_expression,
)
from rocky.language.binder.shapes import shape_of
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast
from rocky.language.datatypes.operators import distinct_refusal
from rocky.language.syntax.dialect import PIPE
from rocky.language.syntax.parser import first_offset


def bind_select(node: exp.Select, outer: Scope) -> Relation:
    """The relation a SELECT yields."""
    calls = outer.binding.groups.calls
    before = len(calls)
    relation = _bind_clauses(node, bind_with(node, outer))
    # What is called in here is over no group of a query around it.
    del calls[before:]
    return relation


def _bind_clauses(node: exp.Select, outer: Scope) -> Relation:
    binding = outer.binding
    args = node.args
    # Items of FROM see the outer query, never each other: an empty relation stands between.
    from_scope = Scope(binding, EMPTY_RELATION, outer, outer.ctes, FROM_CLAUSE)
    relation = EMPTY_RELATION
    if args.get("from_") is not None or args.get("laterals"):
        start = EMPTY_RELATION if args.get("from_") is None else None
        relation = bind_from(node, from_scope, start)
    scope = Scope(binding, relation, outer, outer.ctes)
    _check_clause_order(node, scope)
    _check_dialect(node, scope)
    _name_windows(node, scope)
    if args.get("where") is not None:
        _bind_condition(args["where"].args["this"], scope, "where")
        keep_time_window(args["where"].args["this"], scope)
        binding.groups.filter(args["where"].args["this"], _column_of(relation))
    items, grouping = _bind_list(node, scope)
    known = (relation.known or _explicit(node)) and True not in [item.broken for item in items]
    output = Relation([item.column for item in items], known)
    flags = merge_flags([item.expr for item in items])
    aggregated = grouping is not None or bool(flags & HAS_AGGREGATE)
    having = args.get("having")
    if having is not None:
        # Without GROUP BY it makes one group of all rows.
        aggregated = True
        _bind_having(having.args["this"], items, output, _tail_scope(grouping, scope))
    if aggregated:
        check_grouping(items, grouping, node, scope)
        check_outer(items, grouping, scope)
        check_correlated(items, grouping, scope)
    check_windows(items, scope)
    if args.get("qualify") is not None:
        _bind_qualify(args["qualify"].args["this"], output, scope)
    if args.get("distinct") is not None:
        _check_distinct(items, scope)
    # After DISTINCT only what was selected can be ordered by.
    tail = _tail_scope(grouping, scope) if aggregated else scope
    if aggregated and _hides_rows(having, items, tail, scope):
        tail.inside = tail.keyed = None
    bind_tail(node, output, tail if args.get("distinct") is None else None, scope)
    if args.get(PIPE) is not None:
        check_step(node, items, scope)
    if args.get(PIPE) == "aggregate" and grouping is not None:
        return Relation([*pipe_keys(grouping, scope), *output.columns], output.known)
    return _with_hidden(output, relation) if args.get(PIPE) in _KEEPS else output


_KEEPS = frozenset("where join order limit offset extend set drop tablesample".split())
"""Steps after which the keys that USING merged can still be named by their tables."""


def _with_hidden(output: Relation, relation: Relation) -> Relation:
    hidden = [each for each in relation.columns if each.hidden]
    return Relation([*output.columns, *hidden], output.known) if hidden else output


_CLAUSES = ("joins", "laterals", "where", "group", "having", "order", "limit")


def _check_clause_order(node: exp.Select, scope: Scope) -> None:
    """The parser library takes clauses in any order; Spark does not."""
    before = -1
    for name in _CLAUSES:
        clause = node.args.get(name)
        if not clause:
            continue
        listed = isinstance(clause, list)
        start = max(map(first_offset, clause)) if listed else first_offset(clause)
        if 0 <= start < before:
            scope.binding.error(
                Code.SYNTAX_ERROR,
                f"{_WORDS[name]} stands after a clause it must stand before",
                clause[-1] if listed else clause,
                "PARSE_SYNTAX_ERROR",
                help="the order is JOIN, LATERAL VIEW, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT",
            )
            return
        before = max(before, start)


_WORDS = {
    "joins": "JOIN",
    "laterals": "LATERAL VIEW",
    "where": "WHERE",
    "group": "GROUP BY",
    "having": "HAVING",
    "order": "ORDER BY",
    "limit": "LIMIT",
}


def _check_dialect(node: exp.Select, scope: Scope) -> None:
    """Clauses of other dialects, which the parser library reads as well."""
    args = node.args
    limit, distinct = args.get("limit"), args.get("distinct")
    if limit is not None and limit.__class__ is exp.Fetch:
        not_spark("FETCH FIRST", "use LIMIT", limit, scope)
    if distinct is not None and distinct.args.get("on") is not None:
        instead = "number the rows with `row_number()` and keep the first"
        not_spark("DISTINCT ON", instead, distinct, scope)
    source = args["from_"].args["this"] if args.get("from_") else None
    if args.get("sample") is not None and source.__class__ is exp.Values:
        _check_sampled_values(source, scope)
    if not args.get("expressions") and args.get(PIPE) is None:
        scope.binding.error(
            Code.SYNTAX_ERROR, "SELECT without a column", node, "PARSE_SYNTAX_ERROR"
        )


def _check_sampled_values(source: exp.Values, scope: Scope) -> None:
    if re.search(r"(?i)\(\s*values\b", scope.binding.text) is None:
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "TABLESAMPLE cannot follow an inline table",
            source,
            "PARSE_SYNTAX_ERROR",
            help="put the inline table in parentheses",
        )


def _explicit(node: exp.Select) -> bool:
    """Whether the output columns are listed, so that they are known whatever FROM gives."""
    return not any(is_star(item) for item in node.args.get("expressions") or [])


def _bind_list(node: exp.Select, scope: Scope) -> tuple[list[SelectItem], Grouping | None]:
    group = node.args.get("group")
    grouping = bind_grouping(group, node, scope) if group is not None else None
    if grouping is not None:
        scope.grouping = grouping
        offer_time_window(node, grouping, scope)
        for _, key in grouping.keys:
            scope.binding.influence(key.sources, INFLUENCE_GROUP)
        if grouping.nulled is not None:
            scope.nulled = grouping.nulled
            scope.inside = Scope(scope.binding, scope.relation, scope.parent, scope.ctes)
            scope.inside.windows = scope.windows
            scope.inside.grouping = grouping
            scope.inside.fallback = scope.fallback
            scope.inside.time_window = scope.time_window
    else:
        offer_time_window(node, None, scope)
    calls = len(scope.binding.groups.calls)
    items = project(node, scope, grouping)
    scope.nulled = None
    scope.inside = None
    if grouping is not None:
        _note_groups(node, calls, items, grouping, scope)
    return items, grouping


def _note_groups(
    node: exp.Select, calls: int, items: list[SelectItem], grouping: Grouping, scope: Scope
) -> None:
    """Note over which groups the aggregates of the list end tags, and how large these are."""
    groups = scope.binding.groups
    keys = [key.sources for _, key in grouping.keys]
    group = groups.note(groups.calls[calls:], keys, scope.binding.shares)
    if group is None:
        return
    counts = [item for item in items if is_count(item.node)]
    for item in counts:
        groups.count_by(group, item.column)
    if node.args.get("having") is not None:
        names = {item.column.key for item in counts}
        group.floors[0] = lower_bound(
            node.args["having"].args["this"],
            lambda each: (
                is_count(each) or (each.__class__ is exp.Column and each.name.lower() in names)
            ),
        )


def _column_of(relation: Relation) -> Callable[[Any], Column | None]:
    def find(node: Any) -> Column | None:
        columns, used = relation.find(tuple(part.name.lower() for part in node.parts))
        return columns[0] if len(columns) == 1 and used == len(node.parts) else None

    return find


def _name_windows(node: exp.Select, scope: Scope) -> None:
    windows = node.args.get("windows")
    if windows:
        names = [window.args["this"].name.lower() for window in windows]
        if len(set(names)) < len(names):
            scope.binding.error(
                Code.INVALID_CLAUSE,
                "two windows have the same name",
                windows[-1],
                "INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION",
            )
        scope.windows = {window.args["this"].name.lower(): window for window in windows}


def _bind_condition(node: Any, scope: Scope, clause: str) -> Expr:
    """A WHERE, HAVING or QUALIFY condition: a boolean."""
    condition = bind_expression(node, scope.within(clause))
    scope.binding.influence(condition.sources, INFLUENCE_FILTER)
    if condition.type not in (t.BOOLEAN, t.UNKNOWN) and not (
        # Spark casts a HAVING that is no predicate to boolean.
        clause == "having" and can_cast(condition.type, t.BOOLEAN)
    ):
        scope.binding.error(
            Code.TYPE_ERROR,
            f"the {clause.upper()} condition is `{condition.type}`, not a boolean",
            node,
            "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
        )
    if condition.flags & HAS_GENERATOR:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"a generator cannot stand in {clause.upper()}",
            node,
            "UNSUPPORTED_GENERATOR.OUTSIDE_SELECT",
        )
    elif clause == "where" and condition.flags & (HAS_AGGREGATE | HAS_WINDOW):
        aggregate = bool(condition.flags & HAS_AGGREGATE)
        scope.binding.error(
            Code.INVALID_AGGREGATION,
            f"{'an aggregate' if aggregate else 'a window'} function cannot stand in WHERE",
            node,
            "INVALID_WHERE_CONDITION" if aggregate else "_LEGACY_ERROR_TEMP_1034",
            help="use HAVING for aggregates, or compute it in a subquery first",
        )
    return condition


def _bind_having(node: Any, items: list[SelectItem], output: Relation, scope: Scope) -> None:
    inner = having_scope(node, items, output, scope)
    check_condition(node, _bind_condition(node, inner, "having"), scope)


def _tail_scope(grouping: Grouping | None, scope: Scope) -> Scope:
    """What HAVING and ORDER BY of an aggregate see of the FROM clause: its grouping columns."""
    inner = scope.within(scope.clause)
    inner.inside = scope
    inner.relation = grouping.visible(scope) if grouping is not None else Relation([])
    if grouping is not None and grouping.has_expressions():
        inner.keyed = _key_of(grouping, scope)
    return inner


def _hides_rows(having: Any, items: list[SelectItem], tail: Scope, scope: Scope) -> bool:
    """Whether what comes after a select list over groups sees no aggregate any more.

    Window functions are computed over the groups, and so is what HAVING needs beside the list.
    """
    if any(item.expr.flags & HAS_WINDOW for item in items):
        return True
    return having is not None and needs_more(having.args["this"], items, tail.relation, scope)


def _key_of(grouping: Grouping, scope: Scope) -> Callable[[Any], Expr | None]:
    """A look at whether an expression is a key of the grouping: then it reads all of FROM."""

    def find(node: Any) -> Expr | None:
        if node.__class__ is exp.Literal or shape_of(node, scope) not in grouping.shapes:
            return None
        return bind_expression(node, scope)

    return find


def _bind_qualify(node: Any, output: Relation, scope: Scope) -> None:
    scope.binding.error(
        Code.SYNTAX_ERROR,
        "Spark has no QUALIFY",
        node,
        "PARSE_SYNTAX_ERROR",
        help="compute the window function in a subquery and filter it with WHERE",
    )
    inner = scope.within("qualify")
    inner.fallback = output
    _bind_condition(node, inner, "qualify")


def _check_distinct(items: list[SelectItem], scope: Scope) -> None:
    for item in items:
        refusal = distinct_refusal(item.expr.type)
        if refusal is not None:
            scope.binding.error(Code.INVALID_CLAUSE, refusal.message, item.node, refusal.condition)
            return
        # It groups by all that it lists: a query around it may drop the columns, not the rows.
        scope.binding.influence(item.column.sources, INFLUENCE_GROUP)
