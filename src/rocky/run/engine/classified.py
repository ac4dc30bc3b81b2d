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
from rocky.analysis.disclosure import NO_SECRETS, Disclosure, Secrets, origin_of
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
    """The classified columns of a compiled project, and what is made of them.

    `disclosure` says what is hidden, and from whom. What is told of a failure is kept, so without
    one it is what anybody may see.
    """

    def __init__(self, compilation: Compilation, disclosure: Disclosure | None = None) -> None:
        self._compilation = compilation
        self.disclosure = disclosure or Disclosure(compilation)

    @property
    def any(self) -> str | None:
        """A classified column of the project; None if it has none."""
        return origin_of(self.disclosure.everything)

    def hidden_in(self, reads: Sequence[Read], expression: str | None) -> str | None:
        """A classified column whose values an expression over tables may hold; None if none can.

        Without an expression, any column of the tables.
        """
        return origin_of(self.secrets_in(reads, expression))

    def secrets_in(self, reads: Sequence[Read], expression: str | None) -> Secrets:
        """The same as tags."""
        columns = self._columns_of(reads)
        secret = next((each for each in columns.values() if each), NO_SECRETS)
        if not secret or expression is None:
            return secret
        for name, sure in _names_in(expression):
            found = columns.get(name, secret if sure else NO_SECRETS)
            if found:
                return found
        return NO_SECRETS

    def _columns_of(self, reads: Sequence[Read]) -> dict[str, Secrets]:
        """The columns of tables, with what is hidden in them.

        Of two columns with one name, the one that is classified.
        """
        found: dict[str, Secrets] = {}
        for read in reads if self.disclosure else ():
            for name in self._names_of(read):
                secrets = self.disclosure.in_column(read.key, name)
                found[name.lower()] = found.get(name.lower()) or secrets
            found["*"] = found.get("*") or self.disclosure.in_tables((read.key,))
        return found

    def _names_of(self, read: Read) -> list[str]:
        project = self._compilation.project
        if read.kind == "model":
            ir = self._compilation.models.get(read.key)
            return [each.name for each in ir.columns] if ir is not None else []
        table = (project.seeds if read.kind == "seed" else project.sources).get(read.key)
        return [each.name for each in table.columns] if table is not None else []


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
