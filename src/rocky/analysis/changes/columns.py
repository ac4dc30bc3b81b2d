"""Two lists of columns compared by the written rules, and the types that widen.

Works on anything with a name, a type and a nullability: fields of a source, of a live table, of
another project's interface, columns of a model. Names are compared without case, as Spark does.

A type widens when every stored value is still there: what Delta does to a stored column without
rewriting it, and nothing else. A bigint does not widen to a double, nor a date to a timestamp,
whose value would depend on a time zone.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from rocky.analysis.changes.change import Change, change_of
from rocky.language.datatypes import types as t
from rocky.language.datatypes.parts import make_nullable
from rocky.language.datatypes.types import DataType, StructField

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
        case t.DecimalType(), t.DecimalType():
            return _decimal_reason(before.precision, before.scale, after)
        case DataType(), t.DecimalType() if before.kind in INTEGRAL_DIGITS:
            return _decimal_reason(INTEGRAL_DIGITS[before.kind], 0, after)
        case t.StringType(), t.StringType():
            return _string_reason(before, after)
        case t.ArrayType(), t.ArrayType():
            return _parts_reason([("its elements", before.element, after.element)])
        case t.MapType(), t.MapType():
            keys = ("its keys", before.key, after.key)
            return _parts_reason([keys, ("its values", before.value, after.value)])
        case t.StructType(), t.StructType():
            return _struct_reason(before, after)
        case _ if after.kind in WIDER_KINDS.get(before.kind, ()):
            return f"every `{before}` is a `{after}`"
        case _:
            return None


def _decimal_reason(precision: int, scale: int, after: t.DecimalType) -> str | None:
    more, fraction = after.precision - precision, after.scale - scale
    if more >= fraction >= 0:
        return "it has as many digits on both sides of the point, or more"
    return None


def _string_reason(before: t.StringType, after: t.StringType) -> str | None:
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


def _struct_reason(before: t.StructType, after: t.StructType) -> str | None:
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


NOTHING_RENAMED: Final[Mapping[str, str]] = MappingProxyType({})


class ColumnLike(Protocol):
    """A column of a table, whoever declared it."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> DataType: ...
    @property
    def nullable(self) -> bool: ...


_Key = tuple[str, int]
"""A name without case, and how many columns of that name came before it."""


def compare_columns(
    before: Sequence[ColumnLike],
    after: Sequence[ColumnLike],
    *,
    renamed: Mapping[str, str] = NOTHING_RENAMED,
    complete: bool = True,
) -> tuple[Change, ...]:
    """What changed between two lists of columns, in the order of the first, then of the second.

    `renamed` leads from names of `before` that are known to have been renamed to those of `after`,
    both without case. When `after` is not `complete`, a column that is not in it may still exist:
    it is reported as one whose type is not known any more, never as removed.
    """
    names = {old.lower(): new.lower() for old, new in renamed.items()}
    old, new = _keyed(before), _keyed(after)
    pairs = {key: (names.get(key[0], key[0]), key[1]) for key in old}
    changes: list[Change] = []
    for key, column in old.items():
        found = new.get(pairs[key])
        if found is None:
            changes.append(_missing(column, complete=complete))
            continue
        if key[0] in names:
            changes.append(change_of("column_renamed", column.name, column.name, found.name))
        changes.extend(compare_column(column, found))
    taken = {pair for pair in pairs.values() if pair in new}
    changes.extend(
        change_of("column_added", column.name, None, shown(column))
        for key, column in new.items()
        if key not in taken
    )
    changes.extend(_reordered([pairs[key] for key in old if pairs[key] in taken], new, taken))
    return tuple(changes)


def compare_column(before: ColumnLike, after: ColumnLike) -> Iterator[Change]:
    """What changed of one column: its type, and whether it, or a part of it, can be null."""
    name, old, new = after.name, before.type, after.type
    if compared_type(old) is not compared_type(new):
        reason = widening_reason(old, new)
        rule = "column_type_changed" if reason is None else "column_type_widened"
        yield change_of(rule, name, str(old), str(new), reason or _doubt(old, new))
    changed = before.nullable != after.nullable
    if changed:
        yield _null_change(name, "", was=before.nullable)
    part = next(_null_paths(old, new, ""), None)
    # Of all parts the worst; a loss in one counts whatever the column itself has gained.
    if part is not None and not (changed and part[1]):
        yield _null_change(name, part[0], was=part[1])


def shown(column: ColumnLike) -> str:
    """A column's type as DDL has it."""
    return str(column.type) if column.nullable else f"{column.type} NOT NULL"


def _keyed(columns: Sequence[ColumnLike]) -> dict[_Key, ColumnLike]:
    seen: dict[str, int] = {}
    found: dict[_Key, ColumnLike] = {}
    for column in columns:
        name = column.name.lower()
        found[name, seen.setdefault(name, 0)] = column
        seen[name] += 1
    return found


def _missing(column: ColumnLike, *, complete: bool) -> Change:
    if complete:
        return change_of("column_removed", column.name, shown(column), None)
    detail = "the list of columns is not complete, so it may be gone"
    return change_of("column_type_changed", column.name, shown(column), str(t.UNKNOWN), detail)


def _doubt(before: DataType, after: DataType) -> str:
    if after is t.UNKNOWN:
        return "its type cannot be told any more"
    return "its type could not be told before" if before is t.UNKNOWN else ""


def _null_change(name: str, path: str, *, was: bool) -> Change:
    rule = "column_nullability_tightened" if was else "column_nullability_loosened"
    words = ("NULL", "NOT NULL")
    detail = f"`{name}{path}`" if path else ""
    return change_of(rule, name, words[not was], words[was], detail)


def _null_paths(before: DataType, after: DataType, path: str) -> Iterator[tuple[str, bool]]:
    """Parts of two types that both have and that differ in being nullable, losses first."""
    found = sorted(_walk_nulls(before, after, path), key=lambda each: each[1])
    yield from found


def _walk_nulls(before: DataType, after: DataType, path: str) -> Iterator[tuple[str, bool]]:
    match before, after:
        case t.ArrayType(), t.ArrayType():
            if before.contains_null != after.contains_null:
                yield f"{path}.element", before.contains_null
            yield from _walk_nulls(before.element, after.element, f"{path}.element")
        case t.MapType(), t.MapType():
            if before.contains_null != after.contains_null:
                yield f"{path}.value", before.contains_null
            yield from _walk_nulls(before.key, after.key, f"{path}.key")
            yield from _walk_nulls(before.value, after.value, f"{path}.value")
        case t.StructType(), t.StructType():
            fields = {field.name.lower(): field for field in after.fields}
            for field in before.fields:
                other = fields.get(field.name.lower())
                if other is None:
                    continue
                if field.nullable != other.nullable:
                    yield f"{path}.{field.name}", field.nullable
                yield from _walk_nulls(field.type, other.type, f"{path}.{field.name}")
        case _:
            return


def _reordered(
    kept: Sequence[_Key], new: Mapping[_Key, ColumnLike], taken: set[_Key]
) -> Iterator[Change]:
    """The fewest columns that must move to lead from one order to the other.

    `kept` are the keys that both sides have, in the old order. Columns that came or went move
    nobody.
    """
    was = {key: place for place, key in enumerate(kept)}
    now = [key for key in new if key in taken]
    still = _longest_run([was[key] for key in now])
    for place, key in enumerate(now):
        if was[key] not in still:
            old, changed = was[key] + 1, place + 1
            detail = f"of {len(now)} columns that both have"
            yield change_of("column_reordered", new[key].name, str(old), str(changed), detail)


def _longest_run(places: Sequence[int]) -> set[int]:
    """The members of a longest increasing run; the same one for the same places."""
    tails: list[int] = []
    lengths: list[int] = []
    for place in places:
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
        lengths.append(at + 1)
    run: set[int] = set()
    wanted, least = len(tails), len(places) + 1
    for place, length in zip(reversed(places), reversed(lengths), strict=True):
        if length == wanted and place < least:
            run.add(place)
            wanted, least = wanted - 1, place
    return run
