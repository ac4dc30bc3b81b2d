"""Folding: the value of a call whose arguments are all literals, for the few where it matters.

`from_json(text, schema_of_json('...'))` has a type only if the inner call has a value.
"""

from collections.abc import Callable, Sequence
from typing import Any

from rocky.catalog.operand import NO_VALUE, Operand
from rocky.catalog.special.inference import ddl_of, infer_csv, infer_json
from rocky.datatypes.types import STRING, DataType


def fold_call(name: str, args: Sequence[Operand]) -> Any:
    """The literal value of a call, or NO_VALUE when it has none we can tell."""
    fold = _FOLDS.get(name)
    if fold is None:
        return NO_VALUE
    values = [arg.value for arg in args]
    if NO_VALUE in values or any(arg.type is not STRING for arg in args):
        return NO_VALUE
    return fold(values)


def _schema_with(infer: Callable[[str], DataType | None]) -> Callable[[list[Any]], Any]:
    def fold(values: list[Any]) -> Any:
        # Options change how the sample is read.
        found = infer(values[0]) if len(values) == 1 else None
        return NO_VALUE if found is None else ddl_of(found)

    return fold


def _concat(values: list[Any]) -> Any:
    return None if None in values else "".join(values)


_FOLDS: dict[str, Callable[[list[Any]], Any]] = {
    "schema_of_json": _schema_with(infer_json),
    "schema_of_csv": _schema_with(infer_csv),
    "concat": _concat,
}
