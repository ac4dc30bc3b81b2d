"""The widening table: changes of a type after which every stored value is still there.

These are the changes that Delta makes to a stored column without rewriting it, and no others: a
bigint does not widen to a double, nor a date to a timestamp, whose value would depend on a time
zone. Whether parts of a type may be null is not looked at here; `rocky.analysis.changes.columns`
does.
"""

from typing import Final

from rocky.language.datatypes.parts import make_nullable
from rocky.language.datatypes.types import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
)

WIDER_KINDS: Final[dict[str, tuple[str, ...]]] = {
    "tinyint": ("smallint", "int", "bigint", "double"),
    "smallint": ("int", "bigint", "double"),
    "int": ("bigint", "double"),
    "float": ("double",),
    "date": ("timestamp_ntz",),
}
"""Plain types, and what each widens to."""

INTEGRAL_DIGITS: Final = {"tinyint": 10, "smallint": 10, "int": 10, "bigint": 20}
"""How many digits before the point a decimal must have to take an integral type."""


def widening_reason(before: DataType, after: DataType) -> str | None:
    """Why a change of type loses nothing, as a clause; None when it may lose something."""
    if before is after:
        return None
    match before, after:
        case DecimalType(), DecimalType():
            return _decimal_reason(before.precision, before.scale, after)
        case DataType(), DecimalType() if before.kind in INTEGRAL_DIGITS:
            return _decimal_reason(INTEGRAL_DIGITS[before.kind], 0, after)
        case StringType(), StringType():
            return _string_reason(before, after)
        case ArrayType(), ArrayType():
            return _parts_reason([("its elements", before.element, after.element)])
        case MapType(), MapType():
            keys = ("its keys", before.key, after.key)
            return _parts_reason([keys, ("its values", before.value, after.value)])
        case StructType(), StructType():
            return _struct_reason(before, after)
        case _ if after.kind in WIDER_KINDS.get(before.kind, ()):
            return f"every `{before}` is a `{after}`"
        case _:
            return None


def _decimal_reason(precision: int, scale: int, after: DecimalType) -> str | None:
    more, fraction = after.precision - precision, after.scale - scale
    if more >= fraction >= 0:
        return "it has as many digits on both sides of the point, or more"
    return None


def _string_reason(before: StringType, after: StringType) -> str | None:
    if before.collation != after.collation:
        return None
    if after.length is None:
        return "a string has no length to exceed"
    # CHAR pads to its length: another length gives other values.
    if after.kind == "varchar" and before.length is not None and before.length <= after.length:
        return "it holds texts as long, or longer"
    return None


def _parts_reason(parts: list[tuple[str, DataType, DataType]]) -> str | None:
    """The reason of types made of parts: each is as it was, or widens."""
    reasons: list[str] = []
    for name, one, other in parts:
        if compared_type(one) is compared_type(other):
            continue
        reason = widening_reason(one, other)
        if reason is None:
            return None
        reasons.append(f"{name}: {reason}")
    return "; ".join(reasons) or None


def _struct_reason(before: StructType, after: StructType) -> str | None:
    """Fields are found by place and name; new ones come last and can be null."""
    kept, added = after.fields[: len(before.fields)], after.fields[len(before.fields) :]
    if len(kept) < len(before.fields) or not all(field.nullable for field in added):
        return None
    pairs = list(zip(before.fields, kept, strict=True))
    if any(one.name.lower() != other.name.lower() for one, other in pairs):
        return None
    parts = [(f"its field `{one.name}`", one.type, other.type) for one, other in pairs]
    if added and all(compared_type(one) is compared_type(other) for _, one, other in parts):
        return _added_reason(added)
    reason = _parts_reason(parts)
    return f"{reason}; {_added_reason(added)}" if reason and added else reason


def _added_reason(added: tuple[StructField, ...]) -> str:
    names = ", ".join(f"`{field.name}`" for field in added)
    return f"{names} came last and can be null"


def compared_type(kind: DataType) -> DataType:
    """The type with every part nullable and names of fields in lower case: what is compared."""
    return make_nullable(kind, name=str.lower)
