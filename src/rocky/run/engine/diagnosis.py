"""Diagnosis: a failure told at its place in the project, without values nobody may see.

The message begins with the place, so that the ledger, the history and a log name it too. What is
generated has no file of the author's to point into, and is told as it was.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.analysis.disclosure import Disclosure, origin_of
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span, format_place
from rocky.errors import ModelFailed, RockyError, RowsRefused
from rocky.language.ir import OutputColumn
from rocky.language.names import quote_name
from rocky.plan.steps import Read, reads_of
from rocky.project import ModelFile, SeedTable, setting_place
from rocky.project.setting_sql import place_setting
from rocky.run.engine.classified import ClassifiedColumns
from rocky.run.engine.failures import may_quote, unsaid
from rocky.run.engine.findings import diagnose_failure, diagnose_python, diagnose_source
from rocky.run.engine.origins import QueryOrigin
from rocky.run.engine.protocol import EngineEnd, StepFailure
from rocky.run.run_log import tells_of_failures
from rocky.spark.interface import FailureKind

_ONE_ROW: Final = (
    "give one row for each key: the newest with `row_number() OVER (PARTITION BY key ORDER BY"
    " changed_at DESC) = 1`, or name all the columns that make a row unique"
)
_TELLING: Final = frozenset({Code.VALUE_REFUSED, Code.CODE_RAISED})
"""What is said in the words of whoever met a value."""


class Diagnostician:
    """Finds the places of failures in one compiled project. Threads may share it."""

    def __init__(self, compilation: Compilation, disclosure: Disclosure | None = None) -> None:
        """`disclosure` is that of the author's project, where this one is generated."""
        self._compilation = compilation
        self._project = compilation.project
        self._classified = ClassifiedColumns(compilation, disclosure)

    def without_output(self, end: EngineEnd) -> EngineEnd:
        """How Spark ended, without the last lines of its log where they may quote values."""
        quotes = tells_of_failures("\n".join(end.last_lines))
        return replace(end, last_lines=()) if quotes and self._classified.any else end

    def reading(self, failure: StepFailure, reads: Sequence[Read]) -> StepFailure:
        """A failure of generated SQL over tables, without words that may quote their values."""
        secrets = self._classified.secrets_in(reads, None)
        if not secrets or not may_quote(failure):
            return failure
        return replace(failure, message=unsaid(failure, secrets), hides=origin_of(secrets))

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
            return self.reading(failure, reads_of(self._compilation, model))
        refused = self._refused_rows(model, error)
        if refused is not None:
            return self._placed(failure, refused, refused.message)
        found = self._found(model, error, failure, origins)
        if found is None:
            placed = self._in_source(failure)
            if placed.finding is not None:
                return placed
            return self.reading(
                failure, (Read("model", model.key), *reads_of(self._compilation, model))
            )
        told = self._project.models[(found.model or model.name).lower()]
        # Of a macro's text only the call is seen here, which need not name what it reads.
        opaque = told.is_python or found.span is None or bool(found.labels)
        piece = None if opaque else told.text[slice(*found.span or (0, 0))]
        reads = reads_of(self._compilation, told)
        # What code has made of values may stand in a query of its own, too.
        return self._told(failure, found, reads, piece, telling=told.is_python)

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
            return self.reading(failure, reads)
        query = failure.cause.query
        piece = query.fragment if query is not None else None
        place = place_setting(model, self._project.texts, keys, self._sql_of(model, keys))
        at = place.sql.find(piece) if piece else -1
        told = replace(found, path=place.path, span=place.value)
        if piece and at >= 0:
            inside = Span(at, at + len(piece))
            told = replace(told, span=place.span(inside), labels=place.labels(inside))
        return self._told(failure, told, reads, piece)

    @staticmethod
    def _sql_of(model: ModelFile, keys: tuple[str | int, ...]) -> str:
        """The SQL of a test, by its keys; nothing for a test that has none."""
        _, index, key = keys
        found = getattr(model.tests[int(index)], str(key))
        return found if isinstance(found, str) else ""

    def _refused_rows(self, model: ModelFile, error: BaseException) -> Diagnostic | None:
        """Rows that do not fit what a model says of them: at its setting, contract or column."""
        message = str(error)
        notes: tuple[str, ...] = ()
        advice: str | None = None
        if isinstance(error, ModelFailed) and error.setting:
            if error.setting[-1] == "unique_key":
                advice = _ONE_ROW
            path, span = setting_place(model, self._project.texts, error.setting)
            named = ", ".join(map(quote_name, error.columns))
            secret = self._classified.hidden_in((Read("model", model.key),), named)
            if secret is not None:
                message, notes = error.without_values, (_not_shown(secret),)
        elif isinstance(error, RowsRefused) and error.column is not None:
            path, span = self._column_place(model, error.column)
            notes = tuple(self._promises(model, error.column))
        else:
            return None
        return Diagnostic(
            Code.VALUE_REFUSED, message, span, path, help=advice, model=model.name, notes=notes
        )

    def _column_place(self, model: ModelFile, name: str) -> tuple[str, Span | None]:
        """Where it is said that a column is never null: in the contract, else in the query."""
        contract = self._project.contracts.get(model.key)
        for each in contract.columns if contract is not None else ():
            if each.name.lower() == name.lower() and each.nullable is False:
                assert contract is not None
                return contract.path, each.nullable_span
        column = self._output(model, name)
        if column is None or model.is_python:
            return model.path, None
        span = column.span or self._only_star(model)
        return model.path, model.place_in_file(span) if span is not None else None

    def _only_star(self, model: ModelFile) -> Span | None:
        """The star of a query that has one; of several it is not known which gave a column."""
        ir = self._compilation.models.get(model.key)
        if ir is None or not ir.stars or model.sql.count("*") != 1:
            return None
        return ir.stars[0]

    def _output(self, model: ModelFile, name: str) -> OutputColumn | None:
        ir = self._compilation.models.get(model.key)
        columns = ir.columns if ir is not None else ()
        return next((each for each in columns if each.name.lower() == name.lower()), None)

    def _promises(self, model: ModelFile, name: str) -> Iterator[str]:
        """The sources that say a column is never null, each with the place where it says so."""
        column = self._output(model, name)
        for edge in column.edges if column is not None else ():
            source = self._project.sources.get(edge.table.lower())
            if source is None:
                continue
            for field, span in zip(source.columns, source.column_places, strict=True):
                if field.name.lower() == edge.column.lower() and not field.nullable:
                    place = format_place(source.file, self._project.texts[source.file], span)
                    yield f"`{source.name}.{field.name}` is declared `nullable = false` at {place}"

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
        self,
        failure: StepFailure,
        found: Diagnostic,
        reads: Sequence[Read],
        piece: str | None,
        *,
        telling: bool = False,
    ) -> StepFailure:
        """The failure with its finding: its place first, nothing that is classified in its words.

        `piece` is the expression whose values it may tell of, of any when that is not known.
        """
        message = failure.message
        telling = telling or found.code in _TELLING or may_quote(failure)
        secret = self._classified.hidden_in(reads, piece) if telling else None
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
    return replace(found, message=said, notes=(*found.notes, _not_shown(secret)))


def _not_shown(secret: str) -> str:
    return f"the value is not shown: `{secret}` is classified"
