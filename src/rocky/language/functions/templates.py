"""Templates: what the stored catalogue is written in, as classes, null rules and result types.

The order of `CLASS_TEXTS` is that of every stored row: a class may be added only together with
newly generated data. A template is JSON: a string or an object is a fixed type, a list is a hole
or a shape (`["arg", 0]`, `["array", <template>, <bit>]`). A null rule is JSON as well: true, false,
a list of atoms of which any holds, or `{"all": [...]}`. The atoms: `n0`, argument 0 is nullable;
`c0`, it contains nulls; `f0:int`, Spark's own cast of it to int may give null.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import force_nullable
from rocky.language.datatypes.coercion import widest_of
from rocky.language.datatypes.text import parse_type, type_from_json
from rocky.language.datatypes.types import DataType, StructField

CLASS_TEXTS: Final = (
    "void",
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal(10,2)",
    "string",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
    "time(6)",
    "interval year to month",
    "interval day to second",
    "interval",
    "array<int>",
    "array<string>",
    "array<double>",
    "array<struct<a:int,b:string>>",
    "array<array<int>>",
    "map<string,int>",
    "map<int,string>",
    "struct<a:int,b:string>",
    "variant",
)

_AT: Final = {text: at for at, text in enumerate(CLASS_TEXTS)}
_BY_KIND: Final[dict[str, int]] = {
    # Types without parameters are named as their kind is.
    **{text: at for text, at in _AT.items() if "<" not in text and " " not in text},
    "char": _AT["string"],
    "varchar": _AT["string"],
    "decimal": _AT["decimal(10,2)"],
    "time": _AT["time(6)"],
    "interval_ym": _AT["interval year to month"],
    "interval_dt": _AT["interval day to second"],
    "struct": _AT["struct<a:int,b:string>"],
}
_BY_ELEMENT: Final[dict[str, int]] = {
    "int": _AT["array<int>"],
    "string": _AT["array<string>"],
    "double": _AT["array<double>"],
    "struct": _AT["array<struct<a:int,b:string>>"],
    "array": _AT["array<array<int>>"],
}
_BY_ENTRY: Final[dict[tuple[str, str], int]] = {
    ("string", "int"): _AT["map<string,int>"],
    ("int", "string"): _AT["map<int,string>"],
}
ARRAY_CLASSES: Final = tuple(at for at, text in enumerate(CLASS_TEXTS) if text.startswith("array<"))
MAP_CLASSES: Final = tuple(at for at, text in enumerate(CLASS_TEXTS) if text.startswith("map<"))
ALL_CLASSES: Final = tuple(range(len(CLASS_TEXTS)))


def class_of(type: DataType) -> int | None:  # noqa: A002 - the noun of this package
    """The class a type is read as; None when the catalogue has only relatives of it."""
    if isinstance(type, t.ArrayType):
        return _BY_ELEMENT.get(type.element.kind)
    if isinstance(type, t.MapType):
        return _BY_ENTRY.get((type.key.kind, type.value.kind))
    return _BY_KIND.get(type.kind)


def relatives_of(type: DataType) -> tuple[int, ...]:  # noqa: A002 - the noun of this package
    """The classes a type may behave like: its own, its family, or every class."""
    own = class_of(type)
    if own is not None:
        return (own,)
    if isinstance(type, t.ArrayType):
        return ARRAY_CLASSES
    return MAP_CLASSES if isinstance(type, t.MapType) else ALL_CLASSES


Types = Sequence[DataType]
Flags = Sequence[bool]
NullRule = Callable[[Types, Flags], bool]


def build_null_rule(rule: Any) -> NullRule:
    """The function that tells whether a rule holds for a call."""
    if isinstance(rule, bool):
        return lambda _types, _flags: rule
    if isinstance(rule, dict):
        every = [_build_atom(atom) for atom in rule["all"]]
        return lambda types, flags: all(holds(types, flags) for holds in every)
    if all(atom[0] == "n" for atom in rule):
        return _build_any_nullable([int(atom[1:]) for atom in rule])
    some = [_build_atom(atom) for atom in rule]
    return lambda types, flags: any(holds(types, flags) for holds in some)


def contains_null(type: DataType) -> bool:  # noqa: A002 - the noun of this package
    return isinstance(type, t.ArrayType | t.MapType) and type.contains_null


def _build_any_nullable(positions: list[int]) -> NullRule:
    """Nine rules in ten: worth a function without a loop."""
    match positions:
        case [one]:
            return lambda _types, flags: flags[one]
        case [one, two]:
            return lambda _types, flags: flags[one] or flags[two]
        case [one, two, three]:
            return lambda _types, flags: flags[one] or flags[two] or flags[three]
        case _:
            return lambda _types, flags: any(flags[at] for at in positions)


def _build_atom(atom: str) -> NullRule:
    which, _, target = atom[1:].partition(":")
    at = int(which)
    if atom[0] == "n":
        return lambda _types, flags: flags[at]
    if atom[0] == "c":
        return lambda types, _flags: contains_null(types[at])
    wanted = parse_type(target)
    return lambda types, _flags: force_nullable(types[at], wanted)


Maker = Callable[[Types, Flags], DataType | None]
"""Gives the result type, or None when the template does not fit the arguments."""


def build_maker(template: Any) -> Maker:
    """The function that fills a template."""
    if not isinstance(template, list):
        fixed = type_from_json(template)
        return lambda _types, _flags: fixed
    match template:
        case ["array", element, bit]:
            return _array_maker(build_maker(element), build_null_rule(bit))
        case ["map", key, value, bit]:
            return _map_maker(build_maker(key), build_maker(value), build_null_rule(bit))
        case ["struct", fields]:
            return _struct_maker(
                [(name, build_maker(part), build_null_rule(bit)) for name, part, bit in fields]
            )
        case ["wide", *positions]:
            return lambda types, _flags: widest_of([types[at] for at in positions])
        case ["text", *positions]:
            return lambda types, _flags: _text([types[at] for at in positions])
        case [hole, position]:
            pick = HOLES[hole]
            return lambda types, _flags: pick(types[position])
        case _:
            raise ValueError(f"no such template: {template}")


def follows_flags(template: Any) -> bool:
    """Whether the result type depends on the nullability of an argument."""
    if isinstance(template, str):
        return template[:1] == "n" and template[1:].isdigit()
    parts = template["all"] if isinstance(template, dict) and "all" in template else template
    return isinstance(parts, list) and any(follows_flags(part) for part in parts)


def is_fixed(template: Any) -> bool:
    return not isinstance(template, list)


# -- shapes -----------------------------------------------------------------------------------


def _array_maker(element: Maker, bit: NullRule) -> Maker:
    def make(types: Types, flags: Flags) -> DataType | None:
        inner = element(types, flags)
        return None if inner is None else t.array(inner, bit(types, flags))

    return make


def _map_maker(key: Maker, value: Maker, bit: NullRule) -> Maker:
    def make(types: Types, flags: Flags) -> DataType | None:
        left, right = key(types, flags), value(types, flags)
        return None if left is None or right is None else t.map_of(left, right, bit(types, flags))

    return make


def _struct_maker(fields: list[tuple[str, Maker, NullRule]]) -> Maker:
    def make(types: Types, flags: Flags) -> DataType | None:
        made = []
        for name, part, bit in fields:
            inner = part(types, flags)
            if inner is None:
                return None
            made.append(StructField(name, inner, bit(types, flags)))
        return t.struct(tuple(made))

    return make


# -- holes ------------------------------------------------------------------------------------


def _element(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    return type.element if isinstance(type, t.ArrayType) else None


def _inner_element(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    inner = _element(type)
    return None if inner is None else _element(inner)


def _key(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    return type.key if isinstance(type, t.MapType) else None


def _value(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    return type.value if isinstance(type, t.MapType) else None


def _text(types: Types) -> DataType:
    """A string of the one collation among the arguments that is not the default."""
    for each in types:
        if isinstance(each, t.StringType) and each.collation != t.STRING.collation:
            return each
    return t.STRING


def _sum(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    if isinstance(type, t.DecimalType):
        return t.decimal(min(type.precision + 10, t.MAX_PRECISION), type.scale)
    return None


def _average(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    if isinstance(type, t.DecimalType):
        precision, scale = type.precision + 4, type.scale + 4
        return t.decimal(min(precision, t.MAX_PRECISION), min(scale, t.MAX_PRECISION))
    return None


def _carried(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    """A decimal rounded to no fraction: one more digit, for a carry, even where there is none."""
    if isinstance(type, t.DecimalType):
        return t.decimal(min(type.precision - type.scale + 1, t.MAX_PRECISION), 0)
    return None


def _widest_unit(type: DataType) -> DataType | None:  # noqa: A002 - the noun of this package
    if type.kind == "interval_ym":
        return t.interval("year", "month")
    return t.interval("day", "second") if type.kind == "interval_dt" else None


HOLES: Final[dict[str, Callable[[DataType], DataType | None]]] = {
    "arg": lambda type: type,  # noqa: A006 - the noun of this package
    "elem": _element,
    "elem_elem": _inner_element,
    "key": _key,
    "value": _value,
    "sum": _sum,
    "avg": _average,
    "carried": _carried,
    "unit": _widest_unit,
}
