"""Discovery: which tables a source has now, as a Protocol, so that other kinds can be added.

A table that is neither found nor failed is gone upstream. What could not be listed is in `failed`,
and nobody may take it for gone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from rocky.language.datatypes.types import StructField
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """How Spark reads a table: the parts of a declared source. Options may hold secrets."""

    format: str
    path: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class DiscoveredTable:
    """A table of a source. `marker` changes when its rows do; None where nobody can tell."""

    catalog: str | None
    schema: str
    table: str
    place: SourcePlace
    marker: str | None = None

    @property
    def name(self) -> str:
        """What people call it."""
        parts = (self.catalog, self.schema, self.table)
        return ".".join(part for part in parts if part is not None)

    def declare(self, columns: tuple[StructField, ...] = ()) -> SourceTable:
        """The table as a declared source, with these columns."""
        place = self.place
        document = Document("rocky.toml", "", {})
        return SourceTable(self.name, columns, place.format, place.path, place.options, document, 0)


@dataclass(frozen=True, slots=True)
class FailedSource:
    """What could not be listed or used: a table, or all of a schema. The message says why."""

    schema: str
    table: str | None
    message: str

    @property
    def name(self) -> str:
        return self.schema if self.table is None else f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class SourceListing:
    """What a source has. `schemas` are all that were seen, also those without a table."""

    kind: str
    tables: tuple[DiscoveredTable, ...]
    failed: tuple[FailedSource, ...] = ()
    schemas: tuple[str, ...] = ()


class Discovery(Protocol):
    """Lists the tables of a source, without reading rows."""

    def discover(self, catalog: str | None) -> SourceListing:
        """The tables of a catalog, by schema and name.

        Raises SourceUnreadable when the source as a whole cannot be listed.
        """
