"""Digests of expressions and of the select list, with names replaced by what they mean.

Aggregate and window functions take in what decides the rows they see: a sum over other rows is
another sum, however it is written. Stars are spread out; later items may use earlier aliases.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

from sqlglot import exp

from rocky.language.binder.clauses.keys import is_star
from rocky.language.binder.expressions.calls import (
    call_kind,
    call_parts,
    function_name,
    kind_of_call,
)
from rocky.language.binder.function_bodies import gives_chance
from rocky.language.binder.logic.digests import (
    LogicColumn,
    LogicRelation,
    LogicScope,
    Undigestible,
    digest_name,
    digest_of,
    digest_repeat,
    equality,
    find_columns,
)
from rocky.language.declared_functions import UNDECLARED, DeclaredFunction
from rocky.language.functions.catalogue import find_function
from rocky.language.functions.generators import GENERATORS

Digester = Callable[[Any, LogicScope], LogicRelation]
"""From a query's node to its relation: handed in, since queries stand in expressions too."""

_QUERIES: Final = (exp.Query, exp.Values)
# Keywords that the parser keeps as they were written.
_WORDED: Final = (exp.Var, exp.WindowSpec, exp.Trim, exp.Interval)
_NAMED_ARGUMENTS: Final = (exp.PropertyEQ, exp.Kwarg)


class Expressions:
    """Digests of expressions, with a way to those of the queries inside them."""

    __slots__ = ("_query",)

    def __init__(self, query: Digester) -> None:
        self._query = query

    def value(self, node: Any, scope: LogicScope) -> bytes:
        """The digest of a value. Raises Undigestible."""
        kind = node.__class__
        rule = _RULES.get(kind)
        if rule is not None:
            return rule(self, node, scope)
        if isinstance(node, _QUERIES):
            return self._subquery(node, scope)
        if isinstance(node, exp.AggFunc):
            return digest_of("aggregate", scope.rows, self._generic(node, scope))
        return self._generic(node, scope)

    def conditions(self, node: Any, scope: LogicScope) -> frozenset[bytes]:
        """The digests of what a condition demands, each by itself: their order is no matter."""
        if node.__class__ is exp.Paren:
            return self.conditions(node.args["this"], scope)
        found: set[bytes] = set()
        while node.__class__ is exp.And:
            found |= self.conditions(node.args["expression"], scope)
            node = node.args["this"]
        if node.__class__ is exp.Paren:
            return frozenset(found | self.conditions(node, scope))
        return frozenset({*found, self.value(node, scope)})

    def _generic(self, node: Any, scope: LogicScope) -> bytes:
        parts: list[bytes | str] = []
        for name in sorted(node.args):
            for each in _children(node.args[name]):
                parts.append(name)
                if isinstance(each, exp.Expr):
                    parts.append(self.value(each, scope))
                else:
                    text = str(each)
                    parts.append(text.lower() if isinstance(node, _WORDED) else text)
        return digest_of(node.__class__.__name__, *parts)

    def _column(self, node: Any, scope: LogicScope) -> bytes:
        if is_star(node):
            raise Undigestible("a star among values")
        return digest_name(tuple(part.name.lower() for part in node.parts), scope)

    def _star(self, _: Any, __: LogicScope) -> bytes:
        raise Undigestible("a star among values")

    def _identifier(self, node: Any, scope: LogicScope) -> bytes:
        return digest_name((node.name.lower(),), scope)

    def _dot(self, node: Any, scope: LogicScope) -> bytes:
        right = node.args["expression"]
        if right.__class__ is exp.Identifier:
            return digest_of("field", self.value(node.args["this"], scope), right.name.lower())
        return self.value(right, scope)

    def _inner(self, node: Any, scope: LogicScope) -> bytes:
        return self.value(node.args["this"], scope)

    def _paren(self, node: Any, scope: LogicScope) -> bytes:
        found = self.value(node.args["this"], scope)
        return digest_of("unsigned", found) if node.args.get("unsigned") else found

    def _equal(self, node: Any, scope: LogicScope) -> bytes:
        args = node.args
        return equality(self.value(args["this"], scope), self.value(args["expression"], scope))

    def _call(self, node: Any, scope: LogicScope) -> bytes:
        name = function_name(node).lower()
        parts: list[bytes | str] = [name]
        declared = _declared_function(node, scope)
        if declared is not None:
            # What it computes is in its declaration; how it is spelt is not.
            parts += [".".join(call_parts(node)), declared.digest]
        for each in node.args.get("expressions") or []:
            # `count(*)` counts rows, whatever columns they have.
            counted = name == "count" and each.__class__ is exp.Star
            parts.extend(("*",) if counted else self._argument(each, scope))
        if kind_of_call(node) == "aggregate":
            return digest_of("aggregate", scope.rows, *parts)
        found = digest_of("call", *parts)
        chance = declared is not None and gives_chance(declared, scope.trail.tables)
        if not chance and not _gives_chance(name):
            return found
        # Some number rows as they come: those of other rows are others.
        return scope.trail.chance(digest_of("over", scope.relation.ordered_rows, found))

    def _argument(self, node: Any, scope: LogicScope) -> Iterator[bytes | str]:
        if is_star(node):
            # The columns a star means, under their names: in a struct they are its fields.
            yield "*"
            for column in _starred(node, scope):
                yield from (column.label, column.digest)
        elif node.__class__ is exp.Distinct:
            yield "distinct"
            for each in node.args["expressions"]:
                yield from self._argument(each, scope)
        elif node.__class__ is exp.Alias:
            yield from (node.args["alias"].name, self.value(node.args["this"], scope))
        elif isinstance(node, _NAMED_ARGUMENTS):
            yield from (node.args["this"].name, self.value(node.args["expression"], scope))
        else:
            yield self.value(node, scope)

    def _tuple(self, node: Any, scope: LogicScope) -> bytes:
        """`(a, b)`: a struct whose fields are named after its columns."""
        names = (name for each in node.args["expressions"] for name in written_names(each))
        return digest_of("tuple", self._generic(node, scope), *names)

    def _lambda(self, node: Any, scope: LogicScope) -> bytes:
        names = [each.name.lower() for each in node.args["expressions"]]
        return digest_of(
            "lambda", str(len(names)), self.value(node.args["this"], scope.inside(names))
        )

    def _window(self, node: Any, scope: LogicScope) -> bytes:
        partition, order, spec = self._specification(node, scope)
        # The function itself sees a frame; what it is computed from sees the group.
        rows = scope.framed or scope.rows
        return digest_of(
            "window", rows, self.value(node.args["this"], scope), *partition, *order, spec
        )

    def _specification(
        self, node: Any, scope: LogicScope
    ) -> tuple[list[bytes], list[bytes], bytes]:
        args = node.args
        below: tuple[list[bytes], list[bytes], bytes] = ([], [], b"")
        if args.get("alias") is not None:
            named = scope.windows.get(args["alias"].name.lower())
            if named is None:
                raise Undigestible(f"the window `{args['alias'].name}`")
            below = self._specification(named, scope)
        keys = sorted(
            digest_of("partition", self.value(each, scope))
            for each in args.get("partition_by") or []
        )
        order = self.ordering(args["order"], scope) if args.get("order") is not None else []
        spec = self.value(args["spec"], scope) if args.get("spec") is not None else b""
        return keys or below[0], order or below[1], spec or below[2]

    def ordering(self, order: Any, scope: LogicScope) -> list[bytes]:
        """The keys of an ORDER BY, each with its direction."""
        return [digest_of("order", self.value(each, scope)) for each in order.args["expressions"]]

    def _subquery(self, node: Any, scope: LogicScope) -> bytes:
        relation = self._query(node, scope)
        return digest_of("query", relation.rows, *(column.digest for column in relation.visible))

    def _exists(self, node: Any, scope: LogicScope) -> bytes:
        return digest_of("exists", self._query(node.args["this"], scope).rows)

    def _literal(self, node: Any, _: LogicScope) -> bytes:
        return digest_of(
            "literal", "text" if node.args["is_string"] else "number", node.args["this"]
        )

    def _type(self, node: Any, _: LogicScope) -> bytes:
        return digest_of("type", node.sql(dialect="spark").lower())


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from (each for each in value if each is not None)
    elif value is not None and value is not False:
        yield value


def _starred(node: Any, scope: LogicScope) -> list[LogicColumn]:
    if node.__class__ is not exp.Star or node.args.get("except_"):
        raise Undigestible("a star among values")
    return scope.relation.visible


def written_names(node: Any) -> list[str]:
    """The names an item gives, with the letters as written; none when Spark makes one up."""
    if node.__class__ is exp.Alias:
        return [node.args["alias"].name]
    if node.__class__ is exp.Aliases:
        return [each.name for each in node.args["expressions"]]
    if node.__class__ in (exp.Column, exp.Dot):
        return [node.name]
    return []


def _declared_function(node: Any, scope: LogicScope) -> DeclaredFunction | None:
    """The declared function that a call means; None for Spark's own and for one nobody declares."""
    if not scope.trail.tables.declares_functions or call_kind(function_name(node).lower()):
        return None
    found = scope.trail.tables.function(call_parts(node))
    return None if found is UNDECLARED else found


def _gives_chance(name: str) -> bool:
    """Whether two calls of a function may give two values in one row."""
    info = find_function(name)
    return info is not None and not info.deterministic


def has_aggregate(node: Any) -> bool:
    """Whether an expression holds an aggregate of its own query, outside window functions."""
    if isinstance(node, _QUERIES) or node.__class__ is exp.Exists:
        return False
    if node.__class__ is exp.Window:
        call = node.args["this"]
        while call.__class__ in (exp.IgnoreNulls, exp.RespectNulls, exp.Filter):
            call = call.args["this"]
        return any(map(has_aggregate, _below(call))) or any(
            has_aggregate(each) for each in _below(node) if each is not node.args["this"]
        )
    if node.__class__ is exp.Anonymous and kind_of_call(node) == "aggregate":
        return True
    return isinstance(node, exp.AggFunc) or any(map(has_aggregate, _below(node)))


def _below(node: Any) -> Iterator[Any]:
    for value in node.args.values():
        yield from (each for each in _children(value) if isinstance(each, exp.Expr))


_RULES: Final[dict[type, Callable[[Expressions, Any, LogicScope], bytes]]] = {
    exp.Column: Expressions._column,
    exp.Identifier: Expressions._identifier,
    exp.Star: Expressions._star,
    exp.Dot: Expressions._dot,
    exp.Paren: Expressions._paren,
    exp.Tuple: Expressions._tuple,
    exp.EQ: Expressions._equal,
    exp.Alias: Expressions._inner,
    exp.Anonymous: Expressions._call,
    exp.Lambda: Expressions._lambda,
    exp.Window: Expressions._window,
    exp.Exists: Expressions._exists,
    exp.Literal: Expressions._literal,
    exp.DataType: Expressions._type,
    exp.CurrentDate: lambda *_: digest_of("call", "current_date"),
    exp.CurrentTimestamp: lambda *_: digest_of("call", "current_timestamp"),
    exp.CurrentUser: lambda *_: digest_of("call", "current_user"),
}


class SelectList(NamedTuple):
    """The columns of a list in order, the generators in it, and what is read below those."""

    columns: tuple[LogicColumn, ...]
    made: list[bytes]
    leaves: frozenset[str]


def select_list(select: Any, scope: LogicScope, values: Expressions) -> SelectList:
    """The columns of a select list and what makes several rows of one. Raises Undigestible."""
    found: list[LogicColumn] = []
    made: list[bytes] = []
    leaves = scope.relation.leaves
    for item in select.args.get("expressions") or []:
        node = item
        while node.__class__ is exp.Paren:
            node = node.args["this"]
        if is_star(node):
            found.extend(starred(node, scope))
            continue
        written = written_names(node)
        names = [each.lower() for each in written]
        if _generator(node):
            digest, leaves = digest_repeat(values.value(_bare(node), scope), leaves)
            if not names:
                raise Undigestible("a generator that names no columns")
            made.append(digest)
            found.extend(
                LogicColumn(name.lower(), digest_of("generated", str(at), digest), written=name)
                for at, name in enumerate(written)
            )
            continue
        digest = values.value(node, scope)
        if node.__class__ is exp.Alias:
            scope.aliases.setdefault(names[0], digest)
        label = written[0] if written else ""
        found.append(LogicColumn(label.lower(), digest, written=label))
    assignments = select.args.get("assignments") or []
    if len(assignments) > 1:
        raise Undigestible("several assignments in one SET, which see each other")
    for each in assignments:
        key = each.args["this"].name.lower()
        digest = values.value(each.args["expression"], scope)
        found = [LogicColumn(key, digest) if column.name == key else column for column in found]
    return SelectList(tuple(found), made, leaves)


def spread_aliases(items: list[Any], scope: LogicScope, values: Expressions) -> None:
    """Make the aliases of the list known that GROUP BY may name: those without aggregates."""
    for item in items:
        if item.__class__ is exp.Alias and not has_aggregate(item) and not _generator(item):
            try:
                digest = values.value(item, scope)
            except Undigestible:
                # It may stand on an aggregate; whoever needs it will say so.
                continue
            scope.aliases.setdefault(names_of(item)[0], digest)


def names_of(node: Any) -> list[str]:
    """The names a select item gives its columns; none when Spark makes one up."""
    return [each.lower() for each in written_names(node)]


def starred(node: Any, scope: LogicScope) -> list[LogicColumn]:
    """The columns a star means, in order."""
    star = node if node.__class__ is exp.Star else node.args["this"]
    path = tuple(
        node.args[part].name.lower()
        for part in ("catalog", "db", "table")
        if node is not star and node.args.get(part) is not None
    )
    if star.args.get("replace") or star.args.get("rename"):
        raise Undigestible("a star with REPLACE")
    columns = scope.relation.columns
    if path:
        chosen = [each for each in columns if each.qualifier[-len(path) :] == path]
        if not chosen:
            raise Undigestible(f"`{'.'.join(path)}.*`")
        # Spark shows the keys of USING first, also in the star of one side.
        chosen.sort(key=lambda each: not each.hidden)
        chosen = [replace(each, hidden=False) for each in chosen]
    else:
        chosen = scope.relation.visible
    for each in star.args.get("except_") or []:
        dropped, used = find_columns(tuple(chosen), _path(each))
        if not dropped or used < len(_path(each)):
            raise Undigestible("EXCEPT of a field")
        chosen = [column for column in chosen if column not in dropped]
    return chosen


def _path(node: Any) -> tuple[str, ...]:
    parts = node.parts if node.__class__ is exp.Column else [node]
    return tuple(part.name.lower() for part in parts)


def _bare(node: Any) -> Any:
    while node.__class__ in (exp.Alias, exp.Aliases, exp.Paren):
        node = node.args["this"]
    return node


def _generator(node: Any) -> bool:
    call = _bare(node)
    return call.__class__ is exp.Anonymous and function_name(call).lower() in GENERATORS
