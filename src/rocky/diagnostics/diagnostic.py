"""Diagnostic: one finding about the user's project, as a value.

The compiler collects diagnostics and never raises for a user's mistake. A
diagnostic knows the path and span of its place, not the text: renderers are
handed the texts.
"""

from dataclasses import dataclass, field
from enum import StrEnum

from rocky.diagnostics.codes import Code, Severity
from rocky.source import Span


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
