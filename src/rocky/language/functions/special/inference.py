"""Inference: the schema Spark reads off a sample of JSON or CSV, and calls folded to their value.

`from_json(text, schema_of_json('...'))` has a type only if the inner call has a value. Fields of
a JSON object are sorted by name, values that do not meet become strings, and so does null. A
sample Spark would read and this cannot gives None, never a guess.
"""

import csv
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.coercion import tightest_type
from rocky.language.datatypes.types import STRING, DataType, StructField, decimal_for, wider_decimal
from rocky.language.functions.operand import NO_VALUE, Operand
from rocky.language.names import quote_if_needed

_LONG: Final = 2**63
_INT: Final = 2**31


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as written: keys may repeat."""


def infer_json(sample: str) -> DataType | None:
    """The type `schema_of_json` finds, or None when the sample is beyond us."""
    try:
        value = json.loads(sample, parse_float=float, object_pairs_hook=_Pairs)
    except ValueError:
        return None
    return _without_void(_type_of(value))


def _type_of(value: Any) -> DataType:
    if isinstance(value, _Pairs):
        fields = sorted(value, key=lambda pair: pair[0])
        return t.struct(tuple(StructField(name, _type_of(part), True) for name, part in fields))
    if isinstance(value, list):
        element: DataType = t.NULL
        for part in value:
            element = _merge(element, _type_of(part))
        return t.array(element, True)
    if isinstance(value, bool):
        return t.BOOLEAN
    if isinstance(value, int):
        return _integer_type(value)
    if isinstance(value, float):
        return t.DOUBLE
    return t.NULL if value is None or value == "" else t.STRING


def _integer_type(value: int) -> DataType:
    if -_LONG <= value < _LONG:
        return t.BIGINT
    digits = len(str(abs(value)))
    return t.decimal(digits, 0) if digits <= t.MAX_PRECISION else t.DOUBLE


def _merge(a: DataType, b: DataType) -> DataType:
    if a is b or b is t.NULL:
        return a
    if a is t.NULL:
        return b
    if isinstance(a, t.ArrayType) and isinstance(b, t.ArrayType):
        return t.array(_merge(a.element, b.element), True)
    if isinstance(a, t.StructType) and isinstance(b, t.StructType):
        return _merge_structs(a, b)
    if t.DOUBLE in (a, b) and t.is_numeric(a) and t.is_numeric(b):
        return t.DOUBLE
    if t.is_numeric(a) and t.is_numeric(b):
        return wider_decimal(decimal_for(a), decimal_for(b))
    return tightest_type(a, b) or t.STRING


def _merge_structs(a: t.StructType, b: t.StructType) -> DataType:
    merged = {field.name: field.type for field in a.fields}
    for field in b.fields:
        merged[field.name] = _merge(merged.get(field.name, t.NULL), field.type)
    return t.struct(tuple(StructField(name, merged[name], True) for name in sorted(merged)))


def _without_void(found: DataType) -> DataType:
    if isinstance(found, t.ArrayType):
        return t.array(_without_void(found.element), True)
    if isinstance(found, t.StructType):
        return t.struct(
            tuple(StructField(f.name, _without_void(f.type), True) for f in found.fields)
        )
    return t.STRING if found is t.NULL else found


# -- CSV --------------------------------------------------------------------------------------

_WHOLE: Final = re.compile(r"[+-]?\d+")
_REAL: Final = re.compile(
    r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?\s*|NaN|[+-]?Inf(?:inity)?"
)
_DATE: Final = re.compile(r"[+-]?\d{4}-\d{2}-\d{2}")
_TIMESTAMP: Final = re.compile(
    r"(?:\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{1,2}(?::\d{1,2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?"
)


def infer_csv(sample: str) -> DataType | None:
    """The columns `schema_of_csv` finds in one line, named `_c0`, `_c1` and so on."""
    rows: list[Sequence[str]] = list(csv.reader([sample]))
    if not rows or not sample:
        return None
    cells = rows[0]
    fields = (StructField(f"_c{place}", _cell_type(cell), True) for place, cell in enumerate(cells))
    return t.struct(tuple(fields))


def _cell_type(cell: str) -> DataType:
    if _WHOLE.fullmatch(cell):
        value = int(cell)
        if -_INT <= value < _INT:
            return t.INT
        return _integer_type(value)
    if _REAL.fullmatch(cell):
        return t.DOUBLE
    if _DATE.fullmatch(cell):
        return t.DATE
    if _TIMESTAMP.fullmatch(cell):
        return t.TIMESTAMP
    return t.BOOLEAN if cell.lower() in ("true", "false") else t.STRING


# -- the schema as text -----------------------------------------------------------------------


def ddl_of(found: DataType) -> str:
    """A type as the text a schema argument takes."""
    if isinstance(found, t.ArrayType):
        return f"array<{ddl_of(found.element)}>"
    if isinstance(found, t.StructType):
        fields = (f"{quote_if_needed(field.name)}:{ddl_of(field.type)}" for field in found.fields)
        return f"struct<{','.join(fields)}>"
    return found.text


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


_LONGEST: Final = 100_000


def _concat(values: list[Any]) -> Any:
    if None in values:
        return None
    # Each alias may double the one before it; nobody asks for the value of so long a text.
    return "".join(values) if sum(map(len, values)) <= _LONGEST else NO_VALUE


_FOLDS: dict[str, Callable[[list[Any]], Any]] = {
    "schema_of_json": _schema_with(infer_json),
    "schema_of_csv": _schema_with(infer_csv),
    "concat": _concat,
}
