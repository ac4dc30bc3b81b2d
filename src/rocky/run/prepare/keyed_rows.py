"""Keyed rows: what a query hands over by columns of its inputs, once and not again.

Windows and joins hand rows over by what they are over. Told into how many tasks, Spark neither
joins such tasks nor cuts them, whatever its settings say, so the rows of a task can be a file of
the table. What is joined by other columns has to be little enough to be sent to every task.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rocky.diagnostics.diagnostic import Span
from rocky.language.functions.catalogue import find_function
from rocky.language.names import quote_name
from rocky.language.syntax.join_queries import JoinQuery, join_query
from rocky.language.syntax.references import Hints
from rocky.language.syntax.window_queries import windowed_query
from rocky.run.prepare.driving_input import (
    COLLATION,
    columns_of,
    is_little,
    makes_a_value_of_a_row,
    may_be_collated,
)
from rocky.run.prepare.known_inputs import MadeFrom

SENT: Final = "SELECT /*+ BROADCAST({0}) */ * FROM {0}".format
"""A table that is sent to the tasks it is joined in."""

_HANDED: Final = "SELECT /*+ REPARTITION({tasks}, {columns}) */ * FROM {name}"
_KEPT: Final = f"SELECT * FROM ({_HANDED}) WHERE monotonically_increasing_id() >= 0"  # noqa: S608 - ours
"""The same with a filter that all rows pass, and that Spark cannot move. Where both sides of a join
come straight from being handed over, it does so again if the session asks for more tasks."""

_KEYS: Final = frozenset(
    {"boolean", "tinyint", "smallint", "int", "bigint", "decimal", "date", "timestamp", "string"}
)
"""Types of which Spark hands rows over just as it is told: of floats it joins zeros first."""


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """At which names of a query rows are handed over, and by which columns.

    `place` is that of the rows which others are joined to, at the places `joined`. `order` are the
    columns of the result that its rows are in order by then, as far as it has them. What stands at
    the places `sent` is sent to every task.
    """

    place: Span
    keys: tuple[str, ...]
    order: tuple[str, ...]
    joined: Mapping[Span, str] = field(default_factory=dict)
    sent: frozenset[Span] = frozenset()

    def hints(self, tasks: int) -> Hints:
        """What Spark is told to hand rows over into so many tasks."""
        found: dict[Span, Callable[[str], str]] = dict.fromkeys(self.sent, SENT)
        found[self.place] = _handed(_HANDED, tasks, self.keys)
        return found | {at: _handed(_KEPT, tasks, (key,)) for at, key in self.joined.items()}


def _handed(query: str, tasks: int, keys: tuple[str, ...]) -> Callable[[str], str]:
    columns = ", ".join(map(quote_name, keys))
    return lambda name: query.format(tasks=tasks, columns=columns, name=name)


def find_keyed_rows(sql: str, made_from: MadeFrom) -> KeyedRows | None:
    """How a query over these inputs hands rows over once; None of one that does otherwise."""
    if COLLATION in sql.upper() or any(map(may_be_collated, made_from.inputs)):
        return None
    return _of_windows(sql, made_from) or _of_joins(sql, made_from)


def _of_windows(sql: str, made_from: MadeFrom) -> KeyedRows | None:
    query = windowed_query(sql)
    if query is None or not all(map(makes_a_value_of_a_row, query.calls)):
        return None
    if not all(map(find_function, query.over)):
        return None
    known = made_from.named(query.table)
    if known is None or {each.read for each in made_from.inputs} != {known.read}:
        return None
    if not all(_kind_of(query.table, key, made_from) for key in query.keys):
        return None
    return KeyedRows(query.place, query.keys, (*query.keys, *query.order))


def _of_joins(sql: str, made_from: MadeFrom) -> KeyedRows | None:
    query = join_query(sql)
    if query is None or not all(map(makes_a_value_of_a_row, query.calls)):
        return None
    driving = made_from.named(query.driving.table)
    if driving is None or is_little(driving):
        # Spark sends it to the rows that are joined, which then need not be handed over.
        return None
    for key in query.keys:
        found = _joined_by(key, query, made_from)
        if found is not None:
            return found
    return None


def _joined_by(key: str, query: JoinQuery, made_from: MadeFrom) -> KeyedRows | None:
    """How rows are handed over by a column of the driving table, if that serves all joins."""
    kind = _kind_of(query.driving.table, query.keys[key], made_from)
    joined, sent = {}, set()
    for other in query.others:
        known = made_from.named(other.table)
        if known is not None and is_little(known):
            sent.add(other.place)
        elif other.by == key and not other.is_asked_about and kind is not None:
            if kind != _kind_of(other.table, other.key, made_from):
                return None
            joined[other.place] = other.column
        else:
            return None
    order = (query.given[key],) if key in query.given else ()
    return (
        KeyedRows(query.driving.place, (key,), order, joined, frozenset(sent)) if joined else None
    )


def _kind_of(table: tuple[str, ...], column: str, made_from: MadeFrom) -> str | None:
    """The type of a column by which rows can be handed over; None of any other."""
    known = made_from.named(table)
    for each in columns_of(known) if known is not None else ():
        if each.name.lower() == column and each.type.kind in _KEYS:
            return each.type.text
    return None
