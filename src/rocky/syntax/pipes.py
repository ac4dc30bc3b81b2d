"""Pipe syntax: each `|>` step as a query over the one before it.

The library folds steps into one SELECT, which loses their order. Here every step wraps what
came before as a derived table and marks itself with the arg `pipe`, which the binder reads. A step
is called with its keyword still to come. The parser's methods are private, but its class cannot be
extended any other way.
"""

from collections.abc import Callable
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokens import TokenType

PIPE: Final = "pipe"
"""The arg that names the step a SELECT stands for."""


def _over(query: Any, step: str, **clauses: Any) -> exp.Select:
    """A SELECT over `query`, marked with the step's name."""
    source = query if isinstance(query, exp.Subquery) else exp.Subquery(this=query)
    # A step sees the names of the step before it, so the wrapping hides no qualifier.
    source.args[PIPE] = step
    select = exp.Select(from_=exp.From(this=source), **clauses)
    select.args[PIPE] = step
    return select


def _select(parser: Any, query: Any) -> Any:
    parser._advance()
    distinct = parser._match(TokenType.DISTINCT)
    expressions = parser._parse_expressions()
    return _over(
        query, "select", expressions=expressions, distinct=exp.Distinct() if distinct else None
    )


def _where(parser: Any, query: Any) -> Any:
    parser._advance()
    return _over(
        query,
        "where",
        expressions=[exp.Star()],
        where=exp.Where(this=parser._parse_disjunction()),
    )


def _extend(parser: Any, query: Any) -> Any:
    parser._advance()
    return _over(query, "extend", expressions=[exp.Star(), *parser._parse_expressions()])


def _aggregate(parser: Any, query: Any) -> Any:
    parser._advance()
    expressions = (
        [] if parser._match(TokenType.GROUP_BY, advance=False) else parser._parse_expressions()
    )
    group = parser._parse_group()
    if group is not None and parser._match(TokenType.ALIAS, advance=False):
        group = _aliased_keys(parser, group)
    return _over(query, "aggregate", expressions=expressions, group=group)


def _aliased_keys(parser: Any, group: Any) -> Any:
    """`GROUP BY expression AS name, ...`: only pipes name their keys here."""
    keys = group.args["expressions"]
    parser._match(TokenType.ALIAS)
    keys[-1] = exp.Alias(this=keys[-1], alias=parser._parse_id_var(any_token=True))
    if parser._match(TokenType.COMMA):
        keys.extend(parser._parse_expressions())
    return group


def _drop(parser: Any, query: Any) -> Any:
    parser._advance()
    names = parser._parse_csv(parser._parse_column)
    return _over(query, "drop", expressions=[exp.Star(except_=names)])


def _set(parser: Any, query: Any) -> Any:
    parser._advance()
    return _over(
        query,
        "set",
        expressions=[exp.Star()],
        assignments=parser._parse_csv(parser._parse_assignment),
    )


def _as(parser: Any, query: Any) -> Any:
    parser._advance()
    source = exp.Subquery(this=query, alias=exp.TableAlias(this=parser._parse_id_var()))
    return _over(source, "as", expressions=[exp.Star()])


def _order(parser: Any, query: Any) -> Any:
    order = parser._parse_order()
    return _over(query, "order", expressions=[exp.Star()], order=order)


def _limit(parser: Any, query: Any) -> Any:
    limit = parser._parse_limit()
    return _over(
        query, "limit", expressions=[exp.Star()], limit=limit, offset=parser._parse_offset()
    )


def _offset(parser: Any, query: Any) -> Any:
    return _over(query, "offset", expressions=[exp.Star()], offset=parser._parse_offset())


def _pivot(parser: Any, query: Any) -> Any:
    source = exp.Subquery(this=query)
    source.set("pivots", parser._parse_pivots())
    return _over(source, "pivot", expressions=[exp.Star()])


def _sample(parser: Any, query: Any) -> Any:
    source = exp.Subquery(this=query)
    source.set("sample", parser._parse_table_sample())
    return _over(source, "tablesample", expressions=[exp.Star()])


def _join(parser: Any, query: Any) -> Any:
    joined = _over(query, "join", expressions=[exp.Star()])
    joined.set("joins", [parser._parse_join()])
    return joined


def _set_operation(parser: Any, query: Any) -> Any:
    return parser._parse_set_operations(query)


PIPE_OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "AGGREGATE": _aggregate,
    "AS": _as,
    "DROP": _drop,
    "EXTEND": _extend,
    "LIMIT": _limit,
    "OFFSET": _offset,
    "ORDER BY": _order,
    "PIVOT": _pivot,
    "SELECT": _select,
    "SET": _set,
    "TABLESAMPLE": _sample,
    "UNPIVOT": _pivot,
    "WHERE": _where,
    **dict.fromkeys(
        ("JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "SEMI", "ANTI"), _join
    ),
    **dict.fromkeys(("UNION", "INTERSECT", "EXCEPT", "MINUS"), _set_operation),
}
