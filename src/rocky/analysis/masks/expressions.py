"""Mask expressions: what a strategy makes of a column of a type, as SQL that keeps that type.

Null stays null, and a value that was there is still there. Where a type has no value that would
hide another one, or none that would keep keys apart, the mask is refused rather than bent.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rocky.language.datatypes.text import format_type
from rocky.language.datatypes.types import (
    INTEGRAL_KINDS,
    NUMERIC_KINDS,
    STRING_KINDS,
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
)
from rocky.language.names import quote_name, quote_text
from rocky.project.configuration.masks import DATE_UNITS, MaskStrategy

HIDDEN: Final = "***"
HASH_LENGTH: Final = 64
HASH_FUNCTIONS: Final = {
    "string": "rocky_keyed_hash",
    "binary": "rocky_keyed_hash_bytes",
    "bigint": "rocky_keyed_hash_number",
}
"""The function of a session that hashes a value with the key, by the kind of the value."""
HASH_ARRAYS: Final = {kind: f"{name}s" for kind, name in HASH_FUNCTIONS.items()}
"""Those that hash every element of an array: Spark calls no such function inside a lambda."""
HASH_NAMES: Final = frozenset((*HASH_FUNCTIONS.values(), *HASH_ARRAYS.values()))

_FIXED: Final = {
    "boolean": "FALSE",
    "binary": "X''",
    "date": "DATE'1970-01-01'",
    "timestamp": "timestamp_micros(0)",
    "timestamp_ntz": "TIMESTAMP_NTZ'1970-01-01 00:00:00'",
    "time": "TIME'00:00:00'",
}
_LIMITS: Final = {"tinyint": 1 << 7, "smallint": 1 << 15, "int": 1 << 31, "bigint": 1 << 63}


class Unmaskable(ValueError):
    """A strategy that does not fit a type. `help` names one that does."""

    def __init__(self, message: str, help: str) -> None:  # noqa: A002 - as in diagnostics
        super().__init__(message)
        self.help = help


@dataclass(frozen=True, slots=True)
class _Value:
    """A value to be masked: its SQL, its type, and how many arrays stand around it."""

    sql: str
    type: DataType
    nullable: bool
    arrays: int = 0


Path = tuple[str, ...]
"""The fields, from outside in, that lead to a value inside a column; none for the column itself."""
Masks = Mapping[Path, MaskStrategy]


def mask_expression(strategy: MaskStrategy, column: StructField, path: str = "") -> str:
    """The SQL that stands in a column's place, over the column itself; `path` is a field of it.

    Raises Unmaskable.
    """
    return mask_fields({path: strategy}, column)


def mask_fields(masks: Mapping[str, MaskStrategy], column: StructField) -> str:
    """The same for several fields, each by its dotted path; "" is the column. Raises Unmaskable."""
    value = _Value(quote_name(column.name), column.type, column.nullable)
    split = {tuple(path.lower().split(".")) if path else (): each for path, each in masks.items()}
    return _mask_paths(split, value)


def _mask_paths(masks: Masks, value: _Value) -> str:
    whole = masks.get(())
    if whole is not None:
        return _mask(whole, value)
    kind = value.type
    if isinstance(kind, ArrayType):
        return _each(masks, value, kind)
    first = next(iter(masks))[0]
    if not isinstance(kind, StructType):
        raise Unmaskable(
            f"`{first}` is no field of a `{kind}`, and only fields of structs are masked alone",
            "classify the whole column",
        )
    known = {field.name.lower() for field in kind.fields}
    for path in masks:
        if path[0] not in known:
            raise Unmaskable(f"`{kind}` has no field `{path[0]}`", "classify a field that is there")
    return _rebuilt(value, kind, lambda field, inner: _mask_below(masks, field, inner))


def _mask_below(masks: Masks, field: StructField, inner: _Value) -> str:
    below = {path[1:]: each for path, each in masks.items() if path[0] == field.name.lower()}
    return _mask_paths(below, inner) if below else inner.sql


def _rebuilt(value: _Value, kind: StructType, made: Callable[[StructField, _Value], str]) -> str:
    """A struct whose fields are made anew."""
    parts = []
    for field in kind.fields:
        inner = _Value(
            f"{value.sql}.{quote_name(field.name)}", field.type, field.nullable, value.arrays
        )
        parts.append(f"{quote_text(field.name)}, {made(field, inner)}")
    return _kept(value, f"named_struct({', '.join(parts)})")


def _each(masks: Masks, value: _Value, kind: ArrayType) -> str:
    """An array whose elements, or fields of each, are masked."""
    hashed = {path for path, each in masks.items() if each.name == "hash"}
    others = {path: each for path, each in masks.items() if path not in hashed}
    found = value.sql
    if others:
        name = f"e{value.arrays}"
        inner = _Value(name, kind.element, kind.contains_null, value.arrays + 1)
        found = f"transform({value.sql}, {name} -> {_mask_paths(others, inner)})"
    for path in sorted(hashed):
        found = _hashed_array(path, value, kind, found)
    return found


def _hashed_array(path: Path, value: _Value, kind: ArrayType, found: str) -> str:
    """An array with hashes in it, in place of what stands there in `found`."""
    if value.arrays or _holds_array(kind.element):
        raise Unmaskable(
            f"`hash` reaches into one array, not into arrays of arrays (`{kind}`)",
            "use `redact`, or unnest it in the model's query",
        )
    leaves = [(way, leaf) for way, leaf in _leaves(kind.element) if _begins(way, path)]
    if not leaves:
        raise Unmaskable(
            f"`{kind.element}` has no field `{path[0]}`", "classify a field that is there"
        )
    for way, leaf in leaves:
        function = HASH_ARRAYS[_hashable(leaf)]
        reached = "".join(f".{quote_name(each)}" for each in way)
        hashes = f"{function}(transform({value.sql}, e -> e{reached}))"
        element = _Value("e", kind.element, kind.contains_null)
        found = f"zip_with({found}, {hashes}, (e, h) -> {_with_field(element, way, 'h')})"
    return found


def _begins(way: Path, path: Path) -> bool:
    return tuple(map(str.lower, way[: len(path)])) == path


def _leaves(kind: DataType) -> list[tuple[Path, DataType]]:
    """The ways through structs to the values in a type."""
    if not isinstance(kind, StructType):
        return [((), kind)]
    return [
        ((field.name, *way), leaf) for field in kind.fields for way, leaf in _leaves(field.type)
    ]


def _holds_array(kind: DataType) -> bool:
    return any(isinstance(leaf, ArrayType | MapType) for _, leaf in _leaves(kind))


def _with_field(value: _Value, way: Path, sql: str) -> str:
    """A struct with one value in it replaced."""
    if not way:
        return sql
    assert isinstance(value.type, StructType)
    return _rebuilt(
        value,
        value.type,
        lambda field, inner: (
            _with_field(inner, way[1:], sql) if field.name == way[0] else inner.sql
        ),
    )


def _kept(value: _Value, sql: str) -> str:
    """What stands for a value, and null for a null."""
    return f"IF({value.sql} IS NULL, {value.sql}, {sql})" if value.nullable else sql


def _mask(strategy: MaskStrategy, value: _Value) -> str:
    kind = value.type
    if kind.kind == "unknown":
        raise Unmaskable("its type is not known", "declare it, or cast the column in the query")
    if strategy.name == "none" or kind.kind == "void":
        return value.sql
    if strategy.name == "null":
        return _nothing(value)
    if strategy.name == "sql":
        return _own(strategy, value)
    if strategy.name == "redact":
        return _kept(value, _fixed(value))
    if isinstance(kind, StructType):
        return _rebuilt(value, kind, lambda _, inner: _mask(strategy, inner))
    if isinstance(kind, ArrayType):
        return _each({(): strategy}, value, kind)
    if isinstance(kind, MapType):
        raise Unmaskable(
            f"`{strategy}` of a `{kind}` would show its keys, or let some of them run together",
            "use `redact`, which empties it, or `null`",
        )
    return _SCALARS[strategy.name](strategy, value)


def _nothing(value: _Value) -> str:
    if not value.nullable:
        raise Unmaskable(
            "`null` needs a value that may be null, and this one is NOT NULL", "use `redact`"
        )
    return f"CAST(NULL AS {format_type(value.type)})"


def _own(strategy: MaskStrategy, value: _Value) -> str:
    if value.arrays:
        raise Unmaskable(
            "an expression of one's own masks a value, not what lies in arrays",
            "classify the whole column, and write the expression over the array",
        )
    # A lambda, so that `value` means this one whatever other columns are called.
    return f"transform(array({value.sql}), value -> (\n{strategy.argument}\n))[0]"


def _fixed(value: _Value) -> str:
    """One value of a type, the same for all."""
    kind = value.type
    if isinstance(kind, StructType):
        parts = (f"{quote_text(each.name)}, {_fixed_field(value, each)}" for each in kind.fields)
        return f"named_struct({', '.join(parts)})"
    if isinstance(kind, ArrayType):
        return f"CAST(array() AS {format_type(kind)})"
    if isinstance(kind, MapType):
        return f"CAST(map() AS {format_type(kind)})"
    if isinstance(kind, StringType):
        length = kind.length if kind.length is not None else len(HIDDEN)
        return _typed(quote_text(HIDDEN[:length]), kind)
    if kind.kind in NUMERIC_KINDS:
        return f"CAST(0 AS {kind})"
    if kind.kind in _FIXED:
        return f"CAST({_FIXED[kind.kind]} AS {kind})"
    raise Unmaskable(f"no value of a `{kind}` stands for a hidden one", "use `null`")


def _fixed_field(value: _Value, field: StructField) -> str:
    inner = _Value(f"{value.sql}.{quote_name(field.name)}", field.type, field.nullable)
    return _kept(inner, _fixed(inner))


def _typed(sql: str, kind: StringType) -> str:
    return sql if kind.collation == "UTF8_BINARY" else f"CAST({sql} AS {format_type(kind)})"


def _partial(strategy: MaskStrategy, value: _Value) -> str:
    kind = _text(strategy, value)
    x = value.sql
    shown = f"concat(left({x}, 2), '{HIDDEN}', right({x}, 2))"
    return _kept(value, _typed(f"IF(length({x}) < 8, '{HIDDEN}', {shown})", kind))


def _text(strategy: MaskStrategy, value: _Value) -> StringType:
    kind = value.type
    if not isinstance(kind, StringType):
        raise Unmaskable(
            f"`{strategy}` masks texts, and this is a `{kind}`", f"use {_fitting(kind)}"
        )
    if kind.length is not None and kind.length < 7:
        raise Unmaskable(
            f"`{strategy}` gives up to 7 characters, too many for a `{kind}`", "use `redact`"
        )
    return kind


def _fitting(kind: DataType) -> str:
    """The strategies for a type, in words."""
    if kind.kind in STRING_KINDS:
        return "`redact`, `partial`, `hash` or `truncate(n)`"
    if kind.kind == "bigint":
        return "`redact`, `hash`, `bucket(n)` or `null`"
    if kind.kind in NUMERIC_KINDS:
        return "`redact`, `bucket(n)` or `null`"
    if kind.kind in ("date", "timestamp", "timestamp_ntz"):
        return "`redact`, `date_trunc(unit)` or `null`"
    if kind.kind == "binary":
        return "`redact`, `hash`, `truncate(n)` or `null`"
    return "`null`" if kind.kind not in _FIXED else "`redact` or `null`"


def _hashable(kind: DataType) -> str:
    """The kind that a value is hashed as."""
    if isinstance(kind, StringType):
        if kind.collation != "UTF8_BINARY":
            raise Unmaskable(
                f"values that a `{kind}` takes for equal would get different hashes",
                "compare them as plain `string` in the query, or use `redact`",
            )
        if kind.length is not None and kind.length < HASH_LENGTH:
            raise Unmaskable(
                f"a hash has {HASH_LENGTH} characters, too many for a `{kind}`",
                "make it a `string`, or use `redact`",
            )
        return "string"
    if kind.kind in HASH_FUNCTIONS:
        return kind.kind
    reason = f"a `{kind}` has no room for a hash"
    if kind.kind in INTEGRAL_KINDS:
        reason += ": different values would get the same one"
        raise Unmaskable(reason, f"cast it to `bigint` in the query, or use {_fitting(kind)}")
    raise Unmaskable(reason, f"use {_fitting(kind)}")


def _hash(_: MaskStrategy, value: _Value) -> str:
    return f"{HASH_FUNCTIONS[_hashable(value.type)]}({value.sql})"


def _sha2(_: MaskStrategy, value: _Value) -> str:
    kind = _hashable(value.type)
    if kind == "bigint":
        raise Unmaskable("`sha2` gives a text, and this is a `bigint`", "use `hash`")
    found = f"sha2({value.sql}, 256)"
    return found if kind == "string" else f"unhex({found})"


def _truncate(strategy: MaskStrategy, value: _Value) -> str:
    kind = value.type
    if isinstance(kind, StringType):
        return _typed(f"left({value.sql}, {strategy.argument})", kind)
    if kind.kind == "binary":
        return f"substring({value.sql}, 1, {strategy.argument})"
    raise Unmaskable(f"`truncate` cuts texts, and this is a `{kind}`", f"use {_fitting(kind)}")


def _date_trunc(strategy: MaskStrategy, value: _Value) -> str:
    kind, unit = value.type.kind, strategy.argument
    if kind == "date":
        if unit not in DATE_UNITS:
            raise Unmaskable(
                f"cutting a date to the {unit} hides nothing", "use `date_trunc(month)`"
            )
        return f"trunc({value.sql}, '{unit}')"
    if kind == "timestamp":
        return f"date_trunc('{unit}', {value.sql})"
    if kind == "timestamp_ntz":
        return f"CAST(date_trunc('{unit}', {value.sql}) AS TIMESTAMP_NTZ)"
    raise Unmaskable(
        f"`date_trunc` cuts dates and times, and this is a `{value.type}`",
        f"use {_fitting(value.type)}",
    )


def _bucket(strategy: MaskStrategy, value: _Value) -> str:
    kind, width, x = value.type, int(strategy.argument), value.sql
    if kind.kind in INTEGRAL_KINDS:
        limit = _LIMITS[kind.kind]
        if width >= limit:
            raise Unmaskable(f"a bucket of {width} is wider than a `{kind}`", "use `redact`")
        lowest = f"CAST(-{limit} AS {kind})" if kind.kind != "bigint" else "(-9223372036854775808L)"
        # The lowest bucket would begin below the lowest number.
        low = f"try_subtract({x}, pmod({x}, CAST({width} AS {kind})))"
        return _kept(value, f"coalesce({low}, {lowest})")
    if isinstance(kind, DecimalType):
        if width >= 10 ** (kind.precision - kind.scale):
            raise Unmaskable(f"a bucket of {width} is wider than a `{kind}`", "use `redact`")
        # Down to the bucket, and up to it where the type ends first.
        down = f"try_subtract({x}, pmod({x}, CAST({width} AS {kind})))"
        return _kept(value, f"coalesce(TRY_CAST({down} AS {kind}), CAST(0 AS {kind}))")
    if kind.kind in NUMERIC_KINDS:
        return f"CAST({x} - pmod({x}, CAST({width} AS {kind})) AS {kind})"
    raise Unmaskable(f"`bucket` is for numbers, and this is a `{kind}`", f"use {_fitting(kind)}")


_SCALARS: Final = {
    "partial": _partial,
    "hash": _hash,
    "sha2": _sha2,
    "truncate": _truncate,
    "date_trunc": _date_trunc,
    "bucket": _bucket,
}
