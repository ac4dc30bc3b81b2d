"""Arithmetic: the type and nullability of `+ - * / % div`, the bit operators and the signs.

Division and `%` are nullable even in ANSI mode, where they fail rather than give null; and an
integer literal beside a decimal counts only the digits it has, so `price * 2` stays narrow.
"""

from typing import Final

from rocky.datatypes.casts import force_nullable, plain
from rocky.datatypes.coercion import implicit_cast
from rocky.datatypes.decimals import decimal_result
from rocky.datatypes.mismatch import Operand, OperandMismatch, Typing, unexpected
from rocky.datatypes.moments import moment_arithmetic
from rocky.datatypes.operators import (
    Accepts,
    Meeting,
    check_sides,
    coerce_sides,
    narrowed_literal,
)
from rocky.datatypes.types import (
    BIGINT,
    DOUBLE,
    INT,
    INTEGRAL_KINDS,
    INTERVAL_KINDS,
    NULL,
    NUMERIC_KINDS,
    STRING_KINDS,
    UNKNOWN,
    DataType,
    DecimalType,
)

_SUMMABLE: Final = NUMERIC_KINDS | INTERVAL_KINDS
_ACCEPTED: Final[dict[str, frozenset[str]]] = {
    "+": _SUMMABLE,
    "-": _SUMMABLE,
    "*": NUMERIC_KINDS,
    "/": frozenset({"double", "decimal"}),
    "%": NUMERIC_KINDS,
    "div": frozenset({"bigint", "decimal", "interval_ym", "interval_dt"}),
    "&": INTEGRAL_KINDS,
    "|": INTEGRAL_KINDS,
    "^": INTEGRAL_KINDS,
}
_OF_NULLS: Final = {"&": INT, "|": INT, "^": INT, "div": BIGINT}


class ArithmeticRule:
    """What an operator makes of two types; `literal` when a literal's digits would matter."""

    __slots__ = ("always_null", "literal", "type")

    def __init__(self, result: DataType, *, always_null: bool, literal: bool = False) -> None:
        self.type = result
        self.always_null = always_null
        self.literal = literal


_RULES: dict[tuple[str, DataType, DataType], ArithmeticRule | OperandMismatch] = {}


def arithmetic(op: str, left: Operand, right: Operand) -> Typing | OperandMismatch:
    """The result of a binary operator, or why Spark refuses it."""
    key = (op, left.type, right.type)
    rule = _RULES.get(key)
    if rule is None:
        rule = _RULES[key] = arithmetic_rule(*key)
    if isinstance(rule, OperandMismatch):
        return _refused(op, left, right, rule)
    if rule.literal:
        return _beside_literal(op, left, right, rule)
    return rule.type, rule.always_null or left.nullable or right.nullable


def sign(op: str, operand: Operand) -> Typing | OperandMismatch:
    """The result of unary `-`, `+` or `~`."""
    given = plain(operand.type)
    if given is UNKNOWN:
        return UNKNOWN, True
    if op == "~":
        if given is NULL:
            return INT, True
        if given.kind in INTEGRAL_KINDS:
            return given, operand.nullable
        return unexpected(op, given, "an integer", 0)
    if given is NULL or given.kind in STRING_KINDS:
        return DOUBLE, True
    if given.kind in _SUMMABLE:
        return given, operand.nullable
    return unexpected(op, given, "a number or an interval", 0)


def arithmetic_rule(op: str, left: DataType, right: DataType) -> ArithmeticRule | OperandMismatch:
    """What `op` makes of operands that are not literals."""
    left, right = plain(left), plain(right)
    if left is UNKNOWN or right is UNKNOWN:
        return ArithmeticRule(UNKNOWN, always_null=True)
    if op in {"<<", ">>", ">>>"}:
        return _shift(op, left, right)
    moment = moment_arithmetic(op, left, right)
    if isinstance(moment, OperandMismatch):
        return moment
    if moment is not None:
        return ArithmeticRule(moment[0], always_null=moment[1])
    return _number(op, left, right)


def _number(op: str, left: DataType, right: DataType) -> ArithmeticRule | OperandMismatch:
    if left is NULL and right is NULL:
        return ArithmeticRule(_OF_NULLS.get(op, DOUBLE), always_null=True)
    accepted = _ACCEPTED[op]

    def accepts(given: DataType) -> bool:
        return given.kind in accepted

    if op == "/":
        met = _coerce_division(left, right, accepts)
    elif op == "div":
        met = coerce_sides(_as_bigint(left), _as_bigint(right), accepts)
    else:
        met = coerce_sides(left, right, accepts)
    checked = check_sides(op, left, right, met, accepts)
    if isinstance(checked, OperandMismatch):
        return checked
    result = BIGINT if op == "div" else _result(op, met)
    kinds = {left.kind, right.kind}
    return ArithmeticRule(
        result,
        always_null=met.forced or op in {"/", "%", "div"},
        literal="decimal" in kinds and not kinds.isdisjoint(INTEGRAL_KINDS),
    )


def _as_bigint(given: DataType) -> DataType:
    return BIGINT if given.kind in INTEGRAL_KINDS else given


def _coerce_division(left: DataType, right: DataType, accepts: Accepts) -> Meeting:
    met = Meeting(left, right, forced=False) if left is NULL else coerce_sides(left, right, accepts)
    if accepts(met.left):
        return met
    if _is_number_or_null(met.left) and _is_number_or_null(met.right):
        return Meeting(DOUBLE, DOUBLE, met.forced)
    return coerce_sides(left, right, accepts)


def _is_number_or_null(given: DataType) -> bool:
    return given is NULL or given.kind in NUMERIC_KINDS


def _result(op: str, met: Meeting) -> DataType:
    if isinstance(met.left, DecimalType) and isinstance(met.right, DecimalType):
        return decimal_result(op, met.left, met.right)
    return met.left


def _shift(op: str, left: DataType, right: DataType) -> ArithmeticRule | OperandMismatch:
    shifted = implicit_cast(left, (INT, BIGINT))
    if shifted is None:
        return unexpected(op, left, "an integer", 0)
    if implicit_cast(right, INT) is None:
        return unexpected(op, right, "an `int`", 1)
    return ArithmeticRule(
        shifted, always_null=force_nullable(left, shifted) or force_nullable(right, INT)
    )


def _refused(op: str, left: Operand, right: Operand, rule: OperandMismatch) -> OperandMismatch:
    # The narrow decimal of a literal may change the reason, never the refusal.
    types = narrowed_literal(left, right), narrowed_literal(right, left)
    if types == (left.type, right.type):
        return rule
    again = arithmetic_rule(op, *types)
    return again if isinstance(again, OperandMismatch) else rule


def _beside_literal(
    op: str, left: Operand, right: Operand, rule: ArithmeticRule
) -> Typing | OperandMismatch:
    nullable = left.nullable or right.nullable
    key = (op, narrowed_literal(left, right), narrowed_literal(right, left))
    if key[1] is not left.type or key[2] is not right.type:
        narrowed = _RULES.get(key)
        if narrowed is None:
            narrowed = _RULES[key] = arithmetic_rule(*key)
        if isinstance(narrowed, OperandMismatch):
            return narrowed
        rule = narrowed
        nullable = (
            nullable or force_nullable(left.type, key[1]) or force_nullable(right.type, key[2])
        )
    return rule.type, rule.always_null or nullable
