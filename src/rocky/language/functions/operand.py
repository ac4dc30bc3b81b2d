"""Operand: what a rule may know about one argument, and the refusals it may answer with.

The binder's typed expressions are operands, so rules take them as they are. The condition of
a refusal is Spark's, word for word; the message is ours and names argument places from one.
"""

from collections.abc import Sequence
from typing import Any, Final

from rocky.language.datatypes.operators import OperandMismatch
from rocky.language.datatypes.types import DataType

NO_VALUE: Final = object()
"""The `value` of an operand that is not a literal; None would be the NULL literal."""


class Operand:
    """A typed expression as a rule sees it.

    `value` is the literal's Python value (int, Decimal, float, str, bool, bytes, None) or
    `NO_VALUE`; `foldable` is Spark's word for "constant before the query runs"; `name` is
    the name Spark would give the column, used for struct fields.
    """

    __slots__ = ("foldable", "name", "nullable", "type", "value")

    def __init__(
        self,
        type: DataType,  # noqa: A002 - the noun of this package
        nullable: bool,  # noqa: FBT001 - read at hundreds of call sites
        value: Any = NO_VALUE,
        foldable: bool = False,  # noqa: FBT001, FBT002 - read at hundreds of call sites
        name: str | None = None,
    ) -> None:
        self.type = type
        self.nullable = nullable
        self.value = value
        self.foldable = foldable
        self.name = name


class Refusal:
    """Why Spark would not take a call: its condition, our message, and which argument."""

    __slots__ = ("argument", "condition", "message")

    def __init__(self, condition: str, message: str, argument: int | None = None) -> None:
        self.condition = condition
        self.message = message
        self.argument = argument


Typing = tuple[DataType, bool]
"""A result type and whether it may be null."""


Rows = Sequence[Operand]


def wrong_count(name: str, expected: str, got: int) -> Refusal:
    """The call has too few or too many arguments; `expected` reads as `1` or `2 or 3`."""
    plural = "" if expected == "1" else "s"
    return Refusal(
        "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
        f"`{name}` takes {expected} argument{plural}, not {got}",
    )


def unexpected_type(name: str, index: int, required: str, found: DataType) -> Refusal:
    """Argument `index` (from zero) is of a type the function does not take."""
    return Refusal(
        "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        f"argument {index + 1} of `{name}` must be {required}, but it is `{found}`",
        index,
    )


def uncastable(name: str, index: int, found: DataType, target: DataType) -> Refusal:
    """Spark plans an implicit cast of argument `index` that it then refuses to make."""
    return Refusal(
        "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
        f"argument {index + 1} of `{name}`, a `{found}`, cannot be cast to `{target}`",
        index,
    )


def different_types(name: str, args: Rows) -> Refusal:
    """The arguments have no type in common."""
    seen = list(dict.fromkeys(arg.type.text for arg in args))
    return Refusal(
        "DATATYPE_MISMATCH.DATA_DIFF_TYPES",
        f"arguments of `{name}` must share one type, but they are "
        + ", ".join(f"`{text}`" for text in seen),
    )


def unordered(name: str, found: DataType, index: int | None = None) -> Refusal:
    """The type has no order, so it can be neither compared nor sorted."""
    return Refusal(
        "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
        f"`{name}` needs values that can be ordered, but `{found}` cannot",
        index,
    )


def not_constant(name: str, index: int, what: str) -> Refusal:
    """Argument `index` must be known before the query runs."""
    return Refusal(
        "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT",
        f"argument {index + 1} of `{name}`, {what}, must be a constant",
        index,
    )


def unexpected_null(name: str, index: int) -> Refusal:
    """Argument `index` is the NULL literal where Spark wants a value."""
    return Refusal(
        "DATATYPE_MISMATCH.UNEXPECTED_NULL",
        f"argument {index + 1} of `{name}` must not be null",
        index,
    )


def within_group_missing(name: str) -> Refusal:
    """The function aggregates in an order, and the call gives none."""
    return Refusal(
        "INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING",
        f"`{name}` needs WITHIN GROUP (ORDER BY ...)",
    )


def refused(outcome: object) -> Refusal | None:
    """The refusal in what an operator's rule answered, if it refused."""
    if isinstance(outcome, OperandMismatch):
        return Refusal(outcome.condition, outcome.message, outcome.argument)
    return None
