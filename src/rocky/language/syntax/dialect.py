"""The parser library, set up to keep Spark SQL as it was written, pipe syntax included.

Out of the box the library rewrites what it reads into a neutral tree: `nvl` becomes COALESCE. We
want the written name at its place, so that the function catalogue is keyed by what the author
typed. Settings are class attributes, and the compiled class makes no objects of a subclass: so one
of its own is made, and given ours. Each `|>` step becomes a query over the one before it, marked
with the arg `pipe`; the library would fold steps into one SELECT and lose their order.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any, Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parser import Parser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import Token, TokenType

from rocky.language.syntax.tokens import UNSIGNED

PIPE: Final = "pipe"
"""The arg that names the step a SELECT stands for."""


def _over(query: Any, step: str, **clauses: Any) -> exp.Select:
    """A SELECT over `query`, marked with the step's name."""
    source = query if isinstance(query, exp.Subquery) else exp.Subquery(this=query)
    tailed = any(query.args.get(clause) for clause in ("order", "limit", "offset"))
    if source is not query and query.args.get(PIPE) is None and tailed:
        # To Spark a pipe cannot follow the ORDER BY of a query that is not in parentheses.
        source.args["unwrapped"] = True
    # A step sees the names of the step before it, so the wrapping hides no qualifier.
    source.args[PIPE] = step
    select = exp.Select(from_=exp.From(this=source), **clauses)
    select.args[PIPE] = step
    return select


def _select(parser: Any, query: Any) -> Any:
    parser._advance()
    hint = parser._parse_hint()
    distinct = parser._match(TokenType.DISTINCT)
    if not distinct:
        parser._match(TokenType.ALL)
    expressions = parser._parse_expressions()
    return _over(
        query,
        "select",
        hint=hint,
        expressions=expressions,
        distinct=exp.Distinct() if distinct else None,
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
    if not keys:
        parser.raise_error("Expected an expression before AS")
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


def _sort(kind: type[exp.Expr], token: TokenType) -> Callable[[Any, Any], Any]:
    """A step for SORT BY and its like, under the clause's own name."""

    def parse_sort(parser: Any, query: Any) -> Any:
        clause = {kind.__name__.lower(): parser._parse_sort(kind, token)}
        return _over(query, "order", expressions=[exp.Star()], **clause)

    return parse_sort


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
    "CLUSTER BY": _sort(exp.Cluster, TokenType.CLUSTER_BY),
    "DISTRIBUTE BY": _sort(exp.Distribute, TokenType.DISTRIBUTE_BY),
    "SELECT": _select,
    "SET": _set,
    "SORT BY": _sort(exp.Sort, TokenType.SORT_BY),
    "TABLESAMPLE": _sample,
    "UNPIVOT": _pivot,
    "WHERE": _where,
    **dict.fromkeys(
        ("JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "SEMI", "ANTI"), _join
    ),
    **dict.fromkeys(("UNION", "INTERSECT", "EXCEPT", "MINUS"), _set_operation),
}


_KEPT_PARSERS: Final = frozenset(
    # Syntax that is more than a list of arguments, and the hints.
    "EXTRACT TRIM SUBSTRING SUBSTR OVERLAY POSITION BROADCAST BROADCASTJOIN MAPJOIN "
    "MERGE MERGEJOIN SHUFFLEMERGE SHUFFLE_HASH SHUFFLE_REPLICATE_NL".split()
)


def _call(name: str) -> Callable[[list[Any]], exp.Expr]:
    return lambda args: exp.Anonymous(this=name, expressions=args)


def _cast(kind: type[exp.Cast]) -> Callable[[Any], exp.Expr]:
    """A parser for `CAST(value AS type)`.

    The library's own asks of each type whether it is CHAR by parsing the word CHAR, which is a
    tenth of the time a model takes; the binder reads CHAR and VARCHAR as Spark does.
    """

    def parse_cast(parser: Any) -> exp.Expr:
        value = parser._parse_disjunction()
        if not parser._match(TokenType.ALIAS):
            parser.raise_error("Expected AS after CAST")
        to = Parser._parse_types(parser, with_collation=True)
        if to is None and parser._match_text_seq("VOID"):
            to = exp.DataType(this=exp.DType.NULL)
        if to is None:
            parser.raise_error("Expected TYPE after CAST")
        return kind(this=value, to=to)

    return parse_cast


def _unary_plus(parser: Any) -> exp.Expr:
    marked = exp.Paren(this=parser._parse_unary())
    marked.args["plus"] = True
    return marked


def _unsigned(parser: Any) -> exp.Expr:
    """What stands to the right of `>>>`, marked: the library knows `>>` alone."""
    marked = exp.Paren(this=parser._parse_unary())
    marked.args["unsigned"] = True
    return marked


_SETTINGS: Final[dict[str, Any]] = {
    # ARRAY must stay a node of its own, or `array(1, 2)[0]` loses its arguments.
    "FUNCTIONS": {
        "ARRAY": lambda args: exp.Array(expressions=args),
        "MAP": _call("map"),
        "STRUCT": _call("struct"),
    },
    "FUNCTION_PARSERS": {
        **{
            name: parse
            for name, parse in SparkParser.FUNCTION_PARSERS.items()
            if name in _KEPT_PARSERS
        },
        "CAST": _cast(exp.Cast),
        "TRY_CAST": _cast(exp.TryCast),
    },
    "NO_PAREN_FUNCTION_PARSERS": {
        name: parse
        for name, parse in SparkParser.NO_PAREN_FUNCTION_PARSERS.items()
        if name in ("ANY", "CASE")
    },
    "STRICT_CAST": True,
    # To Spark `||` binds as tightly as `+` and `-`; the library has it looser.
    "TERM": {**SparkParser.TERM, TokenType.DPIPE: exp.DPipe},
    # `value:path` takes a path out of a variant.
    "COLON_IS_VARIANT_EXTRACT": True,
    # Unary plus is dropped by the library, and an error to Spark on a date.
    "UNARY_PARSERS": {
        **SparkParser.UNARY_PARSERS,
        TokenType.PLUS: _unary_plus,
        UNSIGNED: _unsigned,
    },
    "PIPE_SYNTAX_TRANSFORM_PARSERS": PIPE_OPERATORS,
}

_LOCK: Final = RLock()
SPARK: Final = Spark()
# Making one takes as long as reading ten lines with it.
_TOKENIZER: Final = SPARK.tokenizer()


class _WrittenParser(SparkParser):
    """The library's parser with our settings. No slots: an object of its own can be given this."""

    __slots__ = ()


for _name, _value in _SETTINGS.items():
    setattr(_WrittenParser, _name, _value)


def tokenize(text: str) -> list[Token]:
    """The tokens of a text; one text at a time."""
    with _LOCK:
        tokens = _TOKENIZER.tokenize(text)
        # It holds on to what it made last. Freed with their text, tokens are never looked at by the
        # collector, which would find three of them for each two objects of a tree.
        _TOKENIZER.tokenize("")
        return tokens


def parse_tokens(tokens: list[Token], text: str) -> list[exp.Expr | None]:
    """The trees of the statements that some tokens of a text are."""
    parser = SPARK.parser()
    parser.__class__ = _WrittenParser
    return parser.parse(tokens, text)


@contextmanager
def library_settings(kept: Collection[str], renamed: Mapping[str, str]) -> Iterator[None]:
    """The library's own Spark, but for CAST, which raises as it does in ANSI mode.

    Functions of `kept` stay as they are written, those of `renamed` get another name and nothing
    else; both in lower case. It holds for all of the library while the `with` block lasts.
    """
    functions = {
        name: build for name, build in SparkParser.FUNCTIONS.items() if name.lower() not in kept
    }
    functions |= {name.upper(): _call(new) for name, new in renamed.items()}
    worded = _KEPT_PARSERS | {"CAST", "TRY_CAST"}
    parsers = {
        name: parse
        for name, parse in SparkParser.FUNCTION_PARSERS.items()
        if name in worded or (name.lower() not in kept and name.lower() not in renamed)
    }
    wanted = {"STRICT_CAST": True, "FUNCTIONS": functions, "FUNCTION_PARSERS": parsers}
    with _LOCK:
        saved = {name: getattr(SparkParser, name) for name in wanted}
        for name, value in wanted.items():
            setattr(SparkParser, name, value)
        try:
            yield
        finally:
            for name, value in saved.items():
                setattr(SparkParser, name, value)
