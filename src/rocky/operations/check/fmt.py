"""Fmt: the texts of models in their one layout, and SQL made tidy where it is asked for.

Nothing is written that was not proved to mean the same: the laid out pipeline becomes the same SQL
and has the same comments, tidy SQL has the same pieces and the same tree. A text that cannot be
read, or whose layout cannot be proved, is named and left alone; the others are done.
"""

import difflib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.errors import NothingSelected
from rocky.language.dsl.layout import lay_out, means_the_same
from rocky.language.dsl.tokens import Problem
from rocky.language.syntax.parser import SyntaxProblem
from rocky.language.syntax.tidy_sql import same_pieces, tidy_sql
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.workspace import Workspace, load_workspace
from rocky.plan.arguments import Request
from rocky.project.files import read_text, write_atomically
from rocky.project.model_text import find_front_matter

Status = Literal["unchanged", "changed", "unreadable", "unwritable"]

_UNPROVED: Final = (
    "its layout cannot be proved to mean the same, so the file is left as it is;"
    " this is a defect in Rocky: please report it with the file"
)


@dataclass(frozen=True, slots=True)
class FmtRequest(Request):
    """Files and folders, or none for all models of the project; `sql`: those in SQL too.

    With `check` nothing is written.
    """

    paths: tuple[Path, ...] = ()
    check: bool = False
    sql: bool = False


@dataclass(frozen=True, slots=True)
class FormattedFile:
    """A file: how it would change, as a unified diff; or why it was left alone, and where."""

    path: str
    status: Status
    diff: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FmtReport(Digested):
    """What became of each file; `written` tells whether those that changed were written."""

    files: tuple[FormattedFile, ...]
    written: bool

    @property
    def changed(self) -> tuple[FormattedFile, ...]:
        return tuple(each for each in self.files if each.status == "changed")

    @property
    def unreadable(self) -> tuple[FormattedFile, ...]:
        return tuple(each for each in self.files if each.status == "unreadable")

    @property
    def unwritable(self) -> tuple[FormattedFile, ...]:
        return tuple(each for each in self.files if each.status == "unwritable")

    def digest(self) -> Digest:
        done = "written" if self.written else "to be written"
        title = f"{counts(file=len(self.files))}, {len(self.changed)} {done}"
        if self.unreadable:
            title += f", {len(self.unreadable)} unreadable"
        if self.unwritable:
            title += f", {len(self.unwritable)} unwritable"
        rows = [(each.path, each.status, each.error or "") for each in self.files]
        return Digest(title, ("file", "status", "why"), rows, len(rows))


def fmt(workspace: Workspace, request: FmtRequest) -> FmtReport:
    """Lay out the texts of models. Raises NothingSelected and what loading raises."""
    files: list[FormattedFile] = []
    for path, shown in _chosen(workspace, request):
        found, text = _format_file(path, shown)
        if text is not None and not request.check:
            try:
                write_atomically(path, text, mode=stat.S_IMODE(path.stat().st_mode))
            except OSError as failure:
                why = f"{shown}: cannot be written: {failure.strerror}"
                found = FormattedFile(shown, "unwritable", error=why)
        files.append(found)
    return FmtReport(files=tuple(files), written=not request.check)


def _chosen(workspace: Workspace, request: FmtRequest) -> Iterator[tuple[Path, str]]:
    """The files to look at, and what they are called."""
    suffixes = (".rocky", ".sql") if request.sql else (".rocky",)
    if request.paths:
        for path in request.paths:
            yield from _below(path, suffixes)
        return
    project = load_workspace(workspace)
    for each in sorted(model.path for model in project.models.values()):
        if each.lower().endswith(suffixes):
            yield project.root / each, each


def _below(path: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """A file, or the files of a folder and those below it, hidden ones left out."""
    if path.is_dir():
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if name.lower().endswith(suffixes) and not name.startswith("."):
                    found = Path(folder, name)
                    yield found, found.as_posix()
        return
    if not path.exists():
        raise NothingSelected(f"`{path}` does not exist: name a file or a folder")
    if not path.name.lower().endswith((".rocky", ".sql")):
        raise NothingSelected(f"`{path}` is neither a `.rocky` nor a `.sql` file")
    if not path.name.lower().endswith(suffixes):
        raise NothingSelected(f"`{path}` is SQL, which is left as it is: pass `--sql` to tidy it")
    yield path, path.as_posix()


def _format_file(path: Path, shown: str) -> tuple[FormattedFile, str | None]:
    """What becomes of a file, and its new text where it has another."""
    wrong: list[str] = []
    read = read_text(str(path.parent), path.name, lambda found: wrong.append(found.message))
    if read is None:
        return FormattedFile(shown, "unreadable", error=wrong[0]), None
    return format_text(read[0], shown)


def format_text(text: str, shown: str) -> tuple[FormattedFile, str | None]:
    """What becomes of the text of a file called `shown`, and its new text where it has another."""
    matter = find_front_matter(text)
    start = matter.sql_start if matter is not None else 0
    body = text[start:]
    is_rocky = shown.endswith(".rocky")
    made = lay_out(body) if is_rocky else _tidy(body)
    if isinstance(made, str) and is_rocky and not means_the_same(body, made):
        return FormattedFile(shown, "unreadable", error=f"{shown}: {_UNPROVED}"), None
    if not isinstance(made, str):
        place = Span(made.span.start + start, made.span.end + start)
        return FormattedFile(shown, "unreadable", error=_told(made, shown, text, place)), None
    after = text[:start] + made
    if after == text:
        return FormattedFile(shown, "unchanged"), None
    lines = difflib.unified_diff(
        text.splitlines(keepends=True), after.splitlines(keepends=True), shown, shown
    )
    return FormattedFile(shown, "changed", diff=_joined(lines)), after


def _tidy(text: str) -> str | SyntaxProblem:
    made = tidy_sql(text)
    if isinstance(made, SyntaxProblem):
        return made
    # What cannot be proved to be the same query is left as it is.
    return made.text if same_pieces(text, made.text) else text


def _told(problem: Problem | SyntaxProblem, shown: str, text: str, place: Span) -> str:
    line, column = SourceText(shown, text).position(place.start)
    advice = f"; {problem.help}" if problem.help else ""
    return f"{shown}:{line}:{column}: {problem.message}{advice}"


def _joined(lines: Iterator[str]) -> str:
    """The lines of a diff; one without an end says so, as git has it."""
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
