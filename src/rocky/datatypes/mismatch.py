"""Mismatch: what a typing rule asks of an operand and what it answers when it refuses.

Rules return an `OperandMismatch`, they never raise it: a user's mistake is a value.
"""

from typing import Any, Protocol

from rocky.datatypes.types import DataType

Typing = tuple[DataType, bool]
"""A result type and whether it may be null."""


class Operand(Protocol):
    """A typed expression as these rules see it; `value` is a literal's Python value."""

    @property
    def type(self) -> DataType: ...

    @property
    def nullable(self) -> bool: ...

    @property
    def value(self) -> Any: ...


class OperandMismatch:
    """Why Spark refuses the operands: its condition, our message, and which one is at fault."""

    __slots__ = ("argument", "condition", "message")

    def __init__(self, condition: str, message: str, argument: int | None = None) -> None:
        self.condition = condition
        self.message = message
        self.argument = argument

    def __repr__(self) -> str:
        return f"OperandMismatch({self.condition!r}, {self.message!r}, {self.argument!r})"


def differing(op: str, left: DataType, right: DataType) -> OperandMismatch:
    """The two sides do not meet in one type."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
        f"the sides of `{op}` have types that do not meet: `{left}` and `{right}`",
    )


def wrong(op: str, given: DataType) -> OperandMismatch:
    """Both sides are of one type, but the operator is not made for it."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE", f"`{op}` does not take `{given}`"
    )


def unexpected(op: str, given: DataType, wanted: str, argument: int) -> OperandMismatch:
    """One operand is not of the type its place asks for."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        f"`{op}` wants {wanted} here, not `{given}`",
        argument,
    )


def uncastable(op: str, given: DataType, argument: int) -> OperandMismatch:
    """Spark plans a cast it then refuses to make."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", f"`{op}` cannot take `{given}` here", argument
    )


def unordered(op: str, given: DataType) -> OperandMismatch:
    """The operator compares, and values of the type have no order."""
    return OperandMismatch(
        "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE",
        f"`{op}` cannot compare values of `{given}`, which have no order",
    )


def scattered(op: str, types: list[DataType]) -> OperandMismatch:
    """The members of a list or the branches of a choice do not meet in one type."""
    listed = ", ".join(f"`{given}`" for given in dict.fromkeys(types))
    return OperandMismatch(
        "DATATYPE_MISMATCH.DATA_DIFF_TYPES", f"`{op}` needs one type, but finds {listed}"
    )
