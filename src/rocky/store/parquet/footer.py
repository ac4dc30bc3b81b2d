"""A footer: what a Parquet file says of itself at its end, and which required columns hold nulls.

A leaf's nulls are counted over rows only outside arrays and maps; inside them the count is of
elements, and a null or an empty array counts as one. So a footer decides a required leaf whose
structs are all required too. Below a nullable struct, an array or a map, and for a struct without
such a leaf, the count says nothing, and the compiler's word is believed.
"""

import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from rocky.language.datatypes.types import ArrayType, DataType, MapType, StructField, StructType
from rocky.store.data_file import MAGIC, NotParquet

TRUSTED_WITH_NAN: Final = "parquet-mr"
"""The writer whose bounds show that a column holds NaN; Arrow's leave NaN out of them."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column of values, with the bounds of each row group that holds any.

    Bounds are raw, as Parquet stores them: those of a long decimal are bytes that do not compare as
    numbers do. Empty when all is null, or when one row group with values does not tell.
    """

    type: Any
    nulls: int | None
    bounds: tuple[tuple[Any, Any], ...]


@dataclass(frozen=True, slots=True)
class Repeated:
    """An array or a map. `nulls` counts null elements, and null and empty arrays with them."""

    nulls: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """A struct, or the whole row."""

    fields: Mapping[str, "Node"]


Node = Leaf | Repeated | Group


@dataclass(frozen=True, slots=True)
class Footer:
    """A file's rows and columns."""

    rows: int
    writer: str
    columns: Group


def parse_footer(footer: bytes) -> Footer:
    """A footer from its bytes alone: from where it begins to the length that follows it."""
    framed = MAGIC + footer + struct.pack("<I", len(footer)) + MAGIC
    try:
        metadata = pq.read_metadata(io.BytesIO(framed))
        return _FooterWalk(metadata).footer()
    except (pa.ArrowException, OSError) as error:
        raise NotParquet(f"a footer that cannot be read: {error}") from error


class _FooterWalk:
    """Walks an Arrow schema beside the leaves of a footer, which are numbered in its order.

    Names alone would not do: `a.b` is both a column of that name and a field of `a`.
    """

    def __init__(self, metadata: pq.FileMetaData) -> None:
        self._metadata = metadata
        self._groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
        self._next = 0

    def footer(self) -> Footer:
        schema = self._metadata.schema.to_arrow_schema()
        columns = Group({field.name: self._node(field.type) for field in schema})
        if self._next != self._metadata.num_columns:
            raise NotParquet("a schema whose leaves cannot be told apart")
        return Footer(self._metadata.num_rows, self._metadata.created_by or "", columns)

    def _node(self, type: Any) -> Node:  # noqa: A002 - the noun of Arrow's fields
        if pa.types.is_struct(type):
            return Group({field.name: self._node(field.type) for field in type})
        if pa.types.is_map(type) or _is_list(type):
            first = self._next
            children = (
                [type.key_type, type.item_type] if pa.types.is_map(type) else [type.value_type]
            )
            for child in children:
                self._node(child)
            return Repeated(self._nulls(first))
        at = self._next
        self._next += 1
        return Leaf(type, self._nulls(at), self._bounds(at))

    def _nulls(self, leaf: int) -> int | None:
        total = 0
        for group in self._groups:
            statistics = group.column(leaf).statistics
            if statistics is None or not statistics.has_null_count:
                return None
            total += statistics.null_count
        return total

    def _bounds(self, leaf: int) -> tuple[tuple[Any, Any], ...]:
        bounds = []
        for group in self._groups:
            column = group.column(leaf)
            statistics = column.statistics
            if statistics is None or column.physical_type == "INT96":
                return ()
            if statistics.has_min_max:
                bounds.append((statistics.min_raw, statistics.max_raw))
            elif not statistics.has_null_count or statistics.null_count < column.num_values:
                return ()
        return tuple(bounds)


def _is_list(type: Any) -> bool:  # noqa: A002 - the noun of Arrow's fields
    return (
        pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type)
    )


ColumnPath = tuple[str, ...]
"""A column and the fields below it; those of arrays and maps are `element`, `key`, `value`."""


@dataclass(frozen=True, slots=True)
class NullViolation:
    """A required column that holds nulls. `rows` is None when the file does not count them."""

    path: ColumnPath
    rows: int | None


def null_violations(footer: Footer, schema: Sequence[StructField]) -> list[NullViolation]:
    """The required leaves that hold nulls, in the order of the columns."""
    return list(_violations(schema, footer.columns, ()))


def _violations(
    fields: Sequence[StructField], group: Group, above: ColumnPath
) -> Iterator[NullViolation]:
    for field in fields:
        if field.nullable:
            continue
        path, node = (*above, field.name), group.fields.get(field.name)
        if isinstance(field.type, StructType) and isinstance(node, Group):
            yield from _violations(field.type.fields, node, path)
        elif _is_leaf(field.type) and (nulls := _nulls(node)) != 0:
            yield NullViolation(path, nulls)


def _nulls(node: Node | None) -> int | None:
    # A variant is a group of its metadata, which every value has, and its value.
    metadata = node.fields.get("metadata") if isinstance(node, Group) else node
    return metadata.nulls if isinstance(metadata, Leaf) else None


def _is_leaf(type: DataType) -> bool:  # noqa: A002 - the noun of `datatypes`
    return not isinstance(type, StructType | ArrayType | MapType)
