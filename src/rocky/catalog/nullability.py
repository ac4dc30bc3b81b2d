"""Null rules: when the result of a call, or a part of its type, may be null.

A rule is JSON: true and false are constants; a list of atoms holds when any of them does, and
`{"all": [...]}` when every one does. The atoms: `n0`, argument 0 is nullable; `c0`, it is an
array or map that contains nulls; `f0:int`, the cast of it to int that Spark adds by itself may
give null. Where such a cast is certain for the class of an argument, the rule is simply true.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rocky.datatypes.casts import force_nullable
from rocky.datatypes.text import parse_type
from rocky.datatypes.types import ArrayType, DataType, MapType

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
    return isinstance(type, ArrayType | MapType) and type.contains_null


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
