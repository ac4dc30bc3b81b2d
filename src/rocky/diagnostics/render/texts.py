"""Texts: how a renderer comes by the text a diagnostic points into.

A renderer must say something useful when the text is gone (a deleted file, a SQL string
that was never a file), so looking one up never fails: it answers None.
"""

from collections.abc import Callable, Mapping

from rocky.diagnostics.diagnostic import Diagnostic
from rocky.source import SourceText, Span

Texts = Mapping[str, SourceText] | Callable[[str], SourceText | None]
"""The text of a path: a mapping, or a function that may answer None."""

NO_FILE = "<sql>"
"""What stands for the path of SQL that came from no file."""


def lookup(texts: Texts) -> Callable[[str], SourceText | None]:
    """The texts as one function, whichever form they came in."""
    return texts.get if isinstance(texts, Mapping) else texts


def path_of(diagnostic: Diagnostic) -> str:
    return diagnostic.path or NO_FILE


def position_in(text: SourceText | None, span: Span | None) -> tuple[int, int] | None:
    """The (line, column) at which a span starts, when both are known."""
    return text.position(span.start) if text is not None and span is not None else None


def format_place(path: str, text: SourceText | None, span: Span | None) -> str:
    """A path with as much of `:line:column` as is known."""
    position = position_in(text, span)
    return f"{path}:{position[0]}:{position[1]}" if position else path
