"""Diagnostic: one finding about the user's project, as a value, and the text it points into.

The compiler collects diagnostics and never raises for a user's mistake. A span is a half-open range
of code points, not bytes; lines and columns are 1-based, as editors show them. A diagnostic knows
the path and span of its place, not the text: renderers are handed `Texts`, and must say something
useful when a text is gone, so looking one up answers None and never fails.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from rocky.diagnostics.codes import Code, Severity


class Span(NamedTuple):
    """The characters from `start` up to, not including, `end`."""

    start: int
    end: int


@dataclass(frozen=True)
class SourceText:
    """The text of `path` (project-relative, `/`-separated) as it was read."""

    path: str
    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset of the first character of each line."""
        starts = [0]
        find = self.text.find
        at = find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = find("\n", at + 1)
        return starts

    def line_of(self, offset: int) -> int:
        return bisect_right(self.line_starts, min(max(offset, 0), len(self.text)))

    def position(self, offset: int) -> tuple[int, int]:
        """The (line, column) of an offset."""
        line = self.line_of(offset)
        return line, min(max(offset, 0), len(self.text)) - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        start = self.line_starts[line - 1]
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")

    def line_span(self, line: int) -> Span:
        start = self.line_starts[line - 1]
        return Span(start, start + len(self.line_text(line)))


class FixSafety(StrEnum):
    """Whether applying a fix can change what the project computes."""

    SAFE = "safe"
    UNSAFE = "unsafe"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace `span` of the diagnostic's file by `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that would clear the diagnostic."""

    title: str
    edits: tuple[Edit, ...]
    safety: FixSafety = FixSafety.UNSAFE


@dataclass(frozen=True, slots=True)
class Label:
    """Another place involved. `path` is None when it is in the diagnostic's own file.

    `column` names a (table, column) whose place is not known yet: the binder knows which column
    it is, the compiler where its file is. Labels that are rendered have none.
    """

    span: Span | None
    message: str
    path: str | None = None
    column: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A coded finding at a place, with what else is involved and what to do.

    `condition` is Spark's error condition when Spark itself would raise this.
    `blocking` marks errors that would make Spark fail: these cannot be suppressed.
    `position` is the (line, column) of the span where whoever found it had the text and whoever
    reads it may not.
    """

    code: Code
    message: str
    span: Span | None = None
    path: str | None = None
    severity: Severity = Severity.ERROR
    condition: str | None = None
    labels: tuple[Label, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    model: str | None = None
    notes: tuple[str, ...] = field(default=())
    position: tuple[int, int] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """One line: `path:line:column: E003 message`, with as much of the place as is known."""
        place = ":".join([path_of(self), *(str(each) for each in self.position or ())])
        return f"{place}: {self.code.value} {' '.join(self.message.split())}"


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings by file and place; in one place they stay as they were."""
    by_path: dict[str | None, list[Diagnostic]] = {}
    for each in diagnostics:
        by_path.setdefault(each.path, []).append(each)
    return [each for group in by_path.values() for each in sorted(group, key=_start)]


def _start(diagnostic: Diagnostic) -> int:
    """Where a finding begins; one about the file as a whole comes before those inside it."""
    return diagnostic.span.start if diagnostic.span is not None else -1


Texts = Mapping[str, SourceText] | Callable[[str], SourceText | None]
"""The text of a path: a mapping, or a function that may answer None."""

NO_TEXTS: Texts = MappingProxyType({})
"""No text is at hand."""

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


def placed_message(diagnostic: Diagnostic, texts: Texts) -> str:
    """A finding in one line: where, and what."""
    path = path_of(diagnostic)
    return f"{format_place(path, lookup(texts)(path), diagnostic.span)}: {diagnostic.message}"
