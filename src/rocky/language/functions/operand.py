"""Operand: one argument as a rule sees it, the family a parameter accepts, and refusals.

The binder's typed expressions are operands, so rules take them as they are. The condition of a
refusal is Spark's, word for word; the message is ours and names argument places from one. A family
is Spark's abstract type (numeric, integral, array, one of several). Fitting is its implicit cast:
strings become almost anything, numbers become each other, and an unknown type fits everywhere
unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from rocky.language.datatypes import types as t
from rocky.language.datatypes.casts import can_cast, force_nullable
from rocky.language.datatypes.coercion import implicit_cast
from rocky.language.datatypes.operators import OperandMismatch
from rocky.language.datatypes.types import DataType

Outcome = TypeVar("Outcome")
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


class Refusal(Exception):
    """Why Spark would not take a call: its condition, our message, and which argument.

    Raised by rules, and caught by the binder, which makes a diagnostic of it.
    """

    def __init__(self, condition: str, message: str, argument: int | None = None) -> None:
        super().__init__(condition, message, argument)
        self.condition = condition
        self.message = message
        self.argument = argument


Typing = tuple[DataType, bool]
"""A result type and whether it may be null."""


Rule = Callable[[str, Sequence[Operand]], Typing]
"""What a call gives, from the lower-case name and the arguments. Raises `Refusal`."""


def by_name(rules: Mapping[Rule, str]) -> dict[str, Rule]:
    """Rules by the names of their functions, given as one text a rule."""
    return {name: rule for rule, names in rules.items() for name in names.split()}


def take(name: str, args: Sequence[Operand], least: int, most: int | None = -1) -> None:
    """Refuses a call with fewer or more arguments; without `most` there are exactly `least`."""
    top = least if most == -1 else most
    if len(args) < least or (top is not None and len(args) > top):
        if top is None:
            raise wrong_count(name, f"{least} or more", len(args))
        word = "or" if top == least + 1 else "to"
        raise wrong_count(name, str(least) if top == least else f"{least} {word} {top}", len(args))


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


def different_types(name: str, args: Sequence[Operand]) -> Refusal:
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


def unless_refused(outcome: Outcome | OperandMismatch) -> Outcome:
    """What an operator's rule answered. Raises its refusal."""
    if isinstance(outcome, OperandMismatch):
        raise Refusal(outcome.condition, outcome.message, outcome.argument)
    return outcome


Target = str | DataType | tuple[str | DataType, ...]


class Family:
    """One parameter's accepted types, as `rocky.language.datatypes.coercion` names them."""

    __slots__ = ("_known", "element", "target", "text")

    def __init__(self, text: str, target: Target, element: "Family | None" = None) -> None:
        self.text = text
        self.target = target
        self.element = element
        self._known: dict[DataType, DataType | None] = {}

    def accepts(self, found: DataType) -> bool:
        """Whether the type fits without a cast."""
        return self.fit(found) is found

    def fit(self, found: DataType) -> DataType | None:
        """The type an argument of type `found` takes on, or None when Spark refuses it."""
        try:
            return self._known[found]
        except KeyError:
            fitted = self._known[found] = self._fit(found)
            return fitted

    def _fit(self, found: DataType) -> DataType | None:
        if self.element is None or not isinstance(found, t.ArrayType):
            return implicit_cast(found, self.target)
        if self.element.accepts(found.element):
            return found
        inner = self.element.fit(found.element)
        return None if inner is None else t.array(inner, True)


def exactly(target: DataType) -> Family:
    """The family of one type; strings and numbers cast to it as assignment would."""
    return Family(f"`{target}`", target)


def one_of(*members: Family) -> Family:
    """Any of several families; a cast goes to the first that takes it."""
    names = [member.text for member in members]
    targets: list[str | DataType] = []
    for member in members:
        targets.extend(member.target if isinstance(member.target, tuple) else (member.target,))
    return Family(f"{', '.join(names[:-1])} or {names[-1]}", tuple(targets))


def array_of(element: Family) -> Family:
    """An array whose elements fit a family."""
    return Family(f"an array of {element.text}", "array", element)


ANY: Final = Family("anything", "any")
NUMERIC: Final = Family("numeric", "numeric")
INTEGRAL: Final = Family("integral", "integral")
DECIMAL: Final = Family("decimal", "decimal")
ARRAY: Final = Family("an array", "array")
MAP: Final = Family("a map", "map")
STRUCT: Final = Family("a struct", "struct")
BOOLEAN: Final = exactly(t.BOOLEAN)
INT: Final = exactly(t.INT)
BIGINT: Final = exactly(t.BIGINT)
DOUBLE: Final = exactly(t.DOUBLE)
STRING: Final = Family("`string`", "string")
BINARY: Final = exactly(t.BINARY)
DATE: Final = exactly(t.DATE)
TIMESTAMP: Final = exactly(t.TIMESTAMP)
TIMESTAMP_NTZ: Final = exactly(t.TIMESTAMP_NTZ)
ANY_TIMESTAMP: Final = Family("a timestamp", "timestamps")
TIME: Final = Family("a time", "time")
YEAR_MONTH: Final = Family("a year-month interval", "interval_ym")
DAY_TIME: Final = Family("a day-time interval", "interval_dt")
VARIANT: Final = exactly(t.VARIANT)


def fit(
    name: str, args: Sequence[Operand], families: Sequence[Family], optional: int = 0
) -> Sequence[Operand]:
    """The arguments after Spark's implicit casts. Raises `Refusal` when they do not fit.

    The last `optional` families may be left without an argument.
    """
    if not len(families) - optional <= len(args) <= len(families):
        least = len(families) - optional
        expected = str(least) if not optional else f"{least} to {len(families)}"
        raise wrong_count(name, expected, len(args))
    fitted: list[Operand] | None = None
    misfit: Refusal | None = None
    for index, (arg, family) in enumerate(zip(args, families, strict=False)):
        target = family.fit(arg.type)
        if target is arg.type:
            continue
        if target is None:
            misfit = misfit or unexpected_type(name, index, family.text, arg.type)
            continue
        # Spark checks the casts it has planned before the call they are part of.
        if not can_cast(arg.type, target):
            raise uncastable(name, index, arg.type, target)
        if fitted is None:
            fitted = list(args)
        fitted[index] = cast_operand(arg, target)
    if misfit is not None:
        raise misfit
    return args if fitted is None else fitted


def expect(
    name: str, args: Sequence[Operand], families: Sequence[Family], optional: int = 0
) -> Sequence[Operand]:
    """As `fit`, for functions that cast nothing but the NULL literal."""
    for index, (arg, family) in enumerate(zip(args, families, strict=False)):
        if arg.type is not t.NULL and not family.accepts(arg.type):
            raise unexpected_type(name, index, family.text, arg.type)
    return fit(name, args, families, optional)


def cast_operand(arg: Operand, target: DataType) -> Operand:
    """The operand inside an implicit cast: it keeps its value, and may become nullable."""
    if target is arg.type:
        return arg
    nullable = arg.nullable or force_nullable(arg.type, target)
    return Operand(target, nullable, arg.value, arg.foldable, arg.name)


def any_nullable(args: Sequence[Operand]) -> bool:
    return any(arg.nullable for arg in args)
