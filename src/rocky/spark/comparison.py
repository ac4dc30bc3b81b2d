"""Comparing columns: Rocky's and Spark's, in order, by name, type and nullability.

Nullability inside a type counts: `array<int>` prints the same whether or not its elements
can be null, so types are compared as values and shown in full when their texts are equal.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocky.datatypes.text import type_to_json
from rocky.datatypes.types import (
    UNKNOWN,
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
)
from rocky.ir.model import ModelIr, OutputColumn


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing on which Rocky and Spark do not agree; `column` None is the model as a whole."""

    model: str
    column: str | None
    what: str
    ours: str
    spark: str


def compare_columns(ir: ModelIr, theirs: Sequence[StructField]) -> Iterator[Difference]:
    """What differs between a model's columns and those Spark gives it."""
    if not ir.known:
        return
    if len(ir.columns) != len(theirs):
        ours = ", ".join(column.name for column in ir.columns)
        spark = ", ".join(field.name for field in theirs)
        yield Difference(ir.name, None, "list of columns", ours, spark)
        return
    for column, field in zip(ir.columns, theirs, strict=True):
        yield from _compare(ir.name, column, field)


def _compare(model: str, column: OutputColumn, field: StructField) -> Iterator[Difference]:
    if column.name != field.name:
        yield Difference(model, column.name, "name", column.name, field.name)
    # An unknown is no claim: `compile` counts those, and there is nothing to compare.
    if not is_complete(column.type):
        return
    if column.type is not field.type:
        yield Difference(model, column.name, "type", *_texts(column.type, field.type))
    if column.nullable != field.nullable:
        yield Difference(
            model,
            column.name,
            "nullability",
            _nullability(nullable=column.nullable),
            _nullability(nullable=field.nullable),
        )


def is_complete(type: DataType) -> bool:  # noqa: A002 - the noun of the domain
    """Whether a type is known through and through."""
    match type:
        case ArrayType(element=element):
            return is_complete(element)
        case MapType(key=key, value=value):
            return is_complete(key) and is_complete(value)
        case StructType(fields=fields):
            return all(is_complete(field.type) for field in fields)
        case _:
            return type is not UNKNOWN


def _nullability(*, nullable: bool) -> str:
    return "nullable" if nullable else "not null"


def _texts(ours: DataType, theirs: DataType) -> tuple[str, str]:
    if str(ours) != str(theirs):
        return str(ours), str(theirs)
    return json.dumps(type_to_json(ours)), json.dumps(type_to_json(theirs))
