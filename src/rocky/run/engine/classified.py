"""Classified columns: whether what failed on a value may be told with the value.

Spark quotes the value that it could not use. A column that is classified, or made of one that is,
keeps its values: a message, the ledger and a CI log are read by people who may not see them. A
piece of a query whose names are not all columns that are known to be unclassified counts as
classified, if the model reads a table that has any such column.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rocky.analysis.compilation import Compilation
from rocky.plan.steps import Read

_NAME: Final = re.compile(
    r"'(?:[^'\\]|\\.)*'|`(?P<quoted>[^`]*)`|(?P<plain>[A-Za-z_]\w*)(?P<after>\s*[.(])?"
)
_WORDS: Final = frozenset(
    "all and any array as asc between bigint binary boolean by case cast date day decimal desc"
    " distinct div double else end escape false filter first float following from ilike in int"
    " integer interval is join last like long map month not null nulls on or order over partition"
    " preceding range rlike row rows select short smallint string struct then timestamp"
    " timestamp_ltz timestamp_ntz tinyint true try_cast unbounded union variant when where within"
    " year".split()
)
"""What stands between names of columns in an expression."""


class ClassifiedColumns:
    """The classified columns of a compiled project, and what is made of them."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation
        self._known: dict[tuple[str, str], str | None] = {}

    def hidden_in(self, reads: Sequence[Read], expression: str | None) -> str | None:
        """A classified column whose values an expression over tables may hold; None if none can.

        Without an expression, any column of the tables.
        """
        columns = self._columns_of(reads)
        secret = next((each for each in columns.values() if each is not None), None)
        if secret is None or expression is None:
            return secret
        for name, sure in _names_in(expression):
            found = columns.get(name, secret if sure else None)
            if found is not None:
                return found
        return None

    def _columns_of(self, reads: Sequence[Read]) -> dict[str, str | None]:
        """The columns of tables, with what they are made of that is secret.

        Of two columns with one name, the one that is classified.
        """
        found: dict[str, str | None] = {}
        for read in reads:
            for name in self._names_of(read):
                secret = self._origin(read.key, name.lower())
                found[name.lower()] = found.get(name.lower()) or secret
        return found

    def _names_of(self, read: Read) -> list[str]:
        project = self._compilation.project
        if read.kind == "model":
            ir = self._compilation.models.get(read.key)
            return [each.name for each in ir.columns] if ir is not None else []
        table = (project.seeds if read.kind == "seed" else project.sources).get(read.key)
        return [each.name for each in table.columns] if table is not None else []

    def _origin(self, table: str, column: str) -> str | None:
        """The classified column that a column is or comes from."""
        key = (table, column)
        if key not in self._known:
            # A cycle is no way to a classified column.
            self._known[key] = None
            self._known[key] = self._find_origin(table, column)
        return self._known[key]

    def _find_origin(self, table: str, column: str) -> str | None:
        project = self._compilation.project
        model = project.models.get(table)
        declared = model or project.seeds.get(table) or project.sources.get(table)
        if declared is None:
            return None
        if any(name.lower() == column for name in declared.classification):
            return f"{declared.name}.{column}"
        ir = self._compilation.models.get(table) if model is not None else None
        found = ir.column(column) if ir is not None else None
        for edge in found.edges if found is not None else ():
            secret = self._origin(edge.table.lower(), edge.column.lower())
            if secret is not None:
                return secret
        return None


def _names_in(expression: str) -> Iterator[tuple[str, bool]]:
    """The names in an expression, in lower case, and whether each must be a column.

    A function, a table or a keyword need not be one.
    """
    for found in _NAME.finditer(expression):
        if found["quoted"] is not None:
            yield found["quoted"].lower(), True
        elif found["plain"] is not None:
            name = found["plain"].lower()
            yield name, found["after"] is None and name not in _WORDS
