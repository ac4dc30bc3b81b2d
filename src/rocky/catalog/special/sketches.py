"""Sketches that keep the column's type: the approximate top items and their state.

The state carries the item's type as a field, so the estimate knows it again later.
"""

from collections.abc import Callable, Sequence
from typing import Final

from rocky.catalog.operand import NO_VALUE, Operand, Refusal, Typing
from rocky.catalog.special import families as f
from rocky.catalog.special.families import expect
from rocky.catalog.special.refusals import (
    not_constant,
    unexpected_null,
    unexpected_type,
    wrong_count,
)
from rocky.datatypes import types as t
from rocky.datatypes.types import DataType, StructField

Rule = Callable[[str, Sequence[Operand]], Typing | Refusal]

_UNSUPPORTED: Final = frozenset(
    {"void", "binary", "variant", "array", "map", "struct", "time"} | t.INTERVAL_KINDS
)


def _hint(message: str, index: int) -> Refusal:
    return Refusal("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT", message, index)


def _check_constants(name: str, args: Sequence[Operand]) -> Refusal | None:
    for index, arg in enumerate(args[1:], 1):
        if not arg.foldable and arg.type is not t.UNKNOWN:
            return _hint(f"argument {index + 1} of `{name}` must be a literal", index)
    return None


def _check_item(name: str, args: Sequence[Operand], most: int) -> Refusal | None:
    if not 1 <= len(args) <= most:
        return wrong_count(name, f"1 to {most}", len(args))
    for index, arg in enumerate(args[1:], 1):
        if f.INT.fit(arg.type) is None:
            return unexpected_type(name, index, "`int`", arg.type)
    if args[0].type.kind in _UNSUPPORTED:
        return _hint(f"`{name}` cannot count `{args[0].type}`", 0)
    return _check_constants(name, args)


def _items(item: DataType) -> DataType:
    entry = t.struct((StructField("item", item, True), StructField("count", t.BIGINT, False)))
    return t.array(entry, False)


def _state(item: DataType) -> DataType:
    return t.struct(
        (
            StructField("sketch", t.BINARY, False),
            StructField("maxItemsTracked", t.INT, False),
            StructField("itemDataType", item, True),
            StructField("itemDataTypeDDL", t.STRING, False),
        )
    )


def type_top_k(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    refusal = _check_item(name, args, 3)
    return refusal if refusal is not None else (_items(args[0].type), False)


def type_top_k_accumulate(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    refusal = _check_item(name, args, 2)
    return refusal if refusal is not None else (_state(args[0].type), False)


def _item_of_state(name: str, args: Sequence[Operand]) -> DataType | Refusal:
    if not 1 <= len(args) <= 2:
        return wrong_count(name, "1 or 2", len(args))
    found = args[0].type
    if found is t.UNKNOWN:
        return t.UNKNOWN
    if not isinstance(found, t.StructType) and found is not t.NULL:
        return unexpected_type(name, 0, "a struct", found)
    if not isinstance(found, t.StructType) or len(found.fields) != 4:
        return _hint(f"`{name}` needs the state `approx_top_k_accumulate` gives", 0)
    refusal = _check_constants(name, args)
    return refusal if refusal is not None else found.fields[2].type


def type_top_k_combine(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    item = _item_of_state(name, args)
    return item if isinstance(item, Refusal) else (_state(item), False)


def type_top_k_estimate(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    item = _item_of_state(name, args)
    return item if isinstance(item, Refusal) else (_items(item), False)


_COUNTED: Final = f.one_of(f.INTEGRAL, f.STRING, f.BINARY)
_SEED: Final = f.one_of(f.INT, f.BIGINT)
_PARTS: Final = ("the error", "the confidence", "the seed")


def type_count_min_sketch(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = expect(name, args, (_COUNTED, f.DOUBLE, f.DOUBLE, _SEED))
    if isinstance(fitted, Refusal):
        return fitted
    for index, what in enumerate(_PARTS, 1):
        if not args[index].foldable and args[index].type is not t.UNKNOWN:
            return not_constant(name, index, what)
    for index in range(1, 4):
        if args[index].value is None:
            return unexpected_null(name, index)
    error, confidence = args[1].value, args[2].value
    too_small = error is not NO_VALUE and error <= 0
    if too_small or (confidence is not NO_VALUE and not 0 < confidence <= 1):
        return Refusal(
            "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
            f"the error and the confidence of `{name}` must be above 0, the latter at most 1",
            1 if too_small else 2,
        )
    return t.BINARY, False


SKETCHES: dict[str, Rule] = {
    "approx_top_k": type_top_k,
    "approx_top_k_accumulate": type_top_k_accumulate,
    "approx_top_k_combine": type_top_k_combine,
    "approx_top_k_estimate": type_top_k_estimate,
    "count_min_sketch": type_count_min_sketch,
}
