"""Joins: by a condition, by names, and crossed."""

from collections.abc import Callable
from typing import Any, Final

from rocky.diagnostics import Code
from rocky.diagnostics.suggestion import closest
from rocky.frames.clauses import clauses_of_join
from rocky.frames.expressions import bare_expression, expression
from rocky.frames.fragments import NOT, Fragment, joined, operand, sql
from rocky.frames.join_scope import scope_of_join
from rocky.frames.layers import Layer, find_by_plan, written
from rocky.frames.lowering import Finding, Lowering
from rocky.frames.operators import INFIX, infix
from rocky.frames.scope import Scope, over
from rocky.frames.select_list import Item, passed_on
from rocky.frames.sites import Site, site_of

_WORDS: Final = {
    0: " JOIN ",
    1: " JOIN ",
    2: " FULL OUTER JOIN ",
    3: " LEFT JOIN ",
    4: " RIGHT JOIN ",
    5: " LEFT ANTI JOIN ",
    6: " LEFT SEMI JOIN ",
    7: " CROSS JOIN ",
}
_FULL, _LEFT, _RIGHT, _ONE_SIDED = 2, 3, 4, (5, 6)


def join(
    message: Any, lowering: Lowering, lower: Callable[[Any], Layer], site: Site | None
) -> Layer:
    """`join` and `crossJoin`."""
    left, right = lower(message.left), lower(message.right)
    lowering.self_joins.note(left, right)
    scope = over(lowering, left, right)
    (_, one), (_, two) = scope.inputs
    kind = message.join_type
    tables = sql(
        f" FROM {_aliased(left, one)}{_WORDS.get(kind, ' JOIN ')}{_aliased(right, two)}", site=site
    )
    if message.using_columns:
        return _by_names(message, scope, tables, site)
    if message.HasField("join_condition"):
        tables = sql(tables, " ON ", _condition(message.join_condition, scope), site=site)
    items = passed_on(left, 0, one)
    if kind not in _ONE_SIDED:
        items += passed_on(right, 1, two)
    made = _joined(lowering, (left, right), items, tables, site)
    names = [each.sql for side in _sides(scope, kind) for each in side.columns]
    return _as_one(made, items, names, tables, scope)


def lateral(
    message: Any, lowering: Lowering, lower: Callable[[Any], Layer], site: Site | None
) -> Layer:
    """`lateralJoin`: the other side reads the row of this one."""
    left = lower(message.left)
    right, query = lowering.inner_query(message.right, over(lowering, left))
    lowering.self_joins.note(left, right)
    word = _WORDS.get(message.join_type, " JOIN ")
    scope = Scope(lowering, ((left, left.name), (right, "inner_rows")))
    tables = sql(f" FROM {left.name}{word}LATERAL (", query, ") AS inner_rows", site=site)
    if message.HasField("join_condition"):
        tables = sql(tables, " ON ", _condition(message.join_condition, scope), site=site)
    elif message.join_type == _LEFT:
        tables = sql(tables, " ON true", site=site)
    items = passed_on(left, 0, left.name)
    items += [each for each in passed_on(right, 1, "inner_rows") if not each.hidden]
    return _joined(lowering, (left, right), items, tables, site)


def as_of(
    message: Any, lowering: Lowering, lower: Callable[[Any], Layer], site: Site | None
) -> Layer:
    """An as-of join: of the rows that fit, the nearest."""
    left, right = lower(message.left), lower(message.right)
    if not (left.known and right.known):
        return _joined(lowering, (left, right), [], sql(""), site)
    lowering.self_joins.note(left, right)
    scope = over(lowering, left, right)
    (_, one), (_, two) = scope.inputs
    earlier, later = (expression(each, scope) for each in (message.left_as_of, message.right_as_of))
    parts, apart = _nearness(message, scope, earlier, later)
    for name in message.using_columns:
        places = [layer.named(name) for layer in (left, right)]
        if not all(places):
            side = "right" if places[0] else "left"
            _report_missing(name, (right if places[0] else left, side), lowering, site)
            return lowering.unknown_rows(None, site, left, right)
        pair = (scope.reference(0, places[0][0]), scope.reference(1, places[1][0]))
        parts.append(sql(" = ".join(pair)))
    if message.HasField("join_expr"):
        parts.append(operand(_condition(message.join_expr, scope)))
    fits = sql(" WHERE ", joined(" AND ", parts)) if parts else sql("")
    word = " LEFT JOIN " if message.join_type in ("left", "leftouter") else " JOIN "
    tables = sql(
        f" FROM {_aliased(left, one)}{word}LATERAL (SELECT *, ", apart,
        f" AS apart__ FROM {_aliased(right, two)}", fits,
        f" ORDER BY apart__ LIMIT 1) AS {two} ON true", site=site,
    )  # fmt: skip
    items = passed_on(left, 0, one) + passed_on(right, 1, two)
    return _joined(lowering, (left, right), items, tables, site)


def _nearness(
    message: Any, scope: Scope, left: Fragment, right: Fragment
) -> tuple[list[Fragment], Fragment]:
    """Which rows of the right side fit, and how far from the row of the left they are."""
    equal = "=" if message.allow_exact_matches else ""
    reach = expression(message.tolerance, scope) if message.HasField("tolerance") else None
    past, ahead = sql("(", left, " - ", right, ")"), sql("(", right, " - ", left, ")")
    if message.direction == "backward":
        parts = [sql(left, f" >{equal} ", right)]
        near = [] if reach is None else [sql(right, " >= ", left, " - ", reach)]
        return parts + near, past
    if message.direction == "forward":
        parts = [sql(left, f" <{equal} ", right)]
        near = [] if reach is None else [sql(right, " <= ", left, " + ", reach)]
        return parts + near, ahead
    parts = [] if equal else [sql("NOT (", left, " = ", right, ")")]
    if reach is not None:
        parts.append(
            sql(right, " >= ", left, " - ", reach, " AND ", right, " <= ", left, " + ", reach)
        )
    return parts, sql("CASE WHEN ", left, " > ", right, " THEN ", past, " ELSE ", ahead, " END")


def _joined(
    lowering: Lowering,
    inputs: tuple[Layer, Layer],
    items: list[Item],
    tables: Fragment,
    site: Site | None,
) -> Layer:
    if not all(each.known for each in inputs):
        return lowering.unknown_rows("a join with a frame of unknown columns", site, *inputs)
    return lowering.select(inputs, items, source=tables)


def _aliased(layer: Layer, alias: str) -> str:
    return layer.name if layer.name == alias else f"{layer.name} AS {alias}"


def _condition(message: Any, scope: Scope) -> Fragment:
    """The condition. Of a frame that is joined to itself, `df.a == df.a` means one of each side."""
    call = message.unresolved_function
    name = call.function_name if message.WhichOneof("expr_type") == "unresolved_function" else ""
    if name in ("and", "or"):
        pair = [_condition(each, scope) for each in call.arguments]
        return infix(name.upper(), pair, site_of(message))
    if name in ("not", "!"):
        inner = operand(_condition(call.arguments[0], scope), NOT)
        return sql("NOT ", inner, site=site_of(message), level=NOT)
    if name in ("==", "<=>"):
        both = _of_both(list(call.arguments), scope, site_of(message))
        if both is not None:
            return infix(INFIX[name], both, site_of(message))
    return bare_expression(message, scope)


def _of_both(messages: list[Any], scope: Scope, site: Site | None) -> list[Fragment] | None:
    """One column of each side for two references that are one column, by its name as Spark does."""
    attributes = [each.unresolved_attribute for each in messages]
    if not all(each.HasField("plan_id") for each in attributes):
        return None
    name = attributes[0].unparsed_identifier
    frames = [_frame_of(each.plan_id, scope, name) for each in attributes]
    if frames[0] is None or frames[1] is None:
        return None
    left, right = (layer for layer, _ in scope.inputs)
    joins, pair = scope.lowering.self_joins, (frames[0], frames[1])
    if attributes[1].unparsed_identifier.lower() != name.lower() or not joins.are_one(
        (left, right), pair, name
    ):
        return None
    if not (left.named(name) and right.named(name)):
        return None
    return [scope.of_side(at, name, site) for at in (0, 1)]


def _frame_of(plan_id: int, scope: Scope, name: str) -> Layer | None:
    found = (find_by_plan(layer, plan_id, name).frame for layer, _ in scope.inputs)
    return next((each for each in found if each is not None), None)


def _by_names(message: Any, scope: Scope, tables: Fragment, site: Site | None) -> Layer:
    """Keys first, as one column each; the other side's is still there for who asks its frame."""
    lowering = scope.lowering
    left, right = (layer for layer, _ in scope.inputs)
    kind = message.join_type
    keys: list[tuple[int, int]] = []
    for name in message.using_columns:
        places = [layer.named(name) for layer in (left, right)]
        if not (left.known and right.known):
            continue
        if not all(places):
            side = "right" if places[0] else "left"
            _report_missing(name, (right if places[0] else left, side), lowering, site)
            return lowering.unknown_rows(None, site, left, right)
        keys.append((places[0][0], places[1][0]))
    equal = " AND ".join(f"{scope.reference(0, a)} = {scope.reference(1, b)}" for a, b in keys)
    layered = sql(tables, f" ON {equal}", site=site)
    if not (left.known and right.known):
        return _joined(lowering, (left, right), [], layered, site)
    first = [_key(scope, each, kind) for each in keys]
    used = ({a for a, _ in keys}, {b for _, b in keys})
    (_, one), (_, two) = scope.inputs
    sides = [passed_on(left, 0, one)]
    if kind not in _ONE_SIDED:
        sides.append(passed_on(right, 1, two))
    rest = [
        item
        for at, side in enumerate(sides)
        for index, item in enumerate(side)
        if index not in used[at]
    ]
    hidden = [
        side[pair[at]]._replace(hidden=True)
        for at, side in enumerate(sides)
        for pair, item in zip(keys, first, strict=True)
        if item.origin != (at, pair[at]) and (side[pair[at]].name or "").lower() in lowering.wanted
    ]
    items = [*first, *rest, *hidden]
    made = _joined(lowering, (left, right), items, layered, site)
    pairs = [(left.columns[a].sql, right.columns[b].sql) for a, b in keys]
    if any(one != other for one, other in pairs):
        return made
    names = [one for one, _ in pairs]
    listed = ", ".join(written(each) for each in names)
    for at, layer in enumerate(_sides(scope, kind)):
        names += [each.sql for index, each in enumerate(layer.columns) if index not in used[at]]
    starred = names == [each.sql for each in made.columns]
    if starred and left.name != right.name and (one, two) != (left.name, right.name):
        # With a star for its columns nobody needs names for its tables.
        tables = sql(f" FROM {left.name}{_WORDS.get(kind, ' JOIN ')}{right.name}", site=site)
        items = [each._replace(fragment=sql("")) for each in items]
    return _as_one(made, items, names, sql(tables, f" USING ({listed})", site=site), scope)


def _sides(scope: Scope, kind: int) -> list[Layer]:
    """The sides whose columns a query over the join sees."""
    return [layer for layer, _ in scope.inputs][: 1 if kind in _ONE_SIDED else 2]


def _as_one(
    layer: Layer, items: list[Item], names: list[str], tables: Fragment, scope: Scope
) -> Layer:
    """The layer, which can be one query with what is read from it; a star there gives `names`."""
    if layer.known and len(items) == len(layer.columns) and layer.clauses is not None:
        columns = [
            (column.sql, item.fragment.text if item.origin is not None else "")
            for item, column in zip(items, layer.columns, strict=True)
        ]
        own = [each for side, alias in scope.inputs for each in (side.name, alias)]
        layer.clauses = clauses_of_join(
            scope_of_join(names, columns, own, layer.clauses.listed), tables
        )
    return layer


def _key(scope: Scope, places: tuple[int, int], kind: int) -> Item:
    left, right = places
    name = scope.inputs[0][0].columns[left].name
    if kind == _FULL:
        both = f"coalesce({scope.reference(0, left)}, {scope.reference(1, right)})"
        return Item(sql(both), name)
    at = 1 if kind == _RIGHT else 0
    column = scope.inputs[at][0].columns[places[at]]
    return Item(
        sql(scope.reference(at, places[at])),
        column.name,
        (at, places[at]),
        qualifier=column.qualifier,
    )


def _report_missing(
    name: str, where: tuple[Layer, str], lowering: Lowering, site: Site | None
) -> None:
    layer, side = where
    near = closest(name, [each.name for each in layer.visible])
    lowering.findings.append(
        Finding(
            Code.UNKNOWN_COLUMN,
            f"no column `{name}` on the {side} side of the join",
            site,
            f"there is a column `{near}`" if near else f"the columns are {_shown(layer)}",
            "UNRESOLVED_USING_COLUMN_FOR_JOIN",
        )
    )


def _shown(layer: Layer) -> str:
    return ", ".join(f"`{written(each.name)}`" for each in layer.visible[:8])
