"""Digests of FROM and GROUP BY: tables, CTEs, derived tables, joins, generators and keys.

Two items that read one table have columns of one name and origin and are not the same rows: the
second is marked. A plain product has no order; joins that keep unmatched rows have one, and what
they fill up with nulls is marked. The keys of GROUP BY count in whatever order they are written.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.clauses.keys import is_star, ordinal_of
from rocky.language.binder.expressions.calls import function_name
from rocky.language.binder.logic.digests import (
    LogicColumn,
    LogicRelation,
    LogicScope,
    Undigestible,
    check_arguments,
    digest_of,
    digest_repeat,
    equality,
    scope_over,
)
from rocky.language.binder.logic.expressions import Expressions, has_aggregate, names_of
from rocky.language.syntax.dialect import PIPE

_GENERATED: Final = {
    "explode": ("col",),
    "explode_outer": ("col",),
    "posexplode": ("pos", "col"),
    "posexplode_outer": ("pos", "col"),
    "range": ("id",),
}
"""What generators call their columns when nobody else does; of maps nothing is known here."""

_TABLE: Final = frozenset("this db catalog alias joins laterals pivots sample version".split())
_JOIN: Final = frozenset("this side kind method on using".split())
_LATERAL: Final = frozenset("this alias view outer".split())

_Query = Callable[[Any, LogicScope], LogicRelation]


class FromClause:
    """One FROM clause in the making: the relation so far and the items it was made of."""

    def __init__(self, scope: LogicScope, query: _Query) -> None:
        self._scope = scope
        self._query = query
        self._values = Expressions(query)
        self._items: list[tuple[frozenset[str], int]] = []
        self.relation: LogicRelation | None = None

    def read(self, select: Any) -> LogicRelation:
        """The relation of a SELECT's FROM with its joins and lateral views."""
        source = select.args["from_"].args["this"]
        self.relation = self._item(source)
        for holder in (source, select):
            self._extend(holder)
        return self.relation

    def _extend(self, holder: Any) -> None:
        for join in holder.args.get("joins") or []:
            self._join(join)
        for lateral in holder.args.get("laterals") or []:
            assert self.relation is not None
            self.relation = self._generated(self.relation, lateral)

    def _item(self, node: Any) -> LogicRelation:
        """An item of the clause, told apart from earlier items over the same tables."""
        found = self.item(node)
        shared = [tag for leaves, tag in self._items if leaves & found.leaves]
        tag = max(shared) + 1 if shared else 0
        self._items.append((found.leaves, tag))
        if not tag:
            return found
        columns = tuple(
            replace(column, digest=digest_of("item", str(tag), column.digest))
            for column in found.columns
        )
        return found.over(digest_of("item", str(tag), found.rows)).with_columns(columns)

    def item(self, node: Any) -> LogicRelation:
        """A table, a CTE, a derived table or a table function with its alias."""
        args = node.args
        if args.get("pivots"):
            raise Undigestible("PIVOT or UNPIVOT")
        if node.__class__ is exp.Table:
            check_arguments(node, _TABLE)
        if node.__class__ is exp.Table and args["this"].__class__ is exp.Anonymous:
            found = self._table_function(args["this"])
        elif node.__class__ is exp.Table:
            found = self._named(node)
        else:
            found = self._query(node, self._scope)
        alias = args.get("alias") if node.__class__ is exp.Table else None
        found = aliased(found, alias)
        if args.get("sample") is not None and node.__class__ is exp.Table:
            found = self.sampled(found, args["sample"])
        return found

    def sampled(self, relation: LogicRelation, sample: Any) -> LogicRelation:
        digest = digest_of("sample", relation.rows, self._values.value(sample, self._scope))
        return relation.over(self._scope.trail.note("sample", digest))

    def _named(self, node: Any) -> LogicRelation:
        parts = tuple(part.name.lower() for part in node.parts)
        if node.args.get("version") is not None:
            return self._as_of(node, parts)
        cte = self._scope.ctes.get(parts[0]) if len(parts) == 1 else None
        if cte is not None:
            found = cte()
            columns = tuple(replace(each, qualifier=parts) for each in found.visible)
            return found.with_columns(columns)
        return self._table(parts)

    def _as_of(self, node: Any, parts: tuple[str, ...]) -> LogicRelation:
        """A table as it was: other rows and other values for every version asked for."""
        version = self._values.value(node.args["version"], self._scope)
        found = self._table(parts)
        columns = tuple(
            replace(each, digest=digest_of("as of", version, each.digest)) for each in found.columns
        )
        base = self._scope.trail.note("version", digest_of("as of", version, found.rows))
        return found.over(base).with_columns(columns)

    def _table(self, parts: tuple[str, ...]) -> LogicRelation:
        trail = self._scope.trail
        table = trail.tables.find(parts)
        if table is None or not table.known:
            raise Undigestible(f"the table `{'.'.join(parts)}`, whose columns are not known")
        own = table.qualifier if table.qualifier[-len(parts) :] == parts else parts
        name, renames = trail.renames.table(table.name), trail.renames
        columns = tuple(
            LogicColumn(
                field.name.lower(),
                digest_of("column", name, renames.column(table.name, field.name)),
                own,
                written=field.name,
            )
            for field in table.fields
        )
        base = trail.note("table", digest_of("table", name))
        return LogicRelation(columns, (base,), leaves=frozenset({name}))

    def _table_function(self, call: Any) -> LogicRelation:
        name = function_name(call).lower()
        digest = self._values.value(call, self._scope)
        names = _GENERATED.get(name)
        if names is None:
            raise Undigestible(f"the table function `{name}`")
        columns = tuple(
            LogicColumn(each, digest_of("generated", str(at), digest))
            for at, each in enumerate(names)
        )
        base = self._scope.trail.note("generator", digest)
        return LogicRelation(columns, (base,), leaves=frozenset({digest.hex()}))

    def _generated(self, relation: LogicRelation, node: Any) -> LogicRelation:
        """LATERAL VIEW: every row once for each row its generator gives."""
        check_arguments(node, _LATERAL)
        call, alias = node.args["this"], node.args.get("alias")
        digest, leaves = digest_repeat(
            self._values.value(call, scope_over(relation, self._scope)), relation.leaves
        )
        made = _generated_columns(call, alias, digest)
        outer = "outer" if node.args.get("outer") else "inner"
        base = digest_of("lateral view", relation.rows, digest, outer)
        self._scope.trail.note("generator", digest_of(outer, digest))
        found = relation.over(base).with_columns((*relation.columns, *made))
        return replace(found, leaves=leaves)

    def _join(self, join: Any) -> None:
        left = self.relation
        assert left is not None
        check_arguments(join, _JOIN)
        right = self._right_side(left, join.args["this"])
        side, kind = _way(join)
        natural = (join.args.get("method") or "").upper() == "NATURAL"
        if join.args.get("using") or natural:
            columns, conditions = _merged(left, right, join, side)
        else:
            seen = left.with_columns((*left.columns, *right.columns))
            both = scope_over(seen, self._scope)
            both.parent = self._scope.parent
            on = join.args.get("on")
            conditions = self._values.conditions(on, both) if on is not None else frozenset()
            columns = (*_filled(left, side, "RIGHT"), *_filled(right, side, "LEFT"))
        if kind in ("SEMI", "ANTI"):
            columns = left.columns
        self.relation = self._joined(left, right, (side, kind), conditions, columns)

    def _joined(
        self,
        left: LogicRelation,
        right: LogicRelation,
        way: tuple[str, str],
        conditions: frozenset[bytes],
        columns: tuple[LogicColumn, ...],
    ) -> LogicRelation:
        note = self._scope.trail.note
        leaves = left.leaves | right.leaves
        side, kind = way
        if side or kind in ("SEMI", "ANTI"):
            digest = digest_of("join", side, kind, left.rows, right.rows, *sorted(conditions))
            note("join", digest_of("join", side, kind, right.rows, *sorted(conditions)))
            return LogicRelation(columns, (digest,), leaves=leaves)
        for each in conditions:
            note("filter", each)
        filters = left.filters | right.filters | conditions
        bases = (*left.bases, *right.bases)
        if not left.leaves & right.leaves:
            bases = tuple(sorted(bases))
        return LogicRelation(columns, bases, filters, leaves)

    def _right_side(self, left: LogicRelation, node: Any) -> LogicRelation:
        if node.__class__ is exp.Lateral:
            return self._lateral(left, node)
        if not (node.args.get("joins") or node.args.get("laterals")):
            return self._item(node)
        inner = FromClause(self._scope, self._query)
        inner._items = self._items
        inner.relation = inner._item(node)
        inner._extend(node)
        return inner.relation

    def _lateral(self, left: LogicRelation, node: Any) -> LogicRelation:
        """An item that sees those before it, as a query sees the one around it."""
        check_arguments(node, _LATERAL)
        if node.args.get("outer"):
            raise Undigestible("LATERAL with OUTER")
        inner = scope_over(left, self._scope)
        this = node.args["this"]
        if this.__class__ is not exp.Subquery:
            return self._lateral_function(left, node, inner)
        found = aliased(self._query(this, inner), node.args.get("alias"))
        columns = tuple(
            replace(each, digest=digest_of("lateral", left.rows, each.digest))
            for each in found.columns
        )
        return found.over(digest_of("lateral", left.rows, found.rows)).with_columns(columns)

    def _lateral_function(self, left: LogicRelation, node: Any, inner: LogicScope) -> LogicRelation:
        call = node.args["this"]
        digest = digest_of("lateral", left.rows, self._values.value(call, inner))
        columns = _generated_columns(call, node.args.get("alias"), digest)
        return LogicRelation(columns, (self._scope.trail.note("generator", digest),))


def _generated_columns(call: Any, alias: Any, digest: bytes) -> tuple[LogicColumn, ...]:
    """The columns of a generator, under the names of its alias or its own."""
    listed = alias.args.get("columns") if alias is not None else None
    named = tuple(each.name.lower() for each in listed or [])
    names = named or _GENERATED.get(function_name(call).lower(), ())
    if not names:
        raise Undigestible(f"the generator `{function_name(call)}`, whose columns have no names")
    return tuple(
        LogicColumn(each, digest_of("generated", str(at), digest), _alias_path(alias))
        for at, each in enumerate(names)
    )


def aliased(relation: LogicRelation, alias: Any) -> LogicRelation:
    """The relation under the name of its alias, its columns too when the alias lists them."""
    if alias is None:
        return relation
    columns = relation.visible
    named = [each.name for each in alias.args.get("columns") or []]
    if named and len(named) != len(columns):
        raise Undigestible("an alias that names another number of columns")
    path = _alias_path(alias)
    return relation.with_columns(
        tuple(
            LogicColumn(
                named[at].lower() if named else each.name,
                each.digest,
                path or each.qualifier,
                written=named[at] if named else each.written,
            )
            for at, each in enumerate(columns)
        )
    )


def _alias_path(alias: Any) -> tuple[str, ...]:
    name = alias.args.get("this") if alias is not None else None
    return (name.name.lower(),) if name is not None else ()


def _merged(
    left: LogicRelation, right: LogicRelation, join: Any, side: str
) -> tuple[tuple[LogicColumn, ...], frozenset[bytes]]:
    """USING and NATURAL: each shared name comes out once, first; both originals stay reachable."""
    theirs = {each.name: each for each in right.visible}
    ours = {each.name: each for each in left.visible}
    using = join.args.get("using")
    names = (
        [each.name.lower() for each in using]
        if using
        else [name for name in ours if name in theirs]
    )
    keys: list[LogicColumn] = []
    conditions: set[bytes] = set()
    for name in names:
        if name not in ours or name not in theirs:
            raise Undigestible(f"the join column `{name}`")
        if [each.name for each in (*left.visible, *right.visible)].count(name) > 2:
            raise Undigestible(f"a join by `{name}`, which a side has twice")
        # NATURAL pairs names letter by letter.
        if not using and not ours[name].written == theirs[name].written != "":
            raise Undigestible("a NATURAL join of names in letters that are not known")
        a, b = ours[name].digest, theirs[name].digest
        # As `ON a = b` would be, so that the one can be written for the other.
        conditions.add(equality(a, b))
        merged = {"RIGHT": b, "FULL": digest_of("merged", a, b)}.get(side, a)
        keys.append(LogicColumn(name, merged))
    rest = (
        replace(each, hidden=True) if each.name in names else each
        for each in (*_filled(left, side, "RIGHT"), *_filled(right, side, "LEFT"))
    )
    return (*keys, *rest), frozenset(conditions)


def _way(join: Any) -> tuple[str, str]:
    """Side and kind of a join, whatever words were written that say nothing."""
    side = (join.args.get("side") or "").upper()
    kind = (join.args.get("kind") or "").upper()
    if kind in ("SEMI", "ANTI") and side in ("", "LEFT"):
        return "", kind
    if kind not in ("", "OUTER", "INNER", "CROSS") or side not in ("", "LEFT", "RIGHT", "FULL"):
        raise Undigestible(f"a join that is {side} {kind}".rstrip())
    return side, "" if kind == "OUTER" else kind


def _filled(relation: LogicRelation, side: str, filling: str) -> tuple[LogicColumn, ...]:
    """The columns of one side; those a join may fill up with nulls are other values."""
    if side not in (filling, "FULL"):
        return relation.columns
    return tuple(
        replace(each, digest=digest_of("outer side", each.digest)) for each in relation.columns
    )


_SETS: Final = (exp.GroupingSets, exp.Rollup, exp.Cube, exp.Tuple)


def group_digest(
    group: Any, items: list[Any], scope: LogicScope, values: Expressions
) -> tuple[bytes, list[LogicColumn]]:
    """The digest of a grouping and its plain keys as columns. Raises Undigestible."""
    if group is None:
        return digest_of("one group"), []
    if group.args.get("all"):
        keys = [values.value(each, scope) for each in items if not has_aggregate(each)]
        return digest_of("keys", *sorted(set(keys))), []
    plain: list[LogicColumn] = []
    sets: list[bytes] = []
    for each in group.args.get("expressions") or []:
        if isinstance(each, _SETS):
            sets.append(_set(each, items, scope, values))
        else:
            names = names_of(each)
            digest = _key(each, items, scope, values)
            plain.append(LogicColumn(names[0] if names else "", digest))
    for name in ("grouping_sets", "rollup", "cube"):
        members = group.args.get(name) or []
        sets += [digest_of(name, _set(each, items, scope, values)) for each in members]
    digests = sorted({each.digest for each in plain})
    return digest_of("keys", *digests, *(digest_of("set", each) for each in sets)), plain


def _set(node: Any, items: list[Any], scope: LogicScope, values: Expressions) -> bytes:
    if isinstance(node, _SETS):
        members = node.args.get("expressions") or []
        return digest_of(
            node.__class__.__name__, *(_set(each, items, scope, values) for each in members)
        )
    return _key(node, items, scope, values)


def _key(node: Any, items: list[Any], scope: LogicScope, values: Expressions) -> bytes:
    """A key: a position in the list, or an expression over the relation, then over aliases."""
    while node.__class__ in (exp.Paren, exp.Alias):
        node = node.args["this"]
    position = ordinal_of(node)
    if position is None:
        return values.value(node, scope)
    select = node.find_ancestor(exp.Select)
    if select is not None and select.args.get(PIPE):
        raise Undigestible("a position in the GROUP BY of a pipe")
    if not 0 < position <= len(items) or any(map(is_star, items[:position])):
        raise Undigestible("a position in GROUP BY that follows a star")
    return values.value(items[position - 1], scope)
