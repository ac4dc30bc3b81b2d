"""The rows hash: 128 bits that depend on which rows there are, not on their order or place.

Each row is hashed twice to 64 bits with different seeds, and these 128 bits are summed modulo
2**128, so that the hash of two parts together is the sum of theirs. A sum, not an exclusive or: two equal rows
must not cancel. Spark's hash skips nulls and runs nested values together, so nulls are hashed by
their position, arrays element by element with their length, and maps by their sorted entries.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark.sql import functions as f

from rocky.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
)

_SEEDS: Final = ("rocky", "ledger")
_MODULUS: Final = 1 << 128
# A 64-bit hash is summed in three parts, so that no sum can overflow below 2**41 rows.
_PART_BITS: Final = (21, 21, 22)
_NULLS_A_WORD: Final = 62
ROWS: Final = "rows"
NO_ROWS: Final = "0" * 32


def observed_columns(fields: Sequence[StructField]) -> list[Any]:
    """Aggregates over a frame of these columns, from which `read_hash` makes the hash."""
    inputs = hash_inputs(fields)
    sums = [f.count(f.lit(1)).alias(ROWS)]
    for number, seed in enumerate(_SEEDS):
        hashed = f.xxhash64(f.lit(seed), *inputs)
        shift = 0
        for part, bits in enumerate(_PART_BITS):
            limb = f.shiftrightunsigned(hashed, shift).bitwiseAND(f.lit((1 << bits) - 1))
            sums.append(f.sum(limb).alias(f"part_{number}_{part}"))
            shift += bits
    return sums


def read_hash(observed: Mapping[str, Any]) -> str:
    """The hash from the values of `observed_columns`, as 32 hex digits."""
    total = 0
    for number in range(len(_SEEDS)):
        value = shift = 0
        for part, bits in enumerate(_PART_BITS):
            value += (observed[f"part_{number}_{part}"] or 0) << shift
            shift += bits
        # What is above 64 bits belongs to the other half: hashes of parts add up as numbers.
        total = (total << 64) + value
    return f"{total % _MODULUS:032x}"


def hash_rows(frame: Any, fields: Sequence[StructField]) -> str:
    """The hash of a frame's rows, by a job of its own."""
    names = [f"c{place}" for place in range(len(fields))]
    plain = [
        StructField(n, each.type, each.nullable) for n, each in zip(names, fields, strict=True)
    ]
    row = frame.toDF(*names).select(*observed_columns(plain)).collect()[0]
    return read_hash(row.asDict())


def hash_inputs(fields: Sequence[StructField]) -> list[Any]:
    """What is hashed of a row: its values in order, then which of them are null."""
    columns = [f.col(_quoted(field.name)) for field in fields]
    return _members(list(zip(columns, (field.type for field in fields), strict=True)))


def _members(members: Sequence[tuple[Any, DataType]]) -> list[Any]:
    values = [each for column, kind in members for each in _values(column, kind)]
    words = []
    for start in range(0, len(members), _NULLS_A_WORD):
        word = f.lit(0).cast("bigint")
        for place, (column, _) in enumerate(members[start : start + _NULLS_A_WORD]):
            word = word + f.when(column.isNull(), f.lit(1 << place)).otherwise(f.lit(0))
        words.append(word)
    return values + words


def _values(column: Any, kind: DataType) -> list[Any]:
    match kind:
        case StructType(fields=fields):
            return _members([(column.getField(each.name), each.type) for each in fields])
        case ArrayType(element=element):
            hashed = f.transform(column, lambda one: f.xxhash64(*_members([(one, element)])))
            return [f.size(column), hashed]
        case MapType(key=key, value=value):
            entries = f.transform(
                f.map_entries(column),
                lambda one: f.xxhash64(
                    *_members([(one.getField("key"), key), (one.getField("value"), value)])
                ),
            )
            return [f.size(column), f.array_sort(entries)]
        case StringType(collation=collation) if collation != "UTF8_BINARY":
            # Strings that a collation calls equal may still differ.
            return [column.cast("binary")]
        case _ if kind.kind == "variant":
            return [f.to_json(column)]
        case _ if kind.kind == "void":
            return []
        case _:
            return [column]


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
