"""Operand: what a typing rule may know about one argument.

The binder's typed expressions are operands, so rules take them as they are.
"""

from typing import Any, Final

from rocky.datatypes.types import DataType

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
