"""Iceberg's schema, partition values and bounds for those of a Delta snapshot.

Every field is optional: Iceberg does not let a required column be added, and Delta does. Small
integers are `int`, the narrowest that Iceberg has.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import count
from typing import Any, Final

from pyiceberg import types as iceberg
from pyiceberg.conversions import to_bytes
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.utils.datetime import date_to_days, datetime_to_micros

from rocky.errors import StoreUnwritable
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType, StructField
from rocky.store.data_file import DataFile

_ATOMS: Final[Mapping[str, iceberg.PrimitiveType]] = {
    "boolean": iceberg.BooleanType(),
    "tinyint": iceberg.IntegerType(),
    "smallint": iceberg.IntegerType(),
    "int": iceberg.IntegerType(),
    "bigint": iceberg.LongType(),
    "float": iceberg.FloatType(),
    "double": iceberg.DoubleType(),
    "binary": iceberg.BinaryType(),
    "date": iceberg.DateType(),
    "timestamp": iceberg.TimestamptzType(),
    "timestamp_ntz": iceberg.TimestampType(),
    "string": iceberg.StringType(),
    "char": iceberg.StringType(),
    "varchar": iceberg.StringType(),
    # Stored as plain numbers: microseconds, and months.
    "interval_dt": iceberg.LongType(),
    "interval_ym": iceberg.IntegerType(),
}


def iceberg_schema(fields: Sequence[StructField]) -> Schema:
    """The schema of a table, its fields numbered from 1."""
    ids = count(1)
    return Schema(*[_field(field, ids) for field in fields])


def _field(field: StructField, ids: "count[int]") -> iceberg.NestedField:
    number = next(ids)
    return iceberg.NestedField(number, field.name, _type(field.type, field.name, ids), False)


def _type(type: DataType, column: str, ids: "count[int]") -> iceberg.IcebergType:  # noqa: A002 - the noun of `datatypes`
    if isinstance(type, t.DecimalType):
        return iceberg.DecimalType(type.precision, type.scale)
    if isinstance(type, t.StructType):
        return iceberg.StructType(*[_field(field, ids) for field in type.fields])
    if isinstance(type, t.ArrayType):
        number = next(ids)
        return iceberg.ListType(number, _type(type.element, column, ids), element_required=False)
    if isinstance(type, t.MapType):
        key, value = next(ids), next(ids)
        return iceberg.MapType(
            key,
            _type(type.key, column, ids),
            value,
            _type(type.value, column, ids),
            value_required=False,
        )
    atom = _ATOMS.get(type.kind)
    if atom is None:
        raise StoreUnwritable(
            f"column `{column}` has type `{type}`, which Iceberg does not have;"
            " cast it, or set `iceberg = false`"
        )
    return atom


def partition_spec(schema: Schema, columns: Sequence[str]) -> PartitionSpec:
    """Identity partitions by the partition columns."""
    return PartitionSpec(
        *[
            PartitionField(
                schema.find_field(column).field_id, 1000 + at, IdentityTransform(), column
            )
            for at, column in enumerate(columns)
        ]
    )


def partition_value(text: str | None, type: iceberg.IcebergType) -> Any:  # noqa: A002 - the noun of Iceberg's fields
    """A partition value of Delta's log as Iceberg's manifests keep it."""
    return None if text is None else _PARTITION_READERS[type.__class__](text)


_PARTITION_READERS: Final[Mapping[type, Callable[[str], Any]]] = {
    iceberg.BooleanType: lambda text: text == "true",
    iceberg.IntegerType: int,
    iceberg.LongType: int,
    iceberg.FloatType: float,
    iceberg.DoubleType: float,
    iceberg.DecimalType: Decimal,
    iceberg.StringType: str,
    iceberg.BinaryType: str.encode,
    iceberg.DateType: lambda text: date_to_days(date.fromisoformat(text)),
    iceberg.TimestampType: lambda text: datetime_to_micros(datetime.fromisoformat(text)),
    # Spark writes them in the session's zone, which is pinned to UTC.
    iceberg.TimestamptzType: lambda text: datetime_to_micros(
        datetime.fromisoformat(text).replace(tzinfo=UTC)
    ),
}


def column_metrics(file: DataFile, schema: Schema) -> dict[str, Any]:
    """What the statistics of a file say of its top-level columns, by Iceberg's field ids."""
    stats = json.loads(file.stats, parse_float=Decimal) if file.stats else {}
    lows, highs = stats.get("minValues", {}), stats.get("maxValues", {})
    nulls = stats.get("nullCount", {})
    plain = [field for field in schema.fields if field.field_type.is_primitive]
    return {
        "value_counts": {field.field_id: file.rows for field in plain if field.name in nulls},
        "null_value_counts": {
            field.field_id: nulls[field.name] for field in plain if field.name in nulls
        },
        "lower_bounds": _bounds(plain, lows),
        "upper_bounds": _bounds(plain, highs),
    }


def _bounds(fields: Sequence[iceberg.NestedField], values: Mapping[str, Any]) -> dict[int, bytes]:
    bounds = {}
    for field in fields:
        read = _BOUND_READERS.get(field.field_type.__class__)
        if field.name in values and read and isinstance(field.field_type, iceberg.PrimitiveType):
            bounds[field.field_id] = to_bytes(field.field_type, read(values[field.name]))
    return bounds


_BOUND_READERS: Final[Mapping[type, Callable[[Any], Any]]] = {
    iceberg.IntegerType: int,
    iceberg.LongType: int,
    iceberg.FloatType: float,
    iceberg.DoubleType: float,
    iceberg.DecimalType: Decimal,
    iceberg.StringType: str,
    iceberg.DateType: date.fromisoformat,
    iceberg.TimestampType: datetime.fromisoformat,
    iceberg.TimestamptzType: datetime.fromisoformat,
}
"""The types whose bounds are used; a column that has been widened since keeps its old ones."""
