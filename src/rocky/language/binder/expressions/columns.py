"""Column references: names, dots, and what else a bare word can mean.

The order is Spark's: the relation in scope, then an alias of the same select list, then the outer
query, then a function that needs no parentheses.
"""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.diagnostics.suggestion import closest
from rocky.language.binder.expr import HAS_LATERAL_ALIAS, HAS_OUTER, Column, Expr, unknown
from rocky.language.binder.expressions.captures import ban_of, found_inside, found_outside
from rocky.language.binder.expressions.correlation import is_aggregated, not_grouped
from rocky.language.binder.expressions.declared_calls import bind_qualified
from rocky.language.binder.expressions.fields import bind_field, bind_fields, has_path, word_of
from rocky.language.binder.scopes import FROM_CLAUSE, Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.names import NOT_INNERMOST, NOT_OUTER

# Functions Spark accepts without parentheses, after no column of that name was found.
BARE_FUNCTIONS: dict[str, tuple[t.DataType, bool]] = {
    "current_date": (t.DATE, True),
    "current_timestamp": (t.TIMESTAMP, True),
    "current_time": (t.time(6), True),
    "current_user": (t.STRING, False),
    "session_user": (t.STRING, False),
    "user": (t.STRING, False),
    "grouping__id": (t.BIGINT, False),
}


def bind_column(node: exp.Column, scope: Scope) -> Expr:
    """The column a name means. A miss is reported with what is near."""
    args = node.args
    table = args.get("table")
    if table is None:
        this = args["this"]
        if this.__class__ is exp.Star:
            return scope.binding.error(
                Code.INVALID_CLAUSE, "`*` cannot stand here", node, "INVALID_USAGE_OF_STAR_OR_REGEX"
            )
        name = this.args["this"]
        key = name.lower()
        found = scope.relation.index().get(key)
        if (
            found is not None
            and len(found) == 1
            and scope.binding.plain
            and scope.lambdas is None
            and scope.nulled is None
            and not found[0].hidden
        ):
            return found[0]
        return resolve_name([this], (key,), node, scope)
    if args.get("db") is None and scope.lambdas is None and scope.nulled is None:
        this = args["this"]
        word = this.args["this"] if this.__class__ is exp.Identifier else this.name
        found = scope.relation.index().get(word.lower())
        if found is not None and len(found) == 1 and scope.fallback is None:
            qualifier = found[0].qualifier
            binding = scope.binding
            if binding.plain and qualifier and qualifier[-1] == table.args["this"].lower():
                binding.name_alias(table)
                return found[0]
    identifiers = [
        args[part] for part in ("catalog", "db", "table", "this") if args.get(part) is not None
    ]
    return resolve_name(identifiers, tuple(word_of(i).lower() for i in identifiers), node, scope)


def resolve_name(
    identifiers: list[Any], parts: tuple[str, ...], node: exp.Expr, scope: Scope
) -> Expr:
    """The expression a dotted name means, fields included."""
    names = scope.binding.names
    if names is not None:
        names.meet(parts, scope)
    if scope.lambdas is not None:
        variable = scope.lambdas.get(parts[0])
        if variable is not None:
            if names is not None:
                names.use_variable(identifiers, variable)
            return bind_fields(variable, identifiers[1:], node, scope)
    found = _find(parts, scope)
    if found is None:
        return _lookup_elsewhere(identifiers, parts, node, scope)
    if scope.binding.bans and ban_of(identifiers[0], scope) & NOT_INNERMOST:
        return found_inside(parts, node, scope)
    columns, used = found
    if len(columns) > 1:
        return _ambiguous(parts, columns, node, scope)
    column = columns[0]
    if used > 1:
        scope.binding.name_alias(identifiers[used - 2])
    if names is not None:
        names.use_column(identifiers, used, column, scope.binding)
    if scope.nulled is not None:
        column = scope.nulled.get(column.ident, column)
    if used < len(parts):
        return bind_fields(column, identifiers[used:], node, scope)
    return column


def _find(parts: tuple[str, ...], scope: Scope) -> tuple[list[Column], int] | None:
    columns, used = scope.relation.find(parts)
    if scope.fallback is not None and len(columns) != 1:
        second, second_used = scope.fallback.find(parts)
        if second and (not columns or len(second) == 1):
            return second, second_used
    elif scope.fallback is not None and not has_path(columns[0].type, parts[used:]):
        second, second_used = scope.fallback.find(parts)
        if len(second) == 1 and has_path(second[0].type, parts[second_used:]):
            return second, second_used
    return (columns, used) if columns else None


def _lookup_elsewhere(
    identifiers: list[Any], parts: tuple[str, ...], node: exp.Expr, scope: Scope
) -> Expr:
    if scope.aliases is not None:
        alias = scope.aliases.get(parts[0])
        if alias is not None:
            if scope.binding.bans and ban_of(identifiers[0], scope) & NOT_INNERMOST:
                return found_inside(parts, node, scope)
            if len(alias) > 1:
                return scope.binding.error(
                    Code.AMBIGUOUS_COLUMN,
                    f"`{parts[0]}` is the alias of {len(alias)} expressions of this select list",
                    node,
                    "AMBIGUOUS_LATERAL_COLUMN_ALIAS",
                )
            scope.binding.notes.append(("lateral-alias", node))
            if scope.binding.names is not None:
                scope.binding.names.use_lateral(identifiers, scope.aliases, alias[0], scope.binding)
            # Where FROM is not fully known, the name may be one of its columns after all.
            found = _laterally(alias[0], word_of(identifiers[0]), known=scope.relation.known)
            return bind_fields(found, identifiers[1:], node, scope)
    outer = _find_outer(identifiers, parts, node, scope)
    if outer is not None:
        return outer
    if len(parts) == 1 and parts[0] in BARE_FUNCTIONS and not identifiers[0].args.get("quoted"):
        kind, clock = BARE_FUNCTIONS[parts[0]]
        scope.binding.calls.append((parts[0].replace("__", "_"), 0, node))
        if parts[0] == "grouping__id" and not (scope.grouping and scope.grouping.has_sets):
            return scope.binding.error(
                Code.INVALID_AGGREGATION,
                "`grouping__id` needs ROLLUP, CUBE or GROUPING SETS",
                node,
                "UNSUPPORTED_GROUPING_EXPRESSION",
            )
        if clock:
            scope.binding.mark_volatile(f"volatile: `{parts[0]}` reads the clock")
        return Expr(kind, False, foldable=True)
    if not _all_known(scope):
        return unknown()
    return _unresolved(parts, node, scope)


def _laterally(expr: Expr, name: str, *, known: bool) -> Expr:
    """An alias of the same select list, marked: some places do not take it."""
    if not known:
        return Expr(t.UNKNOWN, True, expr.sources, expr.flags)
    return Expr(
        expr.type,
        expr.nullable,
        expr.sources,
        expr.flags | HAS_LATERAL_ALIAS,
        expr.value,
        expr.foldable,
        name,
    )


def _find_outer(
    identifiers: list[Any], parts: tuple[str, ...], node: exp.Expr, scope: Scope
) -> Expr | None:
    """The column of an enclosing query; what uses it is correlated."""
    outer, nearer = scope.parent, scope.relation.known
    while outer is not None:
        found = _find_in_outer(parts, outer)
        if found is None and outer.inside is not None and outer.clause != "order":
            # A subquery of HAVING may aggregate columns that HAVING itself cannot name.
            found = _find(parts, outer.inside)
            if found is not None and outer.clause == "having" and not is_aggregated(node):
                return not_grouped(parts, node, scope)
        if found is None and outer.clause != FROM_CLAUSE:
            # Spark looks one query out, not further.
            return None
        if found is not None:
            if scope.binding.bans and ban_of(identifiers[0], scope) & NOT_OUTER:
                return found_outside(parts, node, scope)
            columns, used = found
            if len(columns) > 1:
                return _ambiguous(parts, columns, node, scope)
            if used > 1:
                scope.binding.name_alias(identifiers[used - 2])
            scope.binding.outer_uses.append(outer.relation)
            if scope.binding.names is not None:
                scope.binding.names.use_column(identifiers, used, columns[0], scope.binding)
            if used == 1 and not nearer:
                # A table of unknown columns stands nearer, and may have one of this name.
                return Expr(t.UNKNOWN, True, columns[0].sources)
            twin = columns[0].copy()
            twin.flags |= HAS_OUTER
            twin.outer = True
            return bind_fields(twin, identifiers[used:], node, scope)
        nearer = nearer and outer.relation.known
        outer = outer.parent
    return None


def _find_in_outer(parts: tuple[str, ...], outer: Scope) -> tuple[list[Column], int] | None:
    if outer.clause != "order":
        return _find(parts, outer)
    # A subquery in ORDER BY sees what was selected and no more.
    columns, used = outer.relation.find(parts)
    return (columns, used) if columns else None


def _all_known(scope: Scope | None) -> bool:
    while scope is not None:
        if not scope.relation.known:
            return False
        scope = scope.parent
    return True


def _ambiguous(parts: tuple[str, ...], columns: list[Column], node: exp.Expr, scope: Scope) -> Expr:
    name = ".".join(parts)
    owners = [".".join((*column.qualifier, column.name or "")) for column in columns]
    return scope.binding.error(
        Code.AMBIGUOUS_COLUMN,
        f"`{name}` could be {' or '.join(f'`{owner}`' for owner in owners[:4])}",
        node,
        "AMBIGUOUS_REFERENCE",
        help="write the table's name or alias before the column",
    )


def _unresolved(parts: tuple[str, ...], node: exp.Expr, scope: Scope) -> Expr:
    written = ".".join(parts)
    columns = scope.relation.visible()
    if len(parts) > 1:
        # What the named relation has is of more help than what its neighbours have.
        columns = [c for c in columns if c.qualifier[-1:] == parts[-2:-1]] or columns
    near = closest(parts[-1], [column.name or "" for column in columns])
    qualifiers = {c.qualifier[-1] for c in scope.relation.visible() if c.qualifier}
    message = f"no column `{written}` in scope"
    if (id(scope.relation), written) in scope.binding.missing:
        return unknown()
    scope.binding.missing.add((id(scope.relation), written))
    if len(parts) > 1 and not qualifiers & set(parts[:-1]):
        if (id(scope.relation), parts[0]) in scope.binding.missing:
            return unknown()
        # One report for a wrong name or alias, however often it is used.
        scope.binding.missing.add((id(scope.relation), parts[0]))
        message = f"no relation `{parts[0]}` in scope, so no column `{written}`"
    if len(parts) > 1 and parts[0] not in qualifiers:
        owner = closest(parts[0], sorted(qualifiers))
        help_text = f"there is a relation `{owner}` here" if owner else None
    else:
        help_text = f"there is a column `{near}`" if near else None
    if help_text is None and columns:
        names = ", ".join(f"`{column.name}`" for column in columns[:8])
        help_text = f"the columns here are {names}{', ...' if len(columns) > 8 else ''}"
    condition = "WITH_SUGGESTION" if columns else "WITHOUT_SUGGESTION"
    return scope.binding.error(
        Code.UNKNOWN_COLUMN,
        message,
        node,
        f"UNRESOLVED_COLUMN.{condition}",
        help=help_text,
    )


def bind_dot(node: exp.Dot, scope: Scope) -> Expr:
    """`expression.field`, or a call with a qualified function name."""
    right = node.args["expression"]
    if right.__class__ is exp.Identifier:
        base = bind_expression(node.args["this"], scope)
        return bind_field(base, right.args["this"], node, scope)
    if right.__class__ is exp.Star:
        # A parameter of a lambda is no relation; an expression takes no star at all.
        named = node.args["this"].__class__ in (exp.Identifier, exp.Column)
        condition = "CANNOT_RESOLVE_STAR_EXPAND" if named else "PARSE_SYNTAX_ERROR"
        return scope.binding.error(Code.INVALID_CLAUSE, "`*` cannot stand here", node, condition)
    if right.__class__ is exp.Anonymous and node.args["this"].name.lower() not in _FUNCTION_SCHEMAS:
        return bind_qualified(node, scope)
    return bind_expression(right, scope)


_FUNCTION_SCHEMAS = frozenset({"builtin", "session"})


def bind_lone_star(node: exp.Expr, scope: Scope) -> Expr:
    """A star where a value is wanted."""
    return scope.binding.error(
        Code.INVALID_CLAUSE, "`*` cannot stand here", node, "INVALID_USAGE_OF_STAR_OR_REGEX"
    )


def bind_identifier(node: exp.Identifier, scope: Scope) -> Expr:
    """A bare word inside a lambda: its parameter, or a column of the query around it."""
    return resolve_name([node], (node.args["this"].lower(),), node, scope)
