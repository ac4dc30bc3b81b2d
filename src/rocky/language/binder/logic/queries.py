"""Column logic: of each output column of a query the digest of how its value is computed.

Two texts with equal digests compute the same, whatever they look like; two texts with different
ones may still do. Where a construct cannot be followed for certain there is no digest at all, and
whoever compares must take everything for changed. A CTE is looked at where it is read, so that
one nobody reads counts nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from sqlglot import exp

from rocky.language.binder.clauses.recursion import reads_name
from rocky.language.binder.expressions.calls import mark_declared
from rocky.language.binder.logic.digests import (
    EMPTY,
    NO_RENAMES,
    LogicColumn,
    LogicRelation,
    LogicScope,
    Renames,
    Trail,
    Undigestible,
    check_arguments,
    digest_of,
    outermost_scope,
    scope_over,
)
from rocky.language.binder.logic.expressions import (
    Expressions,
    SelectList,
    has_aggregate,
    select_list,
    spread_aliases,
)
from rocky.language.binder.logic.relations import FromClause, aliased, group_digest
from rocky.language.syntax.dialect import PIPE
from rocky.language.syntax.parser import (
    NestedTooDeeply,
    SyntaxProblem,
    parse_query,
    with_deep_stack,
)
from rocky.language.tables import Tables

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
        check_arguments(cte, _CTE)
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
    itself = anchor.over(digest_of("recursion")).with_columns(
        tuple(
            LogicColumn(each.name, digest_of("recursion", str(at)))
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
    check_arguments(node, _SELECT)
    trail = outer.trail
    from_scope = scope_over(EMPTY, outer)
    relation = FromClause(from_scope, digest_query).read(node) if args.get("from_") else EMPTY
    if args.get("sample") is not None:
        relation = FromClause(from_scope, digest_query).sampled(relation, args["sample"])
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
        scope.rows = digest_of("group", relation.ordered_rows, digest)
        relation = relation.over(digest_of("group", relation.rows, digest))
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
    scope.trail.note("generator", digest_of("generator", *listed.made))
    made = output.over(digest_of("generator", output.rows, *listed.made))
    return replace(made, leaves=listed.leaves)


def _distinct(output: LogicRelation, scope: LogicScope) -> LogicRelation:
    digests = sorted({each.digest for each in output.visible})
    scope.trail.note("distinct", digest_of("distinct", *digests))
    return output.over(digest_of("distinct", output.rows, *digests))


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
    counts = [digest_of(each.__class__.__name__, _VALUES.value(each, place)) for each in clauses]
    scope.trail.note("limit", digest_of("limit", *order, *counts))
    limited = output.over(digest_of("limit", output.rows, digest_of("order", *order), *counts))
    return replace(limited, order=order)


def _arrangement(node: Any, output: LogicRelation, scope: LogicScope) -> bytes:
    """SORT BY, CLUSTER BY and DISTRIBUTE BY put rows in an order, part by part."""
    keys = (_order_key(each, output, scope) for each in node.args["expressions"])
    return digest_of(node.__class__.__name__, *keys)


def _order_key(node: Any, output: LogicRelation, scope: LogicScope) -> bytes:
    inner = node.args["this"] if node.__class__ is exp.Ordered else node
    ways = [f"{key}={node.args[key]}" for key in ("desc", "nulls_first") if node.args.get(key)]
    if inner.__class__ is exp.Var:
        # ORDER BY ALL
        return digest_of("all", *(each.digest for each in output.visible), *ways)
    if inner.__class__ is exp.Literal and not inner.args["is_string"] and inner.name.isdigit():
        digest = output.visible[int(inner.name) - 1].digest
    else:
        digest = _VALUES.value(inner, scope)
    return digest_of("key", digest, *ways)


def _set_operation(node: Any, scope: LogicScope) -> LogicRelation:
    """A chain of one operation is one list of branches, however it is nested to the left."""
    check_arguments(node, _SET)
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
    scope.trail.note("set operation", digest_of(word, str(distinct), str(len(found))))
    output = _combined(word, found)
    if word != "union":
        # The values are those of the first branch; the others only decide which of them stay.
        others = [each.digest for branch in found for each in branch.visible]
        base = digest_of(word, output.rows, *others)
        output = output.over(base).with_columns(_unqualified(found[0]))
    if distinct:
        digests = [each.digest for each in output.columns]
        output = output.over(digest_of("distinct", output.rows, *digests))
    elif word != "union":
        output = output.over(digest_of("all", output.rows))
    return _limited(node, output, scope_over(EMPTY, scope))


def _has_clauses(node: Any) -> bool:
    return any(node.args.get(clause) for clause in _TAIL)


def _combined(word: str, branches: list[LogicRelation]) -> LogicRelation:
    """Branches put together by position, in the order in which they are written."""
    lists = [each.visible for each in branches]
    if len({len(each) for each in lists}) > 1:
        raise Undigestible("branches of different widths")
    columns = tuple(
        replace(
            together[0], digest=digest_of(word, *(each.digest for each in together)), qualifier=()
        )
        for together in zip(*lists, strict=True)
    )
    leaves = frozenset().union(*(each.leaves for each in branches))
    return LogicRelation(
        columns, (digest_of(word, *(each.rows for each in branches)),), leaves=leaves
    )


def _derived(node: Any, scope: LogicScope) -> LogicRelation:
    """A query, a table or a join in parentheses, with its alias."""
    check_arguments(node, _DERIVED)
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
        LogicColumn(
            f"col{at + 1}", digest_of("values", *(_VALUES.value(each, scope) for each in cells))
        )
        for at, cells in enumerate(zip(*rows, strict=True))
    )
    base = scope.trail.note("values", digest_of("values", str(len(rows))))
    leaves = frozenset(each.digest.hex() for each in columns)
    return aliased(LogicRelation(columns, (base,), leaves=leaves), node.args.get("alias"))


class Logic(NamedTuple):
    """The digests of a query: its columns by position, and what decides its rows.

    `clauses` are what decides the rows, piece by piece, to tell which of them changed. Without
    digests, `columns` and `rows` are None and `reason` says what stood in the way.
    """

    columns: tuple[bytes, ...] | None
    rows: bytes | None = None
    clauses: tuple[tuple[str, bytes], ...] = ()
    reason: str = ""


# What the walk raises when the library's tree lacks a part it counts on.
_MALFORMED: Final = (LookupError, AttributeError, TypeError, ValueError)


def column_logic(sql: str, tables: Tables, renames: Renames = NO_RENAMES) -> Logic:
    """The logic of a query text; `renames` are names that the other side calls differently."""
    try:
        return _column_logic(sql, tables, renames)
    except RecursionError:
        pass
    try:
        return with_deep_stack(lambda: _column_logic(sql, tables, renames))
    except NestedTooDeeply:
        return Logic(None, reason="a query that is nested too deeply")


def _column_logic(sql: str, tables: Tables, renames: Renames) -> Logic:
    parsed = parse_query(sql)
    if isinstance(parsed, SyntaxProblem):
        return Logic(None, reason="a text that is no query")
    if parsed.levels:
        return Logic(None, reason="MAX RECURSION LEVEL")
    trail = Trail(tables, renames)
    mark_declared(parsed.tree, tables)
    try:
        relation = digest_query(parsed.tree, outermost_scope(trail))
    except Undigestible as unsure:
        return Logic(None, reason=str(unsure))
    except _MALFORMED as fault:
        return Logic(None, reason=f"a query that could not be followed ({type(fault).__name__})")
    columns = tuple(column.digest for column in relation.visible)
    return Logic(columns, relation.rows, tuple(trail.clauses))


def changed_clauses(before: Logic, after: Logic) -> tuple[str, ...]:
    """The kinds of clauses that are in one and not in the other, in the order they are met."""
    old, new = Counter(before.clauses), Counter(after.clauses)
    return tuple(dict.fromkeys(_kinds((*(old - new), *(new - old)))))


def _kinds(clauses: Iterable[tuple[str, bytes]]) -> Iterable[str]:
    return (kind for kind, _ in clauses)
