"""Ordering: which types Spark can sort, compare, group by, and put through set operations.

Grouping is wider than ordering: a map can be grouped by but not sorted, compared or made
distinct, and a calendar interval can be grouped by but not compared.
"""

from rocky.datatypes.mismatch import OperandMismatch
from rocky.datatypes.types import ArrayType, DataType, MapType, StructType


def is_orderable(given: DataType) -> bool:
    """Whether ORDER BY, comparisons, MIN and MAX take the type."""
    match given:
        case ArrayType(element=element):
            return is_orderable(element)
        case StructType(fields=fields):
            return all(is_orderable(field.type) for field in fields)
        case _:
            return given.kind not in {"map", "variant", "interval"}


def is_groupable(given: DataType) -> bool:
    """Whether GROUP BY takes the type."""
    return not holds_kind(given, "variant")


def is_hashable(given: DataType) -> bool:
    """Whether `hash` and its like take the type."""
    return not holds_kind(given, "variant") and not holds_kind(given, "map")


def holds_kind(given: DataType, kind: str) -> bool:
    """Whether the type is of the kind or has a part that is."""
    if given.kind == kind:
        return True
    match given:
        case ArrayType(element=element):
            return holds_kind(element, kind)
        case MapType(key=key, value=value):
            return holds_kind(key, kind) or holds_kind(value, kind)
        case StructType(fields=fields):
            return any(holds_kind(field.type, kind) for field in fields)
        case _:
            return False


def group_refusal(given: DataType) -> OperandMismatch | None:
    """Why GROUP BY refuses a key of the type; None when it does not."""
    if is_groupable(given):
        return None
    return OperandMismatch(
        "GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE", f"cannot group by a value of `{given}`"
    )


def distinct_refusal(given: DataType) -> OperandMismatch | None:
    """Why DISTINCT, UNION, INTERSECT and EXCEPT refuse a column of the type."""
    for kind in ("map", "variant"):
        if holds_kind(given, kind):
            return OperandMismatch(
                f"UNSUPPORTED_FEATURE.SET_OPERATION_ON_{kind.upper()}_TYPE",
                f"cannot tell rows apart by a column of `{given}`, which holds a {kind}",
            )
    return None


def order_refusal(given: DataType) -> OperandMismatch | None:
    """Why ORDER BY refuses a key of the type; None when it does not."""
    if is_orderable(given):
        return None
    return OperandMismatch(
        "DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", f"cannot sort by a value of `{given}`"
    )


def partition_refusal(given: DataType) -> OperandMismatch | None:
    """Why a window's PARTITION BY refuses a key of the type; it needs order, as sorting does."""
    if is_orderable(given):
        return None
    return OperandMismatch(
        "EXPRESSION_TYPE_IS_NOT_ORDERABLE", f"cannot partition by a value of `{given}`"
    )
