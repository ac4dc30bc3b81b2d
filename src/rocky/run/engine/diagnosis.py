"""Diagnosis: a failure told at its place in the project, without values nobody may see.

The message begins with the place, so that the ledger, the history and a log name it too. What is
generated has no file of the author's to point into, and is told as it was.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span, format_place
from rocky.errors import ModelFailed, RockyError
from rocky.plan.steps import Read, reads_of
from rocky.project import ModelFile, SeedTable, setting_place
from rocky.run.engine.classified import ClassifiedColumns
from rocky.run.engine.findings import diagnose_failure, diagnose_python, diagnose_source
from rocky.run.engine.origins import QueryOrigin
from rocky.run.engine.protocol import StepFailure
from rocky.spark.interface import FailureKind

_TELLING: Final = frozenset({Code.VALUE_REFUSED, Code.CODE_RAISED})
"""What is said in the words of whoever met a value."""


class Diagnostician:
    """Finds the places of failures in one compiled project. Threads may share it."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation
        self._project = compilation.project
        self._classified = ClassifiedColumns(compilation)

    def in_model(
        self,
        model: ModelFile,
        error: BaseException,
        failure: StepFailure,
        origins: Callable[[], Iterable[QueryOrigin]],
    ) -> StepFailure:
        """A failure of a model with its finding, if it is one of the project; else as it was.

        `origins` are the queries that Spark was given for it.
        """
        if not (self._project.root / model.path).is_file():
            return failure
        found = self._found(model, error, failure, origins)
        if found is None:
            return self._in_source(failure)
        told = self._project.models[(found.model or model.name).lower()]
        piece = None if told.is_python or found.span is None else told.text[slice(*found.span)]
        return self._told(failure, found, reads_of(self._compilation, told), piece)

    def in_seed(self, seed: SeedTable, failure: StepFailure) -> StepFailure:
        """A failure on a cell of a seed at its file; few are left that compiling cannot find."""
        if failure.cause is None or failure.cause.kind is not FailureKind.DATA_ERROR:
            return failure
        message = failure.message.removeprefix(f"{failure.condition}: ")
        found = Diagnostic(Code.SEED_VALUE, message, None, seed.path, condition=failure.condition)
        if seed.classification:
            secret = f"{seed.name}.{next(iter(seed.classification))}"
            found, failure = _without_value(found, secret), replace(failure, hides=secret)
        return self._placed(failure, found, found.message)

    def in_setting(
        self,
        model: ModelFile,
        failure: StepFailure,
        keys: tuple[str | int, ...],
        reads: Sequence[Read],
    ) -> StepFailure:
        """A failure of SQL that stands in a setting of a model, which is asked of `reads`."""
        if failure.cause is None or not (self._project.root / model.path).is_file():
            return failure
        found = diagnose_failure(failure.cause, model, (), self._project.root)
        if found is None:
            return failure
        path, span = setting_place(model, self._project.texts, keys)
        query = failure.cause.query
        piece = query.fragment if query is not None else None
        if span is not None and piece:
            at = self._project.texts[path].text.find(piece, span.start, span.end)
            span = Span(at, at + len(piece)) if at >= 0 else span
        return self._told(failure, replace(found, path=path, span=span), reads, piece)

    def _in_source(self, failure: StepFailure) -> StepFailure:
        """A failure to read a file of a source at the source's declaration; any other as it was."""
        if failure.cause is None:
            return failure
        sources = self._project.sources.values()
        found = diagnose_source(failure.cause, sources, self._project.root)
        return failure if found is None else self._placed(failure, found, found.message)

    def _found(
        self,
        model: ModelFile,
        error: BaseException,
        failure: StepFailure,
        origins: Callable[[], Iterable[QueryOrigin]],
    ) -> Diagnostic | None:
        if isinstance(error, ModelFailed):
            return diagnose_python(error, model, self._project.root)
        if failure.cause is None:
            return None
        try:
            queries = tuple(origins()) if failure.cause.query is not None else ()
        except RockyError:
            # What cannot be bound any more is why it failed, and its message says so.
            queries = ()
        return diagnose_failure(failure.cause, model, queries, self._project.root)

    def _told(
        self, failure: StepFailure, found: Diagnostic, reads: Sequence[Read], piece: str | None
    ) -> StepFailure:
        """The failure with its finding: its place first, nothing that is classified in its words.

        `piece` is the expression whose values it may tell of, of any when that is not known.
        """
        message = failure.message
        secret = self._classified.hidden_in(reads, piece) if found.code in _TELLING else None
        if secret is not None:
            found, failure = _without_value(found, secret), replace(failure, hides=secret)
            message = found.message
            if found.condition is not None:
                message = f"{found.condition}: {message}"
        elif failure.cause is None:
            message = found.message
        return self._placed(failure, found, message)

    def _placed(self, failure: StepFailure, found: Diagnostic, message: str) -> StepFailure:
        path = found.path or ""
        place = format_place(path, self._project.texts[path], found.span)
        return replace(failure, message=f"{place}: {message}", finding=found)


def _without_value(found: Diagnostic, secret: str) -> Diagnostic:
    said = "a value that the expression cannot take"
    if found.code is Code.CODE_RAISED:
        said = f"{found.message.partition(':')[0]} was raised"
    note = f"the value is not shown: `{secret}` is classified"
    return replace(found, message=said, notes=(*found.notes, note))
