"""`CREATE FUNCTION` statements: Spark's own way to declare a SQL function, taken apart.

Only the frame of the statement is read here: names, the texts of types and defaults, the text of
the body. What those texts mean is for others, so that loading a project needs no SQL parser.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.language.quotes import blank, find_comments

_TOKEN: Final = re.compile(
    r"(?P<skip>\s+)"
    r"|(?P<text>[rR]'[^']*'|[rR]\"[^\"]*\"|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\")"
    r"|(?P<quoted>`(?:[^`]|``)+`)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<mark>.)",
    re.DOTALL,
)
_CALLS: Final = {"(": ")", "[": "]"}
_TYPES: Final = {**_CALLS, "<": ">"}
_FORM: Final = "write `CREATE FUNCTION name(parameter type, ...) RETURNS type RETURN expression`"
_UNSUPPORTED: Final = {
    "SPECIFIC": "SPECIFIC",
    "CALLED": "CALLED ON NULL INPUT",
    "SQL": "SQL SECURITY",
    "AS": "AS with the name of a class",
    "USING": "USING",
    "HANDLER": "HANDLER",
    "PARAMETER": "PARAMETER STYLE",
}


class Token(NamedTuple):
    """A piece of SQL: its sort (`word`, `text`, `quoted`, `number`, `mark`), text and place."""

    sort: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)

    def is_word(self, *words: str) -> bool:
        return self.sort == "word" and self.text.upper() in words


class Piece(NamedTuple):
    """A part of the statement's text and where it begins."""

    text: str
    start: int

    @property
    def span(self) -> Span:
        return Span(self.start, self.start + len(self.text))


class ParameterText(NamedTuple):
    """A parameter, or a column of a function that gives rows, as it is written."""

    name: Piece
    type: Piece
    default: Piece | None = None
    comment: str | None = None


class FunctionStatement(NamedTuple):
    """A statement. `columns` is None unless it RETURNS TABLE, and empty where it lists none."""

    name: Piece
    parameters: tuple[ParameterText, ...]
    returns: Piece | None
    columns: tuple[ParameterText, ...] | None
    deterministic: bool | None
    comment: str | None
    body: Piece


class StatementFault(ValueError):
    """What is wrong with a statement, where, and what to do."""

    def __init__(self, message: str, span: Span, help: str | None = None) -> None:  # noqa: A002 - the diagnostic's own word
        super().__init__(message)
        self.span = span
        self.help = help


def scan_sql(text: str) -> list[Token]:
    """The pieces of a text, without white space and comments."""
    return [
        Token(found.lastgroup or "mark", found[0], found.start())
        for found in _TOKEN.finditer(blank(text, find_comments(text)))
        if found.lastgroup != "skip"
    ]


def normal_text(text: str) -> str:
    """SQL without comments, with one blank between its pieces."""
    return " ".join(token.text for token in scan_sql(text))


def called_names(text: str) -> set[str]:
    """What is written before an opening parenthesis, in lower case: every function, and more."""
    tokens = scan_sql(text)
    return {
        plain_name(token).lower()
        for token, after in pairwise(tokens)
        if after.text == "(" and token.sort in ("word", "quoted")
    }


def plain_name(token: Token) -> str:
    """A name without its backticks."""
    return token.text[1:-1].replace("``", "`") if token.sort == "quoted" else token.text


def parse_statement(text: str) -> FunctionStatement:
    """The one statement of a text. Raises StatementFault."""
    return _Reader(text).statement()


class _Reader:
    """A cursor over the pieces of a statement."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: Sequence[Token] = scan_sql(text)
        self._at = 0

    @property
    def _next(self) -> Token:
        if self._at < len(self._tokens):
            return self._tokens[self._at]
        return Token("end", "", len(self._text.rstrip()))

    def _take(self, *words: str) -> bool:
        if not self._next.is_word(*words):
            return False
        self._at += 1
        return True

    def _expect(self, word: str, after: str) -> None:
        if not self._take(word):
            raise self._fault(f"{word} is expected after {after}")

    def _mark(self, mark: str, after: str) -> None:
        if self._next.text != mark:
            raise self._fault(f"`{mark}` is expected after {after}")
        self._at += 1

    def _fault(self, message: str, help_text: str | None = None) -> StatementFault:
        found = self._next
        start = max(found.start - 1, 0) if found.sort == "end" else found.start
        span = Span(start, max(found.end, start))
        if help_text is not None:
            return StatementFault(message, span, help_text)
        what = "the text ends" if found.sort == "end" else f"`{found.text}` stands here"
        return StatementFault(f"{message}, and {what}", span, _FORM)

    def statement(self) -> FunctionStatement:
        self._expect("CREATE", "the beginning")
        if self._take("OR"):
            self._expect("REPLACE", "CREATE OR")
        self._take("TEMPORARY", "TEMP")
        self._expect("FUNCTION", "CREATE")
        if self._take("IF"):
            self._expect("NOT", "IF")
            self._expect("EXISTS", "IF NOT")
        name = self._name("FUNCTION")
        self._mark("(", f"`{name.text}`")
        parameters = self._list(defaults=True)
        returns, columns = self._returns()
        deterministic, comment = self._characteristics()
        return FunctionStatement(
            name, parameters, returns, columns, deterministic, comment, self._body()
        )

    def _name(self, after: str) -> Piece:
        found = self._next
        if found.sort not in ("word", "quoted"):
            raise self._fault(f"a name is expected after {after}")
        self._at += 1
        if self._next.text == ".":
            raise self._fault(
                "a SQL function is made in the session of a run, so its name has no schema",
                'write the name alone; `kind = "catalog"` declares one that a catalogue has',
            )
        return Piece(plain_name(found), found.start)

    def _list(self, *, defaults: bool) -> tuple[ParameterText, ...]:
        """What stands between parentheses, of which the first is taken already."""
        found: list[ParameterText] = []
        while self._next.text != ")":
            if found:
                self._mark(",", f"`{found[-1].name.text}`")
            found.append(self._parameter(defaults=defaults))
        self._at += 1
        return tuple(found)

    def _parameter(self, *, defaults: bool) -> ParameterText:
        token = self._next
        if token.sort not in ("word", "quoted"):
            raise self._fault("the name of a parameter is expected")
        self._at += 1
        name = Piece(plain_name(token), token.start)
        kind = self._until("DEFAULT", "COMMENT", "NOT")
        if kind is None:
            raise self._fault(f"the type of `{name.text}` is expected")
        if self._next.is_word("NOT"):
            raise self._fault(f"`{name.text}` cannot be NOT NULL", "Spark takes nulls everywhere")
        default = comment = None
        while not (self._next.text in (",", ")") and self._next.sort == "mark"):
            if defaults and self._take("DEFAULT"):
                default = self._until("COMMENT", brackets=_CALLS)
                if default is None:
                    raise self._fault(f"the default of `{name.text}` is expected")
            elif self._take("COMMENT"):
                comment = self._quoted_text()
            else:
                raise self._fault(f"`,` or `)` is expected after `{name.text}`")
        return ParameterText(name, kind, default, comment)

    def _returns(self) -> tuple[Piece | None, tuple[ParameterText, ...] | None]:
        if not self._take("RETURNS"):
            return None, None
        if self._take("TABLE"):
            if self._next.text != "(":
                return None, ()
            self._at += 1
            return None, self._list(defaults=False)
        kind = self._until("LANGUAGE", "NOT", "DETERMINISTIC", "COMMENT", "CONTAINS", "READS",
                           "RETURN", *_UNSUPPORTED)  # fmt: skip
        if kind is None:
            raise self._fault("a type is expected after RETURNS")
        return kind, None

    def _characteristics(self) -> tuple[bool | None, str | None]:
        deterministic: bool | None = None
        comment: str | None = None
        while not self._next.is_word("RETURN"):
            if self._take("LANGUAGE"):
                if not self._take("SQL"):
                    advice = "declare functions in other languages in a TOML file of `functions/`"
                    raise self._fault("only LANGUAGE SQL is declared by a statement", advice)
            elif self._take("NOT"):
                self._expect("DETERMINISTIC", "NOT")
                deterministic = False
            elif self._take("DETERMINISTIC"):
                deterministic = True
            elif self._take("COMMENT"):
                comment = self._quoted_text()
            elif self._take("CONTAINS"):
                self._expect("SQL", "CONTAINS")
            elif self._take("READS"):
                self._expect("SQL", "READS")
                self._expect("DATA", "READS SQL")
            elif self._next.is_word(*_UNSUPPORTED):
                word = _UNSUPPORTED[self._next.text.upper()]
                advice = 'a Java class is declared in TOML with `kind = "java"`'
                raise self._fault(f"{word} is not supported here", advice)
            else:
                raise self._fault("RETURN is expected")
        self._at += 1
        return deterministic, comment

    def _body(self) -> Piece:
        first = self._next
        if first.sort == "end":
            raise self._fault("an expression is expected after RETURN")
        last = self._tokens[-1]
        if last.text == ";":
            if last is first:
                raise self._fault("an expression is expected after RETURN")
            last = self._tokens[-2]
        for token in self._tokens[self._at :]:
            if token.text == ";" and token.sort == "mark" and token.start < last.start:
                message = "a file of `functions/` holds one statement"
                raise StatementFault(message, token.span, "give each function a file of its own")
        return Piece(self._text[first.start : last.end], first.start)

    def _until(self, *words: str, brackets: Mapping[str, str] = _TYPES) -> Piece | None:
        """All up to a comma, a closing parenthesis or one of some words, outside of brackets."""
        first = last = None
        closing: list[str] = []
        while self._next.sort != "end":
            token = self._next
            if not closing and (
                (token.sort == "mark" and token.text in (",", ")")) or token.is_word(*words)
            ):
                break
            if token.sort == "mark":
                if token.text in brackets:
                    closing.append(brackets[token.text])
                elif closing and token.text == closing[-1]:
                    closing.pop()
            first, last = first or token, token
            self._at += 1
        if first is None or last is None:
            return None
        return Piece(self._text[first.start : last.end], first.start)

    def _quoted_text(self) -> str:
        found = self._next
        if found.sort != "text":
            raise self._fault("a text in quotes is expected after COMMENT")
        self._at += 1
        return found.text[1:-1].replace("''", "'").replace("\\'", "'")
