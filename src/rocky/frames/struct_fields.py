"""`withField` and `dropFields`: a struct is put together again, null where it was null."""

from rocky.frames.fragments import Fragment, joined, sql
from rocky.frames.layers import written
from rocky.frames.literals import NoSql
from rocky.frames.scope import Scope
from rocky.frames.sites import Site
from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_text


def changed_struct(
    value: Fragment,
    found: tuple[t.DataType, bool],
    change: tuple[list[str], Fragment | None],
    scope: Scope,
    site: Site | None,
) -> Fragment:
    """A struct of the type and nullability `found` with one of its fields new, or gone."""
    kind, nullable = found
    (name, *path), new = change
    if not isinstance(kind, t.StructType):
        raise NoSql("a field of a struct that is changed and whose type is not known")
    if path:
        field = next((each for each in kind.fields if each.name.lower() == name.lower()), None)
        if field is None:
            raise NoSql("a field of a struct that is changed and whose type is not known")
        inner = sql(value, f".{written(field.name)}")
        below = (field.type, field.nullable or nullable)
        name, new = field.name, changed_struct(inner, below, (path, new), scope, site)
    fields = _updated(kind, name, new)
    if nullable and any(not each.nullable for each, own in fields if own is None):
        return _declared_struct(value, fields, scope, site)
    made = sql(
        "named_struct(",
        joined(
            ", ",
            [
                sql(f"{quote_text(each.name)}, ", own or sql(value, f".{written(each.name)}"))
                for each, own in fields
            ],
        ),
        ")",
        site=site,
    )
    if not nullable:
        return made
    return sql("CASE WHEN ", value, " IS NOT NULL THEN ", made, " END", site=site)


def _updated(
    kind: t.StructType, name: str, new: Fragment | None
) -> list[tuple[StructField, Fragment | None]]:
    """The fields of a struct, each with its new value where it has one."""
    key = name.lower()
    made: list[tuple[StructField, Fragment | None]] = []
    placed = new is None
    for each in kind.fields:
        if each.name.lower() != key:
            made.append((each, None))
        elif new is not None:
            placed = True
            made.append((StructField(name, t.UNKNOWN, True), new))
    if not placed:
        made.append((StructField(name, t.UNKNOWN, True), new))
    return made


def _declared_struct(
    value: Fragment,
    fields: list[tuple[StructField, Fragment | None]],
    scope: Scope,
    site: Site | None,
) -> Fragment:
    """A struct that may be null with fields that may not: SQL has no way to put one together."""
    kinds = []
    given = [value]
    for each, own in fields:
        if own is None:
            kinds.append(each)
            continue
        given.append(own)
        kinds.append(StructField(each.name, *scope.lowering.type_of(own, scope.source)))
    name = scope.lowering.function("update_fields", t.struct(tuple(kinds)), b"fields")
    return sql(f"{name}(", joined(", ", given), ")", site=site)
