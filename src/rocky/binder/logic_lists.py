"""The select list as digests: stars spread out, aliases that later items may use, generators."""

from dataclasses import replace
from typing import Any

from sqlglot import exp

from rocky.binder.calls import function_name
from rocky.binder.grouping_keys import is_star
from rocky.binder.logic_digests import LogicColumn, Undigestible, find_columns, mark
from rocky.binder.logic_expressions import Expressions, has_aggregate
from rocky.binder.logic_scopes import LogicScope
from rocky.catalog.generators import GENERATORS


def select_list(
    select: Any, scope: LogicScope, values: Expressions
) -> tuple[tuple[LogicColumn, ...], list[bytes]]:
    """The columns of a select list in order, and the generators in it. Raises Undigestible."""
    found: list[LogicColumn] = []
    made: list[bytes] = []
    for item in select.args.get("expressions") or []:
        node = item
        while node.__class__ is exp.Paren:
            node = node.args["this"]
        if is_star(node):
            found.extend(starred(node, scope))
            continue
        names = names_of(node)
        if _generator(node):
            digest = values.value(_bare(node), scope)
            if not names:
                raise Undigestible("a generator that names no columns")
            made.append(digest)
            found.extend(
                LogicColumn(name, mark("generated", str(at), digest))
                for at, name in enumerate(names)
            )
            continue
        digest = values.value(node, scope)
        if node.__class__ is exp.Alias:
            scope.aliases.setdefault(names[0], digest)
        found.append(LogicColumn(names[0] if names else "", digest))
    for each in select.args.get("assignments") or []:
        key = each.args["this"].name.lower()
        digest = values.value(each.args["expression"], scope)
        found = [LogicColumn(key, digest) if column.name == key else column for column in found]
    return tuple(found), made


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
    if node.__class__ is exp.Alias:
        return [node.args["alias"].name.lower()]
    if node.__class__ is exp.Aliases:
        return [each.name.lower() for each in node.args["expressions"]]
    if node.__class__ in (exp.Column, exp.Dot):
        return [node.name.lower()]
    return []


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
