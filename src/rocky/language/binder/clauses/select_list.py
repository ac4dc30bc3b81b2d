"""The select list: stars spread out, aliases given, generators unfolded."""

from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.clauses.group_by import Grouping
from rocky.language.binder.clauses.relations import bind_generator
from rocky.language.binder.expr import (
    EXPRESSION,
    HAS_GENERATOR,
    MAX_COLUMNS,
    Column,
    Expr,
    TooManyColumns,
    derived,
)
from rocky.language.binder.expressions.calls import function_name
from rocky.language.binder.expressions.fields import expand_star
from rocky.language.binder.names.output_names import output_name
from rocky.language.binder.scopes import Relation, Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.functions.generators import GENERATORS, TABLE_ONLY

_WRAPPERS: Final = (exp.Alias, exp.Aliases)


class SelectItem:
    """One output column: the column, the expression it carries and the node it came from."""

    __slots__ = ("broken", "column", "expr", "node")

    def __init__(self, column: Column, expr: Expr, node: Any) -> None:
        # A name that was not found: the column its author meant has another name.
        self.broken = False
        self.column = column
        self.expr = expr
        self.node = node


def project(select: exp.Select, scope: Scope, grouping: Grouping | None) -> list[SelectItem]:
    """The items of the list, in order; later ones may use the aliases of earlier ones."""
    items: list[SelectItem] = []
    scope.aliases = {}
    for node in select.args.get("expressions") or []:
        while node.__class__ is exp.Paren and node.args["this"].__class__ is exp.Star:
            node = node.args["this"]  # noqa: PLW2901 - `(*)` is `*`
        kind = node.__class__
        if kind is exp.Star or (kind is exp.Column and node.args["this"].__class__ is exp.Star):
            scope.binding.stars.append(node)
            items.extend(_star_items(node, scope))
            if len(items) > MAX_COLUMNS:
                raise TooManyColumns
        elif _generator(node) is not None:
            items.extend(_generated(node, scope))
        else:
            items.append(_item(node, kind, scope, grouping))
    for assignment in select.args.get("assignments") or []:
        _assign(assignment, items, scope)
    return items


def _star_items(node: Any, scope: Scope) -> list[SelectItem]:
    items = []
    starred = expand_star(node, scope)
    if scope.binding.names is not None:
        scope.binding.names.use_star(node, starred, scope.binding)
    for column in starred:
        if scope.nulled is not None:
            column = scope.nulled.get(column.ident, column)  # noqa: PLW2901 - the same column, seen nullable
        items.append(SelectItem(column, column, node))
    return items


def _item(node: Any, kind: type, scope: Scope, grouping: Grouping | None) -> SelectItem:
    binding = scope.binding
    if kind is exp.Alias:
        inner = node.args["this"]
        expr = bind_expression(inner, scope)
        if grouping is not None and grouping.makes_null(inner, scope):
            expr = _nulled(expr)
        name = node.args["alias"].name
        column = Column(name, expr.type, expr.nullable, expr.sources, binding.fresh())
        column.place = node.args["alias"]
        if binding.names is not None:
            binding.names.define_output(column.place, column, scope.aliases, binding)
        key = column.key
        assert scope.aliases is not None
        known = scope.aliases.get(key)
        if known is None:
            scope.aliases[key] = [expr]
        else:
            known.append(expr)
        _refuse_generator(expr, node, scope)
        return SelectItem(column, expr, inner)
    if kind is exp.Aliases:
        expr = scope.binding.error(
            Code.INVALID_CLAUSE,
            "several names for one value",
            node,
            "MULTI_ALIAS_WITHOUT_GENERATOR",
            help="`AS (a, b)` names the columns of a generator such as `inline`",
        )
    else:
        expr = bind_expression(node, scope)
    if grouping is not None and grouping.makes_null(node, scope):
        expr = _nulled(expr)
    _refuse_generator(expr, node, scope)
    if isinstance(expr, Column) and kind is exp.Column:
        identifier = node.args["this"]
        twin = expr.copy(identifier.args["this"])
        twin.hidden = False
        twin.open = False
        twin.place = identifier
        return SelectItem(twin, expr, node)
    name, named = output_name(node, expr, scope)
    if named and scope.aliases is not None:
        # A field taken from a struct is an alias to Spark, so later items may use its name.
        scope.aliases.setdefault(name.lower(), []).append(expr)
    column = Column(name, expr.type, expr.nullable, expr.sources, binding.fresh())
    column.named = named
    column.place = node
    item = SelectItem(column, expr, node)
    item.broken = kind is exp.Column and expr.type is t.UNKNOWN
    return item


def _nulled(expr: Expr) -> Expr:
    if expr.nullable:
        return expr
    return Expr(expr.type, True, expr.sources, expr.flags, name=expr.name)


def _refuse_generator(expr: Expr, node: Any, scope: Scope) -> None:
    if expr.flags & HAS_GENERATOR:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "a generator cannot stand inside another expression",
            node,
            "UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS",
            help="use LATERAL VIEW, or give the generator a select item of its own",
        )


def _generator(node: Any) -> Any:
    """The generator call an item consists of, or None."""
    inner = node
    while inner.__class__ in _WRAPPERS or inner.__class__ is exp.Paren:
        inner = inner.args["this"]
    if inner.__class__ is exp.Anonymous:
        key = function_name(inner).lower()
        return inner if key in GENERATORS and key not in TABLE_ONLY else None
    return None


def _generated(node: Any, scope: Scope) -> list[SelectItem]:
    """The columns of `explode(x) AS c` and its like."""
    call = _generator(node)
    made = bind_generator(call, scope, scope)
    names = _aliases(node)
    columns = made.columns
    if not made.known:
        columns = [
            Column(name, t.UNKNOWN, True, frozenset(), scope.binding.fresh()) for name in names
        ]
    elif names and len(names) != len(columns):
        scope.binding.error(
            Code.INVALID_CLAUSE,
            f"the generator gives {len(columns)} columns and {len(names)} are named",
            node,
            "UDTF_ALIAS_NUMBER_MISMATCH",
        )
        names = []
    items = []
    for index, column in enumerate(columns):
        column = column.copy(names[index] if names else None)  # noqa: PLW2901 - the same, renamed
        column.named = bool(names)
        column.place = node
        expr = derived(column.type, column.nullable, (column,), EXPRESSION)
        if names and scope.aliases is not None:
            scope.aliases.setdefault(column.key, []).append(
                Expr(column.type, column.nullable, expr.sources, name=column.name)
            )
        expr.flags |= HAS_GENERATOR
        items.append(SelectItem(column, expr, node))
    return items


def _aliases(node: Any) -> list[str]:
    if node.__class__ is exp.Alias:
        return [node.args["alias"].name]
    if node.__class__ is exp.Aliases:
        return [each.name for each in node.args["expressions"]]
    return []


def _assign(node: Any, items: list[SelectItem], scope: Scope) -> None:
    """Pipe SET: replace a column by an expression over the row as earlier ones left it."""
    target, value = node.args.get("this"), node.args.get("expression")
    if not isinstance(target, exp.Column) or value is None:
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "a pipe SET takes assignments `name = value`",
            node,
            "PARSE_SYNTAX_ERROR",
        )
        return
    key = target.name.lower()
    row = Relation([item.column for item in items], scope.relation.known)
    expr = bind_expression(value, Scope(scope.binding, row, scope.parent, scope.ctes))
    if target.args.get("table") is not None:
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "SET takes the name of a column without a qualifier",
            target,
            "_LEGACY_ERROR_TEMP_0035",
        )
        return
    matched = [item for item in items if item.column.key == key]
    if len(matched) > 1:
        scope.binding.error(
            Code.AMBIGUOUS_COLUMN,
            f"{len(matched)} columns are called `{target.name}`",
            target,
            "AMBIGUOUS_REFERENCE",
        )
        return
    for item in matched:
        item.column = Column(
            target.name,
            expr.type,
            expr.nullable,
            expr.sources,
            scope.binding.fresh(),
        )
        item.expr, item.node = expr, value
        if scope.binding.names is not None:
            scope.binding.names.define_output(target.this, item.column, None, scope.binding)
        return
    scope.binding.error(
        Code.UNKNOWN_COLUMN,
        f"no column `{target.name}` to set",
        target,
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
    )
