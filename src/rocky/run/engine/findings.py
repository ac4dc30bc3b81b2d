"""Findings of a run: what failed in Spark, or in a model's Python, as a diagnostic at its place.

What a query or the data in it did wrong has a code and a place in the author's file; what the world
did (a full disk, a lost connection) has neither. Where Spark knows no place, the file is named.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.errors import ModelFailed
from rocky.project import ModelFile
from rocky.project.sources import SourceTable
from rocky.run.engine.origins import QueryOrigin, locate_place
from rocky.run.engine.source_cells import find_unfit_cell
from rocky.spark.failure_places import find_frames
from rocky.spark.interface import CodePlace, Failure, FailureKind
from rocky.spark.source_files import folder_above, source_location

_CODES: Final = (
    ("TABLE_OR_VIEW_NOT_FOUND", Code.UNKNOWN_TABLE),
    ("UNRESOLVED_COLUMN", Code.UNKNOWN_COLUMN),
    ("UNRESOLVED_FIELD", Code.UNKNOWN_COLUMN),
    ("FIELD_NOT_FOUND", Code.UNKNOWN_COLUMN),
    ("AMBIGUOUS_", Code.AMBIGUOUS_COLUMN),
    ("DATATYPE_MISMATCH", Code.TYPE_ERROR),
    ("UNRESOLVED_ROUTINE", Code.UNKNOWN_FUNCTION),
    ("WRONG_NUM_ARGS", Code.UNKNOWN_FUNCTION),
    ("MISSING_AGGREGATION", Code.INVALID_AGGREGATION),
    ("MISSING_GROUP_BY", Code.INVALID_AGGREGATION),
    ("GROUP_BY_", Code.INVALID_AGGREGATION),
    ("NUM_COLUMNS_MISMATCH", Code.SET_OPERATION_MISMATCH),
    ("INCOMPATIBLE_COLUMN_TYPE", Code.SET_OPERATION_MISMATCH),
    ("PARSE_SYNTAX_ERROR", Code.SYNTAX_ERROR),
    ("UNSUPPORTED_SUBQUERY", Code.INVALID_SUBQUERY),
)
"""Beginnings of Spark's conditions, with the codes that compiling reports them under."""

_RECORD: Final = re.compile(
    r"Malformed records are detected in record parsing: (?P<values>\[[^\]\n]{0,200}\])"
)
_HELP: Final = re.compile(r"\.\s+(?=[A-Z])")
_WORKERS: Final = re.compile(r"^(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit): ")


_OF_FILES: Final = (
    FailureKind.CORRUPT_FILE,
    FailureKind.MISSING_FILE,
    FailureKind.UNSEEN_FILE,
)
_UNFIT: Final = "correct the data, or the declared columns: `rocky compile --live` compares them"
_ELSEWHERE: Final = (
    "put the files where every machine of the cluster has them, and declare that path"
)


def diagnose_failure(
    failure: Failure, model: ModelFile, origins: Iterable[QueryOrigin], root: Path
) -> Diagnostic | None:
    """A failure of a model's query or code as a finding; None for one that is of the world."""
    if failure.kind not in (FailureKind.DATA_ERROR, FailureKind.QUERY_REJECTED):
        return None
    place = locate_place(failure.query, origins) if failure.query is not None else None
    if place is not None:
        told, span = place
        found = _finding(failure, told, told.place_in_file(span))
        return replace(found, labels=told.labels_in_macros(span))
    return _finding(failure, model, *_place_in_code(model, failure.code, root))


def diagnose_python(error: ModelFailed, model: ModelFile, root: Path) -> Diagnostic | None:
    """What a model's Python raised as a finding at its line; None when it raised nothing."""
    cause = error.__cause__
    if cause is None or not model.is_python:
        return None
    span, notes = _place_in_code(model, tuple(find_frames(cause)), root)
    said = " ".join(f"{type(cause).__name__}: {cause}".split())
    return Diagnostic(Code.CODE_RAISED, said, span, model.path, model=model.name, notes=notes)


def diagnose_source(
    failure: Failure, sources: Iterable[SourceTable], root: Path
) -> Diagnostic | None:
    """A file of a source that does not hold what is declared, as a finding at the source's path.

    The record that Spark met is told where it names it, unless columns of the source are
    classified.
    """
    if failure.kind not in _OF_FILES:
        return None
    places = ((_beginning(each, root), each) for each in sources if each.path is not None)
    found = [(place, each) for place, each in places if f"{place}" in failure.trace]
    if not found:
        return None
    _, source = max(found, key=lambda each: len(each[0]))
    root = root.absolute()
    said = failure.message.removeprefix(f"{failure.condition}: ")
    said = said.replace(f"file://{root}/", "").replace(f"{root}/", "")
    cell = find_unfit_cell(failure, source, root)
    record = _RECORD.search(failure.trace)
    notes = (f"the record that was met: `{record['values']}`",) if record is not None else ()
    unseen = failure.kind is FailureKind.UNSEEN_FILE
    if source.classification and not unseen:
        said, notes = (
            "a file does not hold what is declared",
            (f"the value is not shown: columns of `{source.name}` are classified",),
        )
    if cell is not None:
        said = (
            f"{cell.place} is not a value of column `{cell.column.name}`, which is declared"
            f" `{cell.column.type}`; {_lowered(said)}"
        )
    return Diagnostic(
        Code.LIVE_SOURCE_UNREADABLE,
        f"source `{source.name}` cannot be read{'' if unseen else ' as it is declared'}: {said}",
        source.document.span_of(("source", source.index, "path")),
        source.file,
        condition=failure.condition,
        help=_ELSEWHERE if unseen else _UNFIT,
        notes=notes,
    )


def _beginning(source: SourceTable, root: Path) -> str:
    """The place of a source, up to a pattern in it."""
    place = source_location(source, root)
    return folder_above(place) or place


def _finding(
    failure: Failure, model: ModelFile, span: Span | None, notes: tuple[str, ...] = ()
) -> Diagnostic:
    said = failure.message
    if failure.condition is not None:
        said = said.removeprefix(f"{failure.condition}: ")
    first, *rest = _HELP.split(said, maxsplit=1)
    return Diagnostic(
        _code_of(failure),
        _lowered(first.removesuffix(".")),
        span,
        model.path,
        condition=failure.condition,
        help=_lowered(rest[0].removesuffix(".")) if rest else None,
        model=model.name,
        notes=notes,
    )


def _code_of(failure: Failure) -> Code:
    if failure.kind is FailureKind.DATA_ERROR:
        raised = failure.condition is None and _WORKERS.match(failure.message)
        return Code.CODE_RAISED if raised else Code.VALUE_REFUSED
    condition = failure.condition or ""
    known = (code for beginning, code in _CODES if condition.startswith(beginning))
    return next(known, Code.INVALID_CLAUSE)


def _lowered(sentence: str) -> str:
    """A sentence of Spark's as a message begins; a name or an error keeps its capital."""
    first = sentence.partition(" ")[0]
    return (
        sentence[:1].lower() + sentence[1:] if first[1:].islower() or len(first) == 1 else sentence
    )


def _place_in_code(
    model: ModelFile, frames: Sequence[CodePlace], root: Path
) -> tuple[Span | None, tuple[str, ...]]:
    """The innermost line of a Python model in `frames`, and what it called in the project.

    A query has no line among them; the functions that it calls may.
    """
    if not model.is_python:
        return None, tuple(dict.fromkeys(_notes(frames, root.absolute())))
    own = str(root / model.path)
    at = max((place for place, frame in enumerate(frames) if frame.file == own), default=None)
    if at is None:
        return None, ()
    deeper = tuple(_notes(frames[at + 1 :], root))
    return _line_span(model, frames[at]), deeper


def _notes(frames: Iterable[CodePlace], root: Path) -> Iterator[str]:
    for frame in frames:
        path = Path(frame.file)
        if path.is_relative_to(root) and "site-packages" not in path.parts:
            yield f"raised through `{path.relative_to(root).as_posix()}:{frame.line}`"


def _line_span(model: ModelFile, frame: CodePlace) -> Span | None:
    text = SourceText(model.path, model.text)
    if not 1 <= frame.line <= len(text.line_starts):
        return None
    line = text.line_text(frame.line)
    start, end = text.line_span(frame.line)
    indent = len(line) - len(line.lstrip())
    if frame.start is None or frame.end is None or start + indent + frame.end > end:
        return Span(start + indent, max(end, start + indent))
    return Span(start + indent + frame.start, start + indent + frame.end)
