"""Maps and structs: constructors, map functions, and look-ups in maps and arrays alike.

A constructor is never null itself: its parts' nullability moves inside. A key meets the map's key
type without loss; a map's look-up is always nullable, while an array's fails instead of giving
null.
"""

from collections.abc import Sequence

from rocky.language.datatypes import types as t
from rocky.language.datatypes.coercion import same_type, tightest_type, widest_without_string
from rocky.language.datatypes.operators import is_orderable
from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing
from rocky.language.functions.special.conditionals import becomes_nullable, common_type


def type_array(name: str, args: Sequence[Operand]) -> Typing:
    if not args:
        return t.array(t.NULL, False), False
    found = common_type([arg.type for arg in args])
    if found is None:
        raise f.different_types(name, args)
    return t.array(found, any(becomes_nullable(arg, found) for arg in args)), False


def type_map(name: str, args: Sequence[Operand]) -> Typing:
    if len(args) % 2:
        raise f.wrong_count(name, "an even number of", len(args))
    if not args:
        return t.map_of(t.NULL, t.NULL, False), False
    keys, values = args[::2], args[1::2]
    key = common_type([arg.type for arg in keys])
    if key is None:
        raise Refusal(
            "DATATYPE_MISMATCH.CREATE_MAP_KEY_DIFF_TYPES",
            f"the keys of `{name}` must share one type",
        )
    value = common_type([arg.type for arg in values])
    if value is None:
        raise Refusal(
            "DATATYPE_MISMATCH.CREATE_MAP_VALUE_DIFF_TYPES",
            f"the values of `{name}` must share one type",
        )
    check_map_key(key)
    nullable = any(becomes_nullable(arg, value) for arg in values)
    return t.map_of(key, value, nullable), False


def check_map_key(key: DataType) -> None:
    """Why a type cannot be the key of a map: it is, or holds, a map or a variant."""
    if not holds_kind(key, "map", "variant"):
        return
    raise Refusal("DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE", f"the key of a map cannot be `{key}`")


def type_struct(name: str, args: Sequence[Operand]) -> Typing:  # noqa: ARG001 - a Rule
    """`struct(a, b + 1)`: fields take the column's name, or `colN` where there is none."""
    fields = tuple(
        StructField(arg.name if arg.name is not None else f"col{place}", arg.type, arg.nullable)
        for place, arg in enumerate(args, 1)
    )
    return t.struct(fields), False


def type_named_struct(name: str, args: Sequence[Operand]) -> Typing:
    if len(args) % 2:
        raise f.wrong_count(name, "an even number of", len(args))
    fields = []
    for index in range(0, len(args), 2):
        label = args[index]
        if label.type is t.UNKNOWN:
            return t.UNKNOWN, False
        if not label.foldable or label.type.kind not in t.STRING_KINDS:
            raise Refusal(
                "DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING",
                f"argument {index + 1} of `{name}`, a field name, must be a constant string",
                index,
            )
        if label.value is NO_VALUE:
            return t.UNKNOWN, False
        if label.value is None:
            raise f.unexpected_null(name, index)
        part = args[index + 1]
        fields.append(StructField(str(label.value), part.type, part.nullable))
    return t.struct(tuple(fields)), False


CONSTRUCTORS: dict[str, Rule] = {
    "array": type_array,
    "map": type_map,
    "struct": type_struct,
    "named_struct": type_named_struct,
}


def type_from_arrays(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.expect(name, args, (f.ARRAY, f.ARRAY))
    keys, values = fitted[0].type, fitted[1].type
    if not isinstance(keys, t.ArrayType) or not isinstance(values, t.ArrayType):
        return t.UNKNOWN, f.any_nullable(args)
    check_map_key(keys.element)
    return t.map_of(keys.element, values.element, values.contains_null), f.any_nullable(args)


def type_from_entries(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1)
    found = args[0].type
    if found is t.UNKNOWN:
        return t.UNKNOWN, True
    entry = found.element if isinstance(found, t.ArrayType) else found
    if (
        not isinstance(found, t.ArrayType)
        or not isinstance(entry, t.StructType)
        or len(entry.fields) != 2
    ):
        raise f.unexpected_type(name, 0, "an array of pairs", found)
    key, value = entry.fields
    check_map_key(key.type)
    nullable = args[0].nullable or found.contains_null
    return t.map_of(key.type, value.type, value.nullable), nullable


def type_concat(name: str, args: Sequence[Operand]) -> Typing:
    """`map_concat`."""
    if not args:
        return t.map_of(t.STRING, t.STRING, True), False
    if any(arg.type.kind not in ("map", "unknown") for arg in args):
        raise Refusal("DATATYPE_MISMATCH.MAP_CONCAT_DIFF_TYPES", f"`{name}` takes only maps")
    found = common_type([arg.type for arg in args])
    if found is None:
        raise f.different_types(name, args)
    if isinstance(found, t.MapType):
        check_map_key(found.key)
    return found, f.any_nullable(args)


def type_entries(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.expect(name, args, (f.MAP,))
    found = fitted[0].type
    if not isinstance(found, t.MapType):
        return t.UNKNOWN, args[0].nullable
    key = StructField("key", found.key, False)
    entry = t.struct((key, StructField("value", found.value, found.contains_null)))
    return t.array(entry, False), args[0].nullable


def type_keys(name: str, args: Sequence[Operand]) -> Typing:
    """`map_keys` and `map_values`: Spark declares both arrays as holding nulls."""
    fitted = f.expect(name, args, (f.MAP,))
    found = fitted[0].type
    if not isinstance(found, t.MapType):
        return t.UNKNOWN, args[0].nullable
    part = found.key if name == "map_keys" else found.value
    return t.array(part, True), args[0].nullable


def _diff_types(name: str, found: DataType, key: DataType) -> Refusal:
    return Refusal(
        "DATATYPE_MISMATCH.MAP_FUNCTION_DIFF_TYPES",
        f"`{name}` needs a map and a value of its key type, but it has `{found}` and `{key}`",
    )


def _meet_key(name: str, found: t.MapType, key: DataType, *, lossy: bool) -> DataType:
    if key is t.UNKNOWN or same_type(found.key, key):
        return found.key
    met = (
        widest_without_string(found.key, key)
        if lossy
        else tightest_type(found.key, key, ansi=False)
    )
    if met is None:
        raise _diff_types(name, found, key)
    return met


def type_contains_key(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    found, key = args[0].type, args[1].type
    if key is t.NULL:
        raise Refusal("DATATYPE_MISMATCH.NULL_TYPE", f"`{name}` does not take untyped nulls")
    if found is t.UNKNOWN:
        return t.BOOLEAN, True
    if not isinstance(found, t.MapType):
        raise _diff_types(name, found, key)
    met = _meet_key(name, found, key, lossy=True)
    if not is_orderable(met):
        raise f.unordered(name, met)
    # Spark looks the key up among `map_keys`, whose elements it believes nullable.
    return t.BOOLEAN, True


def type_element_at(name: str, args: Sequence[Operand]) -> Typing:
    """`element_at` and `try_element_at`, on arrays from one and on maps by key."""
    f.take(name, args, 2)
    found, key = args[0].type, args[1]
    if isinstance(found, t.MapType):
        _meet_key(name, found, key.type, lossy=False)
        return found.value, True
    if found is t.UNKNOWN:
        return t.UNKNOWN, True
    if not isinstance(found, t.ArrayType):
        raise f.unexpected_type(name, 0, "an array or a map", found)
    if key.type.kind not in ("int", "smallint", "tinyint", "unknown"):
        raise f.unexpected_type(name, 1, "`int`", key.type)
    if name != "element_at":
        return found.element, True
    # With a constant place Spark looks at the very element, when it sees one; only a constant
    # array is surely spelt out.
    settled = key.foldable and not args[0].foldable
    nullable = args[0].nullable or found.contains_null or settled
    return found.element, nullable


def type_get(name: str, args: Sequence[Operand]) -> Typing:
    if args and args[0].type is t.NULL:
        raise f.unexpected_type(name, 0, "an array", t.NULL)
    fitted = f.fit(name, args, (f.ARRAY, f.INT))
    found = fitted[0].type
    return (found.element if isinstance(found, t.ArrayType) else t.UNKNOWN), True


def type_str_to_map(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.expect(name, args, (f.STRING, f.STRING, f.STRING), optional=2)
    return t.map_of(t.STRING, t.STRING, True), f.any_nullable(fitted)


_INTERVALS = frozenset({"interval", "interval_ym", "interval_dt"})


def type_sequence(name: str, args: Sequence[Operand]) -> Typing:
    """`sequence(start, stop[, step])`: numbers meet the step too, moments step by intervals."""
    f.take(name, args, 2, 3)
    if any(arg.type is t.UNKNOWN for arg in args):
        return t.UNKNOWN, True
    step = args[2] if len(args) == 3 else None
    stepped_by_interval = step is not None and step.type.kind in _INTERVALS
    moments = any(arg.type.kind in t.DATETIME_KINDS for arg in args[:2])
    bounds = args[:2] if moments or step is None else args
    found = common_type([arg.type for arg in bounds])
    good = found is not None and (
        (found.kind in t.INTEGRAL_KINDS and not stepped_by_interval)
        or (found.kind in t.DATETIME_KINDS and (step is None or stepped_by_interval))
    )
    if found is None or not good:
        raise Refusal(
            "DATATYPE_MISMATCH.SEQUENCE_WRONG_INPUT_TYPES",
            f"`{name}` takes integers, or dates or timestamps with an interval as step",
        )
    casts = [f.cast_operand(arg, found) for arg in bounds]
    return t.array(found, False), f.any_nullable(casts) or (step is not None and step.nullable)


MAPS: dict[str, Rule] = {
    "map_from_arrays": type_from_arrays,
    "map_from_entries": type_from_entries,
    "map_concat": type_concat,
    "map_entries": type_entries,
    "map_keys": type_keys,
    "map_values": type_keys,
    "map_contains_key": type_contains_key,
    "element_at": type_element_at,
    "try_element_at": type_element_at,
    "get": type_get,
    "str_to_map": type_str_to_map,
    "sequence": type_sequence,
}
