"""The text of a model's file: front matter at its top, and `@var(name)` in its SQL.

Front matter holds the model's settings, between a line `---toml` and a line `---`. `@var(...)` is
replaced as text before anything parses it. Comments are left alone and string literals are not, so
`'@var(region)'` works too. Every span that later stages find in the filled text is mapped back to
what the author wrote; one inside a value becomes the whole `@var(...)`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.language.quotes import Quote, blank, find_comments, find_quotes
from rocky.language.replacements import Replaced, Replacement


class FrontMatter(NamedTuple):
    """Where the TOML begins and ends and where the SQL begins; `end` None: not closed."""

    start: int
    end: int | None
    sql_start: int


_OPEN: Final = re.compile(r"\s*---[ \t]*toml[ \t]*\r?\n")
_CLOSE: Final = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


def find_front_matter(text: str) -> FrontMatter | None:
    """Where the front matter of a model is, if its text begins with one."""
    opened = _OPEN.match(text)
    if opened is None:
        return None
    closed = _CLOSE.search(text, opened.end())
    if closed is None:
        return FrontMatter(opened.end(), None, len(text))
    return FrontMatter(opened.end(), closed.start(), closed.end())


_MARK: Final = re.compile(r"@var\s*\(", re.IGNORECASE)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)


class Variable(NamedTuple):
    """A `@var(...)` at its place. `name` is empty when it is not written as one should be."""

    name: str
    default: str | None
    span: Span


def blank_comments(sql: str) -> tuple[str, list[Span]]:
    """The text with white space in the place of every comment but hints, and where those were."""
    found = find_comments(sql)
    return blank(sql, found), found


def has_variables(sql: str) -> bool:
    """Whether a text may use a variable: a cheap answer for the many that do not."""
    return "@" in sql and _MARK.search(sql) is not None


def find_variables(sql: str) -> Iterator[Variable]:
    """The variables of a query in order."""
    at = 0
    for kind, (start, end) in [*find_quotes(sql), Quote("comment", Span(len(sql), len(sql)))]:
        for mark in _MARK.finditer(sql, at, start):
            yield _read(sql, mark.start(), mark.end(), len(sql))
        for mark in _MARK.finditer(sql, start, end) if kind == "quoted" else ():
            yield _read(sql, mark.start(), mark.end(), end)
        at = end


def fill_variables(sql: str, values: Mapping[str, str]) -> tuple[Replaced, list[Variable]]:
    """The query with every value filled in, and the variables that have none."""
    texts: list[str] = []
    pieces: list[Replacement] = []
    missing: list[Variable] = []
    at = length = 0
    for each in find_variables(sql):
        if each.span.start < at:
            continue
        value = values.get(each.name, each.default)
        if not each.name or value is None:
            missing.append(each)
            continue
        texts += (sql[at : each.span.start], value)
        length += each.span.start - at
        pieces.append(Replacement(each.span, Span(length, length + len(value))))
        length += len(value)
        at = each.span.end
    return Replaced("".join([*texts, sql[at:]]), tuple(pieces)), missing


def _read(sql: str, start: int, inside: int, limit: int) -> Variable:
    """The variable whose parenthesis opens just before `inside`."""
    depth, at, comma = 1, inside, -1
    while at < limit and depth:
        quoted = _QUOTED.match(sql, at, limit) if comma >= 0 else None
        if quoted is not None:
            at = quoted.end()
            continue
        mark = sql[at]
        depth += (mark == "(") - (mark == ")")
        if mark == "," and depth == 1 and comma < 0:
            comma = at
        at += 1
    span = Span(start, at)
    name = sql[inside : comma if comma >= 0 else at - 1].strip()
    if depth or _NAME.fullmatch(name) is None:
        return Variable("", None, span)
    return Variable(name, sql[comma + 1 : at - 1].strip() if comma >= 0 else None, span)
