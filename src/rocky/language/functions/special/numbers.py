"""Number functions: rounding, the operators' named forms, number formats, and casts by name.

Rounding is nullable throughout, as Spark declares it, and one digit wider before the point, since
9.9 rounds to 10. The pattern of `to_number` decides its result: a decimal with as many digits.
`int(x)` is `CAST(x AS INT)` and nothing else.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.arithmetic import arithmetic, sign
from rocky.language.datatypes.casts import cast_nullable, cast_refusal
from rocky.language.datatypes.types import DataType
from rocky.language.functions import operand as f
from rocky.language.functions.operand import NO_VALUE, Operand, Refusal, Rule, Typing

_SIGNED: Final = f.one_of(f.NUMERIC, f.DAY_TIME, f.YEAR_MONTH)


def _scale_of(arg: Operand) -> int | None:
    """The number of digits a constant asks for; None when it is not spelt out."""
    value = arg.value
    if value is None:
        return 0
    if isinstance(value, str):
        try:
            return int(value.strip())
        except ValueError:
            return None
    return int(value) if isinstance(value, int | float | Decimal) else None


def rounded(found: t.DecimalType, scale: int) -> DataType:
    """The decimal that holds a value of `found` rounded to `scale` digits."""
    whole = found.precision - found.scale + 1
    if scale < 0:
        return t.decimal(min(max(whole, -scale + 1), t.MAX_PRECISION), 0)
    kept = min(scale, found.scale)
    return t.decimal(min(whole + kept, t.MAX_PRECISION), kept)


def type_round(name: str, args: Sequence[Operand]) -> Typing:
    """`round` and `bround`."""
    fitted = f.fit(name, args, (f.NUMERIC, f.INT), optional=1)
    scale: int | None = 0
    if len(args) == 2:
        if not args[1].foldable and args[1].type is not t.UNKNOWN:
            raise f.not_constant(name, 1, "the scale")
        scale = _scale_of(args[1])
    found = fitted[0].type
    if not isinstance(found, t.DecimalType):
        return found, True
    return (t.UNKNOWN if scale is None else rounded(found, scale)), True


_CEILED: Final = f.one_of(f.DOUBLE, f.DECIMAL, f.BIGINT)


def type_ceil(name: str, args: Sequence[Operand]) -> Typing:
    """`ceil` and `floor`: to a whole number, or with a scale to a decimal."""
    f.take(name, args, 1, 2)
    if len(args) == 2:
        return _ceil_to_scale(name, args)
    fitted = f.fit(name, args, (_CEILED,))
    found = fitted[0].type
    if not isinstance(found, t.DecimalType):
        return (found if found is t.UNKNOWN else t.BIGINT), True
    if found.scale == 0:
        return found, True
    return t.decimal(min(found.precision - found.scale + 1, t.MAX_PRECISION), 0), True


def _ceil_to_scale(name: str, args: Sequence[Operand]) -> Typing:
    scale = args[1]
    known = scale.type is t.UNKNOWN or (scale.type is t.INT and scale.foldable)
    if not known or scale.value is None:
        raise Refusal(
            "NON_FOLDABLE_ARGUMENT", f"argument 2 of `{name}`, the scale, must be an integer", 1
        )
    fitted = f.fit(name, args, (f.DECIMAL, f.INT))
    found, digits = fitted[0].type, _scale_of(scale)
    if not isinstance(found, t.DecimalType) or digits is None or scale.value is NO_VALUE:
        return t.UNKNOWN, True
    return rounded(found, digits), True


def type_abs(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (_SIGNED,))
    return fitted[0].type, fitted[0].nullable


def type_sign(name: str, args: Sequence[Operand]) -> Typing:
    """`negative` and `positive`, the named forms of unary `-` and `+`."""
    f.take(name, args, 1)
    return f.unless_refused(sign("-" if name == "negative" else "+", args[0]))


_OPERATORS: Final = {
    "mod": "%",
    "pmod": "%",
    "div": "div",
    "try_add": "+",
    "try_subtract": "-",
    "try_multiply": "*",
    "try_divide": "/",
    "try_mod": "%",
}


def type_operator(name: str, args: Sequence[Operand]) -> Typing:
    """Named forms of operators, all of them nullable."""
    f.take(name, args, 2)
    return f.unless_refused(arithmetic(_OPERATORS[name], args[0], args[1]))[0], True


_BUCKETED: Final = f.one_of(f.DOUBLE, f.YEAR_MONTH, f.DAY_TIME)


def type_width_bucket(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (_BUCKETED, _BUCKETED, _BUCKETED, f.BIGINT))
    kinds = {arg.type.kind for arg in fitted[:3]} - {"unknown"}
    if len(kinds) > 1:
        raise Refusal(
            "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
            f"the value and the bounds of `{name}` must be of one kind",
        )
    return t.BIGINT, True


def type_nanvl(name: str, args: Sequence[Operand]) -> Typing:
    f.take(name, args, 2)
    family = f.one_of(f.DOUBLE, f.exactly(t.FLOAT))
    left, right = args
    if right.type is t.NULL:
        right = f.cast_operand(right, left.type)
    fitted = f.fit(name, (left, right), (family, family))
    types = {arg.type for arg in fitted}
    found = fitted[0].type if len(types) == 1 else t.DOUBLE
    return (t.UNKNOWN if t.UNKNOWN in types else found), f.any_nullable(fitted)


NUMBERS: dict[str, Rule] = {
    "round": type_round,
    "bround": type_round,
    "ceil": type_ceil,
    "ceiling": type_ceil,
    "floor": type_ceil,
    "abs": type_abs,
    "negative": type_sign,
    "positive": type_sign,
    **dict.fromkeys(_OPERATORS, type_operator),
    "width_bucket": type_width_bucket,
    "nanvl": type_nanvl,
}


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


def _refuse_bad_format(name: str, pattern: str) -> None:
    condition = check_format(pattern)
    if condition is not None:
        message = f"`{pattern}` is not a number format for `{name}`"
        raise Refusal(f"INVALID_FORMAT.{condition}", message, 1)


def type_to_number(name: str, args: Sequence[Operand]) -> Typing:
    fitted = f.fit(name, args, (f.STRING, f.STRING))
    pattern = args[1]
    if pattern.type is t.UNKNOWN:
        return t.UNKNOWN, True
    if not pattern.foldable:
        raise f.not_constant(name, 1, "the format")
    nullable = name == "try_to_number" or f.any_nullable(fitted)
    if pattern.value is None:
        return t.decimal(10, 0), True
    if pattern.value is NO_VALUE:
        return t.UNKNOWN, nullable
    _refuse_bad_format(name, str(pattern.value))
    return decimal_of_format(str(pattern.value)), nullable


_MOMENTS: Final = t.DATETIME_KINDS | {"time"}
_BYTE_FORMATS: Final = frozenset({"base64", "hex", "utf-8"})


def type_to_char(name: str, args: Sequence[Operand]) -> Typing:
    """`to_char` and `to_varchar`: of moments, of bytes, and otherwise of numbers."""
    f.take(name, args, 2)
    value, pattern = args
    if value.type is t.UNKNOWN or pattern.type is t.UNKNOWN:
        return t.STRING, True
    if value.type.kind in _MOMENTS:
        fitted = f.fit(name, args, (f.TIMESTAMP, f.STRING))
        return t.STRING, f.any_nullable(fitted)
    if value.type is t.BINARY:
        return _bytes_to_char(name, value, pattern)
    fitted = f.fit(name, args, (f.DECIMAL, f.STRING))
    if not pattern.foldable:
        raise f.not_constant(name, 1, "the format")
    if pattern.value is not NO_VALUE and pattern.value is not None:
        _refuse_bad_format(name, str(pattern.value))
    return t.STRING, f.any_nullable(fitted)


def _bytes_to_char(name: str, value: Operand, pattern: Operand) -> Typing:
    if not pattern.foldable:
        raise Refusal("NON_FOLDABLE_ARGUMENT", f"argument 2 of `{name}` must be a constant", 1)
    if pattern.type.kind not in t.STRING_KINDS:
        raise Refusal(
            "NON_FOLDABLE_ARGUMENT",
            f"argument 2 of `{name}` must be `string`, but it is `{pattern.type}`",
            1,
        )
    chosen = str(pattern.value).lower()
    if pattern.value is not NO_VALUE and chosen not in _BYTE_FORMATS:
        raise Refusal(
            "INVALID_PARAMETER_VALUE.BINARY_FORMAT",
            f"argument 2 of `{name}` must be 'base64', 'hex' or 'utf-8' for bytes",
            1,
        )
    # Decoding text may meet bytes that are none.
    return t.STRING, chosen == "utf-8" or f.cast_operand(value, t.BINARY).nullable


NUMBER_FORMATS: dict[str, Rule] = {
    "to_number": type_to_number,
    "try_to_number": type_to_number,
    "to_char": type_to_char,
    "to_varchar": type_to_char,
}


_TARGETS: Final[dict[str, DataType]] = {
    "boolean": t.BOOLEAN,
    "tinyint": t.TINYINT,
    "smallint": t.SMALLINT,
    "int": t.INT,
    "bigint": t.BIGINT,
    "float": t.FLOAT,
    "double": t.DOUBLE,
    "decimal": t.decimal(10, 0),
    "date": t.DATE,
    "timestamp": t.TIMESTAMP,
    "binary": t.BINARY,
    "string": t.STRING,
    "time": t.time(6),
}


def type_cast(name: str, args: Sequence[Operand]) -> Typing:
    """The cast the function stands for."""
    f.take(name, args, 1)
    target, found = _TARGETS[name], args[0].type
    refusal = cast_refusal(found, target)
    if refusal is not None:
        raise Refusal(refusal.condition, refusal.message, 0)
    return target, cast_nullable(found, target, args[0].nullable)


TYPE_CASTS: dict[str, Rule] = dict.fromkeys(_TARGETS, type_cast)
