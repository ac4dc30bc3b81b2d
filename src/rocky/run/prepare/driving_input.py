"""The driving input of a model: the one whose rows stay in the task that reads them.

A row-wise query (`rocky.language.syntax.row_wise`) has one, if what it looks up in other tables is
little enough to be sent to every task. That is judged by sizes that were pinned, not by what Spark
would do: its settings may not show in the bytes of a table.
"""

from collections.abc import Callable
from typing import Final

from rocky.language.functions.catalogue import find_function
from rocky.language.syntax.row_wise import TableName, row_wise_query
from rocky.run.prepare.known_inputs import KnownInput

MOST_LOOKED_UP_BYTES: Final = 10 << 20
"""Of each table. Up to here Spark sends a table to the tasks by itself, unless told otherwise."""


def find_driving_input(
    sql: str, named: Callable[[TableName], KnownInput | None]
) -> KnownInput | None:
    """The driving input of a query, if it is row-wise; `named` tells what its tables are."""
    query = row_wise_query(sql)
    if query is None or not all(map(_makes_a_value_of_a_row, query.calls)):
        return None
    driving = named(query.driving)
    if driving is None:
        return None
    for name in query.looked_up:
        other = named(name)
        if other is None or other.read == driving.read or not _is_little(other):
            return None
    return driving


def _makes_a_value_of_a_row(function: str) -> bool:
    found = find_function(function)
    return found is not None and found.kind == "scalar" and found.deterministic


def _is_little(known: KnownInput) -> bool:
    # A query in place of a table may make many rows of little.
    is_table = known.pinned is not None or known.found is not None
    return is_table and known.bytes is not None and known.bytes <= MOST_LOOKED_UP_BYTES
