"""Statistics: percentiles, sketches and random values.

Exact percentiles interpolate and so are doubles (or whole interval families); approximate ones are
values that occur, and keep the column's type. The state of a top-k sketch carries the item's type
as a field. Seeds and bounds of random values must be constant.
"""

import re
from collections.abc import Sequence
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType, StructField, is_wider_decimal
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing
from rocky.language.functions.special.aggregates import WHOLE_DAY_TIME, WHOLE_YEAR_MONTH

_MEASURE: Final = f.one_of(f.NUMERIC, f.DAY_TIME, f.YEAR_MONTH)
_POINT: Final = f.one_of(f.NUMERIC, f.DATE, f.TIMESTAMP, f.TIMESTAMP_NTZ, f.YEAR_MONTH, f.DAY_TIME)
_HISTOGRAM: Final = _POINT
_ARRAY_OF_DOUBLE: Final = f.exactly(t.array(t.DOUBLE, False))
_LARGEST_INT: Final = 2**31 - 1
_NUMBER: Final = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?\s*")


def _percentage_family(arg: Operand) -> f.Family:
    return _ARRAY_OF_DOUBLE if arg.type.kind == "array" else f.DOUBLE


def _interpolated(found: DataType) -> DataType:
    if found.kind == "interval_ym":
        return WHOLE_YEAR_MONTH
    if found.kind == "interval_dt":
        return WHOLE_DAY_TIME
    return t.UNKNOWN if found is t.UNKNOWN else t.DOUBLE


def _check_constant(name: str, args: Sequence[Operand], index: int, what: str) -> None:
    """Refuse an argument that is not constant, or is the NULL literal."""
    arg = args[index]
    if arg.type is t.UNKNOWN:
        return
    if not arg.foldable:
        raise f.not_constant(name, index, what)
    if arg.value is None:
        raise f.unexpected_null(name, index)


def _check_range(name: str, arg: Operand, index: int, least: float, most: float) -> None:
    value = arg.value
    if isinstance(value, str):
        if _NUMBER.fullmatch(value) is None:
            raise Refusal(
                "CAST_INVALID_INPUT",
                f"argument {index + 1} of `{name}` must be a number, not `{value}`",
                index,
            )
        return
    if value is NO_VALUE or isinstance(value, bytes) or least <= value <= most:
        return
    raise Refusal(
        "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
        f"argument {index + 1} of `{name}` must be between {least} and {most}, not {value}",
        index,
    )


def _shape(percentage: Operand, result: DataType) -> Typing:
    if percentage.type.kind == "array":
        return t.array(result, False), True
    return result, True


def type_percentile(name: str, args: Sequence[Operand]) -> Typing:
    percentage = _percentage_family(args[1]) if len(args) > 1 else f.DOUBLE
    fitted = f.fit(name, args, (_MEASURE, percentage, f.INTEGRAL), optional=1)
    _check_constant(name, args, 1, "the percentage")
    _check_range(name, args[1], 1, 0, 1)
    return _shape(args[1], _interpolated(fitted[0].type))


def type_ordered_percentile(name: str, args: Sequence[Operand]) -> Typing:
    """`percentile_cont` and `percentile_disc`: what WITHIN GROUP orders by comes first."""
    if len(args) == 1:
        raise f.within_group_missing(name)
    if len(args) != 2:
        raise f.wrong_count(name, "1", max(len(args) - 1, 0))
    return type_percentile(name, args)


def type_approx_percentile(name: str, args: Sequence[Operand]) -> Typing:
    percentage = _percentage_family(args[1]) if len(args) > 1 else f.DOUBLE
    fitted = f.fit(name, args, (_POINT, percentage, f.INTEGRAL), optional=1)
    _check_constant(name, args, 1, "the percentage")
    if len(args) == 3:
        _check_constant(name, args, 2, "the accuracy")
        _check_range(name, args[2], 2, 1, _LARGEST_INT)
    _check_range(name, args[1], 1, 0, 1)
    return _shape(args[1], fitted[0].type)


def type_median(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (_MEASURE,))
    return _interpolated(fitted[0].type), True


def type_histogram(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (_HISTOGRAM, f.INT))
    _check_constant(name, args, 1, "the number of bins")
    _check_range(name, args[1], 1, 2, _LARGEST_INT)
    bin_type = t.struct(
        (t.StructField("x", fitted[0].type, True), t.StructField("y", t.DOUBLE, True))
    )
    return t.array(bin_type, True), True


PERCENTILES: dict[str, Rule] = {
    "percentile": type_percentile,
    "percentile_cont": type_ordered_percentile,
    "percentile_disc": type_ordered_percentile,
    "percentile_approx": type_approx_percentile,
    "approx_percentile": type_approx_percentile,
    "median": type_median,
    "histogram_numeric": type_histogram,
}


_UNSUPPORTED: Final = frozenset(
    {"void", "binary", "variant", "array", "map", "struct", "time"} | t.INTERVAL_KINDS
)


def _hint(message: str, index: int) -> Refusal:
    return Refusal("DATATYPE_MISMATCH.TYPE_CHECK_FAILURE_WITH_HINT", message, index)


def _check_constants(name: str, args: Sequence[Operand]) -> None:
    for index, arg in enumerate(args[1:], 1):
        if not arg.foldable and arg.type is not t.UNKNOWN:
            raise _hint(f"argument {index + 1} of `{name}` must be a literal", index)


def _check_item(name: str, args: Sequence[Operand], most: int) -> None:
    if not 1 <= len(args) <= most:
        raise f.wrong_count(name, f"1 to {most}", len(args))
    for index, arg in enumerate(args[1:], 1):
        if f.INT.fit(arg.type) is None:
            raise f.unexpected_type(name, index, "`int`", arg.type)
    if args[0].type.kind in _UNSUPPORTED:
        raise _hint(f"`{name}` cannot count `{args[0].type}`", 0)
    _check_constants(name, args)


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


def type_top_k(name: str, args: Sequence[Operand]) -> Typing:
    _check_item(name, args, 3)
    return _items(args[0].type), False


def type_top_k_accumulate(name: str, args: Sequence[Operand]) -> Typing:
    _check_item(name, args, 2)
    return _state(args[0].type), False


def _item_of_state(name: str, args: Sequence[Operand]) -> DataType:
    f.take(name, args, 1, 2)
    found = args[0].type
    if found is t.UNKNOWN:
        return t.UNKNOWN
    if not isinstance(found, t.StructType) and found is not t.NULL:
        raise f.unexpected_type(name, 0, "a struct", found)
    if not isinstance(found, t.StructType) or len(found.fields) != 4:
        raise _hint(f"`{name}` needs the state `approx_top_k_accumulate` gives", 0)
    _check_constants(name, args)
    return found.fields[2].type


def type_top_k_combine(name: str, args: Sequence[Operand]) -> Typing:
    return _state(_item_of_state(name, args)), False


def type_top_k_estimate(name: str, args: Sequence[Operand]) -> Typing:
    return _items(_item_of_state(name, args)), False


_COUNTED: Final = f.one_of(f.INTEGRAL, f.STRING, f.BINARY)
_SEED: Final = f.one_of(f.INT, f.BIGINT)
_PARTS: Final = ("the error", "the confidence", "the seed")


def type_count_min_sketch(name: str, args: Sequence[Operand]) -> Typing:
    f.expect(name, args, (_COUNTED, f.DOUBLE, f.DOUBLE, _SEED))
    for index, what in enumerate(_PARTS, 1):
        if not args[index].foldable and args[index].type is not t.UNKNOWN:
            raise f.not_constant(name, index, what)
    for index in range(1, 4):
        if args[index].value is None:
            raise f.unexpected_null(name, index)
    error, confidence = args[1].value, args[2].value
    too_small = error is not NO_VALUE and error <= 0
    if too_small or (confidence is not NO_VALUE and not 0 < confidence <= 1):
        raise Refusal(
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


_NUMBER_ORDER: Final = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")
_SEEDS: Final = ("int", "bigint", "void", "unknown")


def _check_seed(name: str, args: Sequence[Operand], index: int) -> None:
    if len(args) <= index or args[index].type is t.UNKNOWN:
        return
    if args[index].type.kind not in _SEEDS:
        raise f.unexpected_type(name, index, "`int` or `bigint`", args[index].type)
    if not args[index].foldable:
        raise f.not_constant(name, index, "the seed")


def type_rand(name: str, args: Sequence[Operand]) -> Typing:
    """`rand`, `random` and `randn`."""
    f.take(name, args, 0, 1)
    if args and args[0].type is not t.UNKNOWN:
        if args[0].type.kind not in _SEEDS:
            raise f.unexpected_type(name, 0, "`int` or `bigint`", args[0].type)
        if not args[0].foldable:
            raise Refusal(
                "SEED_EXPRESSION_IS_UNFOLDABLE", f"the seed of `{name}` must be a constant", 0
            )
    return t.DOUBLE, False


def type_uniform(name: str, args: Sequence[Operand]) -> Typing:
    """A number between two bounds, of the wider of their types."""
    f.take(name, args, 2, 3)
    for index, bound in enumerate(args[:2]):
        if bound.type.kind not in t.NUMERIC_KINDS and bound.type.kind not in ("void", "unknown"):
            raise f.unexpected_type(name, index, "numeric", bound.type)
    if len(args) == 3 and args[2].type.kind not in _SEEDS:
        raise f.unexpected_type(name, 2, "`int` or `bigint`", args[2].type)
    for index, bound in enumerate(args[:2]):
        if not bound.foldable and bound.type is not t.UNKNOWN:
            raise f.not_constant(name, index, "a bound")
    _check_seed(name, args, 2)
    return _wider(*(t.DOUBLE if bound.type is t.NULL else bound.type for bound in args[:2])), False


def _wider(a: DataType, b: DataType) -> DataType:
    if a is t.UNKNOWN or b is t.UNKNOWN:
        return t.UNKNOWN
    if isinstance(a, t.DecimalType) and isinstance(b, t.DecimalType):
        return a if is_wider_decimal(a, b) else b
    return max(a, b, key=lambda bound: _NUMBER_ORDER.index(bound.kind))


def type_randstr(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1, 2)
    if f.INT.fit(args[0].type) is None:
        raise f.unexpected_type(name, 0, "`int`", args[0].type)
    _check_seed(name, args, 1)
    if not args[0].foldable and args[0].type is not t.UNKNOWN:
        raise f.not_constant(name, 0, "the length")
    return t.STRING, False


RANDOMNESS: dict[str, Rule] = {
    "rand": type_rand,
    "random": type_rand,
    "randn": type_rand,
    "uniform": type_uniform,
    "randstr": type_randstr,
}
