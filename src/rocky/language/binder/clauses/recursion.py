"""Recursive CTEs: the anchor gives the schema, and the step may read it only in some places."""

from collections.abc import Iterator
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import Column, renamed_fields
from rocky.language.binder.expressions.calls import kind_of_call
from rocky.language.binder.scopes import Relation, Scope, bind_query, suppress_findings
from rocky.language.datatypes import types as t
from rocky.language.datatypes.coercion import same_type, set_operation_type
from rocky.language.datatypes.comparison import right_named_as_left


def reads_name(node: exp.Expr, name: str) -> bool:
    """Whether a query reads a table of that name, without a schema."""
    return next(_references(node, name), None) is not None


def _references(node: exp.Expr, name: str) -> Iterator[exp.Table]:
    for table in node.find_all(exp.Table):
        if table.name.lower() == name and not table.args.get("db"):
            yield table


def not_recursive(name: str, place: exp.Expr, scope: Scope) -> Relation:
    """The report for a recursive CTE that is no UNION ALL of a start and a step."""
    scope.binding.error(
        Code.INVALID_CLAUSE,
        f"the recursive CTE `{name}` is not a UNION ALL of a start and a step",
        place,
        "INVALID_RECURSIVE_CTE",
        help="write `start UNION ALL step`, where only the step reads the CTE",
    )
    return Relation([], known=False)


def bind_recursive(body: exp.Union, name: str, renamed: list[Any], scope: Scope) -> Relation:
    """The anchor gives the schema; the step is bound with the name meaning the anchor's rows."""
    if body.args.get("distinct"):
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "a recursive CTE joins its parts by UNION ALL",
            body,
            "UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE",
            help="write UNION ALL",
        )
    tailed = any(body.args.get(clause) for clause in ("order", "limit", "offset"))
    if tailed or reads_name(body.args["this"], name):
        return not_recursive(name, body, scope)
    uses = len(scope.binding.outer_uses)
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
    _check_places(body.args["expression"], name, scope)
    _check_outer(uses, body, scope)
    if step.known and anchor.known and len(step.visible()) != len(columns):
        scope.binding.error(
            Code.SET_OPERATION_MISMATCH,
            f"the recursive step has {len(step.visible())} columns, the anchor {len(columns)}",
            body.args["expression"],
            "NUM_COLUMNS_MISMATCH",
        )
        return anchor
    steps = _settle(body.args["expression"], seen, columns, step.visible(), inner)
    found = [
        _column(column, steps[at] if at < len(steps) else None, body, scope)
        for at, column in enumerate(columns)
    ]
    return Relation(found, anchor.known)


def _column(column: Column, step: Column | None, body: exp.Union, scope: Scope) -> Column:
    kind, nullable = column.type, column.nullable
    if step is not None:
        merged = set_operation_type(column.type, right_named_as_left(column.type, step.type))
        nullable = nullable or step.nullable
        if merged is not None and same_type(merged, column.type):
            kind = merged
        elif merged is None or t.UNKNOWN not in (merged, column.type):
            scope.binding.error(
                Code.SET_OPERATION_MISMATCH,
                f"the recursive step gives `{step.type}` where the anchor has `{column.type}`",
                body.args["expression"],
                "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
            )
    sources = column.sources
    if step is not None:
        sources |= renamed_fields(step.sources, step.type, column.type)
    return Column(column.name or "", kind, nullable, sources, column.ident)


def _settle(
    query: exp.Expr,
    seen: list[Column],
    anchor: list[Column],
    steps: list[Column],
    inner: Scope,
) -> list[Column]:
    """The step's columns with all that the recursion brings into them.

    Values move from column to column, one place a round: the step is bound again over what the
    round before gave until nothing new arrives.
    """
    for _ in seen:
        grown = False
        for column, first, last in zip(seen, anchor, steps, strict=False):
            reached = first.sources | renamed_fields(last.sources, last.type, first.type)
            if not reached <= column.sources:
                column.sources, grown = reached | column.sources, True
        if not grown:
            break
        with suppress_findings(inner.binding):
            steps = bind_query(query, inner).visible()
    return steps


def _check_outer(uses: int, body: exp.Union, scope: Scope) -> None:
    """A recursion cannot read the query around it."""
    around: list[Relation] = []
    at: Scope | None = scope
    while at is not None:
        around.append(at.relation)
        at = at.parent
    if any(used is each for used in scope.binding.outer_uses[uses:] for each in around):
        scope.binding.error(
            Code.INVALID_SUBQUERY,
            "a recursive CTE cannot read a column of the query around it",
            body,
            "UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.ACCESSING_OUTER_QUERY_COLUMN_IS_NOT_ALLOWED",
        )


def _check_places(step: exp.Expr, name: str, scope: Scope) -> None:
    for table in _references(step, name):
        reason = _misplaced(table, step)
        if reason is not None:
            scope.binding.error(
                Code.INVALID_CLAUSE,
                f"the recursive CTE `{name}` cannot be read {reason}",
                table,
                "INVALID_RECURSIVE_REFERENCE.PLACE",
            )
            return


_PREDICATES: Final = (exp.Exists, exp.In)
_NULLED_RIGHT: Final = ("LEFT", "FULL")
_NULLED_LEFT: Final = ("RIGHT", "FULL")


def _misplaced(table: exp.Expr, step: exp.Expr) -> str | None:
    """Why a recursive reference cannot stand where it does, in words; None when it can."""
    at: Any = table
    while at is not None and at is not step.parent:
        above = at.parent
        if at.args.get("pivots"):
            return "by PIVOT"
        if at.__class__ is exp.Join:
            reason = _join_side(at)
            if reason is not None:
                return reason
            later = _later_joins(at)
        else:
            select: Any = above.parent if above.__class__ is exp.From else None
            later = select.args.get("joins") or [] if select is not None else []
        if any((join.args.get("side") or "").upper() in _NULLED_LEFT for join in later):
            return "on the left of a RIGHT or FULL join"
        if at.__class__ is exp.Select:
            reason = _select_clause(at)
            if reason is not None:
                return reason
        if above.__class__ in _PREDICATES:
            return None
        if at.__class__ is exp.Subquery and above.__class__ not in (
            exp.From,
            exp.Join,
            exp.Subquery,
            exp.Lateral,
            exp.Union,
        ):
            return "in a subquery that is a value"
        at = above
    return None


def _join_side(join: exp.Join) -> str | None:
    kind = (join.args.get("kind") or "").upper()
    side = (join.args.get("side") or "").upper()
    if kind in ("SEMI", "ANTI"):
        return f"on the right of a {kind} join"
    return f"on the right of a {side} join" if side in _NULLED_RIGHT else None


def _later_joins(join: exp.Join) -> list[Any]:
    joins: list[Any] = join.parent.args.get("joins") or [] if join.parent is not None else []
    return joins[joins.index(join) + 1 :] if join in joins else []


def _select_clause(select: exp.Select) -> str | None:
    grouped = select.args.get("group") is not None or select.args.get("having") is not None
    if grouped or any(_aggregates(item) for item in select.args.get("expressions") or []):
        return "by an aggregate"
    if any(item.find(exp.Window) for item in select.args.get("expressions") or []):
        return "by a window function"
    if select.args.get("order") is not None:
        return "under ORDER BY"
    return None


def _aggregates(node: Any) -> bool:
    stack = [node]
    while stack:
        each = stack.pop()
        if each.__class__ is exp.Anonymous:
            if kind_of_call(each) == "aggregate":
                return True
        elif each.__class__ is exp.Window or isinstance(each, exp.Query):
            continue
        stack.extend(each.iter_expressions())
    return False
