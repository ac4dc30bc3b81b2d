"""Concatenation and its kin: text, bytes and arrays, whichever the arguments agree on.

Bytes stay bytes only while every argument is; one string among them turns all into strings.
"""

from collections.abc import Callable, Sequence

from rocky.catalog.operand import Operand, Refusal, Typing
from rocky.catalog.special import families as f
from rocky.catalog.special.conditional import becomes_nullable, common_type
from rocky.catalog.special.families import any_nullable, cast_operand, fit
from rocky.catalog.special.refusals import different_types, unexpected_type, wrong_count
from rocky.datatypes import types as t


def type_concat(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    nullable = False
    plain = True
    for arg in args:
        if arg.nullable:
            nullable = True
        if arg.type is not t.STRING:
            plain = False
    if plain:
        return t.STRING, nullable
    kinds = {arg.type.kind for arg in args}
    if kinds == {"array"}:
        found = common_type([arg.type for arg in args])
        if found is None:
            return different_types(name, args)
        return found, any(becomes_nullable(arg, found) for arg in args)
    if kinds == {"binary"}:
        return t.BINARY, nullable
    return _concat_as_strings(name, args, kinds)


def _concat_as_strings(name: str, args: Sequence[Operand], kinds: set[str]) -> Typing | Refusal:
    casts = []
    for index, arg in enumerate(args):
        target = f.STRING.fit(arg.type)
        if target is None and arg.type.kind != "array":
            return unexpected_type(name, index, "`string`, `binary` or an array", arg.type)
        casts.append(arg if target is None else cast_operand(arg, target))
    if "array" in kinds and "unknown" not in kinds:
        return different_types(name, casts)
    if "unknown" in kinds:
        known = next((arg.type for arg in casts if arg.type is not t.UNKNOWN), t.UNKNOWN)
        return (known if known.kind == "string" else t.UNKNOWN), any_nullable(casts)
    collated = (arg.type for arg in args if arg.type.kind == "string" and arg.type is not t.STRING)
    return next(collated, t.STRING), any_nullable(casts)


_TEXTS = f.array_of(f.STRING)


def type_concat_ws(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """Only a null separator makes `concat_ws` null: null parts are left out."""
    if not args:
        return wrong_count(name, "1 or more", 0)
    if f.STRING.fit(args[0].type) is None:
        return unexpected_type(name, 0, "`string`", args[0].type)
    for index, arg in enumerate(args[1:], 1):
        family = _TEXTS if arg.type.kind == "array" else f.STRING
        if family.fit(arg.type) is None:
            return unexpected_type(name, index, "`string` or an array of `string`", arg.type)
    separator = cast_operand(args[0], t.STRING)
    return t.STRING, separator.nullable


def type_elt(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) < 2:
        return wrong_count(name, "2 or more", len(args))
    if f.INT.fit(args[0].type) is None:
        return unexpected_type(name, 0, "`int`", args[0].type)
    choices = args[1:]
    if all(arg.type is t.BINARY for arg in choices):
        return t.BINARY, True
    for index, arg in enumerate(choices, 1):
        if f.STRING.fit(arg.type) is None:
            return unexpected_type(name, index, "`string` or `binary`", arg.type)
    return t.STRING, True


_REVERSIBLE = f.one_of(f.STRING, f.ARRAY)


def type_reverse(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (_REVERSIBLE,))
    return fitted if isinstance(fitted, Refusal) else (fitted[0].type, fitted[0].nullable)


CONCATENATION: dict[str, Callable[[str, Sequence[Operand]], Typing | Refusal]] = {
    "concat": type_concat,
    "concat_ws": type_concat_ws,
    "elt": type_elt,
    "reverse": type_reverse,
}
