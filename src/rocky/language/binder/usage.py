"""Usage: which functions and which forms a bound query uses, and where.

It is kept with a model's record, so that asking what another engine would make of a project takes
neither texts nor trees. Each use is there once, in the order of the text.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.query import BoundQuery
from rocky.language.binder.scopes import Binding
from rocky.language.ir import CONSTRUCT, Use
from rocky.language.syntax.constructs import find_constructs
from rocky.language.syntax.parser import ParsedQuery, span_of

_start: Final = attrgetter("start")
_AFTER_KEY: Final = frozenset({"ROWS", "RANGE", "LIMIT", "OFFSET"})
_AROUND: Final = (exp.WithinGroup, exp.Filter, exp.IgnoreNulls, exp.RespectNulls)
_OPENING_WORDS: Final = frozenset(
    "any array extract overlay position substr substring trim".split()
)
# Forms whose arguments are parted by words as the standard has them, and those words.
_WORDS: Final = {exp.Trim: "FROM", exp.StrPosition: "IN", exp.Overlay: "PLACING"}


def find_usage(bound: BoundQuery) -> list[Use]:
    """Every call of a function and every form that another engine may read otherwise."""
    parsed, binding = bound.parsed, bound.binding
    if parsed is None or binding is None:
        return []
    known = parsed.memo.get("usage")
    if known is None or not (
        _is_same(known[0], binding.calls) and _is_same(known[1], binding.notes)
    ):
        uses = find_uses(parsed, binding)
        known = parsed.memo["usage"] = binding.calls, binding.notes, uses
    found: list[Use] = known[2]
    return found


def _is_same(before: Sequence[tuple[Any, ...]], now: Sequence[tuple[Any, ...]]) -> bool:
    """Whether the same was noted at the same nodes."""
    return len(before) == len(now) and all(
        old[-1] is new[-1] and old[:-1] == new[:-1] for old, new in zip(before, now, strict=True)
    )


def find_uses(parsed: ParsedQuery, binding: Binding) -> list[Use]:
    """`find_usage` of a text by what it parses to and what binding it has noted."""
    tokens = parsed.tokens
    uses = set(_calls(binding.calls, tokens))
    for construct, node in binding.notes:
        span = span_of(node, tokens)
        if span is not None and not (construct.startswith("null-order") and _is_told(span, tokens)):
            uses.add(Use(construct, CONSTRUCT, span.start, span.end))
    for construct, span in find_constructs(parsed):
        uses.add(Use(construct, CONSTRUCT, span.start, span.end))
    return sorted(uses, key=lambda use: (use.start, use.end, use.name))


def _calls(calls: list[tuple[str, int, exp.Expr]], tokens: Sequence[Token]) -> Iterator[Use]:
    for name, count, written in calls:
        node: Any = written
        while node.__class__ in _AROUND:
            node = node.args["this"]
        meta = node._meta
        if meta and "start" in meta:
            yield Use(name, count, meta["start"], meta["end"] + 1)
        else:
            yield from _form(name, count, node, tokens)


def _form(name: str, count: int, node: Any, tokens: Sequence[Token]) -> Iterator[Use]:
    """A call that the parser made a node of its own of, at the word that opens it."""
    span = span_of(node, tokens)
    if span is None:
        # `current_date` without parentheses: once is enough to say what is to be said of it.
        bare = (token for token in tokens if token.text.lower() == name)
        yield from (Use(name, count, token.start, token.end + 1) for token in [*bare][:1])
        return
    opened = _opening(tokens, _at(tokens, span.start))
    word = tokens[opened - 1] if opened > 0 else tokens[_at(tokens, span.start)]
    parted = _WORDS.get(node.__class__)
    if parted is not None and _is_parted(tokens, opened, parted):
        # `trim(BOTH 'x' FROM text)` is everywhere what `trim('x', text)` is in Spark alone.
        count = 1
    called = "extract" if node.__class__ is exp.Extract else name
    yield Use(called, count, word.start, word.end + 1)


def _opening(tokens: Sequence[Token], at: int) -> int:
    """The parenthesis around the arguments that begin, or whose call begins, at an index."""
    if tokens[at].text.lower() in _OPENING_WORDS:
        return at + 1
    depth = 0
    for index in range(at, -1, -1):
        kind = tokens[index].token_type
        if kind is TokenType.R_PAREN and index < at:
            depth += 1
        elif kind is TokenType.L_PAREN:
            if depth == 0 and index > 0:
                return index
            depth -= 1
    return -1


def _is_parted(tokens: Sequence[Token], opened: int, word: str) -> bool:
    """Whether a word stands between the arguments of the call that opens at an index."""
    depth = 0
    for token in tokens[opened:] if opened >= 0 else ():
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return False
        elif depth == 1 and token.text.upper() == word:
            return True
    return False


def _is_told(span: Span, tokens: Sequence[Token]) -> bool:
    """Whether the author said where the nulls of a sort key go, before the next key or clause."""
    depth = 0
    for token in islice(tokens, _at(tokens, span.start), None):
        kind, word = token.token_type, token.text.upper()
        if kind is TokenType.L_PAREN:
            depth += 1
        elif kind is TokenType.R_PAREN:
            depth -= 1
        if depth < 0 or (depth == 0 and (kind is TokenType.COMMA or word in _AFTER_KEY)):
            return False
        if depth == 0 and word == "NULLS":
            return True
    return False


def _at(tokens: Sequence[Token], offset: int) -> int:
    """The index of the token that starts at or after an offset."""
    return bisect_left(tokens, offset, key=_start)
