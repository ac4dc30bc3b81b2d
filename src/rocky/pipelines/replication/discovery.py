"""Discovery: which tables a source has now, as a Protocol, so that other kinds can be added.

A table that is neither found nor failed is gone upstream. What could not be listed is in `failed`,
and nobody may take it for gone. Passwords in options and addresses go to Spark and nowhere else:
what looks like a secret and was written plainly is made to show itself as stars.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from rocky.language.datatypes.types import StructField
from rocky.project.sources import SourceTable
from rocky.project.toml.documents import Document
from rocky.project.toml.variables import Substituted, written

HIDDEN: Final = "***"
_SECRET_KEY: Final = re.compile(
    r"password|passwd|secret|token|credential|access[._]?key|private[._]?key", re.IGNORECASE
)
_SECRET_IN_URL: Final = re.compile(
    r"(://[^/@\s:]*:)[^/@\s]+(?=@)|((?:password|passwd|secret|token)=)[^&;\s]*", re.IGNORECASE
)


def hide_option(key: str, value: str) -> str:
    """An option's value, which shows itself to nobody but Spark when it looks like a secret."""
    if isinstance(value, Substituted):
        return value
    return Substituted(value, HIDDEN) if _SECRET_KEY.search(key) else hide_password(value)


def hide_password(url: str) -> str:
    """An address; one with a password in it shows itself without."""
    if isinstance(url, Substituted) or url_without_password(url) == url:
        return url
    return Substituted(url, url_without_password(url))


def url_without_password(url: str) -> str:
    """An address without its password, as people may see it."""
    return _SECRET_IN_URL.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}", written(url))


def text_without_secrets(message: str, values: Iterable[str]) -> str:
    """A message without what came from variables, and without passwords."""
    for value in values:
        if isinstance(value, Substituted) and value:
            message = message.replace(str(value), value.written)
    return _SECRET_IN_URL.sub(lambda found: f"{found[1] or found[2]}{HIDDEN}", message)


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
