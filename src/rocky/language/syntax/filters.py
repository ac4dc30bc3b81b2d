"""Conditions read as filters, where they are simple enough.

Anything else is not read here, and whoever asks has to ask Spark: a filter never means anything
other than the same text means there. Types are not known here.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final, NoReturn

from sqlglot import exp

from rocky.language.filters import (
    Both,
    Comparison,
    Either,
    Filter,
    Negation,
    NullTest,
    Operator,
    Value,
    parse_date,
)
from rocky.language.syntax.parser import SyntaxProblem, parse_query

_OPERATORS: Final[dict[type[exp.Expression], Operator]] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_TURNED: Final[dict[Operator, Operator]] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}


class _NotSimple(Exception):
    """A part of a condition that only Spark can answer."""


def parse_filter(condition: str, table: str) -> Filter | None:
    """The filter that a condition about a table, by its alias, is; None for one that is not."""
    if "\\" in condition:
        # How escapes are read depends on Spark's settings.
        return None
    parsed = parse_query(f"SELECT * FROM t WHERE (\n{condition}\n)")  # noqa: S608 - it is only parsed
    if isinstance(parsed, SyntaxProblem) or not isinstance(parsed.tree, exp.Select):
        return None
    where = parsed.tree.args.get("where")
    others = {key for key, value in parsed.tree.args.items() if value}
    if where is None or not others <= {"expressions", "from", "from_", "where", "kind"}:
        return None
    try:
        return _filter(where.this, table.lower())
    except (_NotSimple, RecursionError):
        return None


def _filter(node: Any, table: str) -> Filter:
    match node:
        case exp.Paren():
            return _filter(node.this, table)
        case exp.And():
            return Both(_filter(node.left, table), _filter(node.right, table))
        case exp.Or():
            return Either(_filter(node.left, table), _filter(node.right, table))
        case exp.Not():
            return Negation(_filter(node.this, table))
        case exp.Is() if isinstance(node.expression, exp.Null):
            return NullTest(_column(node.this, table))
        case exp.In() if node.args.get("expressions") and not _has_more(node):
            column = _column(node.this, table)
            return _any([Comparison(column, "=", _value(each)) for each in node.expressions])
        case exp.Between() if not node.args.get("symmetric"):
            column = _column(node.this, table)
            low, high = _value(node.args["low"]), _value(node.args["high"])
            return Both(Comparison(column, ">=", low), Comparison(column, "<=", high))
    operator = _OPERATORS.get(type(node))
    if operator is None:
        raise _NotSimple
    if isinstance(node.left, exp.Column):
        return Comparison(_column(node.left, table), operator, _value(node.right))
    return Comparison(_column(node.right, table), _TURNED[operator], _value(node.left))


def _has_more(node: Any) -> bool:
    return any(node.args.get(key) for key in ("query", "unnest", "field"))


def _any(parts: Sequence[Filter]) -> Filter:
    found = parts[0]
    for each in parts[1:]:
        found = Either(found, each)
    return found


def _column(node: Any, table: str) -> str:
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        raise _NotSimple
    if node.args.get("db") or (node.table and node.table.lower() != table):
        raise _NotSimple
    return str(node.name).lower()


def _value(node: Any) -> Value:
    match node:
        case exp.Boolean():
            return bool(node.this)
        case exp.Neg(this=exp.Literal(is_string=False) as number):
            return -_number(number.this)
        case exp.Literal(is_string=True):
            return str(node.this)
        case exp.Literal():
            return _number(node.this)
        case exp.Cast(this=exp.Literal(is_string=True) as text) if node.to.this == exp.DType.DATE:
            return parse_date(text.this) or _not_simple()
    raise _NotSimple


def _not_simple() -> NoReturn:
    raise _NotSimple


def _number(text: str) -> int | Decimal:
    if text.isdigit():
        return int(text)
    whole, dot, part = text.partition(".")
    if dot and (whole + part).isdigit():
        return Decimal(text)
    raise _NotSimple
