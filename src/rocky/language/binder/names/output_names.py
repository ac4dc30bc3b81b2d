"""The name Spark gives an output column that the author did not name.

It is the text of the resolved expression, so `count(*)` is called `count(1)`. A cast column keeps
its own name, and a field taken from a column is called by the field. A subquery prints as nothing
but the columns of the query around it that it reads.
"""

from collections.abc import Iterator
from typing import Any, Final

from sqlglot import exp

from rocky.language.binder.expr import Column, Expr
from rocky.language.binder.expressions.columns import BARE_FUNCTIONS
from rocky.language.binder.names.calls import CALL_PRINTERS, WINDOW_PRINTERS, argument_texts
from rocky.language.binder.names.literals import LITERAL_PRINTERS
from rocky.language.binder.names.operators import OPERATOR_PRINTERS
from rocky.language.binder.names.printer import COLUMN_PRINTERS, PRINTERS, bind_quietly, pretty
from rocky.language.binder.scopes import Relation, Scope
from rocky.language.datatypes.types import UNKNOWN
from rocky.language.names import split_name


def row_names(nodes: list[Any]) -> list[str]:
    """The field names of `(a, b + 1)`: a column's own, or its position."""
    names = []
    for at, node in enumerate(nodes):
        inner = node
        while inner.__class__ is exp.Paren:
            inner = inner.args["this"]
        if inner.__class__ is exp.Alias:
            names.append(inner.args["alias"].name)
        elif inner.__class__ in (exp.Column, exp.Identifier) or (
            inner.__class__ is exp.Dot and inner.args["expression"].__class__ is exp.Identifier
        ):
            names.append(inner.name)
        else:
            names.append(f"col{at + 1}")
    return names


def print_row(node: exp.Tuple, scope: Scope) -> str:
    return _row(node, scope, quote="")


def _row(node: exp.Tuple, scope: Scope, quote: str) -> str:
    nodes = node.args["expressions"]
    parts: list[str] = []
    for name, each in zip(row_names(nodes), nodes, strict=True):
        inner = each.args["this"] if each.__class__ is exp.Alias else each
        parts += (f"{quote}{name}{quote}", pretty(inner, scope))
    return f"named_struct({', '.join(parts)})"


def print_in(node: exp.In, scope: Scope) -> str:
    subject = node.args["this"]
    query = node.args.get("query")
    if query is None:
        values: list[str] = []
        for each in node.args["expressions"]:
            values.extend(argument_texts("in", each, scope))
        return f"({pretty(subject, scope)} IN ({', '.join(values)}))"
    left = _row(subject, scope, "'") if subject.__class__ is exp.Tuple else pretty(subject, scope)
    return f"({left} IN (listquery({outer_columns(query, scope)})))"


def print_exists(node: exp.Exists, scope: Scope) -> str:
    return f"exists({outer_columns(node, scope)})"


def print_subquery(node: exp.Expr, scope: Scope) -> str:
    return f"scalarsubquery({outer_columns(node, scope)})"


class _WatchedRelation(Relation):
    """A relation that notes the names it answers to, with how many of their parts it used."""

    __slots__ = ("answered",)

    def __init__(self, watched: Relation) -> None:
        super().__init__(watched.columns, watched.known)
        self.answered: dict[tuple[str, ...], int] = {}

    def find(self, parts: tuple[str, ...]) -> tuple[list[Column], int]:
        found = super().find(parts)
        if found[0]:
            self.answered[parts] = found[1]
        return found


def outer_columns(query: exp.Expr, scope: Scope) -> str:
    """The columns of this query that a subquery in it reads, one for each place it reads them."""
    if not scope.relation.columns:
        return ""
    watched = _WatchedRelation(scope.relation)
    twin = Scope(scope.binding, watched, scope.parent, scope.ctes, scope.clause)
    bind_quietly(query, twin)
    if not watched.answered:
        return ""
    names: list[str] = []
    for column in _columns_in_plan_order(query):
        words = [str(part.name) for part in column.parts]
        used = watched.answered.get(tuple([word.lower() for word in words]))
        if used is not None:
            names.append(words[used - 1])
    return ", ".join(names)


# A query's clauses from the top of its plan to the bottom, which is how Spark collects them.
_PLAN_ORDER: Final = tuple("qualify having expressions where laterals joins from_ with_".split())


def _columns_in_plan_order(node: Any) -> Iterator[exp.Column]:
    if node.__class__ is exp.Column:
        yield node
        return
    keys = _PLAN_ORDER if node.__class__ is exp.Select else tuple(node.args)
    for key in keys:
        value = node.args.get(key)
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, exp.Expr):
                yield from _columns_in_plan_order(each)


SUBQUERY_PRINTERS: Final[dict[type, Any]] = {
    exp.Tuple: print_row,
    exp.In: print_in,
    exp.Exists: print_exists,
    exp.Subquery: print_subquery,
    exp.Select: print_subquery,
}


PRINTERS.update(LITERAL_PRINTERS)
PRINTERS.update(COLUMN_PRINTERS)
PRINTERS.update(OPERATOR_PRINTERS)
PRINTERS.update(SUBQUERY_PRINTERS)
PRINTERS.update(CALL_PRINTERS)
PRINTERS.update(WINDOW_PRINTERS)


def output_name(node: Any, expr: Expr, scope: Scope) -> tuple[str, bool]:
    """The name of an un-aliased select item, and whether the author chose it."""
    node = _bare(node)
    kind = node.__class__
    if kind is exp.Column:
        word = str(node.args["this"].name)
        if isinstance(expr, Column) or word.lower() not in BARE_FUNCTIONS:
            return word, True
        return pretty(node, scope), False
    if kind is exp.Dot and node.args["expression"].__class__ is exp.Identifier:
        if _is_path(node.args["this"]):
            return str(node.args["expression"].name), True
    elif kind is exp.Cast or kind is exp.TryCast:
        inner = _bare(node.args["this"])
        if inner.__class__ is exp.Column and isinstance(bind_quietly(inner, scope), Column):
            return str(inner.args["this"].name), True
    elif isinstance(expr, Column) and _is_identifier_call(node):
        written = node.args["expressions"][0]
        parts = split_name(written.name) if written.__class__ is exp.Literal else []
        return parts[-1] if parts else expr.name or "", True
    if expr.type is UNKNOWN:
        # Nobody will read a column of this name; what was written is good enough.
        span = scope.binding.span(node)
        return (scope.binding.text[span.start : span.end] if span else "col"), False
    return pretty(node, scope), False


def _is_identifier_call(node: Any) -> bool:
    return node.__class__ is exp.Anonymous and str(node.args["this"]).lower() == "identifier"


def _bare(node: Any) -> Any:
    while node.__class__ is exp.Paren and not node.args.get("plus"):
        node = node.args["this"]
    return node


def _is_path(node: Any) -> bool:
    """Whether a node is nothing but a column and fields inside it."""
    node = _bare(node)
    if node.__class__ is exp.Dot:
        return node.args["expression"].__class__ is exp.Identifier and _is_path(node.args["this"])
    return node.__class__ is exp.Column
