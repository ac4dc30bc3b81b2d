"""Explain: the long text of a diagnostic code, or the list of all codes. Needs no project.

The texts are Markdown pages, package data of `rocky.diagnostics`, read only when asked for.
"""

from dataclasses import dataclass
from importlib.resources import files

from rocky.diagnostics import REGISTRY, Code, CodeInfo, Severity
from rocky.diagnostics.suggestion import closest_code, code_named, neighbouring_codes
from rocky.errors import InternalError, NothingSelected
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.report import CodeText
from rocky.plan.arguments import Request


def explanation(code_or_name: str) -> str:
    """The page of a code, found by code or by name. Raises `NothingSelected` when there is none."""
    info = code_named(code_or_name)
    if info is None:
        near = closest_code(code_or_name)
        beside = ", ".join(f"`{each}`" for each in neighbouring_codes(code_or_name))
        hint = f"did you mean `{near}`?" if near else "`rocky explain` lists every code"
        if beside and not near:
            hint = f"the nearest codes are {beside}; {hint}"
        raise NothingSelected(f"no diagnostic is called `{code_or_name}`; {hint}")
    page = files("rocky.diagnostics") / "explanations" / f"{info.code.value}.md"
    return page.read_text(encoding="utf-8")


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


@dataclass(frozen=True, slots=True, repr=False)
class CodesReport(Digested):
    """Every code."""

    codes: tuple[CodeSummary, ...]

    def digest(self) -> Digest:
        rows = [(each.code.value, each.name, each.summary) for each in self.codes]
        return Digest(counts(code=len(rows)), ("code", "name", "what it says"), rows, len(rows))


@dataclass(frozen=True, slots=True, repr=False)
class ExplainReport(Digested, CodeSummary):
    """One code, with its page of Markdown."""

    explanation: str

    def digest(self) -> Digest:
        return Digest(f"{self.code.value} {self.name}: {self.summary}")

    def _repr_markdown_(self) -> str:
        return self.explanation

    def _repr_html_(self) -> None:
        """A notebook shows the page, which is Markdown."""


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
