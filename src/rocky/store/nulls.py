"""NOT NULL: which required columns hold nulls, as far as a footer can tell.

A footer counts the nulls of a leaf over rows whatever made them null, so it decides a required leaf
whose structs are all required too. Below a nullable struct, an array or a map, and for a struct
without such a leaf, the count says nothing: `undecided_paths` names those before anything is
written, and the writer checks them in the query.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocky.datatypes.types import ArrayType, DataType, MapType, StructField, StructType
from rocky.store.footers import Footer, Group, Leaf, Node

Path = tuple[str, ...]
"""A column and the fields below it; those of arrays and maps are `element`, `key`, `value`."""


@dataclass(frozen=True, slots=True)
class NullViolation:
    """A required column that holds nulls. `rows` is None when the file does not count them."""

    path: Path
    rows: int | None


def null_violations(footer: Footer, schema: Sequence[StructField]) -> list[NullViolation]:
    """The required leaves that hold nulls, in the order of the columns."""
    return list(_violations(schema, footer.columns, ()))


def _violations(
    fields: Sequence[StructField], group: Group, above: Path
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


def undecided_paths(schema: Sequence[StructField]) -> list[Path]:
    """What must not be null and no footer can vouch for, in the order of the columns."""
    return list(_undecided(schema, (), decided=True))


def _undecided(fields: Sequence[StructField], above: Path, *, decided: bool) -> Iterator[Path]:
    for field in fields:
        path = (*above, field.name)
        if not field.nullable and not (decided and _vouched(field.type)):
            yield path
        yield from _undecided_below(field.type, path, decided=decided and not field.nullable)


def _undecided_below(type: DataType, path: Path, *, decided: bool) -> Iterator[Path]:  # noqa: A002 - the noun of `datatypes`
    if isinstance(type, StructType):
        yield from _undecided(type.fields, path, decided=decided)
    elif isinstance(type, ArrayType):
        element = StructField("element", type.element, type.contains_null)
        yield from _undecided((element,), path, decided=False)
    elif isinstance(type, MapType):
        # Spark itself refuses a null key.
        yield from _undecided_below(type.key, (*path, "key"), decided=False)
        value = StructField("value", type.value, type.contains_null)
        yield from _undecided((value,), path, decided=False)


def _vouched(type: DataType) -> bool:  # noqa: A002 - the noun of `datatypes`
    """Whether a leaf's count of nulls covers a required column of this type."""
    if isinstance(type, StructType):
        return any(not field.nullable and _vouched(field.type) for field in type.fields)
    return _is_leaf(type)


def _is_leaf(type: DataType) -> bool:  # noqa: A002 - the noun of `datatypes`
    return not isinstance(type, StructType | ArrayType | MapType)
