"""Own names: what a macro calls things of its own, so that each can be given a name of its own.

Tables' aliases, CTEs, named windows and the parameters of lambda functions are renamed wherever the
macro says them. A table without an alias is given one: `rates.rate` in an argument must mean the
caller's `rates`, also where the macro reads a table of that name. Columns cannot be renamed; which
of them the macro names is noted, so that the binder can refuse one that means the other's.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sqlglot import exp

from rocky.language.syntax.parser import ParsedQuery
from rocky.language.syntax.references import first_after, sample_end

_PARTS: Final = ("catalog", "db", "table", "this")
_TABLE_PARTS: Final = ("catalog", "db", "this")
_HINT: Final = re.compile(r"/\*\+.*?\*/", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_UNITS: Final = frozenset(
    "microsecond millisecond second minute hour day dayofyear week month quarter year".split()
)


class Rename(NamedTuple):
    """Characters that are to be an own name; `alias` adds it after them instead."""

    start: int
    end: int
    name: str
    alias: bool = False


class NamedColumn(NamedTuple):
    """A column that the macro itself names; `depth` is how many queries are around it."""

    name: str
    start: int
    end: int
    depth: int


@dataclass(slots=True)
class OwnNames:
    """What was found in a macro: what to rename, the columns and the tables that it names."""

    renames: list[Rename] = field(default_factory=list)
    columns: list[NamedColumn] = field(default_factory=list)
    tables: list[tuple[str, int, int]] = field(default_factory=list)


class _Item(NamedTuple):
    """What a qualifier may mean: the own name of an item of FROM, and the parts of its table."""

    name: str
    parts: tuple[str, ...]


class _Scope(NamedTuple):
    ctes: Mapping[str, str]
    froms: tuple[Mapping[str, _Item], ...]
    lambdas: frozenset[str]
    windows: frozenset[str]
    depth: int


def find_own_names(parsed: ParsedQuery, depth: int, is_own: Callable[[int], bool]) -> OwnNames:
    """What a macro names; `is_own` tells by an offset whether it is the macro that says it.

    `depth` is how many queries around the tree count: 0, or -1 for one that is only there to parse.
    """
    walk = _Walk(parsed, is_own)
    walk.node(parsed.tree, _Scope({}, (), frozenset(), frozenset(), depth))
    walk.hints()
    return walk.found


class _Walk:
    def __init__(self, parsed: ParsedQuery, is_own: Callable[[int], bool]) -> None:
        self._parsed = parsed
        self._is_own = is_own
        self._aliases: dict[str, str] = {}
        self.found = OwnNames()

    def node(self, node: Any, scope: _Scope) -> None:
        """Look at a node and all below it."""
        if isinstance(node, list):
            for each in node:
                self.node(each, scope)
            return
        if not isinstance(node, exp.Expr) or isinstance(node, exp.Hint):
            return
        if isinstance(node, exp.Column):
            self._column(node, scope)
        elif isinstance(node, exp.Lambda):
            self._lambda(node, scope)
        elif isinstance(node, exp.Dot):
            self.node(node.args["this"], scope)
            if not isinstance(node.args["expression"], exp.Identifier):
                self.node(node.args["expression"], scope)
        elif isinstance(node, exp.Identifier):
            if node.name.lower() in scope.lambdas:
                self._rename(node, node.name)
        elif node.args.get("with_") is not None or isinstance(node, exp.Select):
            self._query(node, scope)
        else:
            self._window(node, scope)
            self._below(node, scope)

    def hints(self) -> None:
        """A hint names tables too, and the tree does not say where."""
        for hint in _HINT.finditer(self._parsed.text):
            for word in _WORD.finditer(self._parsed.text, *hint.span()):
                name = self._aliases.get(word[0].lower())
                if name is not None and self._is_own(word.start()):
                    self.found.renames.append(Rename(word.start(), word.end(), name))

    def _below(self, node: Any, scope: _Scope, *, done: frozenset[str] = frozenset()) -> None:
        for key, value in node.args.items():
            if key not in done:
                self.node(value, scope)

    def _query(self, node: Any, scope: _Scope) -> None:
        clause = node.args.get("with_")
        if clause is not None:
            for cte in clause.args["expressions"]:
                alias = cte.args["alias"].args["this"]
                inner = scope._replace(ctes={**scope.ctes, alias.name.lower(): alias.name})
                self.node(cte.args["this"], inner if clause.args.get("recursive") else scope)
                if self._rename(alias, alias.name):
                    scope = inner
        if isinstance(node, exp.Select):
            windows = [each.args["this"] for each in node.args.get("windows") or []]
            items: dict[str, _Item] = {}
            for each in _relations(node):
                self._relation(each, items, scope)
            scope = scope._replace(
                froms=(items, *scope.froms),
                windows=scope.windows | {each.name.lower() for each in windows},
                depth=scope.depth + 1,
            )
        self._window(node, scope)
        self._below(node, scope, done=frozenset({"with_"}))

    def _relation(self, node: Any, items: dict[str, _Item], scope: _Scope) -> None:
        """Note what an item of FROM is called."""
        alias = node.args.get("alias")
        identifier = alias.args.get("this") if isinstance(alias, exp.TableAlias) else None
        is_table = isinstance(node, exp.Table) and isinstance(node.args["this"], exp.Identifier)
        if is_table:
            self._table(node, items, scope, aliased=identifier is not None)
        if identifier is not None and self._rename(identifier, identifier.name):
            items[identifier.name.lower()] = _Item(identifier.name, ())

    def _table(self, node: Any, items: dict[str, _Item], scope: _Scope, *, aliased: bool) -> None:
        identifiers = [node.args[part] for part in _TABLE_PARTS if node.args.get(part)]
        name, key = identifiers[-1].name, identifiers[-1].name.lower()
        place = _place(identifiers[-1])
        if place is None or not self._is_own(place[0]):
            return
        if len(identifiers) == 1 and key in scope.ctes:
            self._rename(identifiers[0], scope.ctes[key])
            if not aliased:
                items[key] = _Item(scope.ctes[key], ())
            return
        if len(identifiers) == 1:
            self.found.tables.append((name, *place))
        if aliased:
            return
        end = place[1]
        if node.args.get("sample") is not None:
            tokens = self._parsed.tokens
            end = sample_end(tokens, first_after(tokens, end))
        self.found.renames.append(Rename(end, end, name, alias=True))
        self._aliases[key] = name
        items[key] = _Item(name, tuple(each.name.lower() for each in identifiers))

    def _column(self, node: Any, scope: _Scope) -> None:
        identifiers = [node.args[part] for part in _PARTS if node.args.get(part)]
        place = _place(identifiers[0])
        if not isinstance(identifiers[-1], exp.Identifier):
            self._below(identifiers[-1], scope)
        if place is None or not self._is_own(place[0]):
            return
        parts = tuple(each.name.lower() for each in identifiers)
        if parts[0] in scope.lambdas:
            self._rename(identifiers[0], identifiers[0].name)
            return
        for items in scope.froms:
            for size in range(len(parts) - 1, 0, -1):
                item = items.get(parts[size - 1])
                if item is not None and (size == 1 or item.parts[-size:] == parts[:size]):
                    last = _place(identifiers[size - 1]) or place
                    self.found.renames.append(Rename(place[0], last[1], item.name))
                    return
        if isinstance(identifiers[-1], exp.Identifier) and not _is_unit(node, parts):
            self.found.columns.append(NamedColumn(".".join(parts), *place, scope.depth))

    def _lambda(self, node: Any, scope: _Scope) -> None:
        names = [each for each in node.args["expressions"] if isinstance(each, exp.Identifier)]
        mine = [each for each in names if self._rename(each, each.name)]
        inner = scope.lambdas | {each.name.lower() for each in mine}
        self.node(node.args["this"], scope._replace(lambdas=inner))

    def _window(self, node: Any, scope: _Scope) -> None:
        for each in node.args.get("windows") or [] if isinstance(node, exp.Select) else []:
            self._rename(each.args["this"], each.args["this"].name)
        used = node.args.get("alias") if isinstance(node, exp.Window) else None
        if isinstance(used, exp.Identifier) and used.name.lower() in scope.windows:
            self._rename(used, used.name)

    def _rename(self, identifier: Any, name: str) -> bool:
        """Whether the name is the macro's; then it is to be renamed."""
        place = _place(identifier)
        if place is None or not self._is_own(place[0]):
            return False
        self.found.renames.append(Rename(*place, name))
        self._aliases[name.lower()] = name
        return True


def _relations(node: Any) -> Iterator[Any]:
    """The items of a FROM clause, those in parentheses too."""
    waiting = [node.args["from_"].args["this"]] if node.args.get("from_") is not None else []
    waiting += [join.args["this"] for join in node.args.get("joins") or []]
    waiting += node.args.get("laterals") or []
    while waiting:
        each = waiting.pop()
        yield each
        waiting += [join.args["this"] for join in each.args.get("joins") or []]
        inner = each.args.get("this") if isinstance(each, exp.Subquery) else None
        if isinstance(inner, exp.Table) and each.args.get("alias") is None:
            waiting.append(inner)


def _is_unit(node: Any, parts: tuple[str, ...]) -> bool:
    """Whether a bare word is the unit of a function such as `datediff(DAY, a, b)`."""
    called = isinstance(node.parent, exp.Func | exp.Anonymous)
    return called and len(parts) == 1 and parts[0] in _UNITS


def _place(identifier: Any) -> tuple[int, int] | None:
    meta = identifier.meta
    if "start" not in meta:
        return None
    return meta["start"], meta["end"] + 1
