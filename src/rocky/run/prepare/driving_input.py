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
from rocky.run.prepare.known_inputs import KnownInput, MadeFrom

MOST_LOOKED_UP_BYTES: Final = 10 << 20
"""Of each table. Up to here Spark sends a table to the tasks by itself, unless told otherwise."""

COLLATION: Final = "COLLAT"
"""In every word that gives a text a collation."""


def find_driving_input(sql: str, made_from: MadeFrom) -> KnownInput | None:
    """The driving input of a query over these inputs, if it is row-wise."""
    query = row_wise_query(sql)
    if query is None or not all(map(makes_a_value_of_a_row, query.calls)):
        return None
    driving = made_from.named(query.driving)
    if driving is None:
        return None
    others = [each for each in map(made_from.named, query.looked_up) if each is not None]
    # Whatever else is read, by a name that means something else here, is not known to be little.
    rest = {each.read for each in made_from.inputs} - {driving.read}
    if len(others) < len(query.looked_up) or rest != {each.read for each in others}:
        return None
    if others and (COLLATION in sql.upper() or any(map(may_be_collated, (driving, *others)))):
        return None
    return driving if all(map(is_little, others)) else None


def columns_of(known: KnownInput) -> tuple[StructField, ...]:
    """The columns of an input; none of one whose columns nobody knows."""
    if known.pinned is not None:
        return known.pinned.snapshot.schema
    return () if known.found is None else known.found[0].columns


def may_be_collated(known: KnownInput) -> bool:
    """Whether texts of an input may have a collation."""
    columns = columns_of(known)
    return not columns or any(COLLATION in each.type.text.upper() for each in columns)


def makes_a_value_of_a_row(function: str) -> bool:
    """Whether a function gives the same one value for the same row."""
    found = find_function(function)
    return found is not None and found.kind == "scalar" and found.deterministic


def is_little(known: KnownInput) -> bool:
    """Whether an input is little enough to be sent to every task."""
    # A query in place of a table may make many rows of little.
    is_table = known.pinned is not None or known.found is not None
    return is_table and known.bytes is not None and known.bytes <= MOST_LOOKED_UP_BYTES
