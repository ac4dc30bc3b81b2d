"""Constructors: arrays, maps and structs built from their parts, never null themselves.

The parts' nullability moves inside: into `contains_null` or into the struct's fields.
"""

from collections.abc import Callable, Sequence

from rocky.catalog.operand import NO_VALUE, Operand, Refusal, Typing
from rocky.catalog.special.conditional import becomes_nullable, common_type
from rocky.catalog.special.refusals import different_types, unexpected_null, wrong_count
from rocky.datatypes import types as t
from rocky.datatypes.types import DataType, StructField


def type_array(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if not args:
        return t.array(t.NULL, False), False
    found = common_type([arg.type for arg in args])
    if found is None:
        return different_types(name, args)
    return t.array(found, any(becomes_nullable(arg, found) for arg in args)), False


def type_map(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) % 2:
        return wrong_count(name, "an even number of", len(args))
    if not args:
        return t.map_of(t.NULL, t.NULL, False), False
    keys, values = args[::2], args[1::2]
    key = common_type([arg.type for arg in keys])
    if key is None:
        return Refusal(
            "DATATYPE_MISMATCH.CREATE_MAP_KEY_DIFF_TYPES",
            f"the keys of `{name}` must share one type",
        )
    value = common_type([arg.type for arg in values])
    if value is None:
        return Refusal(
            "DATATYPE_MISMATCH.CREATE_MAP_VALUE_DIFF_TYPES",
            f"the values of `{name}` must share one type",
        )
    refusal = check_map_key(key)
    if refusal is not None:
        return refusal
    nullable = any(becomes_nullable(arg, value) for arg in values)
    return t.map_of(key, value, nullable), False


def check_map_key(key: DataType) -> Refusal | None:
    """Why a type cannot be the key of a map: it is, or holds, a map or a variant."""
    if not _holds_unhashable(key):
        return None
    return Refusal("DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE", f"the key of a map cannot be `{key}`")


def _holds_unhashable(found: DataType) -> bool:
    if found.kind in ("map", "variant"):
        return True
    if isinstance(found, t.ArrayType):
        return _holds_unhashable(found.element)
    if isinstance(found, t.StructType):
        return any(_holds_unhashable(field.type) for field in found.fields)
    return False


def type_struct(name: str, args: Sequence[Operand]) -> Typing | Refusal:  # noqa: ARG001 - a Rule
    """`struct(a, b + 1)`: fields take the column's name, or `colN` where there is none."""
    fields = tuple(
        StructField(arg.name if arg.name is not None else f"col{place}", arg.type, arg.nullable)
        for place, arg in enumerate(args, 1)
    )
    return t.struct(fields), False


def type_named_struct(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) % 2:
        return wrong_count(name, "an even number of", len(args))
    fields = []
    for index in range(0, len(args), 2):
        label = args[index]
        if label.type is t.UNKNOWN:
            return t.UNKNOWN, False
        if not label.foldable or label.type.kind not in t.STRING_KINDS:
            return Refusal(
                "DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING",
                f"argument {index + 1} of `{name}`, a field name, must be a constant string",
                index,
            )
        if label.value is NO_VALUE:
            return t.UNKNOWN, False
        if label.value is None:
            return unexpected_null(name, index)
        part = args[index + 1]
        fields.append(StructField(str(label.value), part.type, part.nullable))
    return t.struct(tuple(fields)), False


CONSTRUCTORS: dict[str, Callable[[str, Sequence[Operand]], Typing | Refusal]] = {
    "array": type_array,
    "map": type_map,
    "struct": type_struct,
    "named_struct": type_named_struct,
}
