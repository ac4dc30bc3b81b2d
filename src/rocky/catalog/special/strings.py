"""String functions that also take bytes, or whose arguments are all read as text.

Numbers and dates given where text is expected become text; bytes stay bytes where the function
has a form for them, as long as every argument is bytes.
"""

from collections.abc import Callable, Sequence
from typing import Final

from rocky.catalog.operand import NO_VALUE, Operand, Refusal, Typing
from rocky.catalog.special import families as f
from rocky.catalog.special.families import Family, any_nullable, fit
from rocky.catalog.special.refusals import not_constant, wrong_count
from rocky.datatypes import types as t

Rule = Callable[[str, Sequence[Operand]], Typing | Refusal]

_TEXT_OR_BYTES: Final = f.one_of(f.STRING, f.BINARY)


def _text(*parameters: Family, optional: int = 0, nullable: bool = False) -> Rule:
    def rule(name: str, args: Sequence[Operand]) -> Typing | Refusal:
        fitted = fit(name, args, parameters, optional)
        if isinstance(fitted, Refusal):
            return fitted
        return t.STRING, nullable or any_nullable(fitted)

    return rule


def type_substring(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (_TEXT_OR_BYTES, f.INT, f.INT), optional=1)
    if isinstance(fitted, Refusal):
        return fitted
    return fitted[0].type, any_nullable(fitted)


def type_pad(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`lpad` and `rpad`: bytes are padded with bytes, anything else as text."""
    if not 2 <= len(args) <= 3:
        return wrong_count(name, "2 or 3", len(args))
    padded = (args[0], *args[2:])
    if all(arg.type is t.BINARY for arg in padded):
        fitted = fit(name, args, (f.BINARY, f.INT, f.BINARY)[: len(args)])
    else:
        fitted = fit(name, args, (f.STRING, f.INT, f.STRING)[: len(args)])
    if isinstance(fitted, Refusal):
        return fitted
    return fitted[0].type, any_nullable(fitted)


def type_overlay(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (_TEXT_OR_BYTES, _TEXT_OR_BYTES, f.INT, f.INT), optional=1)
    if isinstance(fitted, Refusal):
        return fitted
    kinds = {arg.type.kind for arg in fitted[:2]} - {"unknown"}
    if len(kinds) > 1:
        return Refusal(
            "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
            f"the first two arguments of `{name}` must both be text or both bytes",
        )
    return fitted[0].type, any_nullable(fitted)


def type_regexp_replace(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (f.STRING, f.STRING, f.STRING, f.INT), optional=1)
    if isinstance(fitted, Refusal):
        return fitted
    if len(args) == 4 and args[3].type is not t.UNKNOWN:
        place = args[3]
        if not place.foldable:
            return not_constant(name, 3, "the position")
        if isinstance(place.value, int) and place.value < 1:
            return Refusal(
                "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
                f"argument 4 of `{name}`, the position, must be at least 1",
                3,
            )
    return t.STRING, any_nullable(fitted)


_BYTE_FORMATS: Final = frozenset({"hex", "utf-8", "utf8", "base64"})


def type_to_binary(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`to_binary` and `try_to_binary`, which forgives even an unknown format."""
    if not 1 <= len(args) <= 2:
        return wrong_count(name, "1 or 2", len(args))
    if len(args) == 2 and args[1].type is not t.UNKNOWN:
        chosen = args[1]
        if not chosen.foldable:
            return not_constant(name, 1, "the format")
        known = chosen.value in (NO_VALUE, None) or str(chosen.value).lower() in _BYTE_FORMATS
        if not known and name == "to_binary":
            return Refusal(
                "DATATYPE_MISMATCH.INVALID_ARG_VALUE",
                f"argument 2 of `{name}` must be 'hex', 'utf-8', 'utf8' or 'base64'",
                1,
            )
    fitted = fit(name, args, (f.STRING, f.STRING), optional=1)
    if isinstance(fitted, Refusal):
        return fitted
    # Base64 fails on bad text; the other formats answer it with null.
    sure = name == "to_binary" and len(args) == 2 and str(args[1].value).lower() == "base64"
    return t.BINARY, not sure or any_nullable(fitted)


def type_uuid(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) > 1:
        return wrong_count(name, "0 or 1", len(args))
    if args and args[0].type is not t.UNKNOWN:
        seed = args[0]
        literal = seed.value is not NO_VALUE and seed.type.kind in ("int", "bigint", "void")
        if not literal:
            return Refusal(
                "INVALID_PARAMETER_VALUE.LONG", f"the seed of `{name}` must be an integer literal"
            )
    return t.STRING, False


def type_current_time(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) > 1:
        return wrong_count(name, "0 or 1", len(args))
    if not args or args[0].type is t.UNKNOWN or args[0].value is NO_VALUE:
        return t.time(6), False
    digits = args[0].value
    if not isinstance(digits, int) or not 0 <= digits <= 6:
        return Refusal(
            "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
            f"the precision of `{name}` must be between 0 and 6",
            0,
        )
    return t.time(digits), False


STRINGS: dict[str, Rule] = {
    "substr": type_substring,
    "substring": type_substring,
    "lpad": type_pad,
    "rpad": type_pad,
    "overlay": type_overlay,
    "translate": _text(f.STRING, f.STRING, f.STRING),
    "replace": _text(f.STRING, f.STRING, f.STRING, optional=1),
    "regexp_replace": type_regexp_replace,
    "split_part": _text(f.STRING, f.STRING, f.INT, nullable=True),
    "substring_index": _text(f.STRING, f.STRING, f.INT),
    "to_binary": type_to_binary,
    "try_to_binary": type_to_binary,
    "uuid": type_uuid,
    "current_time": type_current_time,
}
