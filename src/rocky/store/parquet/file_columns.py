"""File columns: the columns that Spark finds in a Parquet file, told by its footer alone.

A file that Spark wrote holds its schema as Spark means it. Of any other the physical and logical
types of the leaves decide, as Spark's converter has them. What is rare or old enough to be read in
another way by another version is not told here: None means that Spark has to be asked. All columns
are nullable, because files hold what somebody put there.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.language.datatypes import types as t
from rocky.language.datatypes.parts import make_nullable
from rocky.language.datatypes.text import encode_type
from rocky.language.datatypes.types import DataType, StructField
from rocky.store.delta.schema import FULL_TYPE, parse_schema

_SPARK_SCHEMA: Final = b"org.apache.spark.sql.parquet.row.metadata"
_MARKED: Final = (b"__CHAR_VARCHAR", b"__COLLATIONS", FULL_TYPE.encode())
_PLAIN: Final[Mapping[str, DataType]] = {
    "BOOLEAN": t.BOOLEAN,
    "INT32": t.INT,
    "INT64": t.BIGINT,
    "INT96": t.TIMESTAMP,
    "FLOAT": t.FLOAT,
    "DOUBLE": t.DOUBLE,
    "BYTE_ARRAY": t.BINARY,
}
_INTEGERS: Final[Mapping[tuple[int, bool], DataType]] = {
    (8, True): t.TINYINT,
    (16, True): t.SMALLINT,
    (32, True): t.INT,
    (64, True): t.BIGINT,
    (8, False): t.SMALLINT,
    (16, False): t.INT,
    (32, False): t.BIGINT,
    (64, False): t.decimal(20, 0),
}
_TEXTS: Final = frozenset({"STRING", "ENUM", "JSON"})
_DIGITS: Final = {"INT32": 9, "INT64": 18}


class _NotTold(Exception):
    """Something that only Spark can say how it reads it."""


def file_columns(path: str) -> tuple[StructField, ...] | None:
    """The columns of a Parquet file, or None where Spark has to be asked.

    Also for one that cannot be read: Spark says what is wrong with it.
    """
    try:
        metadata = pq.read_metadata(path)
        return tuple(_nullable(each) for each in _columns(metadata))
    except (_NotTold, pa.ArrowException, OSError, ValueError):
        return None


def same_columns(paths: Sequence[str]) -> tuple[StructField, ...] | None:
    """The columns that all files have alike; None where they differ, or one does not tell.

    How different ones are merged, and in which order, is Spark's to say.
    """
    found: tuple[StructField, ...] | None = None
    for path in paths:
        columns = file_columns(path)
        if columns is None or (found is not None and _said(found) != _said(columns)):
            return None
        found = columns
    return found


def _said(columns: Sequence[StructField]) -> list[tuple[str, str]]:
    return [(each.name, encode_type(each.type)) for each in columns]


def _nullable(field: StructField) -> StructField:
    return StructField(field.name, make_nullable(field.type), nullable=True)


def _columns(metadata: pq.FileMetaData) -> Sequence[StructField]:
    said = (metadata.metadata or {}).get(_SPARK_SCHEMA)
    if said is not None and any(mark in said for mark in _MARKED):
        raise _NotTold("types that are told beside the schema")
    columns = (
        _Walk(metadata).columns() if said is None else list(parse_schema(said.decode("utf-8")))
    )
    if len({each.name.lower() for each in columns}) < len(columns):
        raise _NotTold("names that differ in case alone")
    if any(part in each.type.text for each in columns for part in ("variant", "interval", "void")):
        raise _NotTold("types that files of others do not have")
    return columns


class _Walk:
    """Walks an Arrow schema, which has the shape, beside the leaves, which have the types."""

    def __init__(self, metadata: pq.FileMetaData) -> None:
        self._schema = metadata.schema
        self._leaves = [metadata.schema.column(at) for at in range(len(metadata.schema.names))]
        self._next = 0

    def columns(self) -> list[StructField]:
        found = list(self._fields(self._schema.to_arrow_schema(), ()))
        if self._next != len(self._leaves):
            raise _NotTold("leaves that cannot be told apart")
        return found

    def _fields(self, fields: Any, above: tuple[str, ...]) -> Iterator[StructField]:
        for field in fields:
            kind = self._type(field.type, (*above, field.name))
            yield StructField(field.name, kind, nullable=True)

    def _type(self, shape: Any, path: tuple[str, ...]) -> DataType:
        if isinstance(shape, pa.BaseExtensionType):
            shape = shape.storage_type
        if pa.types.is_struct(shape):
            return t.struct(tuple(self._fields(shape, path)))
        if pa.types.is_map(shape):
            key = self._type(shape.key_type, (*path, "key_value", "key"))
            return t.map_of(key, self._type(shape.item_type, (*path, "key_value", "value")))
        if pa.types.is_list(shape) or pa.types.is_large_list(shape):
            # The name of the element is its writer's choice; the three levels are not.
            return t.array(self._type(shape.value_type, (*path, "list", self._element(path))))
        return self._leaf(path)

    def _element(self, path: tuple[str, ...]) -> str:
        parts = self._leaf_at().path.split(".")
        at = len(path) + 1
        if len(parts) <= at or parts[at] in ("array", f"{path[-1]}_tuple"):
            raise _NotTold("a list of an old form")
        return str(parts[at])

    def _leaf_at(self) -> Any:
        if self._next >= len(self._leaves):
            raise _NotTold("leaves that cannot be told apart")
        return self._leaves[self._next]

    def _leaf(self, path: tuple[str, ...]) -> DataType:
        leaf = self._leaf_at()
        if leaf.path != ".".join(path):
            raise _NotTold("a shape that is not the usual one")
        self._next += 1
        return _leaf_type(leaf)


def _leaf_type(leaf: Any) -> DataType:
    physical, logical = leaf.physical_type, leaf.logical_type
    match logical.type:
        case "NONE" if physical in _PLAIN and leaf.converted_type == "NONE":
            return _PLAIN[physical]
        case kind if kind in _TEXTS and physical == "BYTE_ARRAY":
            return t.STRING
        case "DATE" if physical == "INT32":
            return t.DATE
        case "DECIMAL":
            return _decimal(leaf)
        case "INT" | "TIMESTAMP":
            return _annotated(leaf)
        case _:
            raise _NotTold(f"{physical} as {logical.type}")


def _decimal(leaf: Any) -> DataType:
    most = _DIGITS.get(leaf.physical_type, 38)
    if not 0 < leaf.precision <= most or not 0 <= leaf.scale <= leaf.precision:
        raise _NotTold("a decimal that Spark does not have")
    return t.decimal(leaf.precision, leaf.scale)


def _annotated(leaf: Any) -> DataType:
    """Integers of other widths and timestamps, whose details the text of the annotation has."""
    said = _details(str(leaf.logical_type))
    if leaf.logical_type.type == "INT":
        found = _INTEGERS.get((int(said.get("bitWidth", "0")), said.get("isSigned") == "true"))
        if found is not None:
            return found
    elif said.get("timeUnit") in ("milliseconds", "microseconds"):
        return t.TIMESTAMP if said.get("isAdjustedToUTC") == "true" else t.TIMESTAMP_NTZ
    raise _NotTold(str(leaf.logical_type))


def _details(text: str) -> dict[str, str]:
    """The parts of `Int(bitWidth=8, isSigned=true)`."""
    inner = text.partition("(")[2].rstrip(")")
    pairs = (part.partition("=") for part in inner.split(","))
    return {name.strip(): value.strip() for name, _, value in pairs}
