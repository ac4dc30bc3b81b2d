"""Literals: numbers by their digits and suffix, typed strings, intervals, NULL.

The parser library turns `1L`, `5BD` and `DATE '...'` into casts. They are literals to Spark: never
null, with their own type rules, so they are told apart by the text at their place.
"""

import math
import re
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import closest
from rocky.language.binder.expr import Expr, unknown
from rocky.language.binder.expressions.determinism import note_text, note_word
from rocky.language.binder.expressions.temporal_literals import (
    interval_type,
    is_date,
    is_time,
    is_timestamp,
)
from rocky.language.binder.scopes import Scope
from rocky.language.datatypes import types as t

_INT_MAX: Final = 2**31
_LONG_MAX: Final = 2**63
_FLOAT_MAX: Final = 3.4028234663852886e38
_NUMERAL = re.compile(r"\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?")
_SUFFIX = re.compile(r"(?i)(bd|[lsydf])$")
_DOUBLE_COLON = re.compile(r"\s*::")
_TYPED = re.compile(r"(?i)\b(date|timestamp|timestamp_ntz|timestamp_ltz|time|x)\s*$")
_SUFFIX_TYPES: Final = {
    "l": (t.BIGINT, _LONG_MAX),
    "s": (t.SMALLINT, 2**15),
    "y": (t.TINYINT, 2**7),
}
_TYPED_CHECKS: Final = {
    "date": (t.DATE, is_date),
    "timestamp": (t.TIMESTAMP, is_timestamp),
    "timestamp_ltz": (t.TIMESTAMP, is_timestamp),
    "timestamp_ntz": (t.TIMESTAMP_NTZ, is_timestamp),
    "time": (t.time(6), is_time),
}
_INTEGERS: dict[str, Expr] = {}


def bind_literal(node: exp.Literal, scope: Scope) -> Expr:
    """A string or a number without a suffix."""
    args = node.args
    if args["is_string"]:
        note_word(args["this"], scope)
        return Expr(t.STRING, False, value=args["this"], foldable=True)
    found = _INTEGERS.get(args["this"])
    if found is None and not _NUMERAL.fullmatch(args["this"]):
        return scope.binding.error(
            Code.SYNTAX_ERROR, f"`{args['this']}` is not a number", node, "PARSE_SYNTAX_ERROR"
        )
    return found if found is not None else _checked(number(args["this"]), node, scope)


def _checked(found: Expr, node: exp.Expr, scope: Scope) -> Expr:
    """The literal, or a report when no type can hold it."""
    if found.type is t.UNKNOWN:
        return scope.binding.error(
            Code.SYNTAX_ERROR,
            "a decimal literal has at most 38 digits",
            node,
            "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
            help="write it as a double, with an exponent",
        )
    if found.value in (math.inf, -math.inf):
        return scope.binding.error(
            Code.SYNTAX_ERROR,
            f"the number does not fit in `{found.type}`",
            node,
            "INVALID_NUMERIC_LITERAL_RANGE",
        )
    return found


def number(text: str, *, negative: bool = False) -> Expr:
    """The literal a numeral means: int, bigint or decimal by its digits, double by an exponent."""
    if not _NUMERAL.fullmatch(text):
        return unknown()
    if "e" in text or "E" in text:
        return Expr(t.DOUBLE, False, value=float(text), foldable=True)
    if "." in text:
        return decimal_literal(text)
    found = _INTEGERS.get(text)
    if found is None or negative:
        if len(text) > t.MAX_PRECISION:
            return decimal_literal(text)
        value = int(text)
        bound = value - 1 if negative else value
        kind = t.INT if bound < _INT_MAX else t.BIGINT if bound < _LONG_MAX else None
        if kind is None:
            return decimal_literal(text)
        found = Expr(kind, False, value=value, foldable=True)
        if len(_INTEGERS) < 1000 and not negative:
            _INTEGERS[text] = found
    return found


def decimal_literal(text: str) -> Expr:
    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    scale = -int(exponent)
    precision = len(digits)
    if scale < 0:
        precision, scale = precision - scale, 0
    precision = max(precision, scale)
    if precision > t.MAX_PRECISION:
        return Expr(t.UNKNOWN, False, value=value, foldable=True)
    return Expr(t.decimal(precision, scale), False, value=value, foldable=True)


def bind_null(node: exp.Null, scope: Scope) -> Expr:
    return Expr(t.NULL, True, value=None, foldable=True)


def bind_boolean(node: exp.Boolean, scope: Scope) -> Expr:
    return Expr(t.BOOLEAN, False, value=bool(node.args["this"]), foldable=True)


def bind_hex(node: exp.HexString, scope: Scope) -> Expr:
    return Expr(t.BINARY, False, value=node.args["this"], foldable=True)


def bind_raw_string(node: Any, scope: Scope) -> Expr:
    return Expr(t.STRING, False, value=node.args["this"], foldable=True)


def bind_negative(node: exp.Neg, scope: Scope) -> Expr | None:
    """`-5` as the literal it is to Spark; None when the operand is not a plain numeral."""
    inner = node.args["this"]
    if (
        inner.__class__ is exp.Literal
        and not inner.args["is_string"]
        and _NUMERAL.fullmatch(inner.args["this"])
    ):
        found = number(inner.args["this"], negative=True)
        return Expr(found.type, False, value=-found.value, foldable=True)
    if inner.__class__ is exp.Cast and inner.args["this"].__class__ is exp.Literal:
        literal = literal_in_cast(inner, scope, negative=True)
        if literal is not None and literal.type.kind in t.NUMERIC_KINDS:
            return Expr(literal.type, False, value=-literal.value, foldable=True)
    return None


def literal_in_cast(node: exp.Cast, scope: Scope, *, negative: bool = False) -> Expr | None:
    """The literal behind a cast the author never wrote, or None when it is a real cast."""
    inner = node.args["this"]
    if inner.__class__ is not exp.Literal:
        return None
    meta = inner._meta or {}
    start = meta.get("start")
    if start is None:
        return _decimal_suffix(node, inner, scope)
    text = scope.binding.text
    if not inner.args["is_string"]:
        written = text[start : meta["end"] + 1]
        suffix = _SUFFIX.search(written)
        if suffix is None and _TYPED.search(text, max(0, start - 24), start):
            return scope.binding.error(
                Code.SYNTAX_ERROR,
                "a typed literal is written as a string",
                node,
                "PARSE_SYNTAX_ERROR",
            )
        if suffix is None:
            return None
        return _suffixed(
            written[: suffix.start()], suffix[1].lower(), node, scope, negative=negative
        )
    typed = _TYPED.search(text, max(0, start - 24), start)
    if typed is None or _DOUBLE_COLON.match(text, meta["end"] + 1):
        return None
    return _typed(typed[1].lower(), inner.args["this"], typed.start(), node, scope)


def typed_literal(node: exp.Cast, scope: Scope) -> Expr | None:
    """The literal of `DATE '...'::type`, where the library cast the string before the word."""
    inner = node.args["this"]
    meta = inner._meta or {}
    start = meta.get("start")
    if inner.__class__ is not exp.Literal or start is None or not inner.args["is_string"]:
        return None
    if not _DOUBLE_COLON.match(scope.binding.text, meta["end"] + 1):
        return None
    typed = _TYPED.search(scope.binding.text, max(0, start - 24), start)
    if typed is None:
        return None
    return _typed(typed[1].lower(), inner.args["this"], typed.start(), node, scope)


def _decimal_suffix(node: exp.Cast, inner: exp.Literal, scope: Scope) -> Expr | None:
    """`5BD`: the library has dropped its place, and kept its digits as a string."""
    if not inner.args["is_string"] or not re.fullmatch(
        r"[0-9.]+([eE][+-]?\d+)?", inner.args["this"]
    ):
        return None
    return _checked(decimal_literal(inner.args["this"]), node, scope)


def _suffixed(
    digits: str, suffix: str, node: exp.Cast, scope: Scope, *, negative: bool
) -> Expr | None:
    if suffix in ("d", "f"):
        value = float(digits)
        if suffix == "f" and value > _FLOAT_MAX:
            value = math.inf
        kind = t.DOUBLE if suffix == "d" else t.FLOAT
        return _checked(Expr(kind, False, value=value, foldable=True), node, scope)
    if suffix == "bd":
        return _checked(decimal_literal(digits), node, scope)
    kind, bound = _SUFFIX_TYPES[suffix]
    if not digits.isdigit():
        return None
    # Python does not read numerals of thousands of digits; a few more than fit are enough here.
    whole = int(digits.lstrip("0")[: t.MAX_PRECISION] or "0")
    if whole > bound or (whole == bound and not negative):
        scope.binding.error(
            Code.SYNTAX_ERROR,
            f"{digits} does not fit in `{kind}`",
            node,
            "INVALID_NUMERIC_LITERAL_RANGE",
            help="use a wider suffix, or none",
        )
        return unknown()
    return Expr(kind, False, value=whole, foldable=True)


def _typed(word: str, value: str, start: int, node: exp.Cast, scope: Scope) -> Expr:
    kind, accepts = _TYPED_CHECKS.get(word, (t.BINARY, None))
    if accepts is not None and not accepts(value):
        end = int(node.args["this"].meta["end"]) + 1
        return scope.binding.error(
            Code.SYNTAX_ERROR,
            f"`{value}` is not a {word}",
            node,
            "INVALID_TYPED_LITERAL",
            help=f"write it as {_EXAMPLES[word]}",
            span=Span(start, end),
        )
    if word == "time":
        fraction = value.partition(".")[2]
        kind = t.time(min(6, max(len(fraction), 0)) if fraction else 6)
        kind = t.time(6)
    note_text(value, kind.kind, scope)
    return Expr(kind, False, value=value, foldable=True)


_EXAMPLES: Final = {
    "date": "`DATE '2026-01-31'`",
    "timestamp": "`TIMESTAMP '2026-01-31 10:00:00'`",
    "timestamp_ltz": "`TIMESTAMP_LTZ '2026-01-31 10:00:00'`",
    "timestamp_ntz": "`TIMESTAMP_NTZ '2026-01-31 10:00:00'`",
    "time": "`TIME '10:00:00'`",
}


def bind_interval(node: exp.Interval, scope: Scope) -> Expr:
    """`INTERVAL '1' DAY` and its many spellings."""
    return interval_type(node, scope)


_INTERVAL_BOUNDS: Final = frozenset({"start_date", "end_date"})


def bind_placeholder(node: Any, scope: Scope) -> Expr:
    """`@start_date` and `@end_date` become strings when a time-interval model runs."""
    if node.__class__ is exp.Parameter and node.name.lower() in _INTERVAL_BOUNDS:
        return Expr(t.STRING, False, foldable=True)
    span = _marker_span(node, scope)
    return scope.binding.error(
        Code.SYNTAX_ERROR,
        "a parameter has no value here",
        node,
        "PARSE_SYNTAX_ERROR" if node.__class__ is exp.Parameter else "UNBOUND_SQL_PARAMETER",
        help=_parameter_help(node, span, scope),
        span=span,
    )


def _parameter_help(node: Any, span: Span | None, scope: Scope) -> str:
    if span is not None and scope.binding.text.startswith("${", span.start):
        return "`${...}` is not replaced in SQL: use `@var(name)` and pass `--var name=...`"
    near = closest(node.name.lower(), sorted(_INTERVAL_BOUNDS)) if node.name else None
    if near is not None:
        return f"did you mean `@{near}`?"
    return "write the value; Rocky fills in only `@start_date` and `@end_date`"


def _marker_span(node: Any, scope: Scope) -> Span | None:
    """The place of a `?`, `:name`, `@name` or `${name}`, which carries none of its own."""
    name = re.escape(node.name) if node.name else ""
    match = re.search(
        rf"[@:]{name}\b|\$\{{{name}\}}|\{{\s*{name}\s*\}}" if name else r"\?", scope.binding.text
    )
    return Span(match.start(), match.end()) if match is not None else None


def bind_string_run(node: exp.Concat, scope: Scope) -> Expr:
    """Adjacent string literals, which Spark reads as one."""
    parts = node.args["expressions"]
    return Expr(t.STRING, False, value="".join(part.name for part in parts), foldable=True)


LITERALS: Final[dict[type, Any]] = {
    exp.Literal: bind_literal,
    exp.Null: bind_null,
    exp.Boolean: bind_boolean,
    exp.HexString: bind_hex,
    exp.RawString: bind_raw_string,
    exp.Interval: bind_interval,
    exp.Placeholder: bind_placeholder,
    exp.Parameter: bind_placeholder,
    exp.SessionParameter: bind_placeholder,
    exp.Concat: bind_string_run,
}
