"""The rows hash: 128 bits that depend on which rows there are, not on their order or place.

Each row is hashed twice to 64 bits, and these 128 bits are summed modulo 2**128, so that the hash
of two parts together is the sum of theirs. A sum, not an exclusive or: two equal rows must not
cancel. Spark's own hash of a row is not enough: it skips nulls, runs arrays together, calls 0.0
and -0.0 the same and refuses maps; `rocky.spark.row_parts` says what is hashed in their place.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import functions as f

from rocky.datatypes.types import StructField
from rocky.spark.row_parts import LANES, row_hash

_MODULUS: Final = 1 << 128
# The 128 bits are summed in limbs: no sum can overflow below 2**37 rows. More limbs are slower.
_LIMB_BITS: Final = 26
_LIMBS: Final = 5
_LANE_BITS: Final = 64
ROWS: Final = "rows"
NO_ROWS: Final = "0" * 32


def observed_columns(fields: Sequence[StructField]) -> list[Any]:
    """Aggregates over a frame of these columns, from which `read_hash` makes the hash."""
    low, high = (row_hash(fields, lane) for lane in LANES)
    sums = [f.sum(_limb(low, high, number)).alias(_sum_name(number)) for number in range(_LIMBS)]
    return [f.count(f.lit(1)).alias(ROWS), *sums]


def read_hash(observed: Mapping[str, Any]) -> str:
    """The hash from the values of `observed_columns`, as 32 hex digits."""
    # The sums of no rows are null.
    total = sum(
        (observed[_sum_name(number)] or 0) << (number * _LIMB_BITS) for number in range(_LIMBS)
    )
    return f"{total % _MODULUS:032x}"


def hash_rows(frame: Any, fields: Sequence[StructField]) -> str:
    """The hash of a frame's rows, by a job of its own."""
    # By place, because a frame may have two columns of one name.
    names = [f"c{place}" for place in range(len(fields))]
    placed = [
        StructField(name, field.type, field.nullable)
        for name, field in zip(names, fields, strict=True)
    ]
    row = frame.toDF(*names).select(*observed_columns(placed)).collect()[0]
    return read_hash(row.asDict())


def _limb(low: Any, high: Any, number: int) -> Any:
    """Bits of the number `high * 2**64 + low`, as many as a limb has; Spark computes each once."""
    start = number * _LIMB_BITS
    end = start + _LIMB_BITS
    if end <= _LANE_BITS:
        return _bits(low, start, _LIMB_BITS)
    if start >= _LANE_BITS:
        return _bits(high, start - _LANE_BITS, min(_LIMB_BITS, 2 * _LANE_BITS - start))
    below = _LANE_BITS - start
    above = f.shiftleft(_bits(high, 0, end - _LANE_BITS), below)
    return _bits(low, start, below).bitwiseOR(above)


def _bits(value: Any, start: int, count: int) -> Any:
    shifted = f.shiftrightunsigned(value, start) if start else value
    if start + count == _LANE_BITS:
        return shifted
    return shifted.bitwiseAND(f.lit((1 << count) - 1).cast("bigint"))


def _sum_name(number: int) -> str:
    return f"sum_{number}"
