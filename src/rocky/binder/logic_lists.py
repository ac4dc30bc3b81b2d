"""The select list as digests: stars spread out, aliases that later items may use, generators."""

from dataclasses import replace
from typing import Any, NamedTuple

from sqlglot import exp

from rocky.binder.calls import function_name
from rocky.binder.grouping_keys import is_star
from rocky.binder.logic_digests import LogicColumn, Undigestible, again, find_columns, mark
from rocky.binder.logic_expressions import Expressions, has_aggregate, written_names
from rocky.binder.logic_scopes import LogicScope
from rocky.catalog.generators import GENERATORS


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
            digest, leaves = again(values.value(_bare(node), scope), leaves)
            if not names:
                raise Undigestible("a generator that names no columns")
            made.append(digest)
            found.extend(
                LogicColumn(name.lower(), mark("generated", str(at), digest), written=name)
                for at, name in enumerate(written)
            )
            continue
        digest = values.value(node, scope)
        if node.__class__ is exp.Alias:
            scope.aliases.setdefault(names[0], digest)
        label = written[0] if written else ""
        found.append(LogicColumn(label.lower(), digest, written=label))
    for each in select.args.get("assignments") or []:
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
