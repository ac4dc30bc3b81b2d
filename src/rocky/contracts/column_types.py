"""Column types: a column that has another type than its contract promises.

Types are compared exactly. A cast that Spark would refuse is not offered as help.
"""

from collections.abc import Iterator

from rocky.contracts.differences import Difference, first_difference
from rocky.contracts.fallbacks import quote_name
from rocky.contracts.places import column_place, finding_at_column
from rocky.datatypes.casts import can_cast, cast_nullable, plain
from rocky.datatypes.types import UNKNOWN, DataType
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.ir.model import ModelIr, OutputColumn
from rocky.project.contracts import Contract, ContractColumn
from rocky.project.models import ModelFile


def mistyped_columns(contract: Contract, model: ModelFile, ir: ModelIr) -> Iterator[Diagnostic]:
    """E011: columns whose known type is not the promised one."""
    for promise in contract.columns:
        if promise.type is None:
            continue
        column = ir.column(promise.name)
        if column is None or column.type is UNKNOWN:
            continue
        found = first_difference(promise.type, column.type, column.name)
        if found is not None:
            yield _mistyped(promise, promise.type, column, found, contract, model, ir)


def _mistyped(
    promise: ContractColumn,
    promised: DataType,
    column: OutputColumn,
    found: Difference,
    contract: Contract,
    model: ModelFile,
    ir: ModelIr,
) -> Diagnostic:
    message = (
        f"column `{column.name}` of model `{model.name}` is `{column.type}`,"
        f" its contract promises `{promised}`"
    )
    notes: tuple[str, ...] = ()
    if found.path != column.name or column.type.kind == promised.kind == "struct":
        message = (
            f"column `{column.name}` of model `{model.name}` is not of the promised type:"
            f" `{found.path}` {found.reason}"
        )
        notes = (f"promised: `{promised}`", f"actual: `{column.type}`")
    label = Label(promise.type_span, f"promised as `{promised}`", contract.path)
    return finding_at_column(
        Code.CONTRACT_TYPE_MISMATCH,
        message,
        column_place(model, ir, column),
        model,
        (label,),
        _advice(promise, promised, column),
        notes,
    )


def _advice(promise: ContractColumn, promised: DataType, column: OutputColumn) -> str:
    if plain(promised) is not promised:
        return (
            f"promise `{plain(promised)}`: a query gives strings without a length,"
            " only a table's own columns keep one"
        )
    change = f"promise `{column.type}`"
    if not can_cast(column.type, promised):
        return f"produce a `{promised}` (no cast from `{column.type}` exists), or {change}"
    edge = column.edges[0] if len(column.edges) == 1 else None
    inner = quote_name(edge.column) if edge and edge.kind == "direct" else "..."
    name = quote_name(column.name)
    advice = f"write `CAST({inner} AS {promised}) AS {name}`, or {change}"
    becomes_null = cast_nullable(column.type, promised, column.nullable) and not column.nullable
    if promise.nullable is False and becomes_null:
        return f"{advice}; Spark counts this cast as able to give null, so wrap it in `coalesce`"
    return advice
