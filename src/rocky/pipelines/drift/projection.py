"""A column of a copy: the SQL over its source that fills it, and the columns it reaches."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rocky.analysis.compilation import Compilation
from rocky.analysis.lineage import ColumnRef, Lineage
from rocky.language.datatypes.casts import can_try_cast
from rocky.language.datatypes.parts import make_nullable
from rocky.language.datatypes.safe_casts import is_lossless
from rocky.language.datatypes.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructField,
    StructType,
    string,
)
from rocky.language.names import quote_name
from rocky.project.models import Target
from rocky.project.pipeline_tables import copies_of
from rocky.project.sources import SourceTable


def find_reached_columns(
    compilation: Compilation, target: Target, column: str, folder: str | None = None
) -> tuple[str, ...]:
    """The columns that read a column of a copy, as `model.column`, sorted.

    A model whose rows the column decides (a filter, a join, a grouping) is there as `model.*`.
    `folder` is where the copy lies.
    """
    readers = list(_readers(compilation, target, folder))
    if not readers:
        return ()
    project = compilation.project
    tables = {each.name: _names(each.columns) for each in project.sources.values()}
    tables |= {each.name: _names(each.columns) for each in project.seeds.values()}
    lineage = Lineage(compilation.models, tables, copies_of(project.sources))
    found: set[str] = set()
    for source in readers:
        # Lineage follows names as they are declared.
        spelt = {field.name.lower(): field.name for field in source.columns}
        name = spelt.get(column.lower(), column)
        trace = lineage.trace(ColumnRef(source.name, name), "downstream")
        found.update(f"{each.table}.{each.column}" for each in trace.reached)
        found.update(f"{each.model}.*" for each in trace.influences)
    return tuple(sorted(found))


def _names(columns: Sequence[StructField]) -> list[str]:
    return [field.name for field in columns]


def _readers(compilation: Compilation, target: Target, folder: str | None) -> Iterator[SourceTable]:
    """The declared sources that are this copy."""
    names = {target.key, f"{target.schema}.{target.table}".lower()}
    root = compilation.project.root
    for source in compilation.project.sources.values():
        path = source.path
        if source.format == "table":
            if (path or source.name).replace("`", "").lower() in names:
                yield source
        elif path is not None and folder is not None:
            place = path if "://" in path else str((root / path).resolve())
            if _plain(place) == _plain(folder):
                yield source


def _plain(place: str) -> str:
    """A place without what readers spell differently."""
    for scheme in ("file://", "file:"):
        place = place.removeprefix(scheme)
    return place.replace("s3a://", "s3://").rstrip("/")


class Projected(NamedTuple):
    """A column called `name`, of the type of `field`, which is `sql` over the source's columns."""

    name: str
    sql: str
    field: StructField


def type_sql(kind: DataType) -> str:
    """A type as SQL writes it; the type's own text leaves the names of fields without quotes."""
    match kind:
        case ArrayType():
            return _bracketed("array", type_sql(kind.element))
        case MapType():
            return _bracketed("map", f"{type_sql(kind.key)}, {type_sql(kind.value)}")
        case StructType():
            fields = (f"{quote_name(each.name)}: {type_sql(each.type)}" for each in kind.fields)
            return _bracketed("struct", ", ".join(fields))
        case _:
            return kind.text


def _bracketed(word: str, inner: str) -> str:
    # Three brackets in a row would be read as an operator.
    return f"{word}<{inner} >" if inner.endswith(">") else f"{word}<{inner}>"


def read_type(kind: DataType) -> DataType:
    """The type with room for nulls in all its parts, as Spark reads whatever is stored."""
    return make_nullable(kind, leaf=_unsized)


def _unsized(kind: DataType) -> DataType:
    # What a CHAR or VARCHAR is read from is a string, and a copy does not cut or pad.
    return string(kind.collation) if isinstance(kind, StringType) else kind


def project_unchanged(source: StructField, name: str | None = None) -> Projected:
    """A source column without a change, maybe under the spelling that the copy has."""
    name = name or source.name
    return Projected(
        name, quote_name(source.name), StructField(name, read_type(source.type), nullable=True)
    )


def project_null(field: StructField) -> Projected:
    """A column that the source does not have."""
    kind = read_type(field.type)
    made = StructField(field.name, kind, nullable=True)
    return Projected(field.name, f"CAST(NULL AS {type_sql(kind)})", made)


def project_cast(source: StructField, name: str, kind: DataType) -> Projected:
    """A source column in another type: what does not fit that type becomes null."""
    kind = read_type(kind)
    made = StructField(name, kind, nullable=True)
    return Projected(name, cast_expression(quote_name(source.name), source.type, kind), made)


def cast_expression(sql: str, source: DataType, target: DataType, depth: int = 0) -> str:
    """An expression of type `source` as one of type `target`; null where there is no way."""
    source, target = read_type(source), read_type(target)
    if source is target:
        return sql
    if is_lossless(source, target):
        return f"CAST({sql} AS {type_sql(target)})"
    match source, target:
        case StructType(), StructType():
            return _cast_struct(sql, source, target, depth)
        case ArrayType(), ArrayType():
            item = f"x{depth}"
            fitted = cast_expression(item, source.element, target.element, depth + 1)
            return f"transform({sql}, {item} -> {fitted})"
        case MapType(), MapType() if source.key is target.key:
            key, item = f"k{depth}", f"x{depth}"
            fitted = cast_expression(item, source.value, target.value, depth + 1)
            return f"transform_values({sql}, ({key}, {item}) -> {fitted})"
        case MapType(), _:
            # A key that does not fit would be a null, which no map can have.
            return f"CAST(NULL AS {type_sql(target)})"
        case _ if can_try_cast(source, target):
            return f"try_cast({sql} AS {type_sql(target)})"
        case _:
            return f"CAST(NULL AS {type_sql(target)})"


def _cast_struct(sql: str, source: StructType, target: StructType, depth: int) -> str:
    """A struct field by field, by name: Spark itself casts structs by position."""
    given = {field.name.lower(): field for field in source.fields}
    parts: list[str] = []
    for field in target.fields:
        found = given.get(field.name.lower())
        value = (
            f"CAST(NULL AS {type_sql(field.type)})"
            if found is None
            else cast_expression(f"{sql}.{quote_name(found.name)}", found.type, field.type, depth)
        )
        parts.append(f"{value} AS {quote_name(field.name)}")
    return f"CASE WHEN {sql} IS NULL THEN NULL ELSE struct({', '.join(parts)}) END"
