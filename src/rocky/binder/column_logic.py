"""Column logic: of each output column of a query the digest of how its value is computed.

Two texts with equal digests compute the same, whatever they look like; two texts with different
ones may still do. Where a construct cannot be followed for certain there is no digest at all, and
whoever compares must take everything for changed.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from rocky.binder.logic_digests import NO_RENAMES, Renames, Undigestible
from rocky.binder.logic_queries import digest_query
from rocky.binder.logic_scopes import Trail, outermost
from rocky.catalog.tables import Tables
from rocky.syntax.parser import NestedTooDeeply, SyntaxProblem, parse_query, with_deep_stack


class Logic(NamedTuple):
    """The digests of a query: its columns by position, and what decides its rows.

    `clauses` are what decides the rows, piece by piece, to tell which of them changed. Without
    digests, `columns` and `rows` are None and `reason` says what stood in the way.
    """

    columns: tuple[bytes, ...] | None
    rows: bytes | None = None
    clauses: tuple[tuple[str, bytes], ...] = ()
    reason: str = ""


# What the walk raises when the library's tree lacks a part it counts on.
_MALFORMED: Final = (LookupError, AttributeError, TypeError, ValueError)


def column_logic(sql: str, tables: Tables, renames: Renames = NO_RENAMES) -> Logic:
    """The logic of a query text; `renames` are names that the other side calls differently."""
    try:
        return _column_logic(sql, tables, renames)
    except RecursionError:
        pass
    try:
        return with_deep_stack(lambda: _column_logic(sql, tables, renames))
    except NestedTooDeeply:
        return Logic(None, reason="a query that is nested too deeply")


def _column_logic(sql: str, tables: Tables, renames: Renames) -> Logic:
    parsed = parse_query(sql)
    if isinstance(parsed, SyntaxProblem):
        return Logic(None, reason="a text that is no query")
    if parsed.levels:
        return Logic(None, reason="MAX RECURSION LEVEL")
    trail = Trail(tables, renames)
    try:
        relation = digest_query(parsed.tree, outermost(trail))
    except Undigestible as unsure:
        return Logic(None, reason=str(unsure))
    except _MALFORMED as fault:
        return Logic(None, reason=f"a query that could not be followed ({type(fault).__name__})")
    columns = tuple(column.digest for column in relation.visible)
    return Logic(columns, relation.rows, tuple(trail.clauses))


def changed_clauses(before: Logic, after: Logic) -> tuple[str, ...]:
    """The kinds of clauses that are in one and not in the other, in the order they are met."""
    old, new = Counter(before.clauses), Counter(after.clauses)
    return tuple(dict.fromkeys(_kinds((*(old - new), *(new - old)))))


def _kinds(clauses: Iterable[tuple[str, bytes]]) -> Iterable[str]:
    return (kind for kind, _ in clauses)
