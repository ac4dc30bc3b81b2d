"""SQL text to one syntax tree, or one problem at its place; and the span of any node of a tree.

Spans are not stored on the tree, since most nodes never need one. When a finding does, its span is
worked out from the node's leaves and the tokens: parentheses and the words that open or close
a node (`CAST(`, `OVER (...)`) are found among the tokens.
"""

import re
import sys
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from typing import Any, Final, TypeVar

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from rocky.diagnostics.diagnostic import Span
from rocky.language.quotes import find_unclosed, on_one_line, only_code
from rocky.language.syntax.dialect import parse_tokens, tokenize
from rocky.language.syntax.foreign_forms import foreign_form
from rocky.language.syntax.interval_tokens import range_in_units
from rocky.language.syntax.pivots import unwrap_pivots, wrap_pivots
from rocky.language.syntax.tokens import (
    deep_type,
    long_interval,
    misplaced_token,
    rewrite_tokens,
    without_comments,
)

T = TypeVar("T")

_start: Final = attrgetter("start")

_DEEP_STACK_BYTES: Final = 512 * 1024 * 1024
_DEEP_RECURSION: Final = 30_000


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed statement with the tokens it came from, and their kinds as a string.

    `levels` are the bounds of recursions: neither the tree nor the tokens have them. `memo` is what
    was worked out from it, for when it is bound again.
    """

    text: str
    tree: exp.Expr
    tokens: Sequence[Token]
    kinds: str
    levels: tuple[tuple[int, str], ...] = ()
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a text is not one Spark SQL statement; `condition` is Spark's name for it."""

    message: str
    span: Span
    condition: str = "PARSE_SYNTAX_ERROR"
    help: str | None = None


class NestedTooDeeply(RecursionError):
    """A text nests deeper than any stack we are ready to give it."""


# What the library raises, instead of saying what is wrong, for texts that are no SQL, `1e.5BD` for
# one; none of them may take the whole compile down.
_LIBRARY_FAULTS: Final = (LookupError, AttributeError, TypeError, ValueError, ArithmeticError)


def parse_query(text: str) -> ParsedQuery | SyntaxProblem:
    """The one statement in `text`. Comments alone, or two statements, are a problem."""
    template = _template_problem(text)
    if template is not None:
        return template
    try:
        tokens, kinds, levels = rewrite_tokens(tokenize(without_comments(text)), text)
        absurd = deep_type(tokens, text) or long_interval(tokens, kinds)
        if absurd is not None:
            return SyntaxProblem(*absurd)
        wrapped = wrap_pivots(tokens) if "pivot" in text.lower() else None
        trees = parse_tokens(wrapped or tokens, text)
        if wrapped is not None:
            unwrap_pivots(trees)
    except ParseError as error:
        return _problem_of(error, on_one_line(text))
    except TokenError:
        return _token_problem(text)
    except _LIBRARY_FAULTS as fault:
        message = f"the parser cannot make anything of this text ({type(fault).__name__})"
        return SyntaxProblem(message, Span(0, len(text.rstrip())))
    misplaced = misplaced_token(tokens, kinds, text) or foreign_form(tokens, kinds)
    if misplaced is not None:
        return SyntaxProblem(*misplaced)
    mixed = range_in_units(tokens) if chr(TokenType.INTERVAL) in kinds else None
    if mixed is not None:
        message = "an interval of several units cannot hold a range such as `HOUR TO MINUTE`"
        return SyntaxProblem(message, mixed, "INVALID_INTERVAL_FORMAT")
    statements = [tree for tree in trees if tree is not None and type(tree) is not exp.Semicolon]
    if not statements:
        return SyntaxProblem(
            "there is no SQL statement here", Span(0, len(text)), "PARSE_EMPTY_STATEMENT"
        )
    if len(statements) > 1:
        second = next(token for token in tokens if token.text == ";")
        return SyntaxProblem(
            "more than one statement in a text that must hold one query",
            Span(second.start, second.end + 1),
            help="keep one SELECT here and move the others to files of their own",
        )
    return ParsedQuery(text, statements[0], tokens, kinds, levels)


def with_deep_stack(work: Callable[[], T]) -> T:
    """Run `work` again on a thread with a large stack after it ran out of recursion.

    Raises NestedTooDeeply when that is not enough either.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []

    def attempt() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - carried to the caller's thread, not swallowed
            failure.append(error)

    limit = sys.getrecursionlimit()
    size = threading.stack_size(_DEEP_STACK_BYTES)
    try:
        sys.setrecursionlimit(max(limit, _DEEP_RECURSION))
        thread = threading.Thread(target=attempt, name="rocky-deep-stack")
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failure:
        if isinstance(failure[0], RecursionError):
            raise NestedTooDeeply
        raise failure[0]
    return outcome[0]


def _problem_of(error: ParseError, text: str) -> SyntaxProblem:
    details: dict[str, Any] = error.errors[0] if error.errors else {}
    highlight = details.get("highlight") or ""
    start = _offset_of(text, details.get("line"), details.get("col"), len(highlight))
    span = Span(start, max(start + len(highlight), min(start + 1, len(text))))
    word = text[span.start : span.end]
    described = str(details.get("description") or "")
    if described == "Expecting )":
        message = f"a closing parenthesis is missing before `{word}`"
    elif described.startswith("Expected TYPE after CAST"):
        message = f"`{word}` is not a Spark type"
    elif described.startswith(("Expecting ", "Expected ")) and "token_type" not in described:
        wanted = described.partition(" ")[2]
        message = f"expected {wanted} before `{word}`"
    elif described.startswith("Required keyword"):
        message = f"something is missing after `{word}`"
    elif word:
        message = f"unexpected `{word}`"
    else:
        message = "unexpected end of the statement"
    return SyntaxProblem(message, span)


def _offset_of(text: str, line: int | None, col: int | None, width: int) -> int:
    """The offset of a token the library places by line and by the column of its last character."""
    if line is None or col is None:
        return 0
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    return max(0, min(start + col - max(width, 1), len(text)))


_TEMPLATE_TAG: Final = re.compile(r"\{[{%#]")


_TEMPLATE_HELP: Final = (
    "write plain Spark SQL: `FROM orders` reads the model `orders`, `@var(NAME)` is a variable,"
    " `@NAME(...)` a macro"
)


_TEMPLATE_CALL: Final = re.compile(
    r"""\{\{-?\s*(?P<call>ref|source|var|config)\(\s*(?:['"](?P<name>[\w.]+)['"])?"""
    r"""\s*(?:,\s*['"](?P<table>[\w.]+)['"]\s*)?"""
)


def _template_help(text: str, at: int) -> str:
    """What to write in the place of a tag, exactly for the calls that every dbt model has."""
    call = _TEMPLATE_CALL.match(text, at)
    match call and (call["call"], call["name"], call["table"]):
        case "ref", str(name), table:
            return f"a model is read by its name: write `{table or name}`"
        case "source", str(name), str(table):
            return f"a source is read by its declared name: write `{name}.{table}`"
        case "var", str(name), _:
            return f"write `@var({name})`"
        case "config", _, _:
            return "a model's settings stand in a file beside it: `[strategy]` in `NAME.toml`"
        case _:
            return _TEMPLATE_HELP


def _template_problem(text: str) -> SyntaxProblem | None:
    """The first tag of a Jinja template outside quotes; Spark has no `{{`, `{%` or `{#`."""
    if "{" not in text or not any(tag in text for tag in ("{{", "{%", "{#")):
        return None
    tag = _TEMPLATE_TAG.search(only_code(text))
    if tag is None:
        return None
    message = f"`{tag[0]}` is template syntax, not SQL"
    return SyntaxProblem(message, Span(*tag.span()), help=_template_help(text, tag.start()))


_ENDS: Final = {"`": ("quoted name", "a backtick"), "*": ("comment", "`*/`")}


def _token_problem(text: str) -> SyntaxProblem:
    at = len(text.rstrip())
    opened = find_unclosed(text)
    if opened is None:
        return SyntaxProblem("the text cannot be read as SQL", Span(max(at - 1, 0), at))
    mark = text[opened.end - 1]
    name, end = _ENDS.get(mark, ("string", f"`{mark}`"))
    condition = "UNCLOSED_BRACKETED_COMMENT" if mark == "*" else "PARSE_SYNTAX_ERROR"
    return SyntaxProblem(
        f"a {name} is opened and never closed", opened, condition, help=f"close it with {end}"
    )


_OPENING_WORDS: Final = frozenset({"CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "SUBSTR"})
_CALLS: Final = (exp.Func, exp.Anonymous)
_FOLLOWED: Final = (exp.Window, exp.Filter, exp.WithinGroup)


def name_span(node: exp.Table) -> Span | None:
    """The place of the name of a relation; None of one that has none."""
    first, last = node.parts[0].meta, node.parts[-1].meta
    return Span(first["start"], last["end"] + 1) if "start" in first else None


def span_of(node: exp.Expr, tokens: Sequence[Token]) -> Span | None:
    """The place of a node: its leaves, and the words and parentheses that belong to it."""
    low, high = _leaf_range(node)
    if high < 0:
        return None
    if isinstance(node, _FOLLOWED):
        return _followed_span(node, tokens, low, high)
    own = node._meta.get("start") if node._meta else None
    if own is not None and isinstance(node, _CALLS):
        close = _closing_after(tokens, own)
        return Span(low, max(high, close) + 1)
    if isinstance(node, exp.In):
        return _in_span(tokens, low, high)
    if isinstance(node, exp.Case):
        return _case_span(tokens, low, high)
    if isinstance(node, exp.Cast | exp.Func):
        return _worded_span(tokens, low, high)
    if isinstance(node, exp.Paren | exp.Subquery):
        at = _index_at(tokens, low) - 1
        if at >= 0 and tokens[at].token_type is TokenType.L_PAREN:
            return Span(tokens[at].start, max(high, _match(tokens, at)) + 1)
    if isinstance(node, exp.Binary):
        right = node.args.get("expression")
        last = span_of(right, tokens) if isinstance(right, exp.Expr) else None
        return Span(low, max(high + 1, last.end if last is not None else 0))
    return Span(low, high + 1)


def _index_at(tokens: Sequence[Token], offset: int) -> int:
    """The index of the token that starts at or after an offset."""
    return bisect_left(tokens, offset, key=_start)


def _match(tokens: Sequence[Token], at: int) -> int:
    """The end offset of the parenthesis that closes the one at index `at`; -1 if none does."""
    depth = 0
    for token in islice(tokens, at, None):
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return token.end
    return -1


def _closing_after(tokens: Sequence[Token], name: int) -> int:
    """The end of the argument list that follows the function name at an offset."""
    at = _index_at(tokens, name) + 1
    if at < len(tokens) and tokens[at].token_type is TokenType.L_PAREN:
        return _match(tokens, at)
    return -1


def _in_span(tokens: Sequence[Token], low: int, high: int) -> Span:
    """`value IN (...)` with the closing parenthesis of its list or subquery."""
    for index in range(_index_at(tokens, low), len(tokens) - 1):
        if tokens[index].start > high:
            break
        if tokens[index].text.upper() == "IN" and tokens[index + 1].token_type is TokenType.L_PAREN:
            return Span(low, max(high, _match(tokens, index + 1)) + 1)
    return Span(low, high + 1)


def _case_span(tokens: Sequence[Token], low: int, high: int) -> Span:
    """`CASE ... END` with both words; CASEs inside it are counted past."""
    start = _index_at(tokens, low)
    while start >= 0 and (start >= len(tokens) or tokens[start].text.upper() != "CASE"):
        start -= 1
    if start < 0:
        return Span(low, high + 1)
    depth = 0
    for token in tokens[start:]:
        word = token.text.upper()
        depth += (word == "CASE") - (word == "END")
        if depth == 0:
            return Span(tokens[start].start, max(high, token.end) + 1)
    return Span(tokens[start].start, high + 1)


def _worded_span(tokens: Sequence[Token], low: int, high: int) -> Span:
    """`CAST(value AS type)` and its like from their first word; `DATE '...'` from its type."""
    at = _index_at(tokens, low)
    if at > 1 and tokens[at - 1].token_type is TokenType.L_PAREN:
        word = tokens[at - 2]
        if word.text.upper() in _OPENING_WORDS:
            return Span(word.start, max(high, _match(tokens, at - 1)) + 1)
    if at and at < len(tokens) and tokens[at].token_type is TokenType.STRING:
        before = tokens[at - 1]
        if before.text.upper() in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "TIME"):
            return Span(before.start, high + 1)
    return Span(low, high + 1)


def _followed_span(node: Any, tokens: Sequence[Token], low: int, high: int) -> Span:
    """A call with what is written after it: `OVER (...)`, `FILTER (...)`, `WITHIN GROUP (...)`."""
    inner = span_of(node.args["this"], tokens)
    end = max(high + 1, inner.end if inner is not None else 0)
    start = min(low, inner.start if inner is not None else low)
    # The clause opens at the first parenthesis after the call.
    at = bisect_right(tokens, inner.end - 1 if inner is not None else high, key=lambda t: t.start)
    for index in range(at, min(at + 4, len(tokens))):
        if tokens[index].token_type is TokenType.L_PAREN:
            return Span(start, max(end, _match(tokens, index) + 1))
    return Span(start, end)


def first_offset(node: Any) -> int:
    """The offset of some early leaf of a node: cheap, and enough to compare clauses; -1 if none."""
    while node is not None:
        meta = node._meta
        if meta and "start" in meta:
            return int(meta["start"])
        args = node.args
        following = args.get("this")
        if not isinstance(following, exp.Expr):
            listed = args.get("expressions") or args.get("ifs")
            following = listed[0] if listed else args.get("expression")
        node = following if isinstance(following, exp.Expr) else None
    return -1


def _leaf_range(node: exp.Expr) -> tuple[int, int]:
    low, high = 1 << 60, -1
    stack: list[Any] = [node]
    while stack:
        each = stack.pop()
        meta = each._meta
        if meta:
            start = meta.get("start")
            if start is not None:
                # Compared and not handed to `min` and `max`, which takes twice as long.
                if start < low:
                    low = start
                if meta["end"] > high:
                    high = meta["end"]
        for value in each.args.values():
            if isinstance(value, exp.Expr):
                stack.append(value)
            elif isinstance(value, list):
                stack += [item for item in value if isinstance(item, exp.Expr)]
    return low, high
