"""Casts: which type may become which, and when a cast can turn a value into null.

A cast from string keeps Spark's old notion of nullability: `CAST(s AS INT)` is nullable even when
`s` is not and even in ANSI mode, where the cast fails rather than gives null. Arrays, maps and
structs are merged part by part; a part whose cast may fail becomes nullable, and a map whose key
could become null has no common type at all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from rocky.language.datatypes import types as t
from rocky.language.datatypes.safe_casts import can_up_cast
from rocky.language.datatypes.types import DataType, StructField

COMPLEX_KINDS: Final = frozenset({"array", "map", "struct"})
_EXACT_KINDS: Final = t.INTEGRAL_KINDS | {"decimal"}
_ANSI_INTERVALS: Final = frozenset({"interval_ym", "interval_dt"})
_TIMESTAMPS: Final = frozenset({"timestamp", "timestamp_ntz"})

# Targets besides string (every type casts to it), by the kind of the source.
_ANSI_TARGETS: Final[dict[str, frozenset[str]]] = {
    "boolean": t.NUMERIC_KINDS | {"boolean", "variant"},
    **dict.fromkeys(
        _EXACT_KINDS, t.NUMERIC_KINDS | _ANSI_INTERVALS | {"boolean", "timestamp", "variant"}
    ),
    **dict.fromkeys(("float", "double"), t.NUMERIC_KINDS | {"boolean", "timestamp", "variant"}),
    "string": t.NUMERIC_KINDS
    | t.INTERVAL_KINDS
    | _TIMESTAMPS
    | {"boolean", "binary", "date", "time", "variant"},
    "binary": frozenset({"binary", "variant"}),
    "date": _TIMESTAMPS | {"date", "variant"},
    "timestamp": t.NUMERIC_KINDS | _TIMESTAMPS | {"date", "variant"},
    "timestamp_ntz": _TIMESTAMPS | {"date", "variant"},
    "time": _EXACT_KINDS | {"time", "variant"},
    "interval_ym": _EXACT_KINDS | {"interval_ym"},
    "interval_dt": _EXACT_KINDS | {"interval_dt"},
    "interval": frozenset({"interval"}),
}
_LEGACY_TARGETS: Final[dict[str, frozenset[str]]] = {
    **_ANSI_TARGETS,
    "boolean": _ANSI_TARGETS["boolean"] | {"timestamp"},
    **{kind: _ANSI_TARGETS[kind] | {"binary"} for kind in t.INTEGRAL_KINDS},
    "date": _ANSI_TARGETS["date"] | t.NUMERIC_KINDS | {"boolean"},
    "timestamp": _ANSI_TARGETS["timestamp"] | {"boolean"},
}


@dataclass(frozen=True, slots=True)
class CastRefusal:
    """Why Spark does not cast: its error condition and our words for it."""

    condition: str
    message: str


def expression_type(given: DataType) -> DataType:
    """The type as expressions see it: CHAR and VARCHAR are read as string."""
    return t.STRING if given.kind == "char" or given.kind == "varchar" else given


# -- may it be cast ---------------------------------------------------------------------------

_CASTABLE: dict[tuple[DataType, DataType, bool], bool] = {}


def can_cast(source: DataType, target: DataType, *, ansi: bool = True) -> bool:
    """Whether an explicit CAST between the two types is allowed."""
    if source is target:
        return True
    key = (source, target, ansi)
    found = _CASTABLE.get(key)
    if found is None:
        found = _CASTABLE[key] = _can_cast(
            expression_type(source), expression_type(target), ansi=ansi
        )
    return found


def can_try_cast(source: DataType, target: DataType) -> bool:
    """Whether TRY_CAST is allowed: as ANSI casts, but a map key must not become null."""
    source, target = expression_type(source), expression_type(target)
    if isinstance(source, t.ArrayType) and isinstance(target, t.ArrayType):
        return can_cast(source, target) and can_try_cast(source.element, target.element)
    if isinstance(source, t.MapType) and isinstance(target, t.MapType):
        return (
            can_cast(source, target)
            and can_try_cast(source.key, target.key)
            and can_try_cast(source.value, target.value)
            and not force_nullable(source.key, target.key)
            and (target.contains_null or not force_nullable(source.value, target.value))
        )
    if isinstance(source, t.StructType) and isinstance(target, t.StructType):
        return can_cast(source, target) and all(
            can_try_cast(a.type, b.type) for a, b in zip(source.fields, target.fields, strict=True)
        )
    return can_cast(source, target)


def _can_cast(source: DataType, target: DataType, *, ansi: bool) -> bool:
    if source is target or source is t.UNKNOWN or target is t.UNKNOWN:
        return True
    if source is t.NULL or target.kind in t.STRING_KINDS:
        return True
    if source.kind == "variant":
        return _from_variant(target)
    if target.kind == "variant":
        return _to_variant(source)
    if source.kind in COMPLEX_KINDS:
        return source.kind == target.kind and _can_cast_complex(source, target, ansi=ansi)
    kind = "string" if source.kind in t.STRING_KINDS else source.kind
    return target.kind in (_ANSI_TARGETS if ansi else _LEGACY_TARGETS)[kind]


def _can_cast_complex(source: DataType, target: DataType, *, ansi: bool) -> bool:
    if isinstance(source, t.ArrayType) and isinstance(target, t.ArrayType):
        return can_cast(source.element, target.element, ansi=ansi) and _room_for_null(
            source.element, target.element, source.contains_null, target.contains_null, ansi=ansi
        )
    if isinstance(source, t.MapType) and isinstance(target, t.MapType):
        return (
            can_cast(source.key, target.key, ansi=ansi)
            and (ansi or not force_nullable(source.key, target.key))
            and can_cast(source.value, target.value, ansi=ansi)
            and _room_for_null(
                source.value, target.value, source.contains_null, target.contains_null, ansi=ansi
            )
        )
    left, right = cast("t.StructType", source).fields, cast("t.StructType", target).fields
    return len(left) == len(right) and all(
        can_cast(a.type, b.type, ansi=ansi)
        and _room_for_null(a.type, b.type, a.nullable, b.nullable, ansi=ansi)
        for a, b in zip(left, right, strict=True)
    )


def _room_for_null(
    source: DataType,
    target: DataType,
    source_null: bool,  # noqa: FBT001 - parallel pairs
    target_null: bool,  # noqa: FBT001 - parallel pairs
    *,
    ansi: bool,
) -> bool:
    if target_null:
        return True
    return not source_null and (ansi or not force_nullable(source, target))


def _from_variant(target: DataType) -> bool:
    match target:
        case t.ArrayType(element=element):
            return _from_variant(element)
        case t.MapType(key=key, value=value):
            return key.kind in t.STRING_KINDS and _from_variant(value)
        case t.StructType(fields=fields):
            return all(_from_variant(field.type) for field in fields)
        case _:
            return target.kind not in t.INTERVAL_KINDS and target is not t.NULL


def _to_variant(source: DataType) -> bool:
    if isinstance(source, t.ArrayType):
        return source.element is not t.NULL and _to_variant(source.element)
    return source.kind not in t.INTERVAL_KINDS and source.kind not in {"map", "struct"}


# -- may it give null -------------------------------------------------------------------------

_FORCED: dict[tuple[DataType, DataType], bool] = {}


def force_nullable(source: DataType, target: DataType) -> bool:
    """Whether Spark counts a cast as able to turn a value into null (the same in both modes)."""
    if source is target:
        return False
    key = (source, target)
    found = _FORCED.get(key)
    if found is None:
        found = _FORCED[key] = _force_nullable(expression_type(source), expression_type(target))
    return found


def cast_nullable(source: DataType, target: DataType, nullable: bool) -> bool:  # noqa: FBT001 - the operand's own flag
    """Nullability of `CAST(x AS target)`."""
    return nullable or force_nullable(source, target)


def try_cast_nullable(source: DataType, target: DataType, nullable: bool) -> bool:  # noqa: FBT001 - the operand's own flag
    """Nullability of `TRY_CAST(x AS target)`: only casts that cannot fail keep NOT NULL."""
    if nullable or (source.kind in t.STRING_KINDS and target.kind == "binary"):
        return nullable
    decimal_to_integer = source.kind == "decimal" and target.kind in t.INTEGRAL_KINDS
    return decimal_to_integer or not can_up_cast(source, target)


def _force_nullable(source: DataType, target: DataType) -> bool:
    if source is target or source is t.NULL:
        return False
    if source is t.UNKNOWN or target is t.UNKNOWN or source.kind == "variant":
        return True
    if source.kind in t.STRING_KINDS:
        return target.kind not in t.STRING_KINDS and target.kind != "binary"
    if target.kind in t.STRING_KINDS:
        return False
    if target.kind == "date":
        return source.kind != "timestamp"
    if source.kind == "date":
        return target.kind != "timestamp"
    if target.kind == "interval":
        return True
    if isinstance(target, t.DecimalType):
        return not _fits_decimal(source, target)
    return _may_lose_number(source.kind, target.kind)


def _may_lose_number(source: str, target: str) -> bool:
    if source in t.FRACTIONAL_KINDS:
        return target in t.INTEGRAL_KINDS or (source != "decimal" and target == "timestamp")
    if source == "timestamp":
        return target in {"tinyint", "smallint", "int"}
    return source == "time" and target in {"tinyint", "smallint"}


def _fits_decimal(source: DataType, target: t.DecimalType) -> bool:
    if source.kind == "boolean":
        return target.precision > target.scale
    if isinstance(source, t.DecimalType):
        return (
            t.is_wider_decimal(target, source)
            or source.precision - source.scale < target.precision - target.scale
        )
    return source.kind in t.INTEGRAL_KINDS and t.is_wider_decimal(target, t.decimal_for(source))


def cast_refusal(
    source: DataType, target: DataType, *, ansi: bool = True, is_try: bool = False
) -> CastRefusal | None:
    """The reason Spark refuses `CAST(source AS target)` or TRY_CAST; None when it does not."""
    allowed = can_try_cast(source, target) if is_try else can_cast(source, target, ansi=ansi)
    if allowed:
        return None
    suggestion = _suggestion(
        expression_type(source), expression_type(target), ansi=ansi and not is_try
    )
    return CastRefusal(f"DATATYPE_MISMATCH.{suggestion}", f"cannot cast `{source}` to `{target}`")


def _suggestion(source: DataType, target: DataType, *, ansi: bool) -> str:
    if source.kind in t.NUMERIC_KINDS and target.kind == "date":
        return "CAST_WITH_FUNC_SUGGESTION"
    if source.kind == "date" and target.kind in t.NUMERIC_KINDS:
        return "CAST_WITH_FUNC_SUGGESTION"
    if ansi and can_cast(source, target, ansi=False):
        return "CAST_WITH_CONF_SUGGESTION"
    return "CAST_WITHOUT_SUGGESTION"


Finder = Callable[[DataType, DataType], DataType | None]
"""How two parts find their common type."""


def merge_parts(a: DataType, b: DataType, find: Finder) -> DataType | None:
    """The common type of two types of one shape; None for any others."""
    if isinstance(a, t.ArrayType) and isinstance(b, t.ArrayType):
        element = find(a.element, b.element)
        if element is None:
            return None
        return t.array(
            element,
            a.contains_null
            or b.contains_null
            or force_nullable(a.element, element)
            or force_nullable(b.element, element),
        )
    if isinstance(a, t.MapType) and isinstance(b, t.MapType):
        return _map_type(a, b, find)
    if isinstance(a, t.StructType) and isinstance(b, t.StructType):
        return _struct_type(a, b, find)
    return None


def _map_type(a: t.MapType, b: t.MapType, find: Finder) -> DataType | None:
    key = find(a.key, b.key)
    if key is None or force_nullable(a.key, key) or force_nullable(b.key, key):
        return None
    value = find(a.value, b.value)
    if value is None:
        return None
    return t.map_of(
        key,
        value,
        a.contains_null
        or b.contains_null
        or force_nullable(a.value, value)
        or force_nullable(b.value, value),
    )


def _struct_type(a: t.StructType, b: t.StructType, find: Finder) -> DataType | None:
    if len(a.fields) != len(b.fields):
        return None
    merged: list[StructField] = []
    for left, right in zip(a.fields, b.fields, strict=True):
        if left.name.lower() != right.name.lower():
            return None
        found = find(left.type, right.type)
        if found is None:
            return None
        nullable = (
            left.nullable
            or right.nullable
            or force_nullable(left.type, found)
            or force_nullable(right.type, found)
        )
        merged.append(StructField(left.name, found, nullable))
    return t.struct(tuple(merged))
