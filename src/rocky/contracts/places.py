"""Places: where a finding about a promised column points.

The finding stands at the column in the model's SQL, with the promise as its other place. A column
that nobody wrote (it came through `*`) stands at the star; without one, the promise comes first.
"""

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.ir.model import ModelIr, OutputColumn
from rocky.project.contracts import Contract
from rocky.project.models import ModelFile
from rocky.source import Span


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
