"""Percentiles: one value for one percentage, an array for an array of them.

Exact percentiles interpolate and so are doubles (or whole interval families); approximate
ones are values that occur, and keep the column's type.
"""

from collections.abc import Callable, Sequence
from typing import Final

from rocky.catalog.operand import NO_VALUE, Operand, Refusal, Typing
from rocky.catalog.special import families as f
from rocky.catalog.special.aggregates import WHOLE_DAY_TIME, WHOLE_YEAR_MONTH
from rocky.catalog.special.families import Family, fit
from rocky.catalog.special.refusals import (
    not_constant,
    unexpected_null,
    within_group_missing,
    wrong_count,
)
from rocky.datatypes import types as t
from rocky.datatypes.types import DataType

_MEASURE: Final = f.one_of(f.NUMERIC, f.DAY_TIME, f.YEAR_MONTH)
_POINT: Final = f.one_of(f.NUMERIC, f.DATE, f.TIMESTAMP, f.TIMESTAMP_NTZ, f.YEAR_MONTH, f.DAY_TIME)
_HISTOGRAM: Final = _POINT
_ARRAY_OF_DOUBLE: Final = f.exactly(t.array(t.DOUBLE, False))
_LARGEST_INT: Final = 2**31 - 1


def _percentage_family(arg: Operand) -> Family:
    return _ARRAY_OF_DOUBLE if arg.type.kind == "array" else f.DOUBLE


def _interpolated(found: DataType) -> DataType:
    if found.kind == "interval_ym":
        return WHOLE_YEAR_MONTH
    if found.kind == "interval_dt":
        return WHOLE_DAY_TIME
    return t.UNKNOWN if found is t.UNKNOWN else t.DOUBLE


def _check_constant(name: str, args: Sequence[Operand], index: int, what: str) -> Refusal | None:
    """Refuse an argument that is not constant, or is the NULL literal."""
    arg = args[index]
    if arg.type is t.UNKNOWN:
        return None
    if not arg.foldable:
        return not_constant(name, index, what)
    return unexpected_null(name, index) if arg.value is None else None


def _check_range(name: str, arg: Operand, index: int, least: float, most: float) -> Refusal | None:
    value = arg.value
    if value is NO_VALUE or isinstance(value, str | bytes) or least <= value <= most:
        return None
    return Refusal(
        "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
        f"argument {index + 1} of `{name}` must be between {least} and {most}, not {value}",
        index,
    )


def _shape(percentage: Operand, result: DataType) -> Typing:
    if percentage.type.kind == "array":
        return t.array(result, False), True
    return result, True


def type_percentile(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    percentage = _percentage_family(args[1]) if len(args) > 1 else f.DOUBLE
    fitted = fit(name, args, (_MEASURE, percentage, f.INTEGRAL), optional=1)
    if isinstance(fitted, Refusal):
        return fitted
    refusal = _check_constant(name, args, 1, "the percentage") or _check_range(
        name, args[1], 1, 0, 1
    )
    if refusal is not None:
        return refusal
    return _shape(args[1], _interpolated(fitted[0].type))


def type_ordered_percentile(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`percentile_cont` and `percentile_disc`: what WITHIN GROUP orders by comes first."""
    if len(args) == 1:
        return within_group_missing(name)
    if len(args) != 2:
        return wrong_count(name, "1", max(len(args) - 1, 0))
    return type_percentile(name, args)


def type_approx_percentile(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    percentage = _percentage_family(args[1]) if len(args) > 1 else f.DOUBLE
    fitted = fit(name, args, (_POINT, percentage, f.INTEGRAL), optional=1)
    if isinstance(fitted, Refusal):
        return fitted
    refusal = _check_constant(name, args, 1, "the percentage")
    if refusal is None and len(args) == 3:
        refusal = _check_constant(name, args, 2, "the accuracy") or _check_range(
            name, args[2], 2, 1, _LARGEST_INT
        )
    refusal = refusal or _check_range(name, args[1], 1, 0, 1)
    if refusal is not None:
        return refusal
    return _shape(args[1], fitted[0].type)


def type_median(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (_MEASURE,))
    return fitted if isinstance(fitted, Refusal) else (_interpolated(fitted[0].type), True)


def type_histogram(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (_HISTOGRAM, f.INT))
    if isinstance(fitted, Refusal):
        return fitted
    refusal = _check_constant(name, args, 1, "the number of bins") or _check_range(
        name, args[1], 1, 2, _LARGEST_INT
    )
    if refusal is not None:
        return refusal
    bin_type = t.struct(
        (t.StructField("x", fitted[0].type, True), t.StructField("y", t.DOUBLE, True))
    )
    return t.array(bin_type, True), True


PERCENTILES: dict[str, Callable[[str, Sequence[Operand]], Typing | Refusal]] = {
    "percentile": type_percentile,
    "percentile_cont": type_ordered_percentile,
    "percentile_disc": type_ordered_percentile,
    "percentile_approx": type_approx_percentile,
    "approx_percentile": type_approx_percentile,
    "median": type_median,
    "histogram_numeric": type_histogram,
}
