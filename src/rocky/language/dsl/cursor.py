"""A cursor over the tokens of a text, and what is said of a token that it does not want."""

from collections.abc import Iterable
from typing import Final

from rocky.diagnostics.suggestion import suggestion
from rocky.language.dsl.tokens import WORDS, Token, Unreadable

DEEPEST: Final = 64
"""Expressions nest no deeper: a text beyond that was not written by a person."""

HABITS: Final = {
    "order": "write `sort`",
    "limit": "write `take`",
    "having": "write `where` after `group`",
    "filter": "write `where`",
    "with": "write `let name = from ...` at the top of the file",
    "case": "write `match value { pattern => result, _ => otherwise }`",
    "by": "leave out `by`",
    "aggregate": "write `group`",
    "extend": "write `derive`",
    "asc": "ascending is the default of `sort`",
    "window": "write `call(...) over (partition ..., sort ...)`",
    "using": "write `on` and the names of the columns",
    "outer": "leave out `outer`",
    "qualify": "write `where` after the `derive` that holds the window function",
}
"""What people type who know SQL, and what it is here."""


class Cursor:
    """Where the parser stands."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def now(self) -> Token:
        return self._tokens[self._at]

    def ahead(self, by: int = 1) -> Token:
        return self._tokens[min(self._at + by, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The current token; the cursor moves on."""
        token = self._tokens[self._at]
        if token.kind != "end":
            self._at += 1
        return token

    def take_mark(self, mark: str, what: str) -> Token:
        """The mark, which must stand here. Raises Unreadable."""
        if not self.now.is_mark(mark):
            raise self.unexpected(f"`{mark}` {what}")
        return self.take()

    def take_word(self, word: str, what: str) -> Token:
        if not self.now.is_word(word):
            raise self.unexpected(f"`{word}` {what}", (word,))
        return self.take()

    def take_name(self, what: str) -> Token:
        """A name, plain or in backticks. Raises Unreadable."""
        if self.now.kind not in ("name", "quoted"):
            raise self.unexpected(what)
        return self.take()

    def unexpected(self, wanted: str, words: Iterable[str] = ()) -> Unreadable:
        """The problem of a token that is not what the grammar wants here."""
        token = self.now
        found = f"found `{token.text}`" if token.kind != "end" else "the file ends here"
        advice = None
        if token.kind == "word":
            advice = f"write a column that is called `{token.text}` in backticks"
        elif token.kind == "name":
            lower = token.text.lower()
            if lower in WORDS:
                advice = f"words of the language are written in lower case: `{lower}`"
            else:
                advice = suggestion(token.text, words) or HABITS.get(lower)
        return Unreadable(f"expected {wanted}, {found}", token.span, advice)

    def deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable(f"the expression nests deeper than {DEEPEST} levels", self.now.span)

    def shallower(self) -> None:
        self._depth -= 1
