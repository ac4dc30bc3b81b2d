"""Array functions: an array meets a value or another array, and their elements one type.

Elements meet without loss and without strings turning into numbers, unlike the arguments of
`coalesce`. An element may be null wherever Spark cannot prove otherwise from the types alone.
"""

from collections.abc import Sequence

from rocky.language.datatypes import types as t
from rocky.language.datatypes.coercion import same_type, tightest_type, widest_without_string
from rocky.language.datatypes.operators import is_orderable
from rocky.language.datatypes.parts import make_nullable
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing


def _diff_types(name: str, array: DataType, value: DataType) -> Refusal:
    return Refusal(
        "DATATYPE_MISMATCH.ARRAY_FUNCTION_DIFF_TYPES",
        f"`{name}` needs a value of the array's element type, but it has `{array}` and `{value}`",
    )


def _null_typed(name: str) -> Refusal:
    return Refusal("DATATYPE_MISMATCH.NULL_TYPE", f"`{name}` does not take untyped nulls")


def _legacy_tightest(a: DataType, b: DataType) -> DataType | None:
    return tightest_type(a, b, ansi=False)


def _meet(
    name: str, args: Sequence[Operand], at: int = 1, *, lossy: bool = False
) -> tuple[t.ArrayType, Operand] | None:
    """The array and the value at `at` once they share the element type; None if unknown."""
    array, value = args[0].type, args[at]
    if array is t.UNKNOWN:
        return None
    if not isinstance(array, t.ArrayType):
        raise f.unexpected_type(name, 0, "an array", array)
    if value.type is t.UNKNOWN:
        return None
    if same_type(array.element, value.type):
        return array, value
    find = widest_without_string if lossy else _legacy_tightest
    found = find(array.element, value.type)
    # An interval is taken for any of its family, and so never cast to the wider one.
    stuck = value.type.kind in ("interval_ym", "interval_dt") and value.type is not found
    if found is None or stuck:
        raise _diff_types(name, array, value.type)
    return t.array(found, array.contains_null), f.cast_operand(value, found)


_EMPTY = t.array(t.NULL, False)


def _is_null(arg: Operand) -> bool:
    return arg.type is t.NULL


# -- an array and a value ---------------------------------------------------------------------


def type_append(name: str, args: Sequence[Operand]) -> Typing:
    """`array_append` and `array_prepend`."""
    f.take(name, args, 2)
    met = _meet(name, args)
    if met is None:
        return t.UNKNOWN, args[0].nullable
    return _grown(met[0]), args[0].nullable


def _grown(met: t.ArrayType) -> DataType:
    # Spark gives up on all it knew of the elements.
    return t.array(make_nullable(met.element), True)


def type_insert(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 3)
    place = args[1]
    if args[0].type.kind not in ("array", "unknown"):
        raise _diff_types(name, args[0].type, args[2].type)
    if place.type.kind not in ("int", "smallint", "tinyint", "unknown"):
        raise f.unexpected_type(name, 1, "`int`", place.type)
    try:
        met = _meet(name, args, 2)
    except Refusal:
        if place.type is t.INT:
            raise
        # A narrower place is only widened once the value fits.
        raise f.unexpected_type(name, 1, "`int`", place.type) from None
    nullable = args[0].nullable or place.nullable
    return (t.UNKNOWN if met is None else _grown(met[0])), nullable


def type_contains(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    if any(_is_null(arg) for arg in args):
        raise _null_typed(name)
    met = _meet(name, args, lossy=True)
    if met is None:
        return (t.BOOLEAN, True)
    if not is_orderable(met[0].element):
        raise f.unordered(name, met[0].element, 0)
    return t.BOOLEAN, f.any_nullable(args) or met[0].contains_null or met[1].nullable


def type_position(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    untyped = args[0].type.kind not in ("array", "unknown") or args[0].type is _EMPTY
    if _is_null(args[0]) or (_is_null(args[1]) and untyped):
        raise _null_typed(name)
    met = _meet(name, args)
    if met is None:
        return (t.BIGINT, True)
    if not is_orderable(met[0].element):
        raise f.unordered(name, met[0].element, 0)
    return t.BIGINT, args[0].nullable or met[1].nullable


def type_remove(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    if args[0].type.kind not in ("array", "unknown"):
        raise _diff_types(name, args[0].type, args[1].type)
    met = _meet(name, args)
    if met is None:
        return (t.UNKNOWN, True)
    if not is_orderable(met[0].element):
        raise f.unordered(name, met[0].element, 0)
    return met[0], args[0].nullable or met[1].nullable


# -- two arrays -------------------------------------------------------------------------------


def _meet_arrays(name: str, args: Sequence[Operand]) -> tuple[t.ArrayType, t.ArrayType] | None:
    f.take(name, args, 2)
    left, right = args[0].type, args[1].type
    if left is t.UNKNOWN or right is t.UNKNOWN:
        return None
    found = None
    if isinstance(left, t.ArrayType) and isinstance(right, t.ArrayType):
        if same_type(left, right):
            found = left.element, right.element
        else:
            met = _legacy_tightest(left.element, right.element)
            found = None if met is None else (met, met)
    if found is None or not isinstance(left, t.ArrayType) or not isinstance(right, t.ArrayType):
        raise Refusal(
            "DATATYPE_MISMATCH.BINARY_ARRAY_DIFF_TYPES",
            f"`{name}` needs two arrays of one element type, but it has `{left}` and `{right}`",
        )
    if not is_orderable(found[0]):
        raise f.unordered(name, found[0])
    return t.array(found[0], left.contains_null), t.array(found[1], right.contains_null)


def type_set_operation(name: str, args: Sequence[Operand]) -> Typing:
    """`array_union`, `array_intersect` and `array_except`."""
    met = _meet_arrays(name, args)
    if met is None:
        return (t.UNKNOWN, f.any_nullable(args))
    left, right = met
    if name == "array_except":
        return left, f.any_nullable(args)
    merged = tightest_type(left.element, right.element) or left.element
    if name == "array_intersect":
        both = left.contains_null and right.contains_null
        return t.array(merged, both), f.any_nullable(args)
    return t.array(merged, left.contains_null or right.contains_null), f.any_nullable(args)


def type_overlap(name: str, args: Sequence[Operand]) -> Typing:
    met = _meet_arrays(name, args)
    if met is None:
        return (t.BOOLEAN, True)
    holes = met[0].contains_null or met[1].contains_null
    return t.BOOLEAN, f.any_nullable(args) or holes


def type_zip(name: str, args: Sequence[Operand]) -> Typing:
    """`arrays_zip`: fields take the columns' names, or their place from zero."""
    fields = []
    for index, arg in enumerate(args):
        if arg.type.kind not in ("array", "void", "unknown"):
            raise f.unexpected_type(name, index, "an array", arg.type)
        label = arg.name if arg.name is not None else str(index)
        element = arg.type.element if isinstance(arg.type, t.ArrayType) else arg.type
        fields.append(t.StructField(label, element, True))
    return t.array(t.struct(tuple(fields)), False), f.any_nullable(args)


# -- one array --------------------------------------------------------------------------------


def _same(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.expect(name, args, (f.ARRAY,))
    return fitted[0].type, fitted[0].nullable


def type_distinct(name: str, args: Sequence[Operand]) -> Typing:
    found = _same(name, args)
    if is_orderable(found[0]):
        return found
    element = found[0].element if isinstance(found[0], t.ArrayType) else found[0]
    raise f.unordered(name, element, 0)


def type_compact(name: str, args: Sequence[Operand]) -> Typing:
    found = _same(name, args)
    if not isinstance(found[0], t.ArrayType):
        return found
    return t.array(found[0].element, False), found[1]


def type_array_extreme(name: str, args: Sequence[Operand]) -> Typing:
    found = type_distinct(name, args)
    if not isinstance(found[0], t.ArrayType):
        return found
    return found[0].element, True


def type_sort_array(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1, 2)
    found = _same(name, args[:1])
    if not is_orderable(found[0]):
        raise f.unordered(name, found[0], 0)
    if len(args) == 2 and args[1].type is not t.UNKNOWN:
        if args[1].type.kind not in ("boolean", "void"):
            raise f.unexpected_type(name, 1, "`boolean`", args[1].type)
        if not args[1].foldable:
            raise f.not_constant(name, 1, "the direction")
    return found[0], f.any_nullable(args) or found[1]


def type_shuffle(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1, 2)
    if len(args) == 2 and args[1].type is not t.UNKNOWN:
        seed = args[1]
        if seed.type.kind not in ("int", "bigint", "void") or seed.value is NO_VALUE:
            raise Refusal(
                "INVALID_PARAMETER_VALUE.LONG",
                f"argument 2 of `{name}`, the seed, must be an integer literal",
                1,
            )
    return _same(name, args[:1])


def type_flatten(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 1)
    found = args[0].type
    if found is t.UNKNOWN:
        return t.UNKNOWN, args[0].nullable
    if not isinstance(found, t.ArrayType) or not isinstance(found.element, t.ArrayType):
        raise f.unexpected_type(name, 0, "an array of arrays", found)
    return found.element, args[0].nullable or found.contains_null


def type_repeat(name: str, args: Sequence[Operand]) -> Typing:
    """`array_repeat(value, times)`."""
    fitted = f.expect(name, args, (f.ANY, f.INT))
    return t.array(args[0].type, args[0].nullable), fitted[1].nullable


def type_slice(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (f.ARRAY, f.INT, f.INT))
    return fitted[0].type, f.any_nullable(fitted)


_ARRAY_OF_STRING = f.array_of(f.STRING)


def type_join(name: str, args: Sequence[Operand]) -> Typing:
    """`array_join(array, delimiter[, null replacement])`: elements are cast, the rest is not."""
    f.take(name, args, 2, 3)
    if _ARRAY_OF_STRING.fit(args[0].type) is None:
        raise f.unexpected_type(name, 0, _ARRAY_OF_STRING.text, args[0].type)
    for index, arg in enumerate(args[1:], 1):
        if arg.type.kind not in t.STRING_KINDS and arg.type.kind not in ("void", "unknown"):
            raise f.unexpected_type(name, index, "`string`", arg.type)
    return t.STRING, f.any_nullable(args)


_SIZED = f.one_of(f.ARRAY, f.MAP)


def type_size(name: str, args: Sequence[Operand]) -> Typing:
    f.expect(name, args, (f.ARRAY if name == "array_size" else _SIZED,))
    return t.INT, args[0].nullable


ARRAYS: dict[str, Rule] = f.by_name(
    {
        type_append: "array_append array_prepend",
        type_insert: "array_insert",
        type_contains: "array_contains",
        type_position: "array_position",
        type_remove: "array_remove",
        type_set_operation: "array_union array_intersect array_except",
        type_overlap: "arrays_overlap",
        type_zip: "arrays_zip",
        type_distinct: "array_distinct",
        type_compact: "array_compact",
        type_array_extreme: "array_max array_min",
        type_join: "array_join",
        type_repeat: "array_repeat",
        type_size: "array_size cardinality size",
        type_sort_array: "sort_array",
        type_shuffle: "shuffle",
        type_slice: "slice",
        type_flatten: "flatten",
    }
)
