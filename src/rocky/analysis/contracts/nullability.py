"""Nullability: columns that can be null against a promise or against the recorded baseline.

Nullability is Spark's, as its analyser sees it: a filter such as `WHERE x IS NOT NULL` does not
make `x` never null, so it is not offered as help.
"""

from collections.abc import Callable, Iterator

from rocky.analysis.contracts.baseline import Baseline
from rocky.analysis.contracts.findings import column_place, fallback_for, finding_at_column
from rocky.analysis.contracts.types import first_difference, first_null
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.language.datatypes.types import UNKNOWN, DataType
from rocky.language.ir import ModelIr, OutputColumn
from rocky.language.names import quote_if_needed
from rocky.project.contracts import Contract, ContractColumn
from rocky.project.models import ModelFile

SourceNullable = Callable[[str, str], bool | None]
"""Whether a column of a table can be null where it comes from; None when nobody knows."""

_FILTERS = "a filter such as `WHERE ... IS NOT NULL` does not change what Spark calls nullable"


def nullable_columns(
    contract: Contract, model: ModelFile, ir: ModelIr, source_nullable: SourceNullable
) -> Iterator[Diagnostic]:
    """E012: columns, and parts of them, that are promised never null and can be null."""
    if not ir.known:
        return
    for promise in contract.columns:
        column = ir.column(promise.name)
        if column is None or column.type is UNKNOWN:
            continue
        if promise.nullable is False and column.nullable:
            label = Label(promise.nullable_span, "promised never null", contract.path)
            yield finding_at_column(
                Code.CONTRACT_NULLABLE,
                f"column `{column.name}` of model `{model.name}` can be null,"
                " its contract promises it never is",
                column_place(model, ir, column),
                model,
                (label,),
                f"{null_advice(column, source_nullable, promise.type)},"
                " or promise `nullable = true`",
                (_FILTERS,),
            )
        if promise.type is not None:
            yield from _nullable_parts(promise, column, contract, model, ir)


def _nullable_parts(
    promise: ContractColumn,
    column: OutputColumn,
    contract: Contract,
    model: ModelFile,
    ir: ModelIr,
) -> Iterator[Diagnostic]:
    promised = promise.type
    if promised is None or first_difference(promised, column.type, column.name) is not None:
        return
    path = first_null(promised, column.type, column.name)
    if path is None:
        return
    yield finding_at_column(
        Code.CONTRACT_NULLABLE,
        f"`{path}` in column `{column.name}` of model `{model.name}` can be null,"
        " its contract promises it `NOT NULL`",
        column_place(model, ir, column),
        model,
        (Label(promise.type_span, "promised `NOT NULL` in this type", contract.path),),
        f"build `{path}` from a value that is never null, such as `coalesce(..., ...)`,"
        " or promise it without `NOT NULL`",
    )


def newly_nullable_columns(
    contract: Contract,
    model: ModelFile,
    ir: ModelIr,
    baseline: Baseline | Diagnostic | None,
    source_nullable: SourceNullable,
) -> Iterator[Diagnostic]:
    """E038: columns the baseline knows as never null; W024: a baseline nobody recorded."""
    if not contract.no_new_nullable:
        return
    if isinstance(baseline, Diagnostic):
        yield baseline
        return
    if baseline is None:
        yield _without_baseline(contract, model)
        return
    if not ir.known:
        return
    promised = {column.name.lower() for column in contract.columns if column.nullable is False}
    for column in ir.columns:
        name = column.name.lower()
        # A column that is promised never null is reported as that, once.
        if not column.nullable or column.type is UNKNOWN or name in promised:
            continue
        if baseline.nullable.get(name, True):
            continue
        yield finding_at_column(
            Code.CONTRACT_NEW_NULLABLE,
            f"column `{column.name}` of model `{model.name}` can be null now;"
            " when its baseline was recorded it never was",
            column_place(model, ir, column),
            model,
            (
                Label(contract.no_new_nullable_span, "nothing may become nullable", contract.path),
                Label(baseline.places.get(name), "recorded as never null", baseline.path),
            ),
            f"{null_advice(column, source_nullable)}, or run `rocky compile --record-baselines`"
            " once its readers have agreed to nulls",
            (_FILTERS,),
        )


def _without_baseline(contract: Contract, model: ModelFile) -> Diagnostic:
    return Diagnostic(
        Code.BASELINE_MISSING,
        f"model `{model.name}` has no recorded baseline, so `no_new_nullable` holds nothing yet",
        contract.no_new_nullable_span,
        contract.path,
        severity_of(Code.BASELINE_MISSING),
        help="run `rocky compile --record-baselines` and commit the file it writes",
        model=model.name,
    )


def null_advice(
    column: OutputColumn, source_nullable: SourceNullable, promised: DataType | None = None
) -> str:
    """The change to the query that makes this column never null, in the type it should have."""
    name, fallback = quote_if_needed(column.name), fallback_for(promised or column.type)
    edge = column.edges[0] if len(column.edges) == 1 else None
    if edge is None or edge.kind != "direct":
        return f"{_cause(column)}: write `coalesce(..., {fallback}) AS {name}`"
    write = f"write `coalesce({quote_if_needed(edge.column)}, {fallback}) AS {name}`"
    match source_nullable(edge.table, edge.column):
        case True:
            return (
                f"`{edge.table}.{edge.column}` can be null: {write},"
                f" or make it never null in `{edge.table}`"
            )
        case False:
            return (
                f"`{edge.table}.{edge.column}` is never null, but an outer join or a grouping set"
                f" leaves rows without it: use an inner join, or {write}"
            )
        case _:
            return f"{write}; if the null is from an outer join, an inner join clears it too"


_CAUSES = (
    ("opaque", "the Python model declares it nullable"),
    ("aggregate", "an aggregate of no rows is null"),
    ("window", "a window function can find nothing to take a value from"),
    ("conditional", "a branch can be null or is missing"),
    ("expression", "a part of the expression can be null, or its result can"),
    ("cast", "the value can be null, or Spark counts the cast as able to give null"),
)


def _cause(column: OutputColumn) -> str:
    kinds = {edge.kind for edge in column.edges}
    return next((cause for kind, cause in _CAUSES if kind in kinds), "the value can be null")
