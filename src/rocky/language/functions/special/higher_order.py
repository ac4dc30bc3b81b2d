"""Higher-order functions: what a lambda's parameters are, and what the call gives.

A lambda is bound between two questions. `parameters` answers from the arguments before it;
`typing` from all of them, the lambda's body standing in its place. The accumulator of `aggregate`
is always nullable, whatever its start.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import force_nullable
from rocky.language.datatypes.coercion import same_type, widest_type
from rocky.language.datatypes.operators import is_orderable
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.operand import Operand, Refusal, Rule, Typing
from rocky.language.functions.special.maps import check_map_key

Parameters = list[tuple[DataType, bool]]
Bound = Sequence[Operand | None]


class HigherOrder(NamedTuple):
    """A function that takes lambdas; `collections` is how many leading arrays or maps it takes."""

    kind: str
    counts: tuple[int, ...]
    find: Callable[[Bound, int, int], Parameters]
    result: Rule
    collections: int = 1

    def parameters(self, name: str, args: Bound, index: int, count: int) -> Parameters:
        """Type and nullability of the `count` parameters of the lambda at `index`."""
        self._check(name, args)
        if any(arg is None or arg.type is t.UNKNOWN for arg in args[: self.collections]):
            return [(t.UNKNOWN, True)] * count
        found = self.find(args, index, count)
        if len(found) == count:
            return found
        raise Refusal(
            "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH",
            f"the lambda of `{name}` takes {len(found)} parameters, not {count}",
            index,
        )

    def typing(self, name: str, args: Sequence[Operand]) -> Typing:
        """The result from all arguments, with each lambda's body in the lambda's place."""
        self._check(name, args)
        return self.result(name, args)

    def _check(self, name: str, args: Bound) -> None:
        if len(args) not in self.counts:
            expected = " or ".join(str(count) for count in self.counts)
            raise f.wrong_count(name, expected, len(args))
        for index, arg in enumerate(args[: self.collections]):
            if arg is not None and arg.type.kind not in (self.kind, "unknown"):
                article = "an array" if self.kind == "array" else "a map"
                raise f.unexpected_type(name, index, article, arg.type)


def _type_at(args: Bound, index: int) -> DataType:
    arg = args[index]
    return t.UNKNOWN if arg is None else arg.type


def _element(args: Bound, index: int = 0) -> tuple[DataType, bool]:
    found = _type_at(args, index)
    return (found.element, found.contains_null) if isinstance(found, t.ArrayType) else (found, True)


def _value(args: Bound, index: int = 0) -> tuple[DataType, bool]:
    found = _type_at(args, index)
    return (found.value, found.contains_null) if isinstance(found, t.MapType) else (found, True)


def _key(args: Bound, index: int = 0) -> DataType:
    found = _type_at(args, index)
    return found.key if isinstance(found, t.MapType) else found


# -- parameters -------------------------------------------------------------------------------


def _element_and_place(args: Bound, index: int, count: int) -> Parameters:  # noqa: ARG001 - one signature for all
    return [_element(args), (t.INT, False)] if count == 2 else [_element(args)]


def _element_alone(args: Bound, index: int, count: int) -> Parameters:  # noqa: ARG001 - one signature for all
    return [_element(args)]


def _element_twice(args: Bound, index: int, count: int) -> Parameters:  # noqa: ARG001 - one signature for all
    return [_element(args), _element(args)]


def _entry(args: Bound, index: int, count: int) -> Parameters:  # noqa: ARG001 - one signature for all
    return [(_key(args), False), _value(args)]


def _accumulator(args: Bound, index: int, count: int) -> Parameters:  # noqa: ARG001 - one signature for all
    state = _type_at(args, 1), True
    return [state, _element(args)] if index == 2 else [state]


def _two_elements(args: Bound, index: int, count: int) -> Parameters:  # noqa: ARG001 - one signature for all
    return [(_element(args)[0], True), (_element(args, 1)[0], True)]


def _zipped_entries(args: Bound, index: int, count: int) -> Parameters:  # noqa: ARG001 - one signature for all
    key = _zipped_key(args)
    return [(key, False), (_value(args)[0], True), (_value(args, 1)[0], True)]


def _zipped_key(args: Bound) -> DataType:
    left, right = _key(args), _key(args, 1)
    found = left if same_type(left, right) else widest_type(left, right)
    if found is None or force_nullable(left, found) or force_nullable(right, found):
        raise Refusal(
            "DATATYPE_MISMATCH.MAP_ZIP_WITH_DIFF_TYPES",
            f"the maps of `map_zip_with` must share one key type, but they have "
            f"`{left}` and `{right}`",
        )
    # Keys of one type keep the nullability of both sides' parts.
    return widest_type(left, right) or found


# -- results ----------------------------------------------------------------------------------


def _type_transform(name: str, args: Sequence[Operand]) -> Typing:  # noqa: ARG001 - one signature for all
    return t.array(args[1].type, args[1].nullable), args[0].nullable


def _check_predicate(name: str, args: Sequence[Operand]) -> None:
    if args[1].type.kind not in ("boolean", "void", "unknown"):
        raise f.unexpected_type(name, 1, "a lambda giving `boolean`", args[1].type)


def _type_filter(name: str, args: Sequence[Operand]) -> Typing:
    _check_predicate(name, args)
    return args[0].type, args[0].nullable


def _type_exists(name: str, args: Sequence[Operand]) -> Typing:
    _check_predicate(name, args)
    return t.BOOLEAN, args[0].nullable or args[1].nullable or args[1].type is t.NULL


def _type_aggregate(name: str, args: Sequence[Operand]) -> Typing:
    start, merged = args[1].type, args[2].type
    known = start is not t.UNKNOWN and merged is not t.UNKNOWN
    if known and merged is not t.NULL and not same_shape(start, merged):
        raise f.unexpected_type(name, 2, f"a lambda giving `{start}`", merged)
    if len(args) == 3:
        return start, True
    return args[3].type, args[0].nullable or args[3].nullable


def same_shape(a: DataType, b: DataType) -> bool:
    """Whether two types are equal but for the names and nullability of their parts."""
    if isinstance(a, t.ArrayType) and isinstance(b, t.ArrayType):
        return same_shape(a.element, b.element)
    if isinstance(a, t.MapType) and isinstance(b, t.MapType):
        return same_shape(a.key, b.key) and same_shape(a.value, b.value)
    if isinstance(a, t.StructType) and isinstance(b, t.StructType):
        return len(a.fields) == len(b.fields) and all(
            same_shape(x.type, y.type) for x, y in zip(a.fields, b.fields, strict=True)
        )
    return a is b or a is t.UNKNOWN or b is t.UNKNOWN


def _type_zip_with(name: str, args: Sequence[Operand]) -> Typing:  # noqa: ARG001 - one signature for all
    nullable = args[0].nullable or args[1].nullable
    return t.array(args[2].type, args[2].nullable), nullable


def _type_transform_keys(name: str, args: Sequence[Operand]) -> Typing:  # noqa: ARG001 - one signature for all
    check_map_key(args[1].type)
    value, contains_null = _value(args)
    return t.map_of(args[1].type, value, contains_null), args[0].nullable


def _type_transform_values(name: str, args: Sequence[Operand]) -> Typing:  # noqa: ARG001 - one signature for all
    return t.map_of(_key(args), args[1].type, args[1].nullable), args[0].nullable


def _type_map_zip_with(name: str, args: Sequence[Operand]) -> Typing:  # noqa: ARG001 - one signature for all
    key = _zipped_key(args)
    nullable = args[0].nullable or args[1].nullable
    return t.map_of(key, args[2].type, args[2].nullable), nullable


def _type_array_sort(name: str, args: Sequence[Operand]) -> Typing:
    if len(args) == 1:
        found = args[0].type
        if not is_orderable(found):
            raise f.unordered(name, _element(args)[0], 0)
    elif args[1].type.kind not in ("int", "unknown"):
        raise Refusal(
            "DATATYPE_MISMATCH.UNEXPECTED_RETURN_TYPE",
            f"the lambda of `{name}` must give `int`, but it gives `{args[1].type}`",
            1,
        )
    return args[0].type, args[0].nullable


_AGGREGATE = HigherOrder("array", (3, 4), _accumulator, _type_aggregate)

HIGHER_ORDER: dict[str, HigherOrder] = {
    "transform": HigherOrder("array", (2,), _element_and_place, _type_transform),
    "filter": HigherOrder("array", (2,), _element_and_place, _type_filter),
    "exists": HigherOrder("array", (2,), _element_alone, _type_exists),
    "forall": HigherOrder("array", (2,), _element_alone, _type_exists),
    "aggregate": _AGGREGATE,
    "reduce": _AGGREGATE,
    "zip_with": HigherOrder("array", (3,), _two_elements, _type_zip_with, collections=2),
    "array_sort": HigherOrder("array", (1, 2), _element_twice, _type_array_sort),
    "map_filter": HigherOrder("map", (2,), _entry, _type_filter),
    "transform_keys": HigherOrder("map", (2,), _entry, _type_transform_keys),
    "transform_values": HigherOrder("map", (2,), _entry, _type_transform_values),
    "map_zip_with": HigherOrder("map", (3,), _zipped_entries, _type_map_zip_with, collections=2),
}
