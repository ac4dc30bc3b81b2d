"""GROUP BY as one digest: its keys, in whatever order and form they are written."""

from typing import Any, Final

from sqlglot import exp

from rocky.binder.grouping_keys import is_star
from rocky.binder.logic_digests import LogicColumn, Undigestible, mark
from rocky.binder.logic_expressions import Expressions, has_aggregate
from rocky.binder.logic_lists import names_of
from rocky.binder.logic_scopes import LogicScope
from rocky.binder.shapes import ordinal_of

_SETS: Final = (exp.GroupingSets, exp.Rollup, exp.Cube, exp.Tuple)


def group_digest(
    group: Any, items: list[Any], scope: LogicScope, values: Expressions
) -> tuple[bytes, list[LogicColumn]]:
    """The digest of a grouping and its plain keys as columns. Raises Undigestible."""
    if group is None:
        return mark("one group"), []
    if group.args.get("all"):
        keys = [values.value(each, scope) for each in items if not has_aggregate(each)]
        return mark("keys", *sorted(set(keys))), []
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
        sets += [mark(name, _set(each, items, scope, values)) for each in members]
    digests = sorted({each.digest for each in plain})
    return mark("keys", *digests, *(mark("set", each) for each in sets)), plain


def _set(node: Any, items: list[Any], scope: LogicScope, values: Expressions) -> bytes:
    if isinstance(node, _SETS):
        members = node.args.get("expressions") or []
        return mark(
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
    if not 0 < position <= len(items) or any(map(is_star, items[:position])):
        raise Undigestible("a position in GROUP BY that follows a star")
    return values.value(items[position - 1], scope)
