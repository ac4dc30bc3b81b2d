"""Outcomes of checks: rows as texts, the differences between them, and which checks were asked for.

Cells become text in Spark, because Python's own values would not do: a timestamp comes back in the
zone of whoever asks. Equal texts are equal values. Without an order the rows are a multiset: two
equal rows expected are two rows, not one. Floating columns are compared closely.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any, Literal, NamedTuple

from rocky.diagnostics import Diagnostic
from rocky.language.datatypes.types import DataType, MapType, StructField
from rocky.language.names import quote_name
from rocky.plan.steps import RunPlan
from rocky.project import ModelFile, SourceTable
from rocky.run.checks.fixtures import close_numbers
from rocky.run.engine.protocol import Engine, Frame

Cell = str | None
Row = tuple[Cell, ...]
Subject = Literal["model", "source"]


def text_of(name: str, type: DataType) -> str:  # noqa: A002 - the noun of `datatypes`
    """An expression for the text of a column."""
    column = quote_name(name)
    if isinstance(type, MapType):
        entry = f"struct(k AS key, {column}[k] AS value)"
        return f"to_json(transform(array_sort(map_keys({column})), k -> {entry}))"
    if type.kind in ("array", "struct", "variant"):
        return f"to_json({column})"
    if type.kind == "binary":
        return f"hex({column})"
    if type.kind in ("double", "float"):
        # Zero has two signs and one value.
        return f"CAST({column} + CAST(0 AS {type.text}) AS STRING)"
    return f"CAST({column} AS STRING)"


def text_rows(engine: Engine, source: str, columns: Sequence[StructField], limit: int) -> list[Row]:
    """The first rows of a relation as texts; `columns` are all of its columns, in order."""
    names = [f"c{index}" for index in range(len(columns))]
    cells = ", ".join(text_of(name, field.type) for name, field in zip(names, columns, strict=True))
    # By place, because two columns may have one name.
    renamed = f" AS t({', '.join(names)})" if names else ""
    sql = f"SELECT {cells or '1'} FROM {source}{renamed}"  # noqa: S608 - names are quoted
    found = engine.rows(engine.frame(sql), limit)
    return [_row(row) if columns else () for row in found]


def sample_rows(
    engine: Engine, frame: Frame, view: str, limit: int
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """The names of a frame's columns and its first rows as texts, by way of a view."""
    columns = engine.columns(frame)
    engine.views.bind_frame(view, frame)
    try:
        rows = text_rows(engine, quote_name(view), columns, limit)
    finally:
        engine.views.unbind([view])
    return tuple(field.name for field in columns), tuple(rows)


def _row(cells: Sequence[Any]) -> Row:
    return tuple(None if cell is None else str(cell) for cell in cells)


class Difference(NamedTuple):
    """A row that should be there and is not, one that is there and should not be, or both.

    With both, they are most likely meant to be the same row, and `cells` are the places where they
    are not.
    """

    expected: Row | None
    found: Row | None
    cells: tuple[int, ...] = ()


def compare_rows(
    expected: Sequence[Row], found: Sequence[Row], columns: Sequence[StructField], *, ordered: bool
) -> tuple[Difference, ...]:
    """What differs; nothing when the rows are as expected."""
    same = _Sameness(columns)
    if ordered:
        return tuple(
            same.difference(want, have)
            for want, have in zip_longest(expected, found)
            if want is None or have is None or not same.rows(want, have)
        )
    missing = list((Counter(expected) - Counter(found)).elements())
    extra = list((Counter(found) - Counter(expected)).elements())
    for want in list(missing):
        near = next((have for have in extra if same.rows(want, have)), None)
        if near is not None:
            missing.remove(want)
            extra.remove(near)
    return tuple(_paired(missing, extra, same))


def _paired(missing: list[Row], extra: list[Row], same: "_Sameness") -> list[Difference]:
    """Missing rows beside the found rows most like them, then those that are like none."""
    pairs: list[Difference] = []
    for want in missing:
        likeness = [(same.cells(want, have), -index) for index, have in enumerate(extra)]
        best, place = max(likeness, default=(0, 0))
        alone = len(want) == 1 and len(missing) == len(extra) == 1
        have = extra.pop(-place) if best or (alone and extra) else None
        pairs.append(same.difference(want, have))
    return [*pairs, *(Difference(None, have) for have in extra)]


class _Sameness:
    """When two cells of a column are the same."""

    def __init__(self, columns: Sequence[StructField]) -> None:
        self._kinds = [field.type.kind for field in columns]

    def cell(self, index: int, want: Cell, have: Cell) -> bool:
        if want == have:
            return True
        kind = self._kinds[index]
        if want is None or have is None or kind not in ("double", "float"):
            return False
        return close_numbers(want, have, single=kind == "float")

    def rows(self, want: Row, have: Row) -> bool:
        return all(
            self.cell(index, *pair) for index, pair in enumerate(zip(want, have, strict=True))
        )

    def cells(self, want: Row, have: Row) -> int:
        """How many cells are the same."""
        return sum(
            self.cell(index, *pair) for index, pair in enumerate(zip(want, have, strict=True))
        )

    def difference(self, want: Row | None, have: Row | None) -> Difference:
        if want is None or have is None:
            return Difference(want, have)
        pairs = enumerate(zip(want, have, strict=True))
        cells = tuple(index for index, pair in pairs if not self.cell(index, *pair))
        return Difference(want, have, cells)


@dataclass(frozen=True, slots=True)
class AssertionOutcome:
    """What came of one assertion.

    `failing_rows` is None for an assertion about the whole table, which has what was `observed`
    instead, and what was `expected` where that is not said by its name. `error` says why it could
    not be answered, `finding` at which place of the project. The `subject` called `model` may be a
    source.
    """

    model: str
    name: str
    type: str
    severity: str
    passed: bool
    column: str | None = None
    failing_rows: int | None = None
    observed: str | None = None
    error: str | None = None
    sample_columns: tuple[str, ...] = ()
    sample: tuple[Row, ...] = ()
    description: str | None = None
    finding: Diagnostic | None = None
    expected: str | None = None
    subject: Subject = "model"


def stale_words(outcome: AssertionOutcome) -> str:
    """Why a table is not fresh, for the records of models, which anybody may read.

    How old it is tells a value of it, and what went wrong may quote one: the outcome has both.
    """
    return "stale" if outcome.error is None else "not known to be fresh"


@dataclass(frozen=True, slots=True)
class UnitOutcome:
    """What came of one unit test. `error` says why it could not be run to its end.

    `finding` says at which place of the project.
    """

    model: str
    name: str
    passed: bool
    error: str | None = None
    columns: tuple[str, ...] = ()
    expected_rows: int = 0
    found_rows: int = 0
    differences: tuple[Difference, ...] = ()
    ordered: bool = False
    description: str | None = None
    finding: Diagnostic | None = None


@dataclass(frozen=True, slots=True)
class ChecksReport:
    """What came of every test. Only failures of severity `error` fail the report."""

    units: tuple[UnitOutcome, ...] = ()
    assertions: tuple[AssertionOutcome, ...] = ()

    @property
    def failed(self) -> int:
        units = sum(not each.passed for each in self.units)
        return units + sum(not each.passed and each.severity == "error" for each in self.assertions)

    @property
    def warnings(self) -> int:
        return sum(not each.passed and each.severity != "error" for each in self.assertions)

    @property
    def passed(self) -> int:
        units = sum(each.passed for each in self.units)
        return units + sum(each.passed for each in self.assertions)


@dataclass(frozen=True, slots=True)
class CheckSelection:
    """Which kinds of tests to run, and on which adapter."""

    unit: bool = True
    data: bool = True
    adapter: str | None = None


@dataclass(frozen=True, slots=True)
class CheckSubjects:
    """What is tested, and when: the age of rows is counted from `now` back.

    `person` is who sees the rows that fail; without one they are as anybody may see them.
    """

    models: Sequence[ModelFile]
    now: datetime
    sources: Sequence[SourceTable] = ()
    person: str | None = None


def models_with_tests(plan: RunPlan, wanted: CheckSelection) -> list[ModelFile]:
    """The selected models that have tests of a wanted kind, in the order they would run."""
    models = [plan.project.models[step.key] for step in plan.selected]
    return [
        model
        for model in models
        if (wanted.unit and model.settings.test) or (wanted.data and has_data_tests(model))
    ]


def has_data_tests(model: ModelFile) -> bool:
    """Whether a model declares anything about the rows of its table."""
    return bool(model.tests) or model.settings.freshness is not None


def sources_with_tests(
    plan: RunPlan, wanted: CheckSelection, *, every: bool = False
) -> list[SourceTable]:
    """The sources that must be fresh, by name: those that the plan's steps read, or `every` one."""
    if not wanted.data:
        return []
    sources = plan.project.sources
    keys = {each.key for step in plan.steps for each in step.reads if each.kind == "source"}
    return [sources[key] for key in sorted(sources if every else keys) if sources[key].freshness]
