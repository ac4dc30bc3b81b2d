"""Fields and stars: the way into structs by name, and what `*`, `t.*` and `struct.*` give."""

import re
from typing import Any, Final

from sqlglot import exp

from rocky.diagnostics import Code
from rocky.diagnostics.suggestion import closest
from rocky.language.binder.expr import (
    DIRECT,
    EXPRESSION,
    WHOLE,
    Column,
    Expr,
    FieldValue,
    Sources,
    derived,
    unknown,
)
from rocky.language.binder.scopes import EMPTY_RELATION, FROM_CLAUSE, Binding, Scope
from rocky.language.binder.shares import Way
from rocky.language.datatypes import types as t


def word_of(identifier: Any) -> str:
    return (
        str(identifier.args.get("this", ""))
        if identifier.__class__ is exp.Identifier
        else identifier.name
    )


def has_path(kind: t.DataType, path: tuple[str, ...]) -> bool:
    """Whether fields of these names can be taken from a value, one inside the other."""
    for name in path:
        if isinstance(kind, t.ArrayType):
            kind = kind.element
        if isinstance(kind, t.MapType):
            kind = kind.value
        elif isinstance(kind, t.StructType):
            field = next((f for f in kind.fields if f.name.lower() == name), None)
            if field is None:
                return False
            kind = field.type
        else:
            return kind is t.UNKNOWN
    return True


def bind_fields(base: Expr, identifiers: list[Any], node: exp.Expr, scope: Scope) -> Expr:
    """The value inside structs that a path of names leads to."""
    for identifier in identifiers:
        base = bind_field(base, word_of(identifier), node, scope)
    return base


def bind_field(base: Expr, name: str, node: exp.Expr, scope: Scope) -> Expr:
    """One step into a struct, a map by key, or an array of structs."""
    kind = base.type
    if isinstance(kind, t.StructType):
        field = _field(kind, name, node, scope)
        if field is None:
            return unknown([base])
        scope.binding.notes.append(("struct-field", node))
        return _value_of(base, field, field.type, base.nullable or field.nullable, scope)
    if isinstance(kind, t.ArrayType) and isinstance(kind.element, t.StructType):
        field = _field(kind.element, name, node, scope)
        if field is None:
            return unknown([base])
        contains_null = kind.contains_null or field.nullable
        made = t.array(field.type, contains_null)
        return _value_of(base, field, made, base.nullable, scope)
    if isinstance(kind, t.MapType):
        found = derived(kind.value, True, [base], EXPRESSION)
        found.name = name
        return found
    if kind is t.UNKNOWN or kind is t.VARIANT:
        return unknown([base])
    return scope.binding.error(
        Code.TYPE_ERROR,
        f"`{name}` cannot be taken from a value of type `{kind}`",
        node,
        "INVALID_EXTRACT_BASE_FIELD_TYPE",
        help="only structs, maps and arrays of structs have fields",
    )


def _value_of(
    base: Expr,
    field: t.StructField,
    kind: t.DataType,
    nullable: bool,  # noqa: FBT001 - as in Expr
    scope: Scope,
) -> Expr:
    """A field of a value; of a column of a table, or a field of one, it is known which."""
    found = derived(kind, nullable, [base], EXPRESSION)
    narrowed = _narrowed(base, field.name, scope)
    if narrowed is not None:
        found = FieldValue(kind, nullable, narrowed, found.flags, found.value, found.foldable)
    found.name = field.name
    return found


def _narrowed(base: Expr, name: str, scope: Scope) -> Sources | None:
    """The sources of a field of a value; None where the value is not just what a table has.

    The column of a table may come through a union with a struct of other names: its own type says
    whether these are the names that the table knows.
    """
    binding = scope.binding
    inside = base.__class__ is FieldValue
    if not inside and base.__class__ is not Column:
        return None
    made = []
    for source in base.sources:
        path, effect = binding.shares.way_of(source)
        if not inside:
            origin = (source & WHOLE) >> 3
            if source & 7 != DIRECT or path or _type_in_table(origin, binding) != base.type.text:
                return None
        path = f"{path}.{name.lower()}" if path else name.lower()
        made.append(binding.shares.put((source & ~7) | EXPRESSION, Way(path, effect)))
    return frozenset(made)


def _type_in_table(origin: int, binding: Binding) -> str | None:
    """The text of the type that a column has in its table; None where no table says."""
    name, column = binding.origins[origin]
    table = binding.reads.get(name)
    found = (each.type.text for each in table.fields if each.name == column) if table else ()
    return next(iter(found), None)


def _field(kind: t.StructType, name: str, node: exp.Expr, scope: Scope) -> t.StructField | None:
    key = name.lower()
    matches = [field for field in kind.fields if field.name.lower() == key]
    if len(matches) == 1:
        return matches[0]
    if matches:
        scope.binding.error(
            Code.AMBIGUOUS_COLUMN,
            f"the struct has {len(matches)} fields called `{name}`",
            node,
            "AMBIGUOUS_REFERENCE_TO_FIELDS",
        )
        return None
    near = closest(name, [field.name for field in kind.fields])
    scope.binding.error(
        Code.UNKNOWN_COLUMN,
        f"no field `{name}` in `{kind}`",
        node,
        "FIELD_NOT_FOUND",
        help=f"there is a field `{near}`"
        if near
        else f"its fields are {', '.join(f'`{field.name}`' for field in kind.fields[:8])}",
    )
    return None


_EXCEPT_LIST: Final = re.compile(r"(?i)\s*except\s*\(")


def expand_star(node: Any, scope: Scope) -> list[Column]:
    """The columns a star stands for, in order."""
    star = node if node.__class__ is exp.Star else node.args["this"]
    path = tuple(
        node.args[part].name.lower()
        for part in ("catalog", "db", "table")
        if node is not star and node.args.get(part) is not None
    )
    columns = _starred(path, node, scope)
    if star.args.get("replace") or star.args.get("rename"):
        scope.binding.error(
            Code.SYNTAX_ERROR,
            "Spark's `*` has EXCEPT, but no REPLACE or RENAME",
            node,
            "PARSE_SYNTAX_ERROR",
            help="list the columns, or use EXCEPT and add the new ones after it",
        )
    dropped = star.args.get("except_")
    return _without(columns, dropped, node, scope) if dropped else columns


def _starred(path: tuple[str, ...], node: Any, scope: Scope) -> list[Column]:
    relation = scope.relation
    if not path:
        columns = relation.visible()
        if relation is EMPTY_RELATION and scope.clause == "select" and not _nested(scope):
            scope.binding.error(
                Code.INVALID_CLAUSE,
                "`*` needs a FROM clause",
                node,
                "INVALID_USAGE_OF_STAR_OR_REGEX",
            )
        return columns
    columns = relation.of_qualifier(path)
    if columns:
        if node.args.get("table") is not None:
            scope.binding.name_alias(node.args["table"])
        return [_shown(column) for column in _own_order(columns)]
    found, used = relation.find(path)
    if len(found) == 1:
        struct: Expr = found[0]
        for name in path[used:]:
            struct = bind_field(struct, name, node, scope)
        if isinstance(struct.type, t.StructType):
            return _fields(struct, struct.type, scope)
    outer = _outer_columns(path, scope)
    if outer:
        return outer
    if relation.known:
        names = sorted({column.qualifier[-1] for column in relation.columns if column.qualifier})
        near = closest(path[-1], names)
        scope.binding.error(
            Code.UNKNOWN_TABLE,
            f"`{'.'.join(path)}.*` names no relation or struct in scope",
            node,
            "CANNOT_RESOLVE_STAR_EXPAND",
            help=f"there is `{near}`" if near else None,
        )
    return []


def _outer_columns(path: tuple[str, ...], scope: Scope) -> list[Column]:
    """In a lateral subquery a star may mean the relation to its left."""
    outer = scope.parent
    while outer is not None and outer.clause == FROM_CLAUSE:
        outer = outer.parent
    if outer is None:
        return []
    columns = outer.relation.of_qualifier(path) if path else outer.relation.visible()
    found, used = outer.relation.find(path) if path and not columns else ([], 0)
    if len(found) == 1 and has_path(found[0].type, path[used:]):
        struct: Expr = found[0]
        for name in path[used:]:
            struct = bind_field(struct, name, exp.Star(), scope)
        if isinstance(struct.type, t.StructType):
            return _fields(struct, struct.type, scope)
    return [column.copy() for column in columns]


def _nested(scope: Scope) -> bool:
    """Whether the query stands inside another; there `*` over nothing is nothing."""
    return scope.parent is not None and scope.parent.parent is not None


def _own_order(columns: list[Column]) -> list[Column]:
    """Of a relation joined by USING, the key may stand twice: shown and hidden."""
    # Spark shows the keys of USING first, also in the star of one side.
    first: dict[int, Column] = {}
    for column in sorted(columns, key=lambda column: not column.hidden):
        first.setdefault(column.ident, column)
    return list(first.values())


def _shown(column: Column) -> Column:
    if not column.hidden:
        return column
    twin = column.copy()
    twin.hidden = False
    return twin


def _fields(column: Expr, kind: t.StructType, scope: Scope) -> list[Column]:
    columns = []
    for field in kind.fields:
        nullable = column.nullable or field.nullable
        expr = _value_of(column, field, field.type, nullable, scope)
        columns.append(
            Column(field.name, expr.type, expr.nullable, expr.sources, scope.binding.fresh())
        )
    return columns


def _without(columns: list[Column], dropped: list[Any], node: Any, scope: Scope) -> list[Column]:
    """EXCEPT: whole columns by name, or fields inside a struct column."""
    paths = [_path(each) for each in dropped]
    binding = scope.binding
    star = node if node.__class__ is exp.Star else node.args["this"]
    if star._meta and not _EXCEPT_LIST.match(binding.text, star._meta["end"] + 1):
        binding.error(
            Code.SYNTAX_ERROR,
            "the columns of EXCEPT stand in parentheses",
            node,
            "PARSE_SYNTAX_ERROR",
            help="write `* EXCEPT (a, b)`",
        )
    for index, path in enumerate(paths):
        for other in paths[index + 1 :]:
            if path[: len(other)] == other or other[: len(path)] == path:
                binding.error(
                    Code.INVALID_CLAUSE,
                    f"EXCEPT names `{'.'.join(path)}` and `{'.'.join(other)}`, which overlap",
                    node,
                    "EXCEPT_OVERLAPPING_COLUMNS",
                )
                return columns
    for each, path in zip(dropped, paths, strict=True):
        columns = _drop(columns, path, each, scope)
    return columns


def _path(node: Any) -> tuple[str, ...]:
    if node.__class__ is exp.Identifier:
        return (node.name.lower(),)
    if node.__class__ is exp.Dot:
        return (*_path(node.args["this"]), node.args["expression"].name.lower())
    return tuple(
        node.args[part].name.lower()
        for part in ("catalog", "db", "table", "this")
        if node.args.get(part) is not None
    )


def _words(node: Any) -> list[Any]:
    """The identifiers of a path, in order."""
    if node.__class__ is exp.Identifier:
        return [node]
    if node.__class__ is exp.Dot:
        return [*_words(node.args["this"]), node.args["expression"]]
    parts = ("catalog", "db", "table", "this")
    return [node.args[part] for part in parts if node.args.get(part) is not None]


def _drop(columns: list[Column], path: tuple[str, ...], node: Any, scope: Scope) -> list[Column]:
    for size in (1, 2, 3):
        if len(path) < size:
            break
        matched = [
            c for c in columns if c.key == path[size - 1] and _qualified(c, path[: size - 1])
        ]
        if not matched:
            continue
        if len({column.ident for column in matched}) > 1:
            scope.binding.error(
                Code.AMBIGUOUS_COLUMN,
                f"EXCEPT names `{'.'.join(path)}`, and {len(matched)} columns are called that",
                node,
                "AMBIGUOUS_REFERENCE",
                help="qualify it with the relation it is of",
            )
            return columns
        if scope.binding.names is not None:
            words = _words(node)
            scope.binding.names.use_column(words, size, matched[0], scope.binding)
        if len(path) == size:
            return [column for column in columns if column not in matched]
        inside: Expr = matched[0]
        for name in path[size:]:
            if isinstance(inside.type, t.ArrayType | t.MapType):
                scope.binding.error(
                    Code.TYPE_ERROR,
                    f"EXCEPT takes fields out of structs, not out of `{inside.type}`",
                    node,
                    "EXCEPT_NESTED_COLUMN_INVALID_TYPE",
                )
                return columns
            inside = bind_field(inside, name, node, scope)
        return [_shrunk(c, path[size:], scope) if c in matched else c for c in columns]
    if scope.relation.known:
        near = closest(path[-1], [column.name or "" for column in columns])
        scope.binding.error(
            Code.UNKNOWN_COLUMN,
            f"EXCEPT names `{'.'.join(path)}`, which `*` does not have",
            node,
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            help=f"there is a column `{near}`" if near else None,
        )
    return columns


def _qualified(column: Column, path: tuple[str, ...]) -> bool:
    return not path or column.qualifier[-len(path) :] == path


def _shrunk(column: Column, path: tuple[str, ...], scope: Scope) -> Column:
    kind = _without_field(column.type, path, nullable=column.nullable)
    found = column.copy(ident=scope.binding.fresh())
    # Spark rebuilds the struct field by field, so it is never null itself.
    found.type, found.nullable = kind, False
    return found


def _without_field(kind: t.DataType, path: tuple[str, ...], *, nullable: bool) -> t.DataType:
    if not isinstance(kind, t.StructType):
        return kind
    fields = []
    for field in kind.fields:
        inside = field.nullable or nullable
        if field.name.lower() != path[0]:
            fields.append(t.StructField(field.name, field.type, inside))
        elif len(path) > 1:
            inner = _without_field(field.type, path[1:], nullable=inside)
            fields.append(t.StructField(field.name, inner, False))
    return t.struct(tuple(fields))
