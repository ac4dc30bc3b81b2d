"""Allows: the `-- rocky: allow(CODE)` comments of a model, in any case; block comments too.

Where the comment stands decides what it covers: before the first SQL token the whole
model, alone on a line the next line of SQL, after SQL its own line. Text inside quotes is
not a comment, nor is a comment inside a block comment, so the scan has to know both.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rocky.source import SourceText, Span

_MARK = "rocky"

# Strings first: a `--` inside one opens no comment. In a raw string a backslash is a letter.
_PIECE = re.compile(
    r"""(?P<comment>--[^\n]*)
      | (?P<block>/\*)
      | (?P<sql>(?<![A-Za-z0-9_])[rR](?:'[^']*'|"[^"]*")
              | '(?:[^'\\]|\\.)*'? | "(?:[^"\\]|\\.)*"? | `[^`]*`?
              | \w+ | [^\s\w'"`/-]+ | [^\s])""",
    re.VERBOSE | re.DOTALL,
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")
# A space before the colon makes it prose, unless an allow follows.
_DIRECTIVE = re.compile(
    r"(?:--+|/\*+)\s*rocky(?::|\s+:(?=\s*allow\b))\s*(?P<word>[\w-]*)\s*(?P<list>\([^)]*\))?",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\s,()]+")


@dataclass(frozen=True, slots=True)
class Allow:
    """One name in an allow: what it allows, where it is written, and what it covers.

    `name` is empty when the comment asks Rocky for something that is not an allow. `comment`
    is the whole comment when this name is the only one in it, so that a fix may remove it.
    """

    path: str
    name: str
    span: Span
    covers: Span
    whole_model: bool
    comment: Span | None = None


def is_marked(text: str) -> bool:
    """Whether a text can hold an allow: asking this is all that most models cost."""
    return _MARK in text or _MARK in text.lower()


def find_allows(sql_text: str, path: str, *, start: int = 0) -> tuple[Allow, ...]:
    """The allows of a model's text from offset `start` (after any front matter)."""
    if not is_marked(sql_text):
        return ()
    text = SourceText(path, sql_text)
    first_sql: int | None = None
    sql_lines: set[int] = set()
    comments: list[Span] = []
    for kind, span in _pieces(sql_text, start):
        if kind == "comment":
            comments.append(span)
            continue
        if first_sql is None:
            first_sql = span.start
        sql_lines.update(range(text.line_of(span.start), text.line_of(span.end - 1) + 1))
    allows: list[Allow] = []
    for comment in comments:
        whole = first_sql is None or comment.start < first_sql
        covers = Span(0, len(sql_text) + 1) if whole else _covered(text, comment, sql_lines)
        allows.extend(_allows_in(text, comment, covers, whole_model=whole))
    return tuple(allows)


def _pieces(text: str, start: int) -> Iterator[tuple[str, Span]]:
    """The comments and the SQL of a text; white space falls away."""
    at = start
    while piece := _PIECE.search(text, at):
        at = piece.end()
        kind = piece.lastgroup or "sql"
        if kind == "block":
            at, kind = _end_of_block(text, at), "comment"
        yield kind, Span(piece.start(), at)


def _end_of_block(text: str, at: int) -> int:
    """Where a block comment that opened before `at` ends. Spark's nest."""
    depth = 1
    while depth and (edge := _BLOCK_EDGE.search(text, at)):
        depth += 1 if edge.group() == "/*" else -1
        at = edge.end()
    return len(text) if depth else at


def _covered(text: SourceText, comment: Span, sql_lines: set[int]) -> Span:
    """The line of SQL a comment speaks of: its own, or the next one when it stands alone."""
    line = text.line_of(comment.start)
    last = len(text.line_starts)
    while line not in sql_lines and line < last:
        line += 1
    found = text.line_span(line)
    return Span(found.start, found.end + 1)


def _allows_in(
    text: SourceText, comment: Span, covers: Span, *, whole_model: bool
) -> Iterator[Allow]:
    """The allows of one comment; none when the comment does not speak to Rocky."""
    directive = _DIRECTIVE.match(text.text, comment.start, comment.end)
    if directive is None:
        return
    names = [
        Span(name.start(), name.end())
        for name in _NAME.finditer(text.text, *directive.span("list"))
        if directive["list"] is not None
    ]
    if directive["word"].lower() != "allow" or not names:
        yield Allow(text.path, "", comment, covers, whole_model)
        return
    only = comment if len(names) == 1 else None
    for span in names:
        name = text.text[span.start : span.end]
        yield Allow(text.path, name, span, covers, whole_model, only)
