"""UNPIVOT: columns become rows of a name and a value.

The columns that are not unpivoted stay, with their qualifiers; the values of one new column must
share a type, and a string never meets another type here.
"""

from typing import Any

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.language.binder.expr import CAST, DIRECT, NO_SOURCES, Column, Expr, lift, merge_sources
from rocky.language.binder.scopes import Relation, Scope, bind_expression
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import force_nullable
from rocky.language.datatypes.coercion import same_type, widest_without_string


def bind_unpivot(relation: Relation, pivot: exp.Pivot, scope: Scope) -> Relation:
    """The columns left over, the name column, then the value columns."""
    binding = scope.binding
    inner = Scope(binding, relation, scope.parent, scope.ctes)
    field = pivot.args["fields"][0]
    names = [each.name for each in _members(pivot.args["expressions"][0])]
    written = [_unaliased(each) for each in field.args["expressions"]]
    before = len(binding.diagnostics)
    _check_form(pivot, written, scope)
    rows = [[_bind_value(each, inner) for each in _members(node)] for node in written]
    if len(binding.diagnostics) > before:
        return Relation([], known=False)
    for row, node in zip(rows, written, strict=True):
        if len(row) != len(names):
            binding.error(
                Code.INVALID_CLAUSE,
                f"{len(row)} columns are unpivoted into {len(names)}",
                node,
                "UNPIVOT_VALUE_SIZE_MISMATCH",
            )
            return Relation([], known=False)
    used = {each.ident for row in rows for each in row if isinstance(each, Column)}
    columns = [column for column in relation.visible() if column.ident not in used]
    label = field.args["this"].name
    columns.append(Column(label, t.STRING, False, NO_SOURCES, binding.fresh()))
    for at, name in enumerate(names):
        value = _value_column(name, [row[at] for row in rows], field, scope)
        if value is None:
            return Relation([], known=False)
        columns.append(value)
    if not pivot.args.get("include_nulls"):
        _check_names(names, columns, pivot, scope)
    return _aliased(Relation(columns, relation.known), pivot, scope)


def _check_form(pivot: exp.Pivot, written: list[Any], scope: Scope) -> None:
    """Report what the parser library takes and Spark's grammar does not."""
    several = pivot.args["expressions"][0].__class__ in (exp.Tuple, exp.Paren)
    for node in written:
        if (node.__class__ in (exp.Tuple, exp.Paren)) != several or any(
            each.__class__ is not exp.Column for each in _members(node)
        ):
            scope.binding.error(
                Code.SYNTAX_ERROR,
                "UNPIVOT takes "
                + ("column lists in parentheses" if several else "plain column names")
                + " here",
                node,
                "PARSE_SYNTAX_ERROR",
            )
            return
    for each in pivot.args["fields"][0].args["expressions"]:
        if each.__class__ is exp.PivotAlias and each.args["alias"].__class__ is not exp.Identifier:
            scope.binding.error(
                Code.SYNTAX_ERROR,
                "the name of an unpivoted column is a name, neither a text nor a number",
                each,
                "PARSE_SYNTAX_ERROR",
                help="put it into backticks",
            )
            return
    alias = pivot.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "the alias of UNPIVOT takes no column names",
            alias,
            "PARSE_SYNTAX_ERROR",
            help="rename the columns in the select list",
        )


def _bind_value(node: Any, scope: Scope) -> Expr:
    value = bind_expression(node, scope)
    if value.type is not t.UNKNOWN and not isinstance(value, Column):
        return scope.binding.error(
            Code.INVALID_CLAUSE,
            "UNPIVOT takes columns, not fields inside them",
            node,
            "UNPIVOT_REQUIRES_ATTRIBUTES",
            help="select the field under a name of its own first",
        )
    return value


def _value_column(name: str, values: list[Expr], place: exp.Expr, scope: Scope) -> Column | None:
    common = values[0].type
    for value in values[1:]:
        if t.UNKNOWN in (common, value.type):
            common = t.UNKNOWN
            break
        wider = widest_without_string(common, value.type)
        if wider is None:
            scope.binding.error(
                Code.TYPE_ERROR,
                f"`{common}` and `{value.type}` cannot be unpivoted into one column",
                place,
                "UNPIVOT_VALUE_DATA_TYPE_MISMATCH",
                help="cast the columns to one type first",
            )
            return None
        common = wider
    nullable = any(value.nullable or force_nullable(value.type, common) for value in values)
    kind = DIRECT if all(same_type(value.type, common) for value in values) else CAST
    sources = lift(merge_sources(values, DIRECT), kind)
    return Column(name, common, nullable, sources, scope.binding.fresh())


def _check_names(names: list[str], columns: list[Column], pivot: exp.Pivot, scope: Scope) -> None:
    """Nulls are left out by a filter over the value columns, which must be found by name."""
    for name in names:
        if sum(column.key == name.lower() for column in columns) > 1:
            scope.binding.error(
                Code.AMBIGUOUS_COLUMN,
                f"UNPIVOT makes a column `{name}` beside another of that name",
                pivot.args["expressions"][0],
                "AMBIGUOUS_REFERENCE",
                help="give the value column a name of its own",
            )
            return


def _aliased(relation: Relation, pivot: exp.Pivot, scope: Scope) -> Relation:
    alias = pivot.args.get("alias")
    if alias is None or alias.args.get("this") is None:
        return relation
    qualifier = (scope.binding.define_alias(alias.args["this"]),)
    columns = []
    for column in relation.columns:
        twin = column.copy()
        twin.qualifier = qualifier
        columns.append(twin)
    return Relation(columns, relation.known)


def _members(node: Any) -> list[Any]:
    if node.__class__ is exp.Tuple:
        return list(node.args["expressions"])
    return [node.args["this"]] if node.__class__ is exp.Paren else [node]


def _unaliased(node: Any) -> Any:
    return node.args["this"] if node.__class__ is exp.PivotAlias else node
