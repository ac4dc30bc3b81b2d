"""Cells of a seed held to their columns: each a value of its type, none empty where none may be.

A column whose type was inferred holds all its cells; a declared one may not. Distinct texts are
looked at once, so a large seed costs little more than reading it. Where a cell stands in the file
is looked up only for those that are reported, a few of each column.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.language.datatypes.types import ArrayType, MapType, StructField, StructType
from rocky.project.configuration.classifications import is_classified
from rocky.project.files import Report
from rocky.project.seed_values import example_of, fits_of
from rocky.project.toml.documents import Document, Problem, Problems
from rocky.project.toml.variables import written

_REPORTED: Final = 3
"""So many cells of a column are reported."""
_SHOWN: Final = 60
_NESTED: Final = (ArrayType, MapType, StructType)


def refuse_nested(declared: Sequence[StructField], problems: Problems) -> None:
    """A cell is one value: problems at columns that are declared as many."""
    for index, column in enumerate(declared):
        if isinstance(column.type, _NESTED):
            message = f"a cell of a seed holds one value, never a value of type `{column.type}`"
            help_text = "declare it `string`, and take it apart in a model with `from_json`"
            problems.append(Problem(("columns", index, "type"), message, help_text))


class SeedCells:
    """The rows of a seed as they were read, and the text they were read from."""

    def __init__(self, source: SourceText, delimiter: str, columns: Sequence[list[str]]) -> None:
        self._source = source
        self._delimiter = delimiter
        self._columns = columns

    def check(
        self,
        fields: Sequence[StructField],
        declared: Sequence[StructField],
        document: Document | None,
        classification: Mapping[str, tuple[str, ...]],
        report: Report,
    ) -> None:
        """Report cells that their declared columns cannot hold."""
        indices = {field.name.lower(): index for index, field in enumerate(declared)}
        unfit = [
            (row, place, field)
            for place, field in enumerate(fields)
            if field.name.lower() in indices and document is not None
            for row in islice(self._unfit_rows(place, field), _REPORTED)
        ]
        if document is None or not unfit:
            return
        places = self._places({row for row, _, _ in unfit})
        for row, place, field in sorted(unfit, key=lambda each: each[:2]):
            spans = places.get(row, [])
            report(
                self._finding(
                    self._columns[place][row],
                    spans[place] if place < len(spans) else None,
                    field,
                    indices[field.name.lower()],
                    document,
                    secret=is_classified(classification, field.name),
                )
            )

    def _unfit_rows(self, place: int, field: StructField) -> Iterator[int]:
        """The rows whose cell in a column is none of its values."""
        cells = self._columns[place]
        fits = fits_of(field.type)
        unfit = {cell for cell in set(cells) if cell and fits is not None and not fits(cell)}
        if not field.nullable:
            unfit.add("")
        if not unfit.isdisjoint(cells):
            yield from (row for row, cell in enumerate(cells) if cell in unfit)

    def _finding(
        self,
        cell: str,
        span: Span | None,
        field: StructField,
        index: int,
        document: Document,
        *,
        secret: bool,
    ) -> Diagnostic:
        name = f"column `{written(field.name)}`"
        key, why = "type", f"declared `{field.type}`"
        if not cell:
            key, why = "nullable", "declared never null"
            message = f"an empty cell is a null, and {name} is declared `nullable = false`"
            advice = "fill in the cell, or declare the column nullable"
        else:
            shown = "a cell that is not shown" if secret else f"`{_shortened(cell)}`"
            message = f"{shown} is not a value of {name}, which is declared `{field.type}`"
            advice = f"write a value such as `{example_of(field.type)}`, or declare it `string`"
        if secret and span is not None:
            # The line would show what is classified.
            message, span = f"line {self._source.line_of(span.start)}: {message}", None
        label = Label(document.span_of(("columns", index, key)), why, document.path)
        return Diagnostic(
            Code.SEED_VALUE, message, span, self._source.path, labels=(label,), help=advice
        )

    def _places(self, rows: set[int]) -> dict[int, list[Span]]:
        """Where the cells of some rows stand in the file."""
        last = max(rows) + 2
        # The header is the first record.
        records = enumerate(islice(cell_places(self._source.text, self._delimiter), last), -1)
        return {row: spans for row, spans in records if row in rows}


def _shortened(cell: str) -> str:
    """A cell on one line, as far as it tells something."""
    text = "".join(each if each.isprintable() else " " for each in cell)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def cell_places(text: str, delimiter: str) -> Iterator[list[Span]]:
    """The places of the cells, record by record; an empty line is none."""
    mark = re.escape(delimiter)
    cell = re.compile(rf'(?P<cell>"(?:[^"]|"")*"|[^{mark}\r\n]*)(?P<end>{mark}|\r\n|\r|\n|\Z)')
    spans: list[Span] = []
    at = 0
    while found := cell.match(text, at):
        spans.append(Span(*found.span("cell")))
        at = found.end()
        if found["end"] == delimiter:
            continue
        if len(spans) > 1 or spans[0].start < spans[0].end:
            yield spans
        spans = []
        if found["end"] == "":
            return
