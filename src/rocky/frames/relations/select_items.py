"""Items: what `select` and its relatives are given, as entries of a select list."""

import re
from collections.abc import Iterable
from typing import Any, Final

from rocky.diagnostics import Code
from rocky.frames.column_identity import Meaning
from rocky.frames.expressions import bare_expression, expression
from rocky.frames.fragments import Fragment, sql
from rocky.frames.layers import find_by_plan, written
from rocky.frames.literals import NoSql
from rocky.frames.scope import SIDE_UNSURE, Scope
from rocky.frames.select_list import Item, passed_on
from rocky.frames.sites import site_of
from rocky.language.datatypes.types import StructType
from rocky.language.names import bare_name, split_name

_GENERATORS: Final = frozenset(
    "explode explode_outer posexplode posexplode_outer inline inline_outer json_tuple stack"
    " variant_explode variant_explode_outer".split()
)


def items_of(messages: Iterable[Any], scope: Scope) -> list[Item]:
    """The entries of a select list."""
    return [item for each in messages for item in _items(each, scope)]


def _items(message: Any, scope: Scope) -> list[Item]:
    kind = message.WhichOneof("expr_type")
    if kind == "unresolved_star":
        return _starred(message, scope)
    if kind == "unresolved_regex":
        return _by_pattern(message, scope)
    if kind == "unresolved_attribute":
        return [_attribute(message, scope)]
    if kind == "expression_string":
        return [_text(message, scope)]
    if kind == "alias":
        return [_aliased(message, scope)]
    makes = _generates(message)
    return [Item(bare_expression(message, scope), several=makes, generates=makes)]


def _generates(message: Any) -> bool:
    return (
        message.WhichOneof("expr_type") == "unresolved_function"
        and message.unresolved_function.function_name.lower() in _GENERATORS
    )


def _aliased(message: Any, scope: Scope) -> Item:
    names = tuple(message.alias.name)
    value = bare_expression(message.alias.expr, scope)
    if len(names) == 1 and not _generates(message.alias.expr):
        return Item(value, names[0])
    return Item(value, None, names=names, several=True, generates=_generates(message.alias.expr))


def _text(message: Any, scope: Scope) -> Item:
    found, alias, star = scope.text(message.expression_string.expression, site_of(message))
    if alias is None and not star:
        return _same_column(found, scope)
    return Item(found, alias, several=star and alias is None)


def _attribute(message: Any, scope: Scope) -> Item:
    asked = message.unresolved_attribute.unparsed_identifier
    return _same_column(expression(message, scope), scope, asked)


def _same_column(value: Fragment, scope: Scope, asked: str = "") -> Item:
    """A value; where it is a column of the input it stays that one, spelt as it is asked for."""
    spelt = split_name(asked or value.text)[-1]
    for at, (layer, _) in enumerate(scope.inputs):
        for index, each in enumerate(layer.columns):
            if value.text.lower() == scope.reference(at, index).lower():
                name = spelt if spelt.lower() == (each.name or "").lower() else each.name
                return Item(value, name, (at, index), qualifier=each.qualifier)
    return Item(value)


def _starred(message: Any, scope: Scope) -> list[Item]:
    star = message.unresolved_star
    site = site_of(message)
    items = [
        (layer, index, item)
        for at, (layer, alias) in enumerate(scope.inputs)
        for index, item in enumerate(passed_on(layer, at, alias if len(scope.inputs) > 1 else None))
    ]
    if star.HasField("plan_id"):
        if _is_unsure(star.plan_id, scope):
            raise NoSql(SIDE_UNSURE)
        wanted = {
            place
            for layer, _ in scope.inputs
            for name in _names_below(layer, star.plan_id)
            for place in find_by_plan(layer, star.plan_id, name).places
        }
        return [item for _, index, item in items if index in wanted]
    target = star.unparsed_target.removesuffix(".*")
    if not target:
        return [
            item._replace(fragment=sql(item.fragment.text, site=site))
            for _, _, item in items
            if not item.hidden
        ]
    path = tuple(part.lower() for part in split_name(target))
    chosen = [
        item
        for layer, index, item in items
        if item.several or layer.columns[index].qualifier[-len(path) :] == path
    ]
    if chosen:
        return [item for item in chosen if not item.hidden]
    meant = scope.attribute(target, None, site)
    kind, _ = scope.lowering.type_of(meant, scope.source)
    if isinstance(kind, StructType):
        return [
            Item(sql(meant, f".{written(each.name)}", site=site), each.name) for each in kind.fields
        ]
    return [Item(sql(meant, ".*", site=site), several=True)]


def _is_unsure(plan_id: int, scope: Scope) -> bool:
    """Whether Spark may take a column of a frame from another side than its own."""
    layers = [layer for layer, _ in scope.inputs]
    return any(
        meant.meaning is not Meaning.PLAIN
        for layer in layers
        for name in _names_below(layer, plan_id)
        for meant in [
            scope.lowering.self_joins.look(
                layers, find_by_plan(layer, plan_id, name).frame, plan_id, name
            )
        ]
    )


def _names_below(layer: Any, plan_id: int) -> list[str]:
    if plan_id in layer.plan_ids:
        return [each.name for each in layer.columns if not each.hidden]
    return [name for each in layer.inputs for name in _names_below(each, plan_id)]


def _by_pattern(message: Any, scope: Scope) -> list[Item]:
    """Columns whose names a regular expression in backticks matches."""
    given = message.unresolved_regex.col_name
    layer = scope.inputs[0][0]
    try:
        pattern = re.compile(bare_name(given), re.IGNORECASE)
    except re.error as fault:
        scope.mistake(
            Code.SYNTAX_ERROR, f"`{given}` is no pattern: {fault}", site_of(message), None
        )
        return []
    return [
        item
        for item, column in zip(passed_on(layer), layer.columns, strict=False)
        if pattern.fullmatch(column.name) and not column.hidden
    ]
