"""References: table names in an author's SQL replaced by views', and `@start_date`, `@end_date`.

The text around them stays as it was, byte for byte. `raw.orders` becomes `view AS orders`, so that
`orders.amount` still means what it did, and `raw.orders.amount` becomes `orders.amount`. What
cannot be placed for certain is refused: a query must never read a table nobody pinned. The ends of
an interval become text literals, which Spark compares with dates and timestamps; a placeholder
inside a string, a quoted name or a comment is left alone.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from rocky.diagnostics.diagnostic import Span
from rocky.errors import InternalError, RockyError
from rocky.language.names import quote_name
from rocky.language.placeholders import find_placeholders
from rocky.language.replacements import Replaced, Replacement
from rocky.language.syntax.mentions import FromItem, NameUse, References
from rocky.language.syntax.parser import (
    ParsedQuery,
    SyntaxProblem,
    name_span,
    parse_query,
    span_of,
    with_deep_stack,
)

Views = Callable[[tuple[str, ...]], str | None]
"""From the parts of a table's name, in lower case, to its view; None: there is no such table."""

Hints = Mapping[Span, Callable[[str], str]]
"""From the places of names in FROM to the queries with hints that Spark is to have in their places,
which are made of what the name is by then. Not below a name: Spark forgets hints in named queries.
"""

NO_HINTS: Final[Hints] = MappingProxyType({})


_MOST_PARTS: Final = 3
"""Spark knows a qualifier by its catalog, its schema and its table."""


class _Edit:
    """`text` in place of the characters from `start` up to `end`."""

    __slots__ = ("end", "start", "text")

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start, self.end, self.text = start, end, text


def bind_names(sql: str, views: Views) -> str:
    """The query with each table it reads replaced by its view. Raises as `bind_query` does."""
    return bind_query(sql, views).text


def bind_query(sql: str, views: Views, hints: Hints = NO_HINTS) -> Replaced:
    """The same, with what was replaced.

    Raises RockyError when a name has no view, or when a name in the query cannot be told apart
    from another once the tables are views.
    """
    try:
        return _bind(sql, views, hints)
    except RecursionError:
        return with_deep_stack(lambda: _bind(sql, views, hints))


def _bind(sql: str, views: Views, hints: Hints) -> Replaced:
    parsed = parse_query(sql)
    if isinstance(parsed, SyntaxProblem):
        message = f"the query cannot be read: {parsed.message}"
        raise RockyError(message)
    references = References(parsed.tree)
    bound = {id(item): _view_of(item, views, references) for item in references.tables}
    plain = _Qualifiers(references, bound, views)
    edits: list[_Edit] = []
    for item in references.tables:
        edits += _table_edits(item, bound[id(item)], parsed, named=id(item) not in plain.fresh)
    edits += plain.edits
    return _apply(sql, _with_hints(edits, hints, parsed) if hints else edits)


def _with_hints(edits: list[_Edit], hints: Hints, parsed: ParsedQuery) -> list[_Edit]:
    """The edits, and a query with its hint around each name that is to have one."""
    for node in parsed.tree.find_all(exp.Table):
        place = name_span(node)
        if place is None or place not in hints:
            continue
        edit = next((each for each in edits if each.start == place.start), None)
        if edit is None:
            # A name of the query itself, which nothing else stands for.
            name = alias = quote_name(node.this.name)
            edit = _Edit(place.start, place.end, "")
            edits.append(edit)
        else:
            name, _, alias = edit.text.partition(" AS ")
            alias = alias or name
        alias = "" if node.args.get("alias") else alias
        hinted = f"({hints[place](name)})"
        edit.text = f"{hinted} AS {alias}" if alias else hinted
    return edits


def _view_of(item: FromItem, views: Views, references: References) -> str:
    view = views(item.parts)
    written = ".".join(item.parts)
    if view is None:
        message = (
            f"the query reads `{written}`, which is not a model, source or seed of the project: "
            "declare it under sources/"
        )
        raise RockyError(message)
    if view.lower() in references.cte_names:
        message = f"a CTE has the name `{view}`, which Rocky uses for `{written}`: rename the CTE"
        raise RockyError(message)
    if item.node.args.get("version") is not None:
        message = (
            f"`{written}` is read as of a version: Rocky pins the version of every table itself; "
            "remove VERSION AS OF or TIMESTAMP AS OF"
        )
        raise RockyError(message)
    return view


class _Qualifiers:
    """The edits that make qualified columns follow their tables.

    A table whose last part is not unique where `a.t.x` stands gets no alias: its columns are then
    qualified by the view. `fresh` holds the ids of such items.
    """

    __slots__ = ("_bound", "_references", "_views", "edits", "fresh")

    def __init__(self, references: References, bound: dict[int, str], views: Views) -> None:
        self._references = references
        self._bound = bound
        self._views = views
        self.fresh: dict[int, FromItem] = {}
        found = [(use, self._meant(use)) for use in references.uses]
        meant = [(use, *each) for use, each in found if each is not None]
        for use, item, _ in meant:
            if not _sees_alone(use, item):
                self.fresh[id(item)] = item
        for item in self.fresh.values():
            self._check_fresh(item)
        self.edits = [
            _Edit(
                _start(use.identifiers[0]),
                _end(use.identifiers[size - 1]),
                quote_name(bound[id(item)] if id(item) in self.fresh else item.written),
            )
            for use, item, size in meant
        ]

    def _meant(self, use: NameUse) -> tuple[FromItem, int] | None:
        """The table a name of several parts begins with, and how many parts that takes."""
        hidden = False
        for scope in use.scope.outwards():
            for size in range(min(len(use.parts) - 1, _MOST_PARTS), 1, -1):
                found = [item for item in scope.items if self._answers(item, use.parts[:size])]
                if len(found) == 1 and not hidden:
                    return found[0], size
                if found:
                    raise _ambiguous(use)
            # Whether an alias here has such a column, only its schema could tell.
            hidden = hidden or any(item.name == use.parts[0] for item in scope.items)
        return None

    def _answers(self, item: FromItem, path: tuple[str, ...]) -> bool:
        if item.aliased or not item.parts or item.name != path[-1]:
            return False
        return item.parts[-len(path) :] == path or self._views(path) == self._bound[id(item)]

    def _check_fresh(self, item: FromItem) -> None:
        """An item without its alias must not be called by it."""
        for use in self._references.uses:
            if use.parts[0] == item.name and _may_mean(use, item):
                raise _ambiguous(use)


def _sees_alone(use: NameUse, item: FromItem) -> bool:
    """Whether the item is the only one of its name between the use and itself."""
    for scope in use.scope.outwards():
        if any(each.name == item.name and each is not item for each in scope.items):
            return False
        if scope is item.scope:
            return True
    return True


def _may_mean(use: NameUse, item: FromItem) -> bool:
    """Whether a use of the item's last part alone may mean the item."""
    for scope in use.scope.outwards():
        if any(each.name == item.name for each in scope.items):
            return scope is item.scope
    return False


def _ambiguous(use: NameUse) -> RockyError:
    written = ".".join(use.parts)
    return RockyError(
        f"`{written}` can mean columns of two tables: give each table in FROM an alias of its own"
    )


def _table_edits(item: FromItem, view: str, parsed: ParsedQuery, *, named: bool) -> list[_Edit]:
    if item.identifiers:
        start, end = _start(item.identifiers[0]), _end(item.identifiers[-1])
    else:
        span = span_of(item.node.args["this"], parsed.tokens)
        if span is None:
            raise _unplaced(".".join(item.parts))
        start, end = span
    alias = f" AS {quote_name(item.written)}" if named and not item.aliased else ""
    tokens = parsed.tokens
    at = first_after(tokens, end)
    before = _last_before(tokens, start)
    edits = []
    if before is not None and parsed.text[before.start : before.end + 1].upper() == "TABLE":
        # `TABLE t` takes no alias, the same query written out does.
        edits.append(_Edit(before.start, before.end + 1, "SELECT * FROM"))
    if item.node.args.get("sample") is None:
        return [*edits, _Edit(start, end, quote_name(view) + alias)]
    # Spark wants the alias after the sample.
    close = sample_end(tokens, at)
    return [*edits, _Edit(start, end, quote_name(view)), _Edit(close, close, alias)]


def sample_end(tokens: Sequence[Token], at: int) -> int:
    """Where `TABLESAMPLE (...) REPEATABLE (...)` ends."""
    end = -1
    while at < len(tokens):
        word = tokens[at].text.upper()
        if end >= 0 and word != "REPEATABLE":
            break
        while at < len(tokens) and tokens[at].token_type is not TokenType.L_PAREN:
            at += 1
        depth = 0
        while at < len(tokens):
            kind = tokens[at].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            at += 1
            if depth == 0:
                end = tokens[at - 1].end + 1
                break
    if end < 0:
        raise _unplaced("TABLESAMPLE")
    return end


def first_after(tokens: Sequence[Token], offset: int) -> int:
    """The index of the first token from an offset on."""
    return next((i for i, token in enumerate(tokens) if token.start >= offset), len(tokens))


def _last_before(tokens: Sequence[Token], offset: int) -> Token | None:
    found = None
    for token in tokens:
        if token.start >= offset:
            break
        found = token
    return found


def _apply(sql: str, edits: list[_Edit]) -> Replaced:
    pieces: list[str] = []
    parts: list[Replacement] = []
    at = length = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if edit.start < at:
            raise _unplaced(sql[edit.start : edit.end])
        pieces += (sql[at : edit.start], edit.text)
        length += edit.start - at
        made = Span(length, length + len(edit.text))
        parts.append(Replacement(Span(edit.start, edit.end), made))
        length = made.end
        at = edit.end
    return Replaced("".join([*pieces, sql[at:]]), tuple(parts))


def _start(identifier: Any) -> int:
    return _place(identifier, "start")


def _end(identifier: Any) -> int:
    return _place(identifier, "end") + 1


def _place(identifier: Any, which: str) -> int:
    place = identifier.meta.get(which)
    if place is None:
        raise _unplaced(str(identifier))
    return int(place)


def _unplaced(written: str) -> InternalError:
    return InternalError(f"the place of `{written}` in the query cannot be found")


_TIME: Final = re.compile(r"'[^']*'")


def fill_placeholders(sql: str, start: str = "2000-01-01", end: str = "2000-01-02") -> str:
    """The query with the two times in place of its placeholders.

    Which times does not matter to Spark's analyser, only that they are texts, as in a run.
    """
    texts = {"start_date": f"'{start}'", "end_date": f"'{end}'"}
    done: list[str] = []
    at = 0
    for name, span in find_placeholders(sql):
        done += (sql[at : span.start], texts[name])
        at = span.end
    return "".join([*done, sql[at:]])


def find_filled(sql: str, filled: str) -> Replaced | None:
    """What `fill_placeholders` replaced in a query to get a text, whatever the times were.

    A query that was not filled is its own. None when it did not make this text of the query.
    """
    if sql == filled:
        return Replaced(filled)
    parts: list[Replacement] = []
    at = done = 0
    for _, place in find_placeholders(sql):
        between = sql[at : place.start]
        found = _TIME.match(filled, done + len(between))
        if not filled.startswith(between, done) or found is None:
            return None
        parts.append(Replacement(place, Span(*found.span())))
        at, done = place.end, found.end()
    return Replaced(filled, tuple(parts)) if sql[at:] == filled[done:] else None
