"""Functions named after types: `int(x)` is `CAST(x AS INT)` and nothing else."""

from collections.abc import Callable, Sequence
from typing import Final

from rocky.catalog.operand import Operand, Refusal, Typing
from rocky.catalog.special.refusals import wrong_count
from rocky.datatypes import types as t
from rocky.datatypes.casts import cast_nullable, cast_refusal
from rocky.datatypes.types import DataType

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


def type_cast(name: str, args: Sequence[Operand]) -> Typing | Refusal:
    """The cast the function stands for."""
    if len(args) != 1:
        return wrong_count(name, "1", len(args))
    target, found = _TARGETS[name], args[0].type
    refusal = cast_refusal(found, target)
    if refusal is not None:
        return Refusal(refusal.condition, refusal.message, 0)
    return target, cast_nullable(found, target, args[0].nullable)


CASTING: dict[str, Callable[[str, Sequence[Operand]], Typing | Refusal]] = dict.fromkeys(
    _TARGETS, type_cast
)
