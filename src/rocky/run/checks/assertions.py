"""Assertions: the declared checks of a built table, asked and answered.

All questions about one relation go in one scan. When that fails, each is asked alone, so that one
that cannot be answered does not hide the others. It counts as failed, never as passed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from uuid import uuid4

from rocky.analysis.disclosure import NO_SECRETS, Secrets, shown
from rocky.plan.steps import Read
from rocky.project.configuration.labels import shown_text
from rocky.project.configuration.model import AssertionRecord
from rocky.project.models import ModelFile
from rocky.run.checks.assertion_sql import (
    AssertionQuery,
    AssertionSubject,
    Unanswerable,
    query_of,
    scan_of,
)
from rocky.run.checks.outcomes import AssertionOutcome, sample_rows
from rocky.run.checks.relations import BoundRelations
from rocky.run.engine.classified import ClassifiedColumns
from rocky.run.engine.diagnosis import Diagnostician
from rocky.run.engine.failures import STEP_ERRORS, classify_step_failure
from rocky.run.engine.protocol import Engine, StepFailure
from rocky.run.engine.sql import UnwritableValue

SAMPLE_ROWS: Final = 5
COUNTS: Final = "rows"
"""The column of a sample that counts rows."""
_QUOTING: Final = frozenset({"min", "max"})
"""The aggregates whose answer is a value of a row."""


def _show_all(_column: str) -> Secrets:
    return NO_SECRETS


@dataclass(frozen=True, slots=True)
class _Pending:
    """An assertion with its question; `outcome` is what is known before anything is asked.

    `classify` says what an error in answering it means, `hidden` what is hidden in a column of its
    sample, or in what it observed ("").
    """

    outcome: AssertionOutcome
    question: AssertionQuery | None
    classify: Callable[[BaseException], StepFailure] = classify_step_failure
    hidden: Callable[[str], Secrets] = _show_all

    def failed(self, error: BaseException, said: str = "") -> AssertionOutcome:
        """The outcome when it cannot be answered; `said` comes before why."""
        failure = self.classify(error)
        return replace(self.outcome, error=said + failure.message, finding=failure.finding)


Classify = Callable[[int, BaseException], StepFailure]
"""What an error in answering the assertion of an index means."""
Hidden = Callable[[AssertionRecord, str], Secrets]
"""What is hidden in a column of an assertion's sample, or in what it observed ("")."""


def check_model(
    model: ModelFile,
    relations: BoundRelations,
    engine: Engine,
    diagnostician: Diagnostician,
    classified: ClassifiedColumns,
) -> list[AssertionOutcome]:
    """Every assertion of a model, in the order they are declared.

    `classified` knows what is hidden from whoever sees the rows that fail.
    """

    def classify(index: int, error: BaseException) -> StepFailure:
        failure = classify_step_failure(error, engine.explain)
        keys = ("tests", index, _written_sql(model.tests[index]))
        subject = _subject(model, model.tests[index], relations)
        return diagnostician.in_setting(model, failure, keys, (subject,))

    def hidden(assertion: AssertionRecord, column: str) -> Secrets:
        return hidden_in_sample(
            assertion, column, _subject(model, assertion, relations), classified
        )

    return check_assertions(
        model.name,
        model.tests,
        lambda each: _asked(model, each, relations),
        engine,
        classify,
        hidden,
    )


def quotes_value(assertion: AssertionRecord) -> bool:
    """Whether what an assertion observes is a value of a row."""
    return assertion.type == "aggregate" and assertion.op in _QUOTING


def hidden_in_sample(
    assertion: AssertionRecord, column: str, read: Read, classified: ClassifiedColumns
) -> Secrets:
    """What is hidden in a column of a sample of a table, or in what was observed of it ("")."""
    if not column:
        column = assertion.column or ""
        quotes = quotes_value(assertion)
        return classified.disclosure.in_column(read.key, column) if quotes else NO_SECRETS
    if assertion.key_expr is not None and column != COUNTS:
        return classified.secrets_in((read,), assertion.key_expr)
    return classified.disclosure.in_column(read.key, column)


def _written_sql(assertion: AssertionRecord) -> str:
    """The key of an assertion whose SQL is the author's."""
    for key in ("expression", "key_expr", "filter"):
        if getattr(assertion, key) is not None:
            return key
    return "type"


def check_assertions(
    name: str,
    assertions: Iterable[AssertionRecord],
    ask: Callable[[AssertionRecord], AssertionSubject],
    engine: Engine,
    classify: Classify,
    hidden: Hidden,
) -> list[AssertionOutcome]:
    """Assertions of a table called `name`, in their order; `ask` says what each is about.

    What `ask` raises fails that assertion alone.
    """
    pending = [
        replace(_prepare(name, each, ask, partial(classify, index)), hidden=partial(hidden, each))
        for index, each in enumerate(assertions)
    ]
    answers: dict[int, AssertionOutcome] = {}
    for source in dict.fromkeys(each.question.source for each in pending if each.question):
        group = [
            index
            for index, each in enumerate(pending)
            if each.question is not None and each.question.source == source
        ]
        found = _answer([pending[index] for index in group], engine)
        answers.update(zip(group, found, strict=True))
    return [answers.get(index, each.outcome) for index, each in enumerate(pending)]


def _prepare(
    name: str,
    assertion: AssertionRecord,
    ask: Callable[[AssertionRecord], AssertionSubject],
    classify: Callable[[BaseException], StepFailure],
) -> _Pending:
    outcome = AssertionOutcome(
        name,
        assertion.called,
        assertion.type,
        assertion.severity,
        passed=False,
        column=assertion.column,
        description=shown_text(assertion.description),
    )
    try:
        return _Pending(outcome, query_of(assertion, ask(assertion)), classify)
    except (Unanswerable, UnwritableValue) as failure:
        return _Pending(replace(outcome, error=str(failure)), None)
    except STEP_ERRORS as failure:
        return _Pending(_Pending(outcome, None, classify).failed(failure), None)


def _asked(
    model: ModelFile, assertion: AssertionRecord, relations: BoundRelations
) -> AssertionSubject:
    read = _subject(model, assertion, relations)
    types = {field.name.lower(): field.type for field in relations.columns_of(read)}
    to_view = None
    if assertion.to_table is not None:
        to_view = relations.view_of(relations.named(assertion.to_table))
    return AssertionSubject(relations.view_of(read), types, to_view)


def _subject(model: ModelFile, assertion: AssertionRecord, relations: BoundRelations) -> Read:
    """What an assertion of a model is about."""
    if assertion.table is not None:
        return relations.named(assertion.table)
    return Read("model", model.key)


def _answer(group: Sequence[_Pending], engine: Engine) -> list[AssertionOutcome]:
    """The answers to questions of one source, in one scan if that can be."""
    try:
        ((*cells,),) = engine.rows(engine.frame(scan_of(_questions(group))), 1)
    except STEP_ERRORS as failure:
        if len(group) > 1:
            return [one for each in group for one in _answer([each], engine)]
        return [each.failed(failure) for each in group]
    return [
        _outcome(each, cells[2 * index], cells[2 * index + 1], engine)
        for index, each in enumerate(group)
    ]


def _questions(group: Iterable[_Pending]) -> list[AssertionQuery]:
    return [each.question for each in group if each.question is not None]


def _outcome(pending: _Pending, failing: Any, observed: Any, engine: Engine) -> AssertionOutcome:
    outcome, question = pending.outcome, pending.question
    if failing is None or question is None:
        return replace(outcome, error="Spark gave no answer")
    if question.observed is not None:
        said = "NULL" if observed is None else str(shown(observed, pending.hidden("")))
        return replace(outcome, passed=failing == 0, observed=said)
    outcome = replace(outcome, passed=failing == 0, failing_rows=int(failing))
    if outcome.passed or question.sample is None:
        return outcome
    try:
        frame = engine.frame(question.sample)
        view = f"rocky_failing_rows_{uuid4().hex[:12]}"
        names, rows = sample_rows(engine, frame, view, SAMPLE_ROWS)
    except STEP_ERRORS as failure:
        # The answer stands; only its illustration is missing.
        return replace(pending, outcome=outcome).failed(failure, "no sample: ")
    secrets = [pending.hidden(name) for name in names]
    hidden = tuple(tuple(map(shown, row, secrets)) for row in rows)
    return replace(outcome, sample_columns=names, sample=hidden)
