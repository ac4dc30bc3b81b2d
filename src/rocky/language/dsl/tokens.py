"""Tokens of a `.rocky` text, each with the comments that belong to it.

Nothing is skipped but white space: a character that begins no token is a problem at its place.
Lines mean nothing to the grammar, and `|` between steps is a token like any other.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal, NamedTuple

from rocky.diagnostics.diagnostic import Span

Kind = Literal["name", "word", "quoted", "string", "number", "moment", "placeholder", "mark", "end"]

WORDS: Final = frozenset(
    "from where derive set drop group select join inner left right full cross semi anti sort take"
    " distinct union intersect except replicate let match on keep as and or not is null true false"
    " over in between like ilike rlike".split()
)
"""Words of the language. A column with such a name is written in backticks."""


class Comment(NamedTuple):
    """A comment, where it begins, and whether the line before it is empty."""

    text: str
    start: int
    apart: bool


@dataclass(frozen=True, slots=True)
class Token:
    """A token with the comments on lines of their own before it and the one behind it.

    `apart` tells whether an empty line stands right before it, `begins` whether it begins a line.
    """

    kind: Kind
    text: str
    start: int
    end: int
    above: tuple[Comment, ...] = ()
    behind: Comment | None = None
    apart: bool = False
    begins: bool = False

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.text in marks

    def is_word(self, *words: str) -> bool:
        return self.kind == "word" and self.text in words


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a text is not a pipeline, at its place."""

    message: str
    span: Span
    help: str | None = None


class Unreadable(ValueError):
    """A text that is not a pipeline; `problem` says why. Never leaves the package."""

    def __init__(self, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002 - a diagnostic's own word
        super().__init__(message)
        self.problem = Problem(message, span, help)


_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>--[^\n]*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<number>[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?)
  | (?P<string>'[^'\n]*'|"[^"\n]*")
  | (?P<quoted>`(?:[^`\n]|``)+`)
  | (?P<moment>@[0-9][0-9:T.Z+-]*)
  | (?P<placeholder>@[A-Za-z_][A-Za-z0-9_]*)
  | (?P<mark>==|!=|<=|>=|=>|->|\|\||\.\.|[<>+\-*/%(){}\[\],.:|=])
    """,
    re.VERBOSE,
)

_FOREIGN: Final = {
    "!": "write `not`",
    "&": "write `and`",
    ";": "a file holds one pipeline and needs no `;`",
    "#": "a comment begins with `--`",
    "'": "close the string with `'` on the same line",
    '"': 'close the string with `"` on the same line',
    "`": "close the name with a backtick on the same line",
    "@": "a date is written `@2025-01-31`, a variable `@var(name)`",
}


def read_tokens(text: str) -> list[Token]:
    """The tokens of a text, the last of kind `end`. Raises Unreadable."""
    found: list[Token] = []
    above: list[Comment] = []
    at = lines = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unknown(text, at)
        kind, end = match.lastgroup, match.end()
        apart = lines > 1 and bool(found or above)
        if kind == "space":
            lines = match[0].count("\n")
        elif kind == "comment":
            comment = Comment(match[0].rstrip(), at, apart)
            if found and not lines and not above:
                found[-1] = replace(found[-1], behind=comment)
            else:
                above.append(comment)
        else:
            _check(text, match)
            token_kind: Kind = "word" if kind == "name" and match[0] in WORDS else kind  # type: ignore[assignment] # the groups are the kinds
            found.append(Token(token_kind, match[0], at, end, tuple(above), None, apart, lines > 0))
            above = []
        lines = lines if kind == "space" else 0
        at = end
    found.append(Token("end", "", len(text), len(text), tuple(above)))
    return found


def _unknown(text: str, at: int) -> Unreadable:
    char = text[at]
    if char in "'\"":
        line = text.find("\n", at)
        end = len(text) if line < 0 else line
        return Unreadable("a string is opened and never closed", Span(at, end), _FOREIGN[char])
    if char == "`":
        return Unreadable(
            "a quoted name is opened and never closed", Span(at, at + 1), _FOREIGN[char]
        )
    pair = text[at : at + 2]
    if pair in ("/*", "<>"):
        known = "a comment begins with `--`" if pair == "/*" else "write `!=`"
        return Unreadable(f"`{pair}` is not known here", Span(at, at + 2), known)
    advice = _FOREIGN.get(char)
    if advice is None and char.isalpha():
        advice = "write a name with such letters in backticks"
    return Unreadable(f"the character `{char}` means nothing here", Span(at, at + 1), advice)


def _check(text: str, match: re.Match[str]) -> None:
    """Refuse what looks like a token and is none."""
    kind, span = match.lastgroup, Span(*match.span())
    following = text[span.end : span.end + 1]
    if kind in ("number", "name") and following and following.isalnum():
        end = span.end + 1
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        whole = text[span.start : end]
        what = "number" if kind == "number" else "name"
        raise Unreadable(
            f"`{whole}` is not a {what}",
            Span(span.start, end),
            "a name that begins with a digit or has other letters is written in backticks",
        )
    pair = text[span.start : span.start + 2]
    if pair in ("/*", "<>") and kind == "mark":
        raise _unknown(text, span.start)
    if kind == "moment":
        _check_moment(match[0], span)


_MOMENT: Final = re.compile(
    r"@\d{4}-\d{2}-\d{2}(?P<time>T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}:\d{2})?)?"
)


def _check_moment(text: str, span: Span) -> None:
    form = "a date is `@YYYY-MM-DD`, a time `@YYYY-MM-DDTHH:MM:SS` with an optional `Z`"
    if _MOMENT.fullmatch(text) is None:
        raise Unreadable(f"`{text}` is not a date", span, form)
    try:
        datetime.fromisoformat(text[1:])
    except ValueError as error:
        raise Unreadable(f"`{text}` is not a date: {error}", span, form) from error


def is_time(moment: str) -> bool:
    """Whether a literal `@...` has a time of the day."""
    return "T" in moment
