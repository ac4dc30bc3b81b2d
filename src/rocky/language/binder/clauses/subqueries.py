"""Queries inside queries: WITH and recursion, scalar subqueries, EXISTS and IN.

A CTE sees those before it. What a subquery may take from the query around it is checked here.
"""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.recursion import bind_recursive, not_recursive, reads_name
from rocky.language.binder.expr import (
    CONDITIONAL,
    EXPRESSION,
    HAS_CORRELATED,
    HAS_OUTER,
    HAS_SUBQUERY,
    Column,
    Expr,
    Sources,
    derived,
    merge_sources,
    unknown,
)
from rocky.language.binder.expressions.operators import bind_in_list, warn_unsafe_key
from rocky.language.binder.scopes import (
    INFLUENCE_FILTER,
    Relation,
    Scope,
    bind_expression,
    bind_query,
)
from rocky.language.datatypes import types as t
from rocky.language.datatypes.comparison import in_subquery
from rocky.language.datatypes.operators import OperandMismatch


def bind_with(node: exp.Expr, scope: Scope) -> Scope:
    """The scope with the CTEs of a query's WITH clause added."""
    clause = node.args.get("with_")
    if clause is None:
        return scope
    ctes = dict(scope.ctes)
    inner = Scope(scope.binding, scope.relation, scope.parent, ctes, scope.clause)
    seen: set[str] = set()
    for cte in clause.args["expressions"]:
        alias = cte.args["alias"]
        name = scope.binding.define_alias(alias.args["this"])
        if name in seen:
            scope.binding.error(
                Code.INVALID_CLAUSE,
                f"two CTEs are called `{name}`",
                alias.args["this"],
                "DUPLICATED_CTE_NAMES",
            )
        seen.add(name)
        if scope.binding.names is not None:
            scope.binding.names.open_cte(alias.args["this"])
        ctes[name] = _bind_cte(cte, name, inner, recursive=bool(clause.args.get("recursive")))
        if scope.binding.names is not None:
            scope.binding.names.define_cte(
                alias.args["this"], alias.args.get("columns") or (), ctes[name], scope.binding
            )
    return inner


def _bind_cte(cte: Any, name: str, scope: Scope, *, recursive: bool) -> Relation:
    body = cte.args["this"]
    renamed = cte.args["alias"].args.get("columns") or []
    if cte.args.get("materialized") is not None:
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "Spark's WITH has no MATERIALIZED",
            cte.args["alias"],
            "PARSE_SYNTAX_ERROR",
            help="leave the word out",
        )
    if recursive and body.__class__ is exp.Union and reads_name(body, name):
        relation = bind_recursive(body, name, renamed, bind_with(body, scope))
    elif recursive and name not in scope.ctes and reads_name(body, name):
        relation = not_recursive(name, cte.args["alias"], scope)
    else:
        relation = bind_query(body, scope)
    return rename(relation, renamed, cte, scope)


def rename(relation: Relation, renamed: list[Any], node: exp.Expr, scope: Scope) -> Relation:
    """The relation with the column names of `name(a, b)`."""
    if not renamed:
        return relation
    columns = relation.visible()
    if len(renamed) != len(columns):
        if relation.known:
            scope.binding.error(
                Code.INVALID_CLAUSE,
                f"the CTE names {len(renamed)} columns, but its query has {len(columns)}",
                node.args["alias"],
                "ASSIGNMENT_ARITY_MISMATCH",
            )
        return Relation([], known=False)
    return Relation(
        [
            column.copy(identifier.name, qualifier=())
            for identifier, column in zip(renamed, columns, strict=True)
        ],
        relation.known,
    )


def _inner(node: Any, scope: Scope) -> Relation:
    return bind_query(node, scope)


def _with_conditions(node: Any, scope: Scope) -> tuple[Relation, Sources]:
    """A query inside a value, and the columns that decide which rows it has."""
    binding = scope.binding
    around, binding.influences = binding.influences, set()
    try:
        relation = _inner(node, scope)
        deciding = frozenset(origin << 3 | CONDITIONAL for origin, _ in binding.influences)
    finally:
        binding.influences |= around
    return relation, deciding


def bind_scalar(node: exp.Subquery, scope: Scope) -> Expr:
    """`(SELECT ...)` as a value: one column, null when there is no row."""
    uses = len(scope.binding.outer_uses)
    relation, deciding = _with_conditions(node, scope)
    columns = relation.visible()
    if not relation.known:
        return unknown(columns)
    if len(columns) != 1:
        return scope.binding.error(
            Code.INVALID_SUBQUERY,
            f"a subquery used as a value must give one column, and this gives {len(columns)}",
            node,
            "INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN",
        )
    found = derived(columns[0].type, True, columns, EXPRESSION)
    found.flags = (found.flags & HAS_OUTER) | HAS_SUBQUERY
    if any(each is scope.relation for each in scope.binding.outer_uses[uses:]):
        found.flags |= HAS_CORRELATED
        # Each row has another one, by what its own values are compared with.
        found.sources |= deciding
    found.name = columns[0].name
    found.foldable = False
    return found


def predicate_subquery(node: Any) -> Any:
    """The first EXISTS or IN over a query in an expression, not in a query inside it; or None."""
    stack = [node]
    while stack:
        each = stack.pop()
        if each.__class__ is exp.Exists or (each.__class__ is exp.In and each.args.get("query")):
            return each
        if not isinstance(each, exp.Query):
            stack.extend(each.iter_expressions())
    return None


def bind_exists(node: exp.Exists, scope: Scope) -> Expr:
    relation, deciding = _with_conditions(node.args["this"], scope)
    sources = merge_sources(relation.columns, EXPRESSION) | deciding
    return Expr(t.BOOLEAN, False, sources, HAS_SUBQUERY)


def bind_in(node: exp.In, scope: Scope) -> Expr:
    """`value IN (list)` or `value IN (SELECT ...)`; a tuple meets as many columns."""
    query = node.args.get("query")
    listed = node.args.get("expressions")
    if listed and listed[0].__class__ is exp.Values:
        return scope.binding.error(
            Code.INVALID_SUBQUERY,
            "IN takes a list or a query, and VALUES stands for neither here",
            node,
            "UNRESOLVED_ROUTINE",
            help="list the values, or write IN (SELECT * FROM VALUES ...)",
        )
    if query is None:
        return bind_in_list(node, scope)
    value_node = node.args["this"]
    while value_node.__class__ is exp.Paren:
        value_node = value_node.args["this"]
    nodes = value_node.args["expressions"] if value_node.__class__ is exp.Tuple else [value_node]
    values = [bind_expression(each, scope) for each in nodes]
    relation = _inner(query, scope)
    columns = relation.visible()
    if not relation.known:
        return derived(t.BOOLEAN, True, [*values, *columns])
    if len(values) != len(columns):
        return scope.binding.error(
            Code.INVALID_SUBQUERY,
            f"{len(values)} value{'s' if len(values) > 1 else ''} cannot be IN a subquery "
            f"of {len(columns)} columns",
            node,
            "DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH",
        )
    nullable = False
    for value, column in zip(values, columns, strict=True):
        outcome = in_subquery(value, column)
        if isinstance(outcome, OperandMismatch):
            return scope.binding.error(
                Code.INCOMPARABLE_TYPES,
                outcome.message,
                node,
                "DATATYPE_MISMATCH.IN_SUBQUERY_DATA_TYPE_MISMATCH",
            )
        nullable = nullable or outcome.nullable
        if outcome.unsafe and isinstance(value, Column):
            warn_unsafe_key(value, column, node, scope)
    scope.binding.influence(merge_sources(columns, EXPRESSION), INFLUENCE_FILTER)
    found = derived(t.BOOLEAN, nullable, [*values, *columns])
    found.flags |= HAS_SUBQUERY
    found.foldable = False
    return found


SUBQUERIES: Final[dict[type, Any]] = {
    exp.Subquery: bind_scalar,
    exp.Exists: bind_exists,
    exp.In: bind_in,
}
