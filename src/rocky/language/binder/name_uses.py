"""Name uses: what each name of a query was found to mean, noted while it is bound.

Editors ask for them; a compile does not, and pays nothing: a `Binding` without a `NameNotes` has
`None` in its place, and the shortest ways to a column are taken only then. Spans are of the text
that was bound. A name that is bound twice, as the keys of a grouping are, has what was found last.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from rocky.diagnostics.diagnostic import Span
from rocky.language.binder.expr import DIRECT, WHOLE, Column, Expr
from rocky.language.binder.scopes import Binding, Relation, Scope
from rocky.language.datatypes.types import DataType
from rocky.language.ir import LINEAGE_KINDS

Role = Literal["column", "field", "lateral", "variable", "table", "cte", "alias", "star", "output"]
"""`output` is the alias of a select item where it is given, `lateral` its use in the same list."""


class NameUse(NamedTuple):
    """A name in a query and what it means.

    `table` and `column` are those of a declared table, where the name means one of them;
    `definition` is where in the same text the name was given, if it was. `origins` are the columns
    of tables that a value is made from, each with the kind of the way. `members` are the columns
    that a relation offers or a star stands for; `qualifier` says by which name a member is reached.
    """

    span: Span
    role: Role
    name: str
    type: DataType | None = None
    nullable: bool = True
    table: str | None = None
    column: str | None = None
    definition: Span | None = None
    origins: tuple[tuple[str, str, str], ...] = ()
    members: tuple["NameUse", ...] = ()
    qualifier: str = ""


NOWHERE = Span(-1, -1)


class RelationNotes:
    """The names of relations, and what is known of columns by what offers them."""

    __slots__ = ("_aliases", "_ctes", "_laterals", "_names", "_places", "cursor", "met", "uses")

    def __init__(self, cursor: str | None = None) -> None:
        self.uses: dict[Span, NameUse] = {}
        self.cursor = cursor
        # The parts of the name that has the cursor in it, and the scope it was looked up in.
        self.met: tuple[tuple[str, ...], Scope, dict[str, list[Expr]], bool] | None = None
        self._aliases: dict[tuple[int, str], Span] = {}
        # Relations stay here, so that an id is never given to a second one.
        self._ctes: dict[int, tuple[Relation, Span]] = {}
        self._names: dict[str, Span] = {}
        self._places: dict[tuple[int, str], Span] = {}
        self._laterals: list[tuple[dict[str, Any], str, Span]] = []

    def meet(self, parts: tuple[str, ...], scope: Scope, *, table: bool = False) -> None:
        """Note the scope of a name, if it is the one at the cursor."""
        if self.cursor is not None and self.cursor in parts:
            # Aliases that stand later in the list cannot be named yet.
            self.met = parts, scope, dict(scope.aliases or {}), table

    def open_cte(self, identifier: Any) -> None:
        """A CTE is about to be bound; a recursive one reads itself meanwhile."""
        span = place_of(identifier)
        if span is not None:
            self._names[identifier.name.lower()] = span

    def define_cte(
        self, identifier: Any, renamed: Sequence[Any], relation: Relation, binding: Binding
    ) -> None:
        span = place_of(identifier)
        if span is None:
            return
        self.rename_columns(renamed, relation, binding)
        self._ctes[id(relation)] = relation, span
        members = self._members(relation.visible(), binding)
        self._add(NameUse(span, "cte", identifier.name, definition=span, members=members))

    def read_cte(self, identifier: Any, cte: Relation, read: Relation, binding: Binding) -> None:
        span, name = place_of(identifier), identifier.name
        found = self._ctes.get(id(cte))
        defined = found[1] if found is not None else self._names.get(name.lower())
        if span is None:
            return
        members = self._members(read.visible(), binding)
        self._add(NameUse(span, "cte", name, definition=defined, members=members))
        self._answer(name.lower(), defined or span, read.columns)

    def read_table(
        self, identifiers: Sequence[Any], table: str, relation: Relation, binding: Binding
    ) -> None:
        span = _joined(identifiers)
        if span is None:
            return
        members = self._members(relation.visible(), binding)
        name = identifiers[-1].name
        self._add(NameUse(span, "table", name, table=table, members=members))
        self._answer(name.lower(), span, relation.columns)

    def define_alias(
        self, identifier: Any, renamed: Sequence[Any], relation: Relation, binding: Binding
    ) -> None:
        """An alias of FROM, and the names that it gives to columns."""
        span = place_of(identifier)
        self.rename_columns(renamed, relation, binding)
        if span is None:
            return
        members = self._members(relation.visible(), binding)
        name = identifier.name
        self._add(NameUse(span, "alias", name, definition=span, members=members))
        self._answer(name.lower(), span, relation.columns)

    def rename_columns(self, renamed: Sequence[Any], relation: Relation, binding: Binding) -> None:
        """Columns that get their names from a list, as in `t(a, b)`."""
        for identifier, column in zip(renamed, relation.visible(), strict=False):
            span = place_of(identifier)
            if span is not None:
                self._places[column.ident, column.key] = span
                self._add(self._column(span, "output", column, binding))

    def _answer(self, name: str, span: Span, columns: Iterable[Column]) -> None:
        for column in columns:
            self._aliases[column.ident, name] = span

    def _members(self, columns: Iterable[Column], binding: Binding) -> tuple[NameUse, ...]:
        return tuple(self._column(NOWHERE, "column", each, binding) for each in columns)

    def _column(self, span: Span, role: Role, column: Column, binding: Binding) -> NameUse:
        key = column.ident, column.key
        place = self._places.get(key)
        if place is None and column.place is not None:
            place = place_of(column.place) or binding.span(column.place)
        origins = _origins(column, binding)
        table = origin = None
        if place is None and column.open and len(origins) == 1:
            table, origin = (
                origins[0][:2] if origins[0][2] == LINEAGE_KINDS[DIRECT] else (None,) * 2
            )
        return NameUse(
            span,
            role,
            column.name or "",
            column.type,
            column.nullable,
            table,
            origin,
            place,
            origins,
            qualifier=column.qualifier[-1] if column.qualifier else "",
        )

    def _add(self, use: NameUse) -> None:
        if use.span is not NOWHERE:
            self.uses[use.span] = use


class NameNotes(RelationNotes):
    """The names of one query text. With a `cursor`, also the scope in which that name stands."""

    __slots__ = ()

    def use_column(
        self, identifiers: Sequence[Any], used: int, column: Column, binding: Binding
    ) -> None:
        """A column by its name, after `used - 1` parts that qualify it."""
        at = place_of(identifiers[used - 1])
        if at is not None:
            self._add(self._column(at, "column", column, binding))
        if used > 1:
            self._use_qualifier(identifiers[: used - 1], column)
        self._use_fields(identifiers[used:], column)

    def use_key(self, identifier: Any, left: Column, right: Column, binding: Binding) -> None:
        """A name in USING: a column of either side, the other one among its members."""
        span = place_of(identifier)
        if span is not None:
            both = self._members((left, right), binding)
            self._add(self._column(span, "column", left, binding)._replace(members=both))

    def _use_qualifier(self, identifiers: Sequence[Any], column: Column) -> None:
        word = identifiers[-1]
        span, defined = place_of(word), self._aliases.get((column.ident, word.name.lower()))
        if span is not None:
            whole = self.uses.get(defined) if defined is not None else None
            table = whole.table if whole is not None else None
            members = whole.members if whole is not None else ()
            self._add(
                NameUse(span, "alias", word.name, table=table, definition=defined, members=members)
            )

    def _use_fields(self, identifiers: Sequence[Any], base: Expr) -> None:
        """Fields inside a struct; what is no field ends the way."""
        kind = base.type
        for identifier in identifiers:
            inner = getattr(kind, "element", kind)
            name = getattr(identifier, "name", "").lower()
            fields = getattr(inner, "fields", ())
            found = next((each for each in fields if each.name.lower() == name), None)
            span = place_of(identifier)
            if found is None or span is None:
                return
            self._add(NameUse(span, "field", found.name, found.type, found.nullable))
            kind = found.type

    def use_lateral(
        self, identifiers: Sequence[Any], aliases: dict[str, Any], expr: Expr, binding: Binding
    ) -> None:
        """An alias of the same select list."""
        span, key = place_of(identifiers[0]), identifiers[0].name.lower()
        if span is None:
            return
        where = (at for known, name, at in self._laterals if known is aliases and name == key)
        self._add(
            NameUse(
                span,
                "lateral",
                identifiers[0].name,
                expr.type,
                expr.nullable,
                definition=next(where, None),
                origins=_origins(expr, binding),
            )
        )
        self._use_fields(identifiers[1:], expr)

    def use_variable(self, identifiers: Sequence[Any], variable: Expr) -> None:
        """A parameter of a lambda."""
        span = place_of(identifiers[0])
        if span is not None:
            name = identifiers[0].name
            self._add(NameUse(span, "variable", name, variable.type, variable.nullable))
        self._use_fields(identifiers[1:], variable)

    def define_output(
        self, identifier: Any, column: Column, aliases: dict[str, Any] | None, binding: Binding
    ) -> None:
        """The alias of a select item."""
        span = place_of(identifier)
        if span is None:
            return
        self._places[column.ident, column.key] = span
        if aliases is not None:
            self._laterals.append((aliases, column.key, span))
        self._add(self._column(span, "output", column, binding))

    def use_star(self, node: Any, columns: Sequence[Column], binding: Binding) -> None:
        """A star and the columns it stands for."""
        star = node if node.args.get("this") is None else node.args["this"]
        span = place_of(star)
        if span is not None:
            self._add(NameUse(span, "star", "*", members=self._members(columns, binding)))
        table = node.args.get("table")
        if table is not None and columns:
            self._use_qualifier([table], columns[0])


def place_of(identifier: Any) -> Span | None:
    """Where a word stands in the text; None for one that nobody wrote."""
    meta = getattr(identifier, "_meta", None)
    return Span(meta["start"], meta["end"] + 1) if meta and "start" in meta else None


def _joined(identifiers: Sequence[Any]) -> Span | None:
    first, last = place_of(identifiers[0]), place_of(identifiers[-1])
    return Span(first.start, last.end) if first is not None and last is not None else None


def _origins(expr: Expr, binding: Binding) -> tuple[tuple[str, str, str], ...]:
    strongest: dict[int, int] = {}
    for source in sorted(each & WHOLE for each in expr.sources):
        strongest[source >> 3] = source & 7
    return tuple((*binding.origins[at], LINEAGE_KINDS[kind]) for at, kind in strongest.items())


class ScopeColumn(NamedTuple):
    """A column that a name could mean where the cursor is; `distance` counts enclosing queries."""

    name: str
    qualifier: str
    type: DataType
    nullable: bool
    distance: int = 0
    role: Role = "column"


class CursorScope(NamedTuple):
    """What could be named at the cursor; `parts` are those before it in its own name."""

    parts: tuple[str, ...]
    columns: tuple[ScopeColumn, ...]
    ctes: tuple[str, ...]
    wants_table: bool


def scope_at_cursor(notes: NameNotes) -> CursorScope | None:
    """What a name at the cursor could mean; None where no name of a value or a table stands."""
    if notes.met is None:
        return None
    parts, scope, aliases, table = notes.met
    assert notes.cursor is not None
    before = parts[: parts.index(notes.cursor)]
    found: list[ScopeColumn] = []
    for name, variable in (scope.lambdas or {}).items():
        found.append(ScopeColumn(name, "", variable.type, variable.nullable, role="variable"))
    for name, exprs in aliases.items():
        if name == notes.cursor:
            continue
        shown = exprs[0].name if len(exprs) == 1 and (exprs[0].name or "").lower() == name else name
        found.append(
            ScopeColumn(shown or name, "", exprs[0].type, exprs[0].nullable, role="lateral")
        )
    distance = 0
    level: Scope | None = scope
    while level is not None:
        for relation in (level.relation, level.fallback):
            found += _offered(relation, distance) if relation is not None else ()
        level, distance = level.parent, distance + 1
    ctes = tuple(name for name in scope.ctes if name != notes.cursor)
    return CursorScope(before, tuple(dict.fromkeys(found)), ctes, table)


def _offered(relation: Relation, distance: int) -> Iterable[ScopeColumn]:
    for column in relation.columns:
        if column.name:
            last = column.qualifier[-1] if column.qualifier else ""
            shown = "" if column.hidden and not last else last
            yield ScopeColumn(column.name, shown, column.type, column.nullable, distance)
