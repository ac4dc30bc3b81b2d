"""Arithmetic: the type and nullability of `+ - * / % div`, the bit operators and the signs.

Division and `%` are nullable even in ANSI mode, where they fail rather than give null; and an
integer literal beside a decimal counts only the digits it has, so `price * 2` stays narrow. Dates,
timestamps, times and intervals are looked at first, on the types as written; a string that
coercion turns into a date comes back to them: `'2020-01-01' - DATE'2019-01-01'` is an interval.
"""

from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import expression_type, force_nullable
from rocky.language.datatypes.coercion import implicit_cast, promote_string
from rocky.language.datatypes.operators import (
    Accepts,
    CoercedSides,
    Operand,
    OperandMismatch,
    Typing,
    check_sides,
    coerce_sides,
    narrowed_literal,
    uncastable,
    unexpected_type,
)
from rocky.language.datatypes.types import DataType

Outcome = Typing | OperandMismatch | None

_DAY: Final = t.interval("day", "day")
_DAY_TO_SECOND: Final = t.interval("day", "second")
_YEAR_TO_MONTH: Final = t.interval("year", "month")
_HOUR_TO_SECOND: Final = t.interval("hour", "second")
_TIMESTAMPS: Final = frozenset({"timestamp", "timestamp_ntz"})
_MOMENTS: Final = _TIMESTAMPS | {"date", "time"}
_DURATIONS: Final = frozenset({"interval", "interval_dt"})
_INTERVALS: Final = _DURATIONS | {"interval_ym"}
_DAY_COUNTS: Final = frozenset({"tinyint", "smallint", "int"})


def datetime_arithmetic(op: str, left: DataType, right: DataType) -> Outcome:
    """The result when the operator works on moments or intervals; None when it does not."""
    if op == "+":
        return _add(left, right)
    if op == "-":
        return _subtract(left, right)
    if op == "*":
        return _multiply(left, right)
    return _scale(op, left, right, 1) if op == "/" and left.kind in _INTERVALS else None


def _add(left: DataType, right: DataType) -> Outcome:
    if left.kind in _MOMENTS and right is t.NULL:
        return _forced(_add(left, _DAY_TO_SECOND))
    if right.kind in _MOMENTS and left is t.NULL:
        return _forced(_add(_DAY_TO_SECOND, right))
    if left.kind in _INTERVALS and right.kind in _INTERVALS:
        return _add_intervals(left, right)
    if right.kind in _INTERVALS:
        return _shift_by("+", left, right, 0)
    if left.kind in _INTERVALS:
        return _shift_by("+", right, left, 1)
    if left.kind == "date":
        return _count_days("+", right, 1)
    return _count_days("+", left, 0) if right.kind == "date" else None


def _add_intervals(left: DataType, right: DataType) -> Outcome:
    if left.kind == right.kind:
        return None
    # One of the two is taken for a timestamp, which it is not.
    at_fault = 0 if right.kind in _DURATIONS else 1
    return unexpected_type("+", left if at_fault == 0 else right, "a timestamp", at_fault)


def _subtract(left: DataType, right: DataType) -> Outcome:  # noqa: PLR0911 - an ordered table
    if left.kind in _MOMENTS and right is t.NULL:
        return _forced(_subtract(left, left))
    if right.kind in _MOMENTS and left is t.NULL:
        return _forced(_subtract(right, right))
    if left.kind == "time" and right.kind == "time":
        return _HOUR_TO_SECOND, True
    if left.kind in _INTERVALS and right.kind in _INTERVALS:
        if left.kind == right.kind or right.kind == "interval_ym":
            return None
        return unexpected_type("-", left, "a timestamp", 0)
    if right.kind in _INTERVALS:
        return _shift_by("-", left, right, 0)
    if left.kind in _TIMESTAMPS or right.kind in _TIMESTAMPS:
        return _subtract_timestamps(left, right)
    if right.kind == "date":
        return _subtract_date(left)
    if left.kind == "date":
        return _date_less(right)
    promoted = promote_string(left, right)
    if promoted is not None and promoted.kind == "time":
        return _HOUR_TO_SECOND, True
    return None


def _date_less(right: DataType) -> Outcome:
    # A plain string is read as a date, a collated one as a number of days.
    return (_DAY, True) if right is t.STRING else _count_days("-", right, 1)


def _subtract_timestamps(left: DataType, right: DataType) -> Outcome:
    for at, (given, other) in enumerate(((left, right), (right, left))):
        if given.kind in t.STRING_KINDS:
            return _DAY_TO_SECOND, True
        if given.kind not in _TIMESTAMPS and given.kind != "date":
            return unexpected_type("-", given, "a timestamp", at)
        if given.kind == "date" and force_nullable(given, other):
            return _DAY_TO_SECOND, True
    return _DAY_TO_SECOND, False


def _subtract_date(left: DataType) -> Outcome:
    if left is t.DATE:
        return _DAY, False
    if left.kind in t.STRING_KINDS:
        return _DAY, True
    if left.kind == "time":
        return uncastable("-", left, 0)
    return unexpected_type("-", left, "a `date`", 0)


def _shift_by(op: str, moment: DataType, by: DataType, at: int) -> Outcome:
    """A moment moved by an interval; `at` is the moment's place."""
    if moment is t.NULL and by is not t.CALENDAR_INTERVAL:
        return None
    if moment.kind == "date":
        by_time = by.kind == "interval_dt" and by is not _DAY
        return (t.TIMESTAMP if by_time else t.DATE), False
    if moment.kind == "time" and isinstance(by, t.IntervalType) and by.kind == "interval_dt":
        return _time_shifted(moment, by), True
    if moment.kind in _TIMESTAMPS:
        return moment, False
    if by.kind == "interval_ym":
        return None
    if moment.kind in t.STRING_KINDS:
        return moment, True
    if moment is t.NULL:
        return uncastable(op, moment, at) if op == "+" or at == 0 else None
    return unexpected_type(op, moment, "a timestamp", at)


def _time_shifted(moment: DataType, by: t.IntervalType) -> DataType:
    return t.time(6) if by.last == "second" else moment


def _count_days(op: str, days: DataType, at: int) -> Outcome:
    """A date moved by a number of days; `at` is the place of the number."""
    if days.kind in _DAY_COUNTS:
        return t.DATE, False
    if days.kind in t.STRING_KINDS and days is not t.STRING:
        return t.DATE, True
    return unexpected_type(op, days, "an `int`, `smallint` or `tinyint` number of days", at)


def _multiply(left: DataType, right: DataType) -> Outcome:
    for kind in ("interval", "interval_ym", "interval_dt"):
        if left.kind == kind:
            return _scale("*", left, right, 1)
        if right.kind == kind:
            return _scale("*", right, left, 0)
    return None


def _scale(op: str, by: DataType, number: DataType, at: int) -> Outcome:
    """An interval times or over a number; `at` is the place of the number."""
    if by is t.CALENDAR_INTERVAL:
        if number is t.NULL or number.kind in t.STRING_KINDS or number.kind in t.NUMERIC_KINDS:
            return by, True
        return unexpected_type(op, number, "a `double`", at)
    result = _YEAR_TO_MONTH if by.kind == "interval_ym" else _DAY_TO_SECOND
    if number.kind in t.NUMERIC_KINDS:
        return result, False
    if number is t.NULL or number.kind in t.STRING_KINDS:
        return result, True
    return unexpected_type(op, number, "a number", at)


def _forced(outcome: Outcome) -> Outcome:
    return (outcome[0], True) if isinstance(outcome, tuple) else outcome


_SUMMABLE: Final = t.NUMERIC_KINDS | t.INTERVAL_KINDS
_ACCEPTED: Final[dict[str, frozenset[str]]] = {
    "+": _SUMMABLE,
    "-": _SUMMABLE,
    "*": t.NUMERIC_KINDS,
    "/": frozenset({"double", "decimal"}),
    "%": t.NUMERIC_KINDS,
    "div": frozenset({"bigint", "decimal", "interval_ym", "interval_dt"}),
    "&": t.INTEGRAL_KINDS,
    "|": t.INTEGRAL_KINDS,
    "^": t.INTEGRAL_KINDS,
}
_OF_NULLS: Final = {"&": t.INT, "|": t.INT, "^": t.INT, "div": t.BIGINT}


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
    given = expression_type(operand.type)
    if given is t.UNKNOWN:
        return t.UNKNOWN, True
    if op == "~":
        if given is t.NULL:
            return t.INT, True
        if given.kind in t.INTEGRAL_KINDS:
            return given, operand.nullable
        return unexpected_type(op, given, "an integer", 0)
    if given is t.NULL or given.kind in t.STRING_KINDS:
        return t.DOUBLE, True
    if given.kind in _SUMMABLE:
        return given, operand.nullable
    return unexpected_type(op, given, "a number or an interval", 0)


def arithmetic_rule(op: str, left: DataType, right: DataType) -> ArithmeticRule | OperandMismatch:
    """What `op` makes of operands that are not literals."""
    left, right = expression_type(left), expression_type(right)
    if left is t.UNKNOWN or right is t.UNKNOWN:
        return ArithmeticRule(t.UNKNOWN, always_null=True)
    if op in {"<<", ">>", ">>>"}:
        return _shift(op, left, right)
    moment = datetime_arithmetic(op, left, right)
    if isinstance(moment, OperandMismatch):
        return moment
    if moment is not None:
        return ArithmeticRule(moment[0], always_null=moment[1])
    return _number(op, left, right)


def _number(op: str, left: DataType, right: DataType) -> ArithmeticRule | OperandMismatch:
    if left is t.NULL and right is t.NULL:
        return ArithmeticRule(_OF_NULLS.get(op, t.DOUBLE), always_null=True)
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
    result = t.BIGINT if op == "div" else _result(op, met)
    kinds = {left.kind, right.kind}
    return ArithmeticRule(
        result,
        always_null=met.forced or op in {"/", "%", "div"},
        literal="decimal" in kinds and not kinds.isdisjoint(t.INTEGRAL_KINDS),
    )


def _as_bigint(given: DataType) -> DataType:
    return t.BIGINT if given.kind in t.INTEGRAL_KINDS else given


def _coerce_division(left: DataType, right: DataType, accepts: Accepts) -> CoercedSides:
    met = (
        CoercedSides(left, right, forced=False)
        if left is t.NULL
        else coerce_sides(left, right, accepts)
    )
    if accepts(met.left):
        return met
    if _is_number_or_null(met.left) and _is_number_or_null(met.right):
        return CoercedSides(t.DOUBLE, t.DOUBLE, met.forced)
    return coerce_sides(left, right, accepts)


def _is_number_or_null(given: DataType) -> bool:
    return given is t.NULL or given.kind in t.NUMERIC_KINDS


def _result(op: str, met: CoercedSides) -> DataType:
    if isinstance(met.left, t.DecimalType) and isinstance(met.right, t.DecimalType):
        return t.decimal_result(op, met.left, met.right)
    return met.left


def _shift(op: str, left: DataType, right: DataType) -> ArithmeticRule | OperandMismatch:
    shifted = implicit_cast(left, (t.INT, t.BIGINT))
    if shifted is None:
        return unexpected_type(op, left, "an integer", 0)
    if implicit_cast(right, t.INT) is None:
        return unexpected_type(op, right, "an `int`", 1)
    return ArithmeticRule(
        shifted, always_null=force_nullable(left, shifted) or force_nullable(right, t.INT)
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
