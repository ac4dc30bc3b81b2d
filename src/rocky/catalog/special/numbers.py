"""Number functions whose result depends on precision: rounding, and the operators' named forms.

Rounding is nullable throughout, as Spark declares it, and one digit wider before the point,
since 9.9 rounds to 10. `try_` forms give null instead of failing and so are always nullable.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from rocky.catalog.operand import NO_VALUE, Operand, Refusal, Typing
from rocky.catalog.special import families as f
from rocky.catalog.special.families import any_nullable, cast_operand, fit
from rocky.catalog.special.refusals import not_constant, refused, wrong_count
from rocky.datatypes import types as t
from rocky.datatypes.arithmetic import arithmetic, sign
from rocky.datatypes.mismatch import OperandMismatch
from rocky.datatypes.types import DataType

Rule = Callable[[str, Sequence[Operand]], Typing | Refusal]

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


def type_round(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`round` and `bround`."""
    fitted = fit(name, args, (f.NUMERIC, f.INT), optional=1)
    if isinstance(fitted, Refusal):
        return fitted
    scale: int | None = 0
    if len(args) == 2:
        if not args[1].foldable and args[1].type is not t.UNKNOWN:
            return not_constant(name, 1, "the scale")
        scale = _scale_of(args[1])
    found = fitted[0].type
    if not isinstance(found, t.DecimalType):
        return found, True
    return (t.UNKNOWN if scale is None else rounded(found, scale)), True


_CEILED: Final = f.one_of(f.DOUBLE, f.DECIMAL, f.BIGINT)


def type_ceil(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`ceil` and `floor`: to a whole number, or with a scale to a decimal."""
    if not 1 <= len(args) <= 2:
        return wrong_count(name, "1 or 2", len(args))
    if len(args) == 2:
        return _ceil_to_scale(name, args)
    fitted = fit(name, args, (_CEILED,))
    if isinstance(fitted, Refusal):
        return fitted
    found = fitted[0].type
    if not isinstance(found, t.DecimalType):
        return (found if found is t.UNKNOWN else t.BIGINT), True
    if found.scale == 0:
        return found, True
    return t.decimal(min(found.precision - found.scale + 1, t.MAX_PRECISION), 0), True


def _ceil_to_scale(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    scale = args[1]
    known = scale.type is t.UNKNOWN or (scale.type is t.INT and scale.foldable)
    if not known or scale.value is None:
        return Refusal(
            "NON_FOLDABLE_ARGUMENT", f"argument 2 of `{name}`, the scale, must be an integer", 1
        )
    fitted = fit(name, args, (f.DECIMAL, f.INT))
    if isinstance(fitted, Refusal):
        return fitted
    found, digits = fitted[0].type, _scale_of(scale)
    if not isinstance(found, t.DecimalType) or digits is None or scale.value is NO_VALUE:
        return t.UNKNOWN, True
    return rounded(found, digits), True


def type_abs(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (_SIGNED,))
    return fitted if isinstance(fitted, Refusal) else (fitted[0].type, fitted[0].nullable)


def type_sign(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`negative` and `positive`, the named forms of unary `-` and `+`."""
    if len(args) != 1:
        return wrong_count(name, "1", len(args))
    outcome = sign("-" if name == "negative" else "+", args[0])
    return outcome if not isinstance(outcome, OperandMismatch) else _refusal(outcome)


def _refusal(outcome: OperandMismatch) -> Refusal:
    return refused(outcome) or Refusal(outcome.condition, outcome.message)


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


def type_operator(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """Named forms of operators, all of them nullable."""
    if len(args) != 2:
        return wrong_count(name, "2", len(args))
    outcome = arithmetic(_OPERATORS[name], args[0], args[1])
    return _refusal(outcome) if isinstance(outcome, OperandMismatch) else (outcome[0], True)


_BUCKETED: Final = f.one_of(f.DOUBLE, f.YEAR_MONTH, f.DAY_TIME)


def type_width_bucket(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    fitted = fit(name, args, (_BUCKETED, _BUCKETED, _BUCKETED, f.BIGINT))
    if isinstance(fitted, Refusal):
        return fitted
    kinds = {arg.type.kind for arg in fitted[:3]} - {"unknown"}
    if len(kinds) > 1:
        return Refusal(
            "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
            f"the value and the bounds of `{name}` must be of one kind",
        )
    return t.BIGINT, True


def type_nanvl(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if len(args) != 2:
        return wrong_count(name, "2", len(args))
    family = f.one_of(f.DOUBLE, f.exactly(t.FLOAT))
    left, right = args
    if right.type is t.NULL:
        right = cast_operand(right, left.type)
    fitted = fit(name, (left, right), (family, family))
    if isinstance(fitted, Refusal):
        return fitted
    types = {arg.type for arg in fitted}
    found = fitted[0].type if len(types) == 1 else t.DOUBLE
    return (t.UNKNOWN if t.UNKNOWN in types else found), any_nullable(fitted)


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
