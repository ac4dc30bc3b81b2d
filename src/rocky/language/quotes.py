"""Quotes: the comments, strings and quoted names of a text, in which nothing is called or meant.

They are told apart as Spark does: a backslash means nothing in `r'...'`, bracketed comments nest,
a hint inside one is text, and a comment that ends its line with a backslash goes on in the next
one. It is done without the parser, which is not loaded for texts that are known already.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from rocky.diagnostics.diagnostic import Span

_QUOTE: Final = re.compile(
    r"(?P<line>--(?:\\\n|[^\r\n])*)|(?P<block>/\*)"
    r"|(?<![\w@])[rR](?:'[^']*'?|\"[^\"]*\"?)"
    r"|'(?:[^'\\]|\\.)*'?|\"(?:[^\"\\]|\\.)*\"?|`[^`]*`?",
    re.DOTALL,
)
_CLOSED: Final = re.compile(
    r"[rR](?:'[^']*'|\"[^\"]*\")|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL
)
_EDGE: Final = re.compile(r"/\*(?!\+)|\*/")
"""Where a comment within a comment opens or closes: to Spark `/*+` opens none there."""
_HINT: Final = "/*+"
_HINT_MARK: Final = re.compile(r"/\*\+")
_GOES_ON: Final = "\\\n"
_NO_BREAK: Final = re.compile(r"[^\n]")


class Quote(NamedTuple):
    """A part of a text that is no code; one that is not closed goes on to the end."""

    kind: Literal["comment", "hint", "quoted"]
    span: Span


def find_quotes(text: str) -> Iterator[Quote]:
    """The comments, hints, strings and quoted names of a text, in order."""
    at = 0
    while (found := _QUOTE.search(text, at)) is not None:
        start, at = found.span()
        if found["block"] is not None:
            at = _block_end(text, at)
            kind: Literal["comment", "hint"] = (
                "hint" if text.startswith(_HINT, start) else "comment"
            )
            yield Quote(kind, Span(start, at))
        else:
            yield Quote("quoted" if found["line"] is None else "comment", Span(start, at))


def find_comments(text: str) -> list[Span]:
    """Where the comments of a text are; hints are none."""
    return [span for kind, span in find_quotes(text) if kind == "comment"]


def find_unclosed(text: str) -> Span | None:
    """Where the mark stands that opens a comment, a string or a quoted name without an end."""
    last = next((each for each in find_quotes(text) if each.span.end == len(text)), None)
    if last is None:
        return None
    written = text[last.span.start :]
    if written.startswith("/*"):
        open_mark = 2
        closed = sum(1 if each == "/*" else -1 for each in _EDGE.findall(written[2:])) == -1
    else:
        open_mark = 1 + (written[0] in "rR")
        closed = last.kind == "comment" or _CLOSED.fullmatch(written) is not None
    return None if closed else Span(last.span.start, last.span.start + open_mark)


def on_one_line(text: str) -> str:
    """A text as long in which each comment that goes on in the next line is on one line.

    For whoever ends such comments with the line.
    """
    if _GOES_ON not in text:
        return text
    done: list[str] = []
    at = 0
    for start, end in find_comments(text):
        if text.startswith("--", start):
            done += (text[at:start], text[start:end].replace("\n", " "))
            at = end
    return "".join([*done, text[at:]])


def without_inner_hints(text: str) -> str:
    """A text as long in which no comment holds the mark that opens a hint.

    For whoever counts that mark as one more comment to close.
    """
    if _HINT not in text:
        return text
    inner = [
        Span(at.start(), at.end())
        for start, end in find_comments(text)
        for at in _HINT_MARK.finditer(text, start, end)
    ]
    return blank(text, inner)


def blank(text: str, spans: list[Span]) -> str:
    """A text with white space in the place of some parts; lines stay lines."""
    done: list[str] = []
    at = 0
    for start, end in spans:
        done += (text[at:start], _NO_BREAK.sub(" ", text[start:end]))
        at = end
    return "".join([*done, text[at:]])


def only_code(text: str) -> str:
    """A text as long, with blanks for its comments and apostrophes for all that is quoted."""
    done: list[str] = []
    at = 0
    for kind, (start, end) in find_quotes(text):
        done += (text[at:start], (" " if kind == "comment" else "'") * (end - start))
        at = end
    return "".join([*done, text[at:]])


def _block_end(text: str, at: int) -> int:
    """Where a comment ends that opens just before an offset."""
    depth = 1
    for edge in _EDGE.finditer(text, at):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)
