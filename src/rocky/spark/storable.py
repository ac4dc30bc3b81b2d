"""Storable types: what a column of a table may be, known before anything runs. No pyspark here.

Spark's Parquet writer takes more than it or anybody else can read back (an array of nulls of no
type, for one), so this list decides, and says the way out in the query's own terms.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from rocky.datatypes.types import ArrayType, DataType, MapType, StructField, StructType

_WAYS_OUT: Final = {
    "interval": "cast it to a day-time or a year-month interval",
    "time": "cast it to a string",
    "void": "give the null a type: `CAST(NULL AS STRING)`",
    "unknown": "cast it to the type it should have",
}
_NESTED: Final = (ArrayType, MapType, StructType)


def storage_problems(
    fields: Sequence[StructField], partition_columns: Sequence[str] = ()
) -> list[str]:
    """Why columns cannot be stored, one sentence each with the way out; none when they can."""
    if not fields:
        return ["a table needs at least one column, and the query gives none"]
    return [
        *_repeated(fields),
        *(problem for field in fields for problem in _unstorable(field.name, field.type)),
        *_unfit_partitions(fields, partition_columns),
    ]


def _repeated(fields: Sequence[StructField]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for field in fields:
        first = seen.setdefault(field.name.lower(), field.name)
        if first is not field.name:
            yield f"column `{field.name}` is there twice: names are compared without case"


def _unstorable(path: str, kind: DataType) -> Iterator[str]:
    match kind:
        case ArrayType(element=element):
            yield from _unstorable(f"{path}.element", element)
        case MapType(key=key, value=value):
            yield from _unstorable(f"{path}.key", key)
            yield from _unstorable(f"{path}.value", value)
        case StructType(fields=()):
            yield f"column `{path}` is a struct without fields, which Parquet cannot store: drop it"
        case StructType(fields=fields):
            for field in fields:
                yield from _unstorable(f"{path}.{field.name}", field.type)
        case _ if kind.kind in _WAYS_OUT:
            way_out = _WAYS_OUT[kind.kind]
            yield f"column `{path}` is of type `{kind}`, which cannot be stored: {way_out}"
        case _:
            pass


def _unfit_partitions(fields: Sequence[StructField], names: Sequence[str]) -> Iterator[str]:
    by_name = {field.name.lower(): field for field in fields}
    for name in names:
        field = by_name.get(name.lower())
        if field is None:
            yield f"there is no column `{name}` to partition by"
        elif isinstance(field.type, _NESTED) or field.type.kind in ("variant", "binary"):
            yield f"column `{name}` is a `{field.type}`, and tables are partitioned by plain values"
