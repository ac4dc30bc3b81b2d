"""String functions: those that also take bytes, concatenation, and Java methods called by name.

Numbers and dates given where text is expected become text. Bytes stay bytes only while every
argument is; one string among them turns all into strings.
"""

import re
from collections.abc import Sequence
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing
from rocky.language.functions.special.conditionals import becomes_nullable, common_type

_TEXT_OR_BYTES: Final = f.one_of(f.STRING, f.BINARY)


def _text(*parameters: f.Family, optional: int = 0, nullable: bool = False) -> Rule:
    def rule(name: str, args: Sequence[Operand]) -> Typing:
        fitted = f.fit(name, args, parameters, optional)
        return t.STRING, nullable or f.any_nullable(fitted)

    return rule


def type_substring(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (_TEXT_OR_BYTES, f.INT, f.INT), optional=1)
    return fitted[0].type, f.any_nullable(fitted)


def type_pad(name: str, args: Sequence[Operand]) -> Typing:
    """`lpad` and `rpad`: bytes are padded with bytes, anything else as text."""
    f.take(name, args, 2, 3)
    padded = (args[0], *args[2:])
    if all(arg.type is t.BINARY for arg in padded):
        fitted = f.fit(name, args, (f.BINARY, f.INT, f.BINARY)[: len(args)])
    else:
        fitted = f.fit(name, args, (f.STRING, f.INT, f.STRING)[: len(args)])
    return fitted[0].type, f.any_nullable(fitted)


def type_overlay(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (_TEXT_OR_BYTES, _TEXT_OR_BYTES, f.INT, f.INT), optional=1)
    kinds = {arg.type.kind for arg in fitted[:2]} - {"unknown"}
    if len(kinds) > 1:
        raise Refusal(
            "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
            f"the first two arguments of `{name}` must both be text or both bytes",
        )
    return fitted[0].type, f.any_nullable(fitted)


def type_regexp_replace(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (f.STRING, f.STRING, f.STRING, f.INT), optional=1)
    if len(args) == 4 and args[3].type is not t.UNKNOWN:
        place = args[3]
        if not place.foldable:
            raise f.not_constant(name, 3, "the position")
        if isinstance(place.value, int) and place.value < 1:
            raise Refusal(
                "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
                f"argument 4 of `{name}`, the position, must be at least 1",
                3,
            )
    return t.STRING, f.any_nullable(fitted)


_BYTE_FORMATS: Final = frozenset({"hex", "utf-8", "utf8", "base64"})


def type_to_binary(name: str, args: Sequence[Operand]) -> Typing:
    """`to_binary` and `try_to_binary`, which forgives even an unknown format."""
    f.take(name, args, 1, 2)
    if len(args) == 2 and args[1].type is not t.UNKNOWN:
        chosen = args[1]
        if not chosen.foldable:
            raise f.not_constant(name, 1, "the format")
        known = chosen.value in (NO_VALUE, None) or str(chosen.value).lower() in _BYTE_FORMATS
        if not known and name == "to_binary":
            raise Refusal(
                "DATATYPE_MISMATCH.INVALID_ARG_VALUE",
                f"argument 2 of `{name}` must be 'hex', 'utf-8', 'utf8' or 'base64'",
                1,
            )
    fitted = f.fit(name, args, (f.STRING, f.STRING), optional=1)
    # Base64 fails on bad text; the other formats answer it with null.
    sure = name == "to_binary" and len(args) == 2 and str(args[1].value).lower() == "base64"
    return t.BINARY, not sure or f.any_nullable(fitted)


def type_uuid(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 0, 1)
    if args and args[0].type is not t.UNKNOWN:
        seed = args[0]
        literal = seed.value is not NO_VALUE and seed.type.kind in ("int", "bigint", "void")
        if not literal:
            raise Refusal(
                "INVALID_PARAMETER_VALUE.LONG", f"the seed of `{name}` must be an integer literal"
            )
    return t.STRING, False


def type_current_time(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 0, 1)
    if not args or args[0].type is t.UNKNOWN or args[0].value is NO_VALUE:
        return t.time(6), False
    digits = args[0].value
    if not isinstance(digits, int) or not 0 <= digits <= 6:
        raise Refusal(
            "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
            f"the precision of `{name}` must be between 0 and 6",
            0,
        )
    return t.time(digits), False


STRINGS: dict[str, Rule] = f.by_name(
    {
        type_substring: "substr substring",
        type_pad: "lpad rpad",
        type_overlay: "overlay",
        _text(f.STRING, f.STRING, f.STRING): "translate",
        _text(f.STRING, f.STRING, f.STRING, optional=1): "replace",
        type_regexp_replace: "regexp_replace",
        _text(f.STRING, f.STRING, f.INT, nullable=True): "split_part",
        _text(f.STRING, f.STRING, f.INT): "substring_index",
        type_to_binary: "to_binary try_to_binary",
        type_uuid: "uuid",
        type_current_time: "current_time",
    }
)


def type_concat(name: str, args: Sequence[Operand]) -> Typing:
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
            raise f.different_types(name, args)
        return found, any(becomes_nullable(arg, found) for arg in args)
    if kinds == {"binary"}:
        return t.BINARY, nullable
    return _concat_as_strings(name, args, kinds)


def _concat_as_strings(name: str, args: Sequence[Operand], kinds: set[str]) -> Typing:
    casts = []
    for index, arg in enumerate(args):
        target = f.STRING.fit(arg.type)
        if target is None and arg.type.kind != "array":
            raise f.unexpected_type(name, index, "`string`, `binary` or an array", arg.type)
        casts.append(arg if target is None else f.cast_operand(arg, target))
    if "array" in kinds and "unknown" not in kinds:
        raise f.different_types(name, casts)
    if "unknown" in kinds:
        known = next((arg.type for arg in casts if arg.type is not t.UNKNOWN), t.UNKNOWN)
        return (known if known.kind == "string" else t.UNKNOWN), f.any_nullable(casts)
    collated = (arg.type for arg in args if arg.type.kind == "string" and arg.type is not t.STRING)
    return next(collated, t.STRING), f.any_nullable(casts)


_TEXTS = f.array_of(f.STRING)


def type_concat_ws(name: str, args: Sequence[Operand]) -> Typing:
    """Only a null separator makes `concat_ws` null: null parts are left out."""
    if not args:
        raise f.wrong_count(name, "1 or more", 0)
    if f.STRING.fit(args[0].type) is None:
        raise f.unexpected_type(name, 0, "`string`", args[0].type)
    for index, arg in enumerate(args[1:], 1):
        family = _TEXTS if arg.type.kind == "array" else f.STRING
        if family.fit(arg.type) is None:
            raise f.unexpected_type(name, index, "`string` or an array of `string`", arg.type)
    separator = f.cast_operand(args[0], t.STRING)
    return t.STRING, separator.nullable


def type_elt(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2, None)
    if f.INT.fit(args[0].type) is None:
        raise f.unexpected_type(name, 0, "`int`", args[0].type)
    choices = args[1:]
    if all(arg.type is t.BINARY for arg in choices):
        return t.BINARY, True
    for index, arg in enumerate(choices, 1):
        if f.STRING.fit(arg.type) is None:
            raise f.unexpected_type(name, index, "`string` or `binary`", arg.type)
    return t.STRING, True


_REVERSIBLE = f.one_of(f.STRING, f.ARRAY)


def type_reverse(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (_REVERSIBLE,))
    return fitted[0].type, fitted[0].nullable


CONCATENATION: dict[str, Rule] = {
    "concat": type_concat,
    "concat_ws": type_concat_ws,
    "elt": type_elt,
    "reverse": type_reverse,
}


_PASSED: Final = t.INTEGRAL_KINDS | t.STRING_KINDS | {"boolean", "float", "double", "unknown"}
# Only names under `java.` can be told wrong without a JVM.
_PACKAGES: Final = re.compile(
    r"java\.(?:io|lang|math|net|nio|security|sql|text|time|util)\.[\w.$]+|(?!java\.).+"
)


def type_reflect(name: str, args: Sequence[Operand]) -> Typing:
    """`reflect`, `java_method` and `try_reflect`."""
    f.take(name, args, 2, None)
    for index, what in enumerate(("the class", "the method")):
        arg = args[index]
        if arg.type is t.UNKNOWN:
            continue
        if not arg.foldable or arg.type.kind not in t.STRING_KINDS:
            raise f.not_constant(name, index, what)
    for index, arg in enumerate(args[2:], 2):
        if arg.type.kind not in _PASSED:
            raise f.unexpected_type(name, index, "a boolean, a number or `string`", arg.type)
    label = args[0].value
    if label is not NO_VALUE and "." in str(label) and not _PACKAGES.fullmatch(str(label)):
        raise Refusal("DATATYPE_MISMATCH.UNEXPECTED_CLASS_TYPE", f"there is no class `{label}`", 0)
    return t.STRING, True


REFLECTION: dict[str, Rule] = {
    "reflect": type_reflect,
    "java_method": type_reflect,
    "try_reflect": type_reflect,
}
