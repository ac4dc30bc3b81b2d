"""The parser library, set up to keep Spark SQL as it was written.

Out of the box the library rewrites what it reads into a neutral tree: `nvl` becomes
COALESCE, `cast` and `try_cast` become one node. We want the written name at its place, so
that the function catalogue is keyed by what the author typed. Its compiled classes cannot
be subclassed, so the settings are class attributes, swapped in around each parse and put
back afterwards: a program that uses the library for itself sees no difference.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, Final

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parser import Parser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokens import TokenType

from rocky.syntax.pipes import PIPE_OPERATORS
from rocky.syntax.rewrites import UNSIGNED

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
# Making one takes as long as reading ten lines with it; it is used under the lock only.
TOKENIZER: Final = SPARK.tokenizer()


@contextmanager
def spark_settings() -> Iterator[None]:
    """The parser classes as we want them, for the length of a `with` block."""
    with _LOCK:
        saved = {name: getattr(SparkParser, name) for name in _SETTINGS}
        for name, value in _SETTINGS.items():
            setattr(SparkParser, name, value)
        try:
            yield
        finally:
            for name, value in saved.items():
                setattr(SparkParser, name, value)
