"""Findings about promised columns: where one points, and the values its advice may offer.

A finding stands at the column in the model's SQL, with the promise as its other place. A column
that nobody wrote (it came through `*`) stands at the star; without one, the promise comes first. A
fallback must leave the type as it is: the obvious `CAST(0 AS DECIMAL(5,2))` would not do, because
Spark counts that cast as able to give null, and the column would stay nullable.
"""

from typing import Final

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.text import Span
from rocky.language.datatypes.types import DataType, DecimalType
from rocky.language.ir import ModelIr, OutputColumn
from rocky.project.contracts import Contract
from rocky.project.models import ModelFile


def column_place(model: ModelFile, ir: ModelIr, column: OutputColumn) -> Span | None:
    """The column's place in the model's file, if it has one."""
    if column.span is not None:
        return model.place_in_file(column.span)
    return model.place_in_file(ir.stars[0]) if len(ir.stars) == 1 else None


def finding_at_column(
    code: Code,
    message: str,
    column: Span | None,
    model: ModelFile,
    labels: tuple[Label, ...],
    advice: str,
    notes: tuple[str, ...] = (),
) -> Diagnostic:
    """A finding at a column of the model; the first label is the promise it breaks."""
    span, path = column, model.path
    promise = labels[0]
    if span is None and promise.span is not None and promise.path is not None:
        span, path = promise.span, promise.path
        labels = (Label(None, "the model", model.path), *labels[1:])
    return Diagnostic(
        code,
        message,
        span,
        path,
        severity_of(code),
        labels=labels,
        help=advice,
        model=model.name,
        notes=notes,
    )


def finding_at_promise(
    code: Code,
    message: str,
    place: Span | None,
    contract: Contract,
    model: ModelFile,
    advice: str,
    label: Label | None = None,
) -> Diagnostic:
    """A finding at a line of the contract, about something the model does not have."""
    return Diagnostic(
        code,
        message,
        place,
        contract.path,
        severity_of(code),
        labels=(label or Label(None, "the model", model.path),),
        help=advice,
        model=model.name,
    )


_BY_KIND: Final = {
    "boolean": "false",
    "tinyint": "0Y",
    "smallint": "0S",
    "int": "0",
    "bigint": "0",
    "float": "0F",
    "double": "0D",
    "string": "''",
    "char": "''",
    "varchar": "''",
    "binary": "X''",
    "date": "DATE '1970-01-01'",
    "timestamp": "TIMESTAMP '1970-01-01 00:00:00'",
    "timestamp_ntz": "TIMESTAMP_NTZ '1970-01-01 00:00:00'",
    "array": "array()",
    "map": "map()",
}


def fallback_for(type: DataType) -> str:  # noqa: A002 - the noun of the types' package
    """A never-null SQL value of the type, or `...` where there is no short one."""
    if isinstance(type, DecimalType):
        return f"0.{'0' * type.scale}" if type.scale else "0BD"
    return _BY_KIND.get(type.kind, "...")
