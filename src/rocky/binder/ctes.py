"""WITH: names for queries, each seeing those before it; recursion through its own name."""

from typing import Any

from sqlglot import exp

from rocky.binder.dispatch import bind_query
from rocky.binder.expression import Column
from rocky.binder.scopes import Relation, Scope
from rocky.datatypes import types as t
from rocky.datatypes.coercion import same_type, set_operation_type
from rocky.diagnostics import Code


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
        ctes[name] = _bind_cte(cte, name, inner, recursive=bool(clause.args.get("recursive")))
    return inner


def _bind_cte(cte: Any, name: str, scope: Scope, *, recursive: bool) -> Relation:
    body = cte.args["this"]
    renamed = cte.args["alias"].args.get("columns") or []
    if recursive and body.__class__ is exp.Union and reads_name(body, name):
        relation = _bind_recursive(body, name, renamed, scope)
    elif recursive and name not in scope.ctes and reads_name(body, name):
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"the recursive CTE `{name}` is no UNION ALL of a start and a step",
            cte.args["alias"],
            "INVALID_RECURSIVE_CTE",
        )
        relation = Relation([], known=False)
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


def reads_name(node: exp.Expr, name: str) -> bool:
    return any(
        table.name.lower() == name and not table.args.get("db")
        for table in node.find_all(exp.Table)
    )


def _bind_recursive(body: exp.Union, name: str, renamed: list[Any], scope: Scope) -> Relation:
    """The anchor gives the schema; the step is bound with the name meaning the anchor's rows."""
    if body.args.get("distinct"):
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "a recursive CTE joins its parts by UNION ALL",
            body,
            "UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE",
            help="write UNION ALL",
        )
    scope = bind_with(body, scope)
    anchor = bind_query(body.args["this"], scope)
    names = [identifier.name for identifier in renamed]
    columns = anchor.visible()
    if len(names) != len(columns):
        names = [column.name or "" for column in columns]
    seen = [
        # What the recursion reads of itself may be null, whatever the anchor says.
        Column(each, column.type, True, column.sources, scope.binding.fresh())
        for each, column in zip(names, columns, strict=True)
    ]
    ctes = dict(scope.ctes)
    ctes[name] = Relation(seen, anchor.known)
    inner = Scope(scope.binding, scope.relation, scope.parent, ctes)
    step = bind_query(body.args["expression"], inner)
    if step.known and anchor.known and len(step.visible()) != len(columns):
        scope.binding.error(
            Code.SET_OPERATION_MISMATCH,
            f"the recursive step has {len(step.visible())} columns, the anchor {len(columns)}",
            body.args["expression"],
            "NUM_COLUMNS_MISMATCH",
        )
        return anchor
    steps = step.visible()
    for column, each in zip(columns, steps, strict=False):
        found = set_operation_type(column.type, each.type)
        if found is None or (
            not same_type(found, column.type) and t.UNKNOWN not in (found, column.type)
        ):
            scope.binding.error(
                Code.SET_OPERATION_MISMATCH,
                f"the recursive step gives `{each.type}` where the anchor has `{column.type}`",
                body.args["expression"],
                "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
            )
    return Relation(
        [
            Column(
                column.name or "",
                column.type,
                column.nullable or (index < len(steps) and steps[index].nullable),
                column.sources,
                column.ident,
            )
            for index, column in enumerate(columns)
        ],
        anchor.known,
    )
