"""Tables a query may read: the schemas the binder resolves names against.

A table is found by the parts the query wrote, compared without case. `name` is how reports and
lineage call it; `qualifier` is the path its columns answer to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rocky.language.datatypes.types import StructField
from rocky.language.declared_functions import DeclaredFunction
from rocky.language.names import split_name


@dataclass(frozen=True, slots=True)
class Table:
    """A relation with a declared or inferred schema.

    `known` is False when the schema could not be worked out: reading it gives unknown columns.
    """

    name: str
    fields: tuple[StructField, ...]
    qualifier: tuple[str, ...]
    known: bool = True


class Tables(Protocol):
    """Where the binder finds tables."""

    def find(self, parts: tuple[str, ...]) -> Table | None:
        """The table the lower-case parts name, or None."""

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:
        """A table that `find` does not know, with unknown columns; None where that is an error."""

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        """The function that Spark does not ship and the lower-case parts name.

        `UNDECLARED` for any that nobody declares where that is no error, else None.
        """

    def function_names(self) -> Iterable[str]:
        """The functions that are declared, as they were written."""

    @property
    def declares_functions(self) -> bool:
        """Whether any function is declared."""

    def names(self) -> Iterable[str]:
        """What could have been meant, for a did-you-mean."""


class NamedTables:
    """Tables under fixed names, found by one, two or three name parts."""

    __slots__ = ("_by_parts", "_functions", "_names")

    def __init__(
        self,
        by_parts: Mapping[tuple[str, ...], Table],
        names: Sequence[str],
        functions: Iterable[DeclaredFunction] = (),
    ) -> None:
        self._by_parts = by_parts
        self._names = names
        self._functions = {split_name(each.name.lower()): each for each in functions}

    def find(self, parts: tuple[str, ...]) -> Table | None:
        """The table the lower-case parts name, or None."""
        return self._by_parts.get(parts)

    def undeclared(self, parts: tuple[str, ...]) -> Table | None:  # noqa: ARG002 - of the protocol
        """None: what has no name here is an error."""
        return None

    def function(self, parts: tuple[str, ...]) -> DeclaredFunction | None:
        """The declared function the lower-case parts name, or None."""
        return self._functions.get(parts)

    def function_names(self) -> Iterable[str]:
        """The functions that are declared, as they were written."""
        return [each.name for each in self._functions.values()]

    @property
    def declares_functions(self) -> bool:
        """Whether any function is declared."""
        return bool(self._functions)

    def names(self) -> Iterable[str]:
        """What could have been meant, for a did-you-mean."""
        return self._names


def tables_by_name(
    schemas: Mapping[str, Sequence[StructField]], functions: Iterable[DeclaredFunction] = ()
) -> NamedTables:
    """Tables under the names they were given, each answering to every suffix of its name."""
    by_parts: dict[tuple[str, ...], Table] = {}
    for name, fields in schemas.items():
        parts = split_name(name.lower())
        table = Table(name, tuple(fields), parts)
        by_parts[parts] = table
    for parts, table in list(by_parts.items()):
        for start in range(1, len(parts)):
            by_parts.setdefault(parts[start:], table)
        if len(parts) == 1:
            by_parts.setdefault(("default", *parts), table)
            by_parts.setdefault(("spark_catalog", "default", *parts), table)
    return NamedTables(by_parts, list(schemas), functions)
