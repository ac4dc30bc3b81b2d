"""Findings: diagnostics as programs get them, and refusals that carry them.

Every key is always present. A span holds both offsets (for tools) and lines (for people); the lines
are null when the text is not at hand. `suggestion` is the `help` that names what was probably
meant, else null. What is refused because a project has errors takes its findings along, so that
each way in shows them in its own form.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Diagnostic, Severity
from rocky.diagnostics.codes import BY_CODE
from rocky.diagnostics.diagnostic import (
    NO_FILE,
    Fix,
    FixSafety,
    Label,
    SourceText,
    Span,
    Texts,
    in_reading_order,
    lookup,
)
from rocky.diagnostics.render import counted
from rocky.errors import NotComparable, RockyError, RunRefused
from rocky.operations.report import CodeText, OnDemand
from rocky.project import Project

_Find = Callable[[str], SourceText | None]


@dataclass(frozen=True, slots=True)
class FindingSpan:
    """A place: offsets into the file, lines and columns from 1."""

    file: str | None
    line: int | None
    col: int | None
    end_line: int | None
    end_col: int | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class FindingLabel:
    """Another place involved."""

    message: str
    span: FindingSpan | None


@dataclass(frozen=True, slots=True)
class FindingEdit:
    """A text to put in a place."""

    span: FindingSpan | None
    text: str


@dataclass(frozen=True, slots=True)
class FindingFix:
    """A change that would clear the finding."""

    title: str
    safety: FixSafety
    edits: tuple[FindingEdit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic. `condition` is Spark's, when Spark itself would raise it."""

    code: CodeText
    name: str
    severity: Severity
    message: str
    condition: str | None
    model: str | None
    span: FindingSpan | None
    labels: tuple[FindingLabel, ...]
    help: str | None
    notes: tuple[str, ...]
    suggestion: str | None
    fix: FindingFix | None
    suppressible: bool


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """What failed: `kind` names the condition, `message` says it in a sentence.

    `diagnostics` are the findings for which something was refused.
    """

    kind: str
    message: str
    diagnostics: Sequence[Finding] | None = None


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """What any command prints when it could not do its work."""

    error: ErrorDetails


def findings_of(diagnostics: Sequence[Diagnostic], project: Project) -> Sequence[Finding]:
    """The findings in the order they are read, file by file."""
    return describe_findings(in_reading_order(diagnostics), project.texts)


def describe_findings(diagnostics: Sequence[Diagnostic], texts: Texts) -> Sequence[Finding]:
    """The findings as they come."""
    find = lookup(texts)
    return OnDemand(diagnostics, lambda each: _finding(each, find))


def errors_in(diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Those that are errors."""
    return tuple(each for each in diagnostics if each.severity is Severity.ERROR)


def _finding(diagnostic: Diagnostic, find: _Find) -> Finding:
    info = BY_CODE[diagnostic.code]
    return Finding(
        diagnostic.code,
        info.name,
        diagnostic.severity,
        diagnostic.message,
        diagnostic.condition,
        diagnostic.model,
        _span(diagnostic.path, diagnostic.span, find),
        tuple(_label(label, diagnostic.path, find) for label in diagnostic.labels),
        diagnostic.help,
        diagnostic.notes,
        _suggestion(diagnostic),
        _fix(diagnostic.fix, diagnostic.path, find),
        info.suppressible,
    )


def _suggestion(diagnostic: Diagnostic) -> str | None:
    said = diagnostic.help
    return said if said is not None and said.startswith("did you mean") else None


def _span(path: str | None, span: Span | None, find: _Find) -> FindingSpan | None:
    """Where it is; None when neither a file nor a place in it is known."""
    if span is None:
        return None if path is None else FindingSpan(path, None, None, None, None, None, None)
    text = find(path or NO_FILE)
    if text is None:
        return FindingSpan(path, None, None, None, None, *span)
    return FindingSpan(path, *text.position(span.start), *text.position(span.end), *span)


def _label(label: Label, path: str | None, find: _Find) -> FindingLabel:
    where = label.path or (path if label.span is not None else None)
    return FindingLabel(label.message, _span(where, label.span, find))


def _fix(fix: Fix | None, path: str | None, find: _Find) -> FindingFix | None:
    if fix is None:
        return None
    edits = tuple(FindingEdit(_span(path, edit.span, find), edit.text) for edit in fix.edits)
    return FindingFix(fix.title, fix.safety, edits)


_NOTED: Final = 10
"""So many findings are in a traceback."""


class ErrorsFound(RunRefused):
    """The project has errors in what was selected; `diagnostics` says which.

    `findings` are the same as the compiler has them. `kind` is what programs get as the condition.
    """

    kind = RockyError.__name__

    def __init__(self, message: str, findings: Sequence[Diagnostic], project: Project) -> None:
        super().__init__(message, findings, project)
        self.findings, self.project = tuple(findings), project
        self.diagnostics = findings_of(self.findings, project)
        note_findings(self, self.findings, project)

    def __str__(self) -> str:
        return str(self.args[0])

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a stack: the findings, with their lines."""
        from rocky.diagnostics.render import render_full  # noqa: PLC0415 - as in `note_findings`

        shown = render_full(self.findings[:_NOTED], self.project.texts).splitlines()
        rest = len(self.findings) - _NOTED
        more = [f"... and {counted(rest, 'finding')} more", ""] if rest > 0 else []
        return [*shown, *more, f"{type(self).__name__}: {self}"]


class SideBroken(NotComparable, ErrorsFound):
    """One side of a comparison does not compile; `findings` says why."""

    kind = NotComparable.__name__


def note_findings(refusal: Exception, findings: Sequence[Diagnostic], project: Project) -> None:
    """Put the first findings below the traceback that who calls from Python sees."""
    # Only who is refused pays for it.
    from rocky.diagnostics.render.lines import render_concise  # noqa: PLC0415

    refusal.add_note(render_concise(findings[:_NOTED], project.texts).rstrip())


def refuse_errors(
    compilation: Compilation,
    errors: Sequence[Diagnostic],
    *,
    undone: str = "nothing was run, nothing was written",
) -> None:
    """Nothing is done unless all that was selected compiled. Raises ErrorsFound.

    `undone` says what was not.
    """
    if errors:
        count = counted(len(errors), "error")
        raise ErrorsFound(f"{count}: {undone}", errors, compilation.project)
