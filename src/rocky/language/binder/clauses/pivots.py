"""PIVOT: the values of a column become columns, each holding an aggregate.

What is neither aggregated nor pivoted is grouped by without being written, and keeps its
qualifier. Spark takes no alias after PIVOT, and no dotted name after FOR.
"""

import re
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.clauses.unpivots import bind_unpivot
from rocky.language.binder.expr import AGGREGATE, EXPRESSION, Column, Expr, derived, lift
from rocky.language.binder.expressions.calls import function_name
from rocky.language.binder.expressions.columns import resolve_name
from rocky.language.binder.names.literals import value_text
from rocky.language.binder.names.printer import pretty
from rocky.language.binder.scopes import (
    INFLUENCE_GROUP,
    Relation,
    Scope,
    bind_expression,
    suppress_findings,
)
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast
from rocky.language.datatypes.operators import is_orderable
from rocky.language.functions.catalogue import find_function
from rocky.language.functions.generators import GENERATORS
from rocky.language.functions.operand import NO_VALUE

# Spark finds results of these types by position in an array, where every one may be missing;
# with any other type among the aggregates it filters the rows of each instead.
POSITIONED: Final = t.NUMERIC_KINDS | {"boolean"}
_NUMBER: Final = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_AGGREGATE_FORMS: Final = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


def bind_pivots(relation: Relation, pivots: list[Any], scope: Scope) -> Relation:
    """The relation after its PIVOT and UNPIVOT clauses, in the order written."""
    for pivot in pivots:
        if not pivot.args["fields"][0].args.get("expressions"):
            scope.binding.error(
                Code.SYNTAX_ERROR, "the list after IN is empty", pivot, "PARSE_SYNTAX_ERROR"
            )
            return Relation([], known=False)
        if pivot.args.get("unpivot"):
            relation = bind_unpivot(relation, pivot, scope)
        else:
            relation = bind_pivot(relation, pivot, scope)
    return relation


def bind_pivot(relation: Relation, pivot: exp.Pivot, scope: Scope) -> Relation:
    """The grouping columns, then a column for each value and aggregate."""
    binding = scope.binding
    inner = Scope(binding, relation, scope.parent, scope.ctes)
    field = pivot.args["fields"][0]
    before = len(binding.diagnostics)
    if pivot.args.get("alias") is not None:
        binding.error(
            Code.SYNTAX_ERROR,
            "PIVOT takes no alias",
            pivot.args["alias"],
            "PARSE_SYNTAX_ERROR",
            help="put the pivot into a subquery or CTE and name that",
        )
    axes = [_bind_axis(node, inner) for node in _members(field.args["this"])]
    nodes = [_unaliased(each) for each in pivot.args["expressions"]]
    open_calls = len(binding.groups.calls)
    aggregates = [bind_expression(node, inner) for node in nodes]
    calls = binding.groups.calls[open_calls:]
    if (
        len(binding.diagnostics) > before
        or not _all_aggregated(nodes, inner)
        or _is_unpivotable(nodes, inner)
    ):
        return Relation([], known=False)
    axis = axes[0] if len(axes) == 1 else _as_struct(axes)
    if not is_orderable(axis.type):
        binding.error(
            Code.TYPE_ERROR,
            f"a column of type `{axis.type}` cannot be pivoted by: its values have no order",
            field.args["this"],
            "INCOMPARABLE_PIVOT_COLUMN",
        )
        return Relation([], known=False)
    values = [_bind_value(each, axis, inner) for each in field.args["expressions"]]
    if len(binding.diagnostics) > before:
        return Relation([], known=False)
    used = _used(nodes, axes, inner)
    groups = [column for column in relation.visible() if column.ident not in used]
    for column in groups:
        binding.influence(column.sources, INFLUENCE_GROUP)
    binding.groups.note(calls, [each.sources for each in groups], binding.shares)
    made = _Cells(pivot.args["expressions"], aggregates, axis, inner)
    columns = [*groups, *(column for value in values for column in made.columns(value))]
    named = all(value is not None for value in values)
    return Relation(columns, relation.known and named)


class _Cells:
    """The aggregates of a pivot, ready to be repeated for each value."""

    __slots__ = ("axis", "exprs", "nodes", "nullable", "scope", "suffixes")

    def __init__(self, nodes: list[Any], exprs: list[Expr], axis: Expr, scope: Scope) -> None:
        self.nodes = nodes
        self.exprs = exprs
        self.axis = axis
        self.scope = scope
        self.suffixes = [_suffix(node, scope) for node in nodes] if len(nodes) > 1 else [""]
        positioned = all(each.type.kind in POSITIONED for each in exprs)
        self.nullable = [positioned or each.nullable for each in exprs]
        if not all(self.nullable):
            self._look_again()

    def _look_again(self) -> None:
        """The nullability over the rows of one value: the inputs from all others become null."""
        binding = self.scope.binding
        relation = Relation([column.nulled() for column in self.scope.relation.columns])
        inner = Scope(binding, relation, self.scope.parent, self.scope.ctes)
        with suppress_findings(binding):
            again = [bind_expression(_unaliased(node), inner) for node in self.nodes]
        self.nullable = [each.nullable for each in again]

    def columns(self, value: str | None) -> list[Column]:
        """One column for each aggregate, under the name of a pivot value."""
        pivoted = lift(self.axis.sources, AGGREGATE)
        return [
            Column(
                f"{value or ''}{suffix}",
                expr.type,
                nullable,
                lift(expr.sources, AGGREGATE) | pivoted,
                self.scope.binding.fresh(),
            )
            for suffix, expr, nullable in zip(self.suffixes, self.exprs, self.nullable, strict=True)
        ]


def _suffix(node: Any, scope: Scope) -> str:
    name = node.args["alias"].name if node.__class__ is exp.Alias else pretty(node, scope)
    return f"_{name}"


def _unaliased(node: Any) -> Any:
    return node.args["this"] if node.__class__ is exp.Alias else node


def _members(node: Any) -> list[Any]:
    """The parts of `(a, b)`; a single name stands for itself."""
    if node.__class__ is exp.Tuple:
        return list(node.args["expressions"])
    if node.__class__ is exp.Paren:
        return [node.args["this"]]
    return [node]


def _bind_axis(node: Any, scope: Scope) -> Expr:
    """A column after FOR."""
    if node.__class__ is exp.Column and node.args.get("table") is None:
        return resolve_name([node.args["this"]], (node.name.lower(),), node, scope)
    return scope.binding.error(
        Code.SYNTAX_ERROR,
        "PIVOT ... FOR takes plain column names",
        node,
        "PARSE_SYNTAX_ERROR",
        help="leave out the qualifier, or compute the value in a subquery first",
    )


def _as_struct(parts: list[Expr], names: list[str] | None = None) -> Expr:
    fields = tuple(
        t.StructField(names[at] if names else part.name or "", part.type, part.nullable)
        for at, part in enumerate(parts)
    )
    return derived(t.struct(fields), False, parts, EXPRESSION)


def _bind_value(node: Any, axis: Expr, scope: Scope) -> str | None:
    """The name of the columns of one value after IN; None when it cannot be known."""
    alias = node.args["alias"].name if node.__class__ is exp.PivotAlias else None
    inner = node.args["this"] if node.__class__ is exp.PivotAlias else node
    if isinstance(inner, exp.Query):
        scalar = inner.__class__ is exp.Subquery
        scope.binding.error(
            Code.INVALID_CLAUSE if scalar else Code.SYNTAX_ERROR,
            "PIVOT takes a list of values, not a query",
            inner,
            "NON_LITERAL_PIVOT_VALUES" if scalar else "PARSE_SYNTAX_ERROR",
        )
        return None
    if inner.__class__ is exp.PivotAny:
        scope.binding.error(
            Code.UNKNOWN_COLUMN,
            "Spark has no ANY in PIVOT, and no column of that name",
            node.parent,
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            help="list the values",
            span=_any_span(node.parent, scope),
        )
        return None
    value = _constant(inner, scope)
    if value.type is t.UNKNOWN or axis.type is t.UNKNOWN:
        return alias
    if not value.foldable:
        scope.binding.error(
            Code.INVALID_CLAUSE,
            "a pivot value must be a constant",
            inner,
            "NON_LITERAL_PIVOT_VALUES",
            help="list the values; PIVOT cannot find them out",
        )
    elif not can_cast(value.type, axis.type, ansi=False):
        scope.binding.error(
            Code.TYPE_ERROR,
            f"a pivot value of type `{value.type}` does not fit the pivoted `{axis.type}`",
            inner,
            "PIVOT_VALUE_DATA_TYPE_MISMATCH",
        )
    elif _malformed(value, axis):
        scope.binding.error(
            Code.TYPE_ERROR,
            f"the pivot value `{value.value}` is not of type `{axis.type}`",
            inner,
            "CAST_INVALID_INPUT",
        )
    return alias if alias is not None else _constant_text(inner, value, scope)


def _any_span(place: Any, scope: Scope) -> Span | None:
    """Where ANY stands after IN: the word leaves nothing in the tree."""
    before = scope.binding.span(place) or Span(0, 0)
    for token in scope.binding.tokens:
        if token.start > before.start and token.text.upper() == "ANY":
            return Span(token.start, token.end + 1)
    return None


def _malformed(value: Expr, axis: Expr) -> bool:
    return (
        isinstance(value.value, str)
        and value.type.kind in t.STRING_KINDS
        and axis.type.kind in t.NUMERIC_KINDS
        and not _NUMBER.fullmatch(value.value)
    )


def _constant(node: Any, scope: Scope) -> Expr:
    if node.__class__ is not exp.Tuple:
        return bind_expression(node, scope)
    parts = [_constant(each, scope) for each in node.args["expressions"]]
    return _as_struct(parts, [f"col{at + 1}" for at in range(len(parts))])


def _constant_text(node: Any, value: Expr, scope: Scope) -> str | None:
    """The constant cast to string: numbers by their digits, `{1, a}`, `[1, 2]`."""
    kind = node.__class__
    if kind is exp.Paren:
        inner = node.args["this"]
        return _constant_text(inner, bind_expression(inner, scope), scope)
    if value.value is not NO_VALUE:
        return value_text(value)
    if kind is exp.Tuple or (kind is exp.Anonymous and node.args["this"].lower() == "struct"):
        return _joined("{%s}", node.args["expressions"], scope)
    if kind is exp.Array:
        return _joined("[%s]", node.args["expressions"], scope)
    if kind in _FOLDS and value.type.kind in t.INTEGRAL_KINDS:
        left = _constant_text(node.args["this"], bind_expression(node.args["this"], scope), scope)
        right = _constant_text(
            node.args["expression"], bind_expression(node.args["expression"], scope), scope
        )
        if left is not None and right is not None:
            return str(_FOLDS[kind](int(left), int(right)))
    if kind is exp.Cast:
        return _cast_text(node, value, scope)
    return None


_FOLDS: Final[dict[type, Any]] = {
    exp.Add: int.__add__,
    exp.Sub: int.__sub__,
    exp.Mul: int.__mul__,
}


def _cast_text(node: exp.Cast, value: Expr, scope: Scope) -> str | None:
    inner = bind_expression(node.args["this"], scope)
    text = value_text(inner)
    if text is None or value.type.kind in t.STRING_KINDS:
        return text
    if value.type.kind in t.INTEGRAL_KINDS and re.fullmatch(r"[+-]?\d+", text):
        return str(int(text))
    if value.type.kind == "date":
        return value_text(Expr(value.type, False, value=text, foldable=True))
    return None


def _joined(shape: str, nodes: list[Any], scope: Scope) -> str | None:
    texts: list[str] = []
    for node in nodes:
        inner = node.args["expression"] if node.__class__ is exp.PropertyEQ else node
        text = _constant_text(inner, _constant(inner, scope), scope)
        if text is None:
            return None
        texts.append(text)
    return shape % ", ".join(texts)


def _all_aggregated(nodes: list[Any], scope: Scope) -> bool:
    """Whether every column stands inside an aggregate function; reports the first that does not."""
    for node in nodes:
        stray = _stray_column(node, scope)
        if stray is not None:
            scope.binding.error(
                Code.INVALID_AGGREGATION,
                f"`{stray.name}` stands in PIVOT outside any aggregate function",
                stray,
                "_LEGACY_ERROR_TEMP_1006",
                help=f"aggregate it, for example `max({stray.name})`",
            )
            return False
    return True


def _is_unpivotable(nodes: list[Any], scope: Scope) -> bool:
    """Report what Spark cannot repeat for each value: windows, generators, ordered lists."""
    for node in nodes:
        lists = [each.args["this"] for each in node.find_all(exp.WithinGroup)]
        if node.find(exp.Window) is not None:
            what, condition = "a window function", "MISSING_AGGREGATION"
        elif any(_name(each) in GENERATORS for each in node.find_all(exp.Anonymous)):
            what, condition = "a generator", "UNSUPPORTED_GENERATOR.MULTI_GENERATOR"
        elif any(_name(each) in ("listagg", "string_agg") for each in lists):
            what, condition = "`listagg` with WITHIN GROUP", "INTERNAL_ERROR"
        else:
            continue
        scope.binding.error(
            Code.INVALID_AGGREGATION, f"PIVOT cannot compute {what}", node, condition
        )
        return True
    return False


def _name(call: Any) -> str:
    return function_name(call).lower() if call.__class__ is exp.Anonymous else ""


def _stray_column(node: Any, scope: Scope) -> Any:
    kind = node.__class__
    if kind is exp.Column:
        found, _ = scope.relation.find(tuple(part.name.lower() for part in node.parts))
        return node if found else None
    if kind in _AGGREGATE_FORMS:
        return _stray_column(node.args["this"], scope)
    if kind is exp.Anonymous:
        info = find_function(node.args["this"].lower())
        if info is not None and info.kind == "aggregate":
            return None
    for child in node.iter_expressions():
        stray = _stray_column(child, scope)
        if stray is not None:
            return stray
    return None


def _used(nodes: list[Any], axes: list[Expr], scope: Scope) -> set[int]:
    """The columns the pivot reads; all others are grouped by."""
    used = {axis.ident for axis in axes if isinstance(axis, Column)}
    for node in nodes:
        for column in node.find_all(exp.Column):
            found, _ = scope.relation.find(tuple(part.name.lower() for part in column.parts))
            used.update(each.ident for each in found)
    return used
