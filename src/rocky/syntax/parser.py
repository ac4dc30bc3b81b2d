"""SQL text to one syntax tree, or one problem at its place.

Spans are not stored on the tree: most nodes never need one. `rocky.syntax.spans` finds the
span of a node from its leaves and the tokens when a finding is reported.
"""

import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokens import Token

from rocky.source import Span
from rocky.syntax.dialect import SPARK, TOKENIZER, spark_settings
from rocky.syntax.rewrites import as_library_reads, without_comments
from rocky.syntax.strictness import misplaced_token

T = TypeVar("T")

_DEEP_STACK_BYTES: Final = 512 * 1024 * 1024
_DEEP_RECURSION: Final = 30_000


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed statement with the tokens it came from, and their kinds as a string.

    `levels` are the bounds of recursions: neither the tree nor the tokens have them.
    """

    text: str
    tree: exp.Expr
    tokens: Sequence[Token]
    kinds: str
    levels: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a text is not one Spark SQL statement; `condition` is Spark's name for it."""

    message: str
    span: Span
    condition: str = "PARSE_SYNTAX_ERROR"
    help: str | None = None


class NestedTooDeeply(RecursionError):
    """A text nests deeper than any stack we are ready to give it."""


def parse_query(text: str) -> ParsedQuery | SyntaxProblem:
    """The one statement in `text`. Comments alone, or two statements, are a problem."""
    try:
        with spark_settings():
            tokens, kinds, levels = as_library_reads(
                TOKENIZER.tokenize(without_comments(text)), text
            )
            trees = SPARK.parser().parse(tokens, text)
    except ParseError as error:
        return _problem_of(error, text)
    except TokenError:
        return _token_problem(text)
    misplaced = misplaced_token(tokens, kinds, text)
    if misplaced is not None:
        return SyntaxProblem(*misplaced)
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


_QUOTED: Final = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL
)


def _unclosed_quote(text: str) -> tuple[str, int]:
    """The quote that is opened and never closed, and where; an empty one when there is none."""
    at = 0
    while at < len(text):
        closed = _QUOTED.match(text, at)
        if closed is not None:
            at = closed.end()
        elif text[at] in "'\"`":
            return text[at], at
        else:
            at += 1
    return "", -1


def _token_problem(text: str) -> SyntaxProblem:
    at = len(text.rstrip())
    quote, opened = _unclosed_quote(text)
    for mark, name in (("'", "string"), ('"', "string"), ("`", "quoted name")):
        if quote == mark:
            return SyntaxProblem(
                f"a {name} is opened and never closed",
                Span(opened, min(opened + 1, len(text))),
                help=f"close it with `{mark}`" if mark != "`" else "close it with a backtick",
            )
    return SyntaxProblem("the text cannot be read as SQL", Span(max(at - 1, 0), at))
