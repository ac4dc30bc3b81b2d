"""Findings about promised columns: where one points, what it advises, and types that differ.

A finding stands at the column in the model's SQL, with the promise as its other place. A column
that nobody wrote (it came through `*`) stands at the star; without one, the promise comes first. A
fallback must leave the type as it is: the obvious `CAST(0 AS DECIMAL(5,2))` would not do, because
Spark counts that cast as able to give null, and the column would stay nullable.

Types are compared exactly, names of struct fields without case. Nullability is not part of a type
here: inside a type, only what is promised NOT NULL is compared, by `first_null`. An unknown part,
on either side, differs from nothing. A cast that Spark would refuse is not offered as help.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast, cast_nullable, expression_type
from rocky.language.datatypes.types import DataType
from rocky.language.ir import ModelIr, OutputColumn
from rocky.language.names import quote_if_needed
from rocky.project.contracts import Contract, ContractColumn
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
    if isinstance(type, t.DecimalType):
        return f"0.{'0' * type.scale}" if type.scale else "0BD"
    return _BY_KIND.get(type.kind, "...")


class Difference(NamedTuple):
    """A part of a type, as a path from the column, and how it differs, as a clause."""

    path: str
    reason: str


def first_difference(promised: DataType, actual: DataType, path: str) -> Difference | None:
    """The first part, in the promise's order, that is not as promised."""
    if promised is actual or promised is t.UNKNOWN or actual is t.UNKNOWN:
        return None
    if isinstance(promised, t.StructType) and isinstance(actual, t.StructType):
        found = _field_difference(promised, actual, path)
        if found is not None:
            return found
    elif not _same_shape(promised, actual):
        return Difference(path, f"is `{actual}`, promised `{promised}`")
    for name, one, other in _parts(promised, actual):
        found = first_difference(one, other, f"{path}.{name}")
        if found is not None:
            return found
    return None


def first_null(promised: DataType, actual: DataType, path: str) -> str | None:
    """The first part that is promised NOT NULL and can be null. The types are otherwise equal."""
    if promised is actual or promised is t.UNKNOWN or actual is t.UNKNOWN:
        return None
    for name in _nullable_parts(promised, actual):
        return f"{path}.{name}"
    for name, one, other in _parts(promised, actual):
        found = first_null(one, other, f"{path}.{name}")
        if found is not None:
            return found
    return None


def _same_shape(promised: DataType, actual: DataType) -> bool:
    """Whether two types other than structs can differ only in their parts."""
    return promised.kind == actual.kind and promised.kind in ("array", "map")


def _field_difference(promised: t.StructType, actual: t.StructType, path: str) -> Difference | None:
    wanted = [field.name.lower() for field in promised.fields]
    given = [field.name.lower() for field in actual.fields]
    if wanted == given:
        return None
    for field in promised.fields:
        if field.name.lower() not in given:
            return Difference(path, f"has no field `{field.name}`, promised `{field.type}`")
    for field in actual.fields:
        if field.name.lower() not in wanted:
            return Difference(path, f"has a field `{field.name}` that is not promised")
    for at, (one, other) in enumerate(zip(promised.fields, actual.fields, strict=False), 1):
        if one.name.lower() != other.name.lower():
            reason = f"has `{other.name}` as field {at}, promised `{one.name}`"
            return Difference(path, reason)
    return Difference(path, "has a field twice")


def _parts(promised: DataType, actual: DataType) -> Iterator[tuple[str, DataType, DataType]]:
    """The parts of two types of one shape, side by side, under the names Spark gives them."""
    if isinstance(promised, t.StructType) and isinstance(actual, t.StructType):
        for one, other in zip(promised.fields, actual.fields, strict=False):
            yield one.name, one.type, other.type
    elif isinstance(promised, t.ArrayType) and isinstance(actual, t.ArrayType):
        yield "element", promised.element, actual.element
    elif isinstance(promised, t.MapType) and isinstance(actual, t.MapType):
        yield "key", promised.key, actual.key
        yield "value", promised.value, actual.value


def _nullable_parts(promised: DataType, actual: DataType) -> Iterator[str]:
    if isinstance(promised, t.StructType) and isinstance(actual, t.StructType):
        for one, other in zip(promised.fields, actual.fields, strict=False):
            if other.nullable and not one.nullable:
                yield one.name
    elif isinstance(promised, t.ArrayType) and isinstance(actual, t.ArrayType):
        if actual.contains_null and not promised.contains_null:
            yield "element"
    elif (
        isinstance(promised, t.MapType)
        and isinstance(actual, t.MapType)
        and actual.contains_null
        and not promised.contains_null
    ):
        yield "value"


def mistyped_columns(contract: Contract, model: ModelFile, ir: ModelIr) -> Iterator[Diagnostic]:
    """E011: columns whose known type is not the promised one."""
    for promise in contract.columns:
        if promise.type is None:
            continue
        column = ir.column(promise.name)
        if column is None or column.type is t.UNKNOWN:
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
    if expression_type(promised) is not promised:
        return (
            f"promise `{expression_type(promised)}`: a query gives strings without a length,"
            " only a table's own columns keep one"
        )
    change = f"promise `{column.type}`"
    if not can_cast(column.type, promised):
        return f"produce a `{promised}` (no cast from `{column.type}` exists), or {change}"
    edge = column.edges[0] if len(column.edges) == 1 else None
    inner = quote_if_needed(edge.column) if edge and edge.kind == "direct" else "..."
    name = quote_if_needed(column.name)
    advice = f"write `CAST({inner} AS {promised}) AS {name}`, or {change}"
    becomes_null = cast_nullable(column.type, promised, column.nullable) and not column.nullable
    if promise.nullable is False and becomes_null:
        return f"{advice}; Spark counts this cast as able to give null, so wrap it in `coalesce`"
    return advice
