"""The driving input of a model: the one whose rows stay in the task that reads them.

A row-wise query (`rocky.language.syntax.row_wise`) has one, if what it looks up in other tables is
little enough to be sent to every task. That is judged by sizes that were pinned, not by what Spark
would do: its settings may not show in the bytes of a table. Spark does not send a table to be
looked up by texts with a collation, whatever it is told, so where there are any rows are spread.
"""

from typing import Final

from rocky.language.datatypes.types import StructField
from rocky.language.functions.catalogue import find_function
from rocky.language.syntax.row_wise import row_wise_query
from rocky.language.syntax.window_queries import WindowedQuery, windowed_query
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom

MOST_LOOKED_UP_BYTES: Final = 10 << 20
"""Of each table. Up to here Spark sends a table to the tasks by itself, unless told otherwise."""

_COLLATION: Final = "COLLAT"


def find_driving_input(sql: str, made_from: MadeFrom) -> KnownInput | None:
    """The driving input of a query over these inputs, if it is row-wise."""
    query = row_wise_query(sql)
    if query is None or not all(map(_makes_a_value_of_a_row, query.calls)):
        return None
    driving = made_from.named(query.driving)
    if driving is None:
        return None
    others = [each for each in map(made_from.named, query.looked_up) if each is not None]
    # Whatever else is read, by a name that means something else here, is not known to be little.
    rest = {each.read for each in made_from.inputs} - {driving.read}
    if len(others) < len(query.looked_up) or rest != {each.read for each in others}:
        return None
    if others and (_COLLATION in sql.upper() or any(map(_may_be_collated, (driving, *others)))):
        return None
    return driving if all(map(_is_little, others)) else None


_KEYS: Final = frozenset(
    {"boolean", "tinyint", "smallint", "int", "bigint", "decimal", "date", "timestamp", "string"}
)
"""Types of which Spark hands rows over just as it is told: of floats it joins zeros first."""


def find_windows(sql: str, made_from: MadeFrom) -> WindowedQuery | None:
    """A query of windows whose rows can be handed over once, by columns of the table it reads."""
    query = windowed_query(sql)
    if query is None or not all(map(_makes_a_value_of_a_row, query.calls)):
        return None
    if not all(map(find_function, query.over)):
        return None
    known = made_from.named(query.table)
    if known is None or {each.read for each in made_from.inputs} != {known.read}:
        return None
    if _COLLATION in sql.upper() or _may_be_collated(known):
        return None
    kinds = {each.name.lower(): each.type.kind for each in _columns_of(known)}
    return query if all(kinds.get(key) in _KEYS for key in query.keys) else None


def _columns_of(known: KnownInput) -> tuple[StructField, ...]:
    if known.pinned is not None:
        return known.pinned.snapshot.schema
    return () if known.found is None else known.found[0].columns


def _may_be_collated(known: KnownInput) -> bool:
    columns = _columns_of(known)
    return not columns or any(_COLLATION in each.type.text.upper() for each in columns)


def _makes_a_value_of_a_row(function: str) -> bool:
    found = find_function(function)
    return found is not None and found.kind == "scalar" and found.deterministic


def _is_little(known: KnownInput) -> bool:
    # A query in place of a table may make many rows of little.
    is_table = known.pinned is not None or known.found is not None
    return is_table and known.bytes is not None and known.bytes <= MOST_LOOKED_UP_BYTES
