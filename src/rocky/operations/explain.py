"""Explain: the long text of a diagnostic code, or the list of all codes. Needs no project."""

from dataclasses import dataclass

from rocky.diagnostics import REGISTRY, Code, CodeInfo, Severity
from rocky.diagnostics.explanation import explanation
from rocky.diagnostics.suggestion import code_named
from rocky.errors import InternalError
from rocky.operations.report import CodeText
from rocky.plan.arguments import Request


@dataclass(frozen=True, slots=True)
class ExplainRequest(Request):
    """A code (E003) or its name (unknown-column); none for all codes."""

    code: str | None = None


@dataclass(frozen=True, slots=True)
class CodeSummary:
    """A code in a line."""

    code: CodeText
    name: str
    severity: Severity
    summary: str
    suppressible: bool


@dataclass(frozen=True, slots=True)
class CodesReport:
    """Every code."""

    codes: tuple[CodeSummary, ...]


@dataclass(frozen=True, slots=True)
class ExplainReport(CodeSummary):
    """One code, with its page of Markdown."""

    explanation: str


def explain(request: ExplainRequest) -> CodesReport | ExplainReport:
    """What a code means. Raises NothingSelected when there is none of the name."""
    if request.code is None:
        return CodesReport(tuple(CodeSummary(*_facts(row)) for row in REGISTRY))
    text = explanation(request.code)
    info = code_named(request.code)
    if info is None:
        raise InternalError(f"`{request.code}` has a page but no row")
    return ExplainReport(*_facts(info), text)


def _facts(info: CodeInfo) -> tuple[Code, str, Severity, str, bool]:
    return info.code, info.name, info.severity, info.summary, info.suppressible
