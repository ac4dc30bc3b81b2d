"""Digests of queries: SELECT, set operations, VALUES, WITH.

What a query's clauses do to the rows goes into the digest of its rows, what its list computes into
those of its columns. A CTE is looked at where it is read, so that one nobody reads counts nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlglot import exp

from rocky.binder.ctes import reads_name
from rocky.binder.logic_digests import (
    EMPTY,
    LogicColumn,
    LogicRelation,
    Undigestible,
    mark,
    only,
)
from rocky.binder.logic_expressions import Expressions, has_aggregate
from rocky.binder.logic_from import FromClause, aliased
from rocky.binder.logic_grouping import group_digest
from rocky.binder.logic_lists import SelectList, select_list, spread_aliases
from rocky.binder.logic_scopes import LogicScope, scope_over
from rocky.syntax.pipes import PIPE

_TAIL = frozenset("with_ order sort cluster distribute limit offset".split()) | {PIPE}
_SELECT = _TAIL | frozenset(
    "expressions assignments from_ joins laterals where group having windows qualify distinct "
    "sample hint".split()
)
_SET = _TAIL | frozenset("this expression distinct by_name".split())
_DERIVED = _TAIL | frozenset("this alias joins laterals pivots sample".split())
_CTE = frozenset({"this", "alias"})
_ARRANGED = ("sort", "cluster", "distribute")
_SET_WORDS = {exp.Union: "union", exp.Intersect: "intersect", exp.Except: "except"}


def digest_query(node: Any, outer: LogicScope) -> LogicRelation:
    """The relation a query yields. Raises Undigestible."""
    scope = _with_ctes(node, outer)
    kind = node.__class__
    if kind is exp.Select:
        return _select(node, scope)
    if kind in _SET_WORDS:
        return _set_operation(node, scope)
    if kind is exp.Subquery:
        return _derived(node, scope)
    if kind is exp.Values:
        return _values(node, scope)
    if kind is exp.Table:
        return FromClause(scope, digest_query).item(node)
    raise Undigestible(f"a query of the kind {kind.__name__}")


_VALUES = Expressions(digest_query)


def _with_ctes(node: Any, scope: LogicScope) -> LogicScope:
    clause = node.args.get("with_")
    if clause is None:
        return scope
    inner = LogicScope(scope.trail, scope.relation, scope.parent, dict(scope.ctes), scope.rows)
    for cte in clause.args["expressions"]:
        # Each sees those before it, never itself: a copy of what is known so far.
        seen = LogicScope(scope.trail, scope.relation, scope.parent, dict(inner.ctes), scope.rows)
        recursive = bool(clause.args.get("recursive"))
        only(cte, _CTE)
        name = cte.args["alias"].args["this"].name.lower()
        inner.ctes = {**inner.ctes, name: _once(cte, name, seen, recursive=recursive)}
    return inner


def _once(
    cte: Any, name: str, scope: LogicScope, *, recursive: bool
) -> Callable[[], LogicRelation]:
    """A CTE's relation, made when it is first asked for."""
    made: list[LogicRelation] = []

    def find() -> LogicRelation:
        if not made:
            body, alias = cte.args["this"], cte.args["alias"]
            if recursive and body.__class__ is exp.Union and reads_name(body, name):
                made.append(_recursive(body, alias, name, scope))
            else:
                made.append(aliased(digest_query(body, scope), alias))
        return made[0]

    return find


def _recursive(body: Any, alias: Any, name: str, scope: LogicScope) -> LogicRelation:
    """The anchor, then the step over rows that are known only as those of the recursion."""
    anchor = aliased(digest_query(body.args["this"], scope), alias)
    itself = anchor.over(mark("recursion")).with_columns(
        tuple(
            LogicColumn(each.name, mark("recursion", str(at)))
            for at, each in enumerate(anchor.visible)
        )
    )
    inner = LogicScope(
        scope.trail, scope.relation, scope.parent, {**scope.ctes, name: lambda: itself}
    )
    step = digest_query(body.args["expression"], inner)
    return _combined("recursive", [anchor, step])


def _select(node: Any, outer: LogicScope) -> LogicRelation:
    args = node.args
    only(node, _SELECT)
    trail = outer.trail
    around = scope_over(EMPTY, outer)
    relation = FromClause(around, digest_query).read(node) if args.get("from_") else EMPTY
    if args.get("sample") is not None:
        relation = FromClause(around, digest_query).sampled(relation, args["sample"])
    scope = scope_over(relation, outer)
    scope.windows = {each.args["this"].name.lower(): each for each in args.get("windows") or []}
    if args.get("where") is not None:
        relation = _filtered(relation, args["where"], scope)
    items = args.get("expressions") or []
    having = args.get("having")
    holders = [*items, *([having] if having is not None else [])]
    grouped = args.get("group") is not None or any(map(has_aggregate, holders))
    scope.rows = relation.ordered_rows
    keys: list[LogicColumn] = []
    if grouped:
        spread_aliases(items, scope, _VALUES)
        digest, keys = group_digest(args.get("group"), items, scope, _VALUES)
        trail.note("grouping", digest)
        scope.rows = mark("group", relation.ordered_rows, digest)
        relation = relation.over(mark("group", relation.rows, digest))
        scope.aliases = {}
    listed = select_list(node, scope, _VALUES)
    if having is not None:
        scope.aliases = {each.name: each.digest for each in listed.columns}
        relation = _filtered(relation, having, scope)
        if any(each.find(exp.Window) for each in items):
            # Windows come after HAVING, which may name what the list computes.
            scope.framed, scope.aliases = relation.ordered_rows, {}
            listed = select_list(node, scope, _VALUES)
    firsts = keys if args.get(PIPE) == "aggregate" else ()
    output = _generating(relation.with_columns((*firsts, *listed.columns)), listed, scope)
    if args.get("qualify") is not None:
        raise Undigestible("QUALIFY")
    if args.get("distinct") is not None:
        output = _distinct(output, scope)
    return _limited(node, output, scope)


def _filtered(relation: LogicRelation, clause: Any, scope: LogicScope) -> LogicRelation:
    conditions = _VALUES.conditions(clause.args["this"], scope)
    for each in conditions:
        scope.trail.note("filter", each)
    return relation.filtered(conditions)


def _generating(output: LogicRelation, listed: SelectList, scope: LogicScope) -> LogicRelation:
    """A generator in the select list gives several rows for one."""
    if not listed.made:
        return output
    scope.trail.note("generator", mark("generator", *listed.made))
    made = output.over(mark("generator", output.rows, *listed.made))
    return replace(made, leaves=listed.leaves)


def _distinct(output: LogicRelation, scope: LogicScope) -> LogicRelation:
    digests = sorted({each.digest for each in output.visible})
    scope.trail.note("distinct", mark("distinct", *digests))
    return output.over(mark("distinct", output.rows, *digests))


def _limited(node: Any, output: LogicRelation, scope: LogicScope) -> LogicRelation:
    """LIMIT and OFFSET keep rows by their order; without them an order decides no row."""
    args = node.args
    clauses = [args[name] for name in ("limit", "offset") if args.get(name) is not None]
    ordering = args.get("order")
    arranged = [args[name] for name in _ARRANGED if args.get(name) is not None]
    if ordering is None and not clauses and not arranged:
        return output
    place = LogicScope(scope.trail, scope.relation, scope.parent, scope.ctes, scope.rows)
    place.first = output.columns
    place.windows = scope.windows
    keys = ordering.args["expressions"] if ordering is not None else []
    order = (
        *(_order_key(each, output, place) for each in keys),
        *(_arrangement(each, output, place) for each in arranged),
    ) or output.order
    if not clauses:
        return replace(output, order=order)
    counts = [mark(each.__class__.__name__, _VALUES.value(each, place)) for each in clauses]
    scope.trail.note("limit", mark("limit", *order, *counts))
    limited = output.over(mark("limit", output.rows, mark("order", *order), *counts))
    return replace(limited, order=order)


def _arrangement(node: Any, output: LogicRelation, scope: LogicScope) -> bytes:
    """SORT BY, CLUSTER BY and DISTRIBUTE BY put rows in an order, part by part."""
    keys = (_order_key(each, output, scope) for each in node.args["expressions"])
    return mark(node.__class__.__name__, *keys)


def _order_key(node: Any, output: LogicRelation, scope: LogicScope) -> bytes:
    inner = node.args["this"] if node.__class__ is exp.Ordered else node
    ways = [f"{key}={node.args[key]}" for key in ("desc", "nulls_first") if node.args.get(key)]
    if inner.__class__ is exp.Var:
        # ORDER BY ALL
        return mark("all", *(each.digest for each in output.visible), *ways)
    if inner.__class__ is exp.Literal and not inner.args["is_string"] and inner.name.isdigit():
        digest = output.visible[int(inner.name) - 1].digest
    else:
        digest = _VALUES.value(inner, scope)
    return mark("key", digest, *ways)


def _set_operation(node: Any, scope: LogicScope) -> LogicRelation:
    """A chain of one operation is one list of branches, however it is nested to the left."""
    only(node, _SET)
    if node.args.get("by_name"):
        raise Undigestible("UNION BY NAME")
    word = _SET_WORDS[node.__class__]
    distinct = bool(node.args.get("distinct", True))
    branches: list[Any] = []
    at = node
    while (
        at.__class__ is node.__class__
        and bool(at.args.get("distinct", True)) == distinct
        and (at is node or not _has_clauses(at))
    ):
        branches.append(at.args["expression"])
        at = at.args["this"]
    branches.append(at)
    found = [digest_query(each, scope) for each in reversed(branches)]
    scope.trail.note("set operation", mark(word, str(distinct), str(len(found))))
    output = _combined(word, found)
    if word != "union":
        # The values are those of the first branch; the others only decide which of them stay.
        others = [each.digest for branch in found for each in branch.visible]
        base = mark(word, output.rows, *others)
        output = output.over(base).with_columns(_unqualified(found[0]))
    if distinct:
        digests = [each.digest for each in output.columns]
        output = output.over(mark("distinct", output.rows, *digests))
    elif word != "union":
        output = output.over(mark("all", output.rows))
    return _limited(node, output, scope_over(EMPTY, scope))


def _has_clauses(node: Any) -> bool:
    return any(node.args.get(clause) for clause in _TAIL)


def _combined(word: str, branches: list[LogicRelation]) -> LogicRelation:
    """Branches put together by position, in the order in which they are written."""
    lists = [each.visible for each in branches]
    if len({len(each) for each in lists}) > 1:
        raise Undigestible("branches of different widths")
    columns = tuple(
        replace(together[0], digest=mark(word, *(each.digest for each in together)), qualifier=())
        for together in zip(*lists, strict=True)
    )
    leaves = frozenset().union(*(each.leaves for each in branches))
    return LogicRelation(columns, (mark(word, *(each.rows for each in branches)),), leaves=leaves)


def _derived(node: Any, scope: LogicScope) -> LogicRelation:
    """A query, a table or a join in parentheses, with its alias."""
    only(node, _DERIVED)
    if node.args.get("pivots"):
        raise Undigestible("PIVOT or UNPIVOT")
    inner = node.args["this"]
    plain = isinstance(inner, exp.Table | exp.Subquery)
    if plain and (inner.args.get("joins") or inner.args.get("laterals")):
        holder = exp.Select(from_=exp.From(this=inner.copy()))
        relation = FromClause(scope, digest_query).read(holder)
    else:
        relation = digest_query(inner, scope)
    relation = _limited(node, relation, scope)
    if node.args.get("sample") is not None:
        relation = FromClause(scope, digest_query).sampled(relation, node.args["sample"])
    if node.args.get("alias") is not None:
        return aliased(relation, node.args["alias"])
    if plain or node.args.get(PIPE):
        return relation
    return relation.with_columns(_unqualified(relation))


def _unqualified(relation: LogicRelation) -> tuple[LogicColumn, ...]:
    return tuple(replace(each, qualifier=()) for each in relation.visible)


def _values(node: Any, scope: LogicScope) -> LogicRelation:
    rows = [
        row.args["expressions"] if row.__class__ is exp.Tuple else [row]
        for row in node.args["expressions"]
    ]
    if len({len(row) for row in rows}) > 1:
        raise Undigestible("rows of different widths")
    columns = tuple(
        LogicColumn(f"col{at + 1}", mark("values", *(_VALUES.value(each, scope) for each in cells)))
        for at, cells in enumerate(zip(*rows, strict=True))
    )
    base = scope.trail.note("values", mark("values", str(len(rows))))
    leaves = frozenset(each.digest.hex() for each in columns)
    return aliased(LogicRelation(columns, (base,), leaves=leaves), node.args.get("alias"))
