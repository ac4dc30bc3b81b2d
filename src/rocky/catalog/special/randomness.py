"""Random values: never null, and their seeds and bounds must be constant."""

from collections.abc import Callable, Sequence
from typing import Final

from rocky.catalog.operand import Operand, Refusal, Typing
from rocky.catalog.special import families as f
from rocky.catalog.special.refusals import not_constant, unexpected_type, wrong_count
from rocky.datatypes import types as t
from rocky.datatypes.decimals import is_wider_decimal
from rocky.datatypes.types import DataType

_NUMBER_ORDER: Final = ("tinyint", "smallint", "int", "bigint", "decimal", "float", "double")
_SEEDS: Final = ("int", "bigint", "void", "unknown")


def _check_seed(name: str, args: Sequence[Operand], index: int) -> Refusal | None:
    if len(args) <= index or args[index].type is t.UNKNOWN:
        return None
    seed = args[index]
    if seed.type.kind not in _SEEDS:
        return unexpected_type(name, index, "`int` or `bigint`", seed.type)
    return None if seed.foldable else not_constant(name, index, "the seed")


def type_rand(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """`rand`, `random` and `randn`."""
    if len(args) > 1:
        return wrong_count(name, "0 or 1", len(args))
    if args and args[0].type is not t.UNKNOWN:
        if args[0].type.kind not in _SEEDS:
            return unexpected_type(name, 0, "`int` or `bigint`", args[0].type)
        if not args[0].foldable:
            return Refusal(
                "SEED_EXPRESSION_IS_UNFOLDABLE", f"the seed of `{name}` must be a constant", 0
            )
    return t.DOUBLE, False


def type_uniform(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """A number between two bounds, of the wider of their types."""
    if not 2 <= len(args) <= 3:
        return wrong_count(name, "2 or 3", len(args))
    for index, bound in enumerate(args[:2]):
        if bound.type.kind not in t.NUMERIC_KINDS and bound.type.kind not in ("void", "unknown"):
            return unexpected_type(name, index, "numeric", bound.type)
    refusal = _check_seed(name, args, 2)
    if refusal is not None and not refusal.condition.endswith("NON_FOLDABLE_INPUT"):
        return refusal
    for index, bound in enumerate(args[:2]):
        if not bound.foldable and bound.type is not t.UNKNOWN:
            return not_constant(name, index, "a bound")
    if refusal is not None:
        return refusal
    return _wider(*(t.DOUBLE if bound.type is t.NULL else bound.type for bound in args[:2])), False


def _wider(a: DataType, b: DataType) -> DataType:
    if a is t.UNKNOWN or b is t.UNKNOWN:
        return t.UNKNOWN
    if isinstance(a, t.DecimalType) and isinstance(b, t.DecimalType):
        return a if is_wider_decimal(a, b) else b
    return max(a, b, key=lambda bound: _NUMBER_ORDER.index(bound.kind))


def type_randstr(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    if not 1 <= len(args) <= 2:
        return wrong_count(name, "1 or 2", len(args))
    if f.INT.fit(args[0].type) is None:
        return unexpected_type(name, 0, "`int`", args[0].type)
    refusal = _check_seed(name, args, 1)
    if refusal is not None:
        return refusal
    if not args[0].foldable and args[0].type is not t.UNKNOWN:
        return not_constant(name, 0, "the length")
    return t.STRING, False


RANDOMNESS: dict[str, Callable[[str, Sequence[Operand]], Typing | Refusal]] = {
    "rand": type_rand,
    "random": type_rand,
    "randn": type_rand,
    "uniform": type_uniform,
    "randstr": type_randstr,
}
