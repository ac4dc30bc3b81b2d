"""Declared sources held against live ones: findings at the lines of the declarations.

The compiler believes a declaration. This looks whether it may; a source that cannot be looked at is
a finding too, because what could not be read is not known to be right.
"""

from collections.abc import Callable, Iterator
from typing import Final

from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import suggestion
from rocky.errors import RockyError
from rocky.language.datatypes.safe_casts import is_lossless
from rocky.language.datatypes.types import (
    NUMERIC_KINDS,
    STRING_KINDS,
    UNKNOWN,
    DataType,
    StructField,
)
from rocky.pipelines.drift.projection import read_type
from rocky.project import Project
from rocky.project.configuration.blocks import Adapter
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.setting_places import placed_settings
from rocky.project.sources import SourceTable
from rocky.run.engine.spark import open_project_engine

Describe = Callable[[SourceTable], tuple[StructField, ...]]

_UNTYPED: Final = frozenset({"csv", "json"})
"""Formats whose types Spark infers from the data: another type there is a guess, not a fact."""


def compare_declared(project: Project, describe: Describe) -> list[Diagnostic]:
    """What is different in the live sources, in the order of files and lines.

    `describe` looks at a source and raises a RockyError when it cannot.
    """
    found: list[Diagnostic] = []
    for source in project.sources.values():
        if isinstance(source, PipelineTable):
            # What a pipeline writes is nobody's declaration.
            continue
        try:
            live = describe(source)
        except RockyError as error:
            found.append(_unreadable(source, str(error)))
            continue
        if not live:
            found.append(_unreadable(source, f"source `{source.name}` has no columns"))
            continue
        found += _compare_source(source, live)
    return sorted(found, key=lambda each: (each.path or "", each.span.start if each.span else 0))


def _compare_source(source: SourceTable, live: tuple[StructField, ...]) -> Iterator[Diagnostic]:
    by_name = {field.name.lower(): field for field in live}
    declared = {field.name.lower() for field in source.columns}
    if source.format == "csv":
        yield from _compare_order(source, live)
    for field, place in zip(source.columns, source.column_places, strict=True):
        there = by_name.get(field.name.lower())
        if there is None:
            undeclared = [each.name for key, each in by_name.items() if key not in declared]
            yield _finding(
                Code.LIVE_COLUMN_MISSING,
                f"source `{source.name}` has no column `{field.name}`",
                source,
                place,
                suggestion(field.name, undeclared) or "take it out of the declaration",
            )
        elif not holds(source.format, field.type, there.type):
            guessed = source.format in _UNTYPED
            seen = "its values look like" if guessed else "it is"
            yield _finding(
                Code.LIVE_TYPE_DIFFERS,
                f"column `{field.name}` of source `{source.name}` is declared `{field.type}`,"
                f" and {seen} `{there.type}`",
                source,
                place,
                f"declare `{there.type}`",
                Severity.WARNING if guessed else Severity.ERROR,
            )
    for key, field in by_name.items():
        if key not in declared and source.columns:
            yield _finding(
                Code.LIVE_COLUMN_UNDECLARED,
                f"source `{source.name}` has a column `{field.name}` of type `{field.type}` that is"
                " not declared",
                source,
                source.place,
                "add it to `columns` if a model should read it",
                severity_of(Code.LIVE_COLUMN_UNDECLARED),
            )


def _compare_order(source: SourceTable, live: tuple[StructField, ...]) -> Iterator[Diagnostic]:
    """A CSV is read by position: its columns must stand in the declared order."""
    wanted = [field.name.lower() for field in source.columns]
    there = [field.name.lower() for field in live]
    if wanted == there or sorted(wanted) != sorted(there):
        return
    at = next(at for at, name in enumerate(wanted) if there[at] != name)
    yield _finding(
        Code.LIVE_COLUMN_MISSING,
        f"column {at + 1} of source `{source.name}` is `{live[at].name}`, and"
        f" `{source.columns[at].name}` is declared there: a CSV is read by position",
        source,
        source.column_places[at],
        "declare the columns in the order of the file: "
        + ", ".join(f"`{field.name}`" for field in live),
    )


def holds(form: str, declared: DataType, live: DataType) -> bool:
    """Whether a declared type reads all that is live."""
    declared, live = read_type(declared), read_type(live)
    if UNKNOWN in (declared, live) or is_lossless(live, declared):
        return True
    if form not in _UNTYPED:
        return False
    if declared.kind in STRING_KINDS:
        return True
    if declared.kind in ("decimal", "double", "float"):
        return live.kind in NUMERIC_KINDS
    return live.kind in ("date", "timestamp", "timestamp_ntz") and declared.kind in (
        "timestamp",
        "timestamp_ntz",
    )


def _unreadable(source: SourceTable, said: str) -> Diagnostic:
    return _finding(Code.LIVE_SOURCE_UNREADABLE, said, source, source.place, None)


def _finding(
    code: Code,
    message: str,
    source: SourceTable,
    place: Span | None,
    help_text: str | None,
    severity: Severity = Severity.ERROR,
) -> Diagnostic:
    return Diagnostic(code, message, place, source.file, severity, help=help_text)


def compare_live(project: Project, adapter: Adapter) -> list[Diagnostic]:
    """What is different in the live sources. Without sources Spark does not start."""
    if all(isinstance(each, PipelineTable) for each in project.sources.values()):
        return []
    with placed_settings(project, adapter), open_project_engine(adapter, project.root) as engine:
        return compare_declared(project, engine.describe)
