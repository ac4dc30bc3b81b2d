"""Number formats: the patterns of `to_number` and `to_char`, such as `'$99,999.99'`.

The pattern decides the result: `to_number` gives a decimal with as many digits as it has.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from rocky.catalog.operand import NO_VALUE, Operand, Refusal, Typing
from rocky.catalog.special import families as f
from rocky.catalog.special.families import any_nullable, cast_operand, fit
from rocky.catalog.special.refusals import not_constant, wrong_count
from rocky.datatypes import types as t

_TOKEN: Final = re.compile(r"[09,G]+|[.D]|\$|S|MI|PR|.", re.DOTALL)
_LETTERS: Final = {"D": ".", "MI": "M"}
_ORDER: Final = re.compile(r"<?[MS]?\$?n?\.?n?\$?[MS>]?")
_ONCE: Final = (".", "S", "M", "$", ">")


def _read_groups(pattern: str) -> tuple[str, list[str]]:
    """The pattern's tokens as one letter each (`n` for digits), and the digit groups."""
    letters: list[str] = []
    groups: list[str] = []
    for token in _TOKEN.findall(pattern.upper()):
        if token[0] in "09,G":
            letters.append("n")
            groups.append(token.replace("G", ","))
        elif token == "PR":
            letters.insert(0, "<")
            letters.append(">")
        else:
            found = _LETTERS.get(token, token)
            letters.append(found if found in ".$SM" else "?")
    return "".join(letters), groups


def check_format(pattern: str) -> str | None:
    """The sub-condition of INVALID_FORMAT a pattern falls under, or None when it is good."""
    letters, groups = _read_groups(pattern)
    point = letters.find(".")
    before = groups if point < 0 else groups[: letters[:point].count("n")]
    after = groups[len(before) :]
    digit, dollar = letters.find("n"), letters.find("$")
    checks = (
        ("EMPTY", not pattern),
        ("WRONG_NUM_DIGIT", digit < 0),
        ("CUR_MUST_BEFORE_DIGIT", digit < dollar),
        ("CUR_MUST_BEFORE_DEC", 0 <= point < dollar),
        (
            "CONT_THOUSANDS_SEPS",
            any(g[0] == "," or g[-1] == "," or ",," in g for g in before),
        ),
        ("THOUSANDS_SEPS_MUST_BEFORE_DEC", any("," in g for g in after)),
        ("WRONG_NUM_TOKEN", any(letters.count(letter) > 1 for letter in _ONCE)),
        ("UNEXPECTED_TOKEN", _ORDER.fullmatch(letters) is None),
    )
    return next((condition for condition, failed in checks if failed), None)


def decimal_of_format(pattern: str) -> t.DecimalType:
    """The decimal with the digits a good pattern has."""
    letters, groups = _read_groups(pattern)
    point = letters.find(".")
    whole = len(groups) if point < 0 else letters[:point].count("n")
    counts = [len(group.replace(",", "")) for group in groups]
    return t.decimal(sum(counts), sum(counts[whole:]))


def _bad_format(name: str, pattern: str) -> Refusal | None:
    condition = check_format(pattern)
    if condition is None:
        return None
    return Refusal(
        f"INVALID_FORMAT.{condition}", f"`{pattern}` is not a number format for `{name}`", 1
    )


def type_to_number(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (f.STRING, f.STRING))
    if isinstance(fitted, Refusal):
        return fitted
    pattern = args[1]
    if pattern.type is t.UNKNOWN:
        return t.UNKNOWN, True
    if not pattern.foldable:
        return not_constant(name, 1, "the format")
    nullable = name == "try_to_number" or any_nullable(fitted)
    if pattern.value is None:
        return t.decimal(10, 0), True
    if pattern.value is NO_VALUE:
        return t.UNKNOWN, nullable
    refusal = _bad_format(name, str(pattern.value))
    if refusal is not None:
        return refusal
    return decimal_of_format(str(pattern.value)), nullable


_MOMENTS: Final = t.DATETIME_KINDS | {"time"}
_BYTE_FORMATS: Final = frozenset({"base64", "hex", "utf-8"})


def type_to_char(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`to_char` and `to_varchar`: of moments, of bytes, and otherwise of numbers."""
    if len(args) != 2:
        return wrong_count(name, "2", len(args))
    value, pattern = args
    if value.type is t.UNKNOWN or pattern.type is t.UNKNOWN:
        return t.STRING, True
    if value.type.kind in _MOMENTS:
        fitted = fit(name, args, (f.TIMESTAMP, f.STRING))
        return fitted if isinstance(fitted, Refusal) else (t.STRING, any_nullable(fitted))
    if value.type is t.BINARY:
        return _bytes_to_char(name, value, pattern)
    fitted = fit(name, args, (f.DECIMAL, f.STRING))
    if isinstance(fitted, Refusal):
        return fitted
    if not pattern.foldable:
        return not_constant(name, 1, "the format")
    if pattern.value is not NO_VALUE and pattern.value is not None:
        refusal = _bad_format(name, str(pattern.value))
        if refusal is not None:
            return refusal
    return t.STRING, any_nullable(fitted)


def _bytes_to_char(name: str, value: Operand, pattern: Operand) -> Typing | Refusal:
    if not pattern.foldable:
        return Refusal("NON_FOLDABLE_ARGUMENT", f"argument 2 of `{name}` must be a constant", 1)
    if pattern.type.kind not in t.STRING_KINDS:
        return Refusal(
            "NON_FOLDABLE_ARGUMENT",
            f"argument 2 of `{name}` must be `string`, but it is `{pattern.type}`",
            1,
        )
    chosen = str(pattern.value).lower()
    if pattern.value is not NO_VALUE and chosen not in _BYTE_FORMATS:
        return Refusal(
            "INVALID_PARAMETER_VALUE.BINARY_FORMAT",
            f"argument 2 of `{name}` must be 'base64', 'hex' or 'utf-8' for bytes",
            1,
        )
    # Decoding text may meet bytes that are none.
    return t.STRING, chosen == "utf-8" or cast_operand(value, t.BINARY).nullable


NUMBER_FORMATS: dict[str, Callable[[str, Sequence[Operand]], Typing | Refusal]] = {
    "to_number": type_to_number,
    "try_to_number": type_to_number,
    "to_char": type_to_char,
    "to_varchar": type_to_char,
}
