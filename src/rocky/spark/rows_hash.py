"""The rows hash: 128 bits that depend on which rows there are, not on their order or place.

Each row is hashed twice to 64 bits, and these 128 bits are summed modulo 2**128, so that the hash
of two parts together is the sum of theirs. A sum, not an exclusive or: two equal rows must not
cancel.

Spark's own hash of a row is not enough: it skips nulls, runs arrays together, calls 0.0 and -0.0
the same and refuses maps. So a word of flags comes first that says which values are null (and
which zeros are negative), an array is led by its length, and whatever sits inside an array or a
map is hashed on its own. What is declared never matters, only what is there: NOT NULL or not, a
row has one hash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark.sql import functions as f

from rocky.language.datatypes.types import ArrayType, DataType, MapType, StructField, StructType
from rocky.language.names import quote_name
from rocky.spark.frame import column_named

LANES: Final = (0, 1)
"""The two hashes of a row: they see the same parts from different seeds."""

_FLAGS_A_WORD: Final = 31
_FLOATS: Final = ("float", "double")
_NESTED: Final = (ArrayType, MapType, StructType)


@dataclass(frozen=True, slots=True)
class HashRules:
    """How parts are hashed. Maps count as equal in any order, unless `maps_in_order`."""

    lane: int
    maps_in_order: bool = False


@dataclass(slots=True)
class _RowParts:
    """What is hashed: columns, or texts of SQL, which are made without asking Spark's process."""

    flags: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)


def row_hash(fields: Sequence[StructField], lane: int = 0, *, maps_in_order: bool = False) -> Any:
    """A 64-bit hash of these columns."""
    return _column(hash_expression(fields, lane, maps_in_order=maps_in_order))


def hash_expression(
    fields: Sequence[StructField], lane: int = 0, *, maps_in_order: bool = False
) -> Any:
    """The hash as a text of SQL, where that can say it, or as a column."""
    members = [(_reference(each), each.type) for each in fields]
    return _hash(members, HashRules(lane, maps_in_order))


def _reference(given: StructField) -> Any:
    """A column, or its name in SQL where that says all that is needed."""
    plain = not isinstance(given.type, _NESTED) and given.type.kind != "variant"
    # What looks like a variable in SQL may be replaced by one.
    return quote_name(given.name) if plain and "${" not in given.name else column_named(given.name)


def _hash(members: Sequence[tuple[Any, DataType]], how: HashRules) -> Any:
    parts = _RowParts()
    for column, kind in members:
        _add_parts(parts, column, kind, how)
    # A first value of its own is a seed of its own: Spark's is fixed.
    seed = [str(how.lane)] if how.lane else []
    hashed = [*seed, *_words(parts.flags), *parts.values]
    if all(isinstance(each, str) for each in hashed):
        return f"xxhash64({', '.join(hashed)})"
    return f.xxhash64(*map(_column, hashed))


def _column(part: Any) -> Any:
    return f.expr(part) if isinstance(part, str) else part


def _words(flags: Sequence[Any]) -> list[Any]:
    """The flags as bits of integers."""
    words = []
    for start in range(0, len(flags), _FLAGS_A_WORD):
        word = "0"
        some = flags[start : start + _FLAGS_A_WORD]
        for place, flag in enumerate(some):
            if isinstance(flag, str):
                word += f" | CASE WHEN {flag} THEN {1 << place} ELSE 0 END"
        columns = [(place, flag) for place, flag in enumerate(some) if not isinstance(flag, str)]
        made: Any = word
        for place, flag in columns:
            bit = f.when(flag, f.lit(1 << place)).otherwise(f.lit(0))
            made = _column(made).bitwiseOR(bit)
        words.append(made)
    return words


def _add_parts(parts: _RowParts, column: Any, kind: DataType, how: HashRules) -> None:
    parts.flags.append(_is_null(column))
    match kind:
        case StructType(fields=fields):
            for each in fields:
                _add_parts(parts, column.getField(each.name), each.type, how)
        case ArrayType():
            parts.values += [f.size(column), *_elements(column, kind, how)]
        case MapType(key=key, value=value):
            entries = f.transform(
                f.map_entries(column),
                lambda one: _hash([(one["key"], key), (one["value"], value)], how),
            )
            entries = entries if how.maps_in_order else f.array_sort(entries)
            parts.values += [f.size(column), entries]
        case _ if kind.kind == "variant":
            # The text of a value does not tell 1 from 1.0, nor a date from a string.
            parts.values += [f.to_json(column), f.schema_of_variant(column)]
        case _ if kind.kind in _FLOATS:
            parts.flags.append(_is_negative_zero(column))
            parts.values.append(column)
        case _ if kind.kind != "void":
            parts.values.append(column)


def _elements(column: Any, kind: ArrayType, how: HashRules) -> list[Any]:
    """What is hashed of an array's elements beside their number.

    Spark hashes an array of plain values fast, but for its nulls and negative zeros: only an array
    that has some is looked at one by one.
    """
    element = kind.element
    if isinstance(element, _NESTED) or element.kind == "variant":
        return [f.transform(column, lambda one: _hash([(one, element)], how))]
    if element.kind == "void":
        return []
    values = [column]
    if kind.contains_null:
        nulls = f.transform(column, lambda one: one.isNull())
        values.append(f.when(f.exists(column, lambda one: one.isNull()), nulls))
    if element.kind in _FLOATS:
        zeros = f.transform(column, _is_negative_zero)
        zero = f.lit(0.0).cast(element.text)
        found = f.array_contains(column, zero) & f.exists(column, _is_negative_zero)
        values.append(f.when(found, zeros))
    return values


def _is_null(column: Any) -> Any:
    return f"{column} IS NULL" if isinstance(column, str) else column.isNull()


def _is_negative_zero(column: Any) -> Any:
    """Whether a number is -0.0, which equals 0.0; of all functions, the cosecant tells fastest."""
    if isinstance(column, str):
        return f"CASE WHEN {column} = 0.0D THEN csc({column}) < 0.0D ELSE FALSE END"
    return f.when(column == f.lit(0.0), f.csc(column) < f.lit(0.0)).otherwise(f.lit(False))


_MODULUS: Final = 1 << 128
# The 128 bits are summed in limbs: no sum can overflow below 2**37 rows. More limbs are slower.
_LIMB_BITS: Final = 26
_LIMBS: Final = 5
_LANE_BITS: Final = 64
ROWS: Final = "rows"


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
