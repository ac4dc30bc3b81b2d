"""Discovery: which tables a source has now, and by their names which of them are taken, as what.

A Protocol, so that other kinds of sources can be added. A table that is neither found nor failed is
gone upstream. What could not be listed is in `failed`, and nobody may take it for gone. The name of
a schema is taken apart by a pattern, and `--filter` looks at the parts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_text
from rocky.pipelines.drift.projection import Projected, type_sql
from rocky.project.configuration.pipelines import MetadataColumn, SchemaPattern
from rocky.project.configuration.replication_rules import VARIADIC, find_placeholders
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


Components = Mapping[str, str | tuple[str, ...]]
"""Components by name; a variadic one has one or more parts."""


def match_schema(schema: str, pattern: SchemaPattern | None) -> Components | None:
    """The components of a schema's name, or None when it does not match.

    Without a pattern every schema matches, and has no components.
    """
    if pattern is None:
        return {}
    if not schema.startswith(pattern.prefix):
        return None
    rest = schema.removeprefix(pattern.prefix)
    if pattern.prefix and not pattern.prefix.endswith(pattern.separator):
        # `src` with `__` is the same prefix as `src__`.
        rest = rest.removeprefix(pattern.separator)
    parts = rest.split(pattern.separator)
    if not all(parts):
        return None
    return _assign(parts, pattern.components)


def _assign(parts: list[str], components: tuple[str, ...]) -> Components | None:
    spare = len(parts) - len(components)
    variadic = any(name.endswith(VARIADIC) for name in components)
    if spare < 0 or (spare > 0 and not variadic):
        return None
    found: dict[str, str | tuple[str, ...]] = {}
    at = 0
    for name in components:
        if name.endswith(VARIADIC):
            found[name.removesuffix(VARIADIC)] = tuple(parts[at : at + spare + 1])
            at += spare + 1
        else:
            found[name] = parts[at]
            at += 1
    return found


def flatten_components(components: Components) -> tuple[str, ...]:
    """All parts in order."""
    parts: list[str] = []
    for value in components.values():
        parts += [value] if isinstance(value, str) else value
    return tuple(parts)


_NULL_WORD: Final = "null"
_FORBIDDEN: Final = frozenset("/\\.|`:")


def fill_template(template: str, components: Components, joint: str) -> str:
    """The template with values in place of its placeholders, all of which are known."""
    made: list[str] = []
    at = 0
    for each in find_placeholders(template):
        value = components[each.name]
        made.append(template[at : each.start])
        own = joint if each.joint is None else each.joint
        made.append(value if isinstance(value, str) else own.join(value))
        at = each.end
    return "".join((*made, template[at:]))


def fill_column(column: MetadataColumn, components: Components, joint: str) -> Projected:
    """A metadata column: one value for every row. `NULL` is null; quotes around a text go."""
    kind = parse_type(column.type)
    text = fill_template(column.value, components, joint)
    if column.value.strip().lower() == _NULL_WORD:
        value = "NULL"
    elif len(text) > 1 and text[0] == text[-1] == "'":
        value = quote_text(text[1:-1].replace("''", "'"))
    else:
        value = quote_text(text)
    return Projected(
        column.name,
        f"CAST({value} AS {type_sql(kind)})",
        StructField(column.name, kind, nullable=True),
    )


@lru_cache(maxsize=4096)
def name_problem(name: str) -> str | None:
    """Why a part of a table's name cannot be the name of a folder, or None."""
    if not name.strip():
        return "is empty"
    found = next((mark for mark in name if mark in _FORBIDDEN or not mark.isprintable()), None)
    return None if found is None else f"holds {found!r}"


_SCHEMA_KEYS: Final = ("id", "connector", "schema")
_PLAIN_KEYS: Final = ("table", *_SCHEMA_KEYS, "catalog")


class Filter(NamedTuple):
    """`key=value`."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


@dataclass(frozen=True, slots=True)
class FilterCandidate:
    """What a filter looks at. `table` is None where a schema failed as a whole."""

    catalog: str | None
    schema: str
    table: str | None
    components: Components


def parse_filters(texts: Sequence[str]) -> tuple[Filter, ...]:
    """The filters of a command line. Raises NothingSelected for one that is none."""
    found: list[Filter] = []
    for text in texts:
        key, mark, value = text.partition("=")
        if not mark or not key.strip() or not value.strip():
            raise NothingSelected(f"`{text}` is not a filter; write `key=value`: `tenant=acme`")
        found.append(Filter(key.strip(), value.strip()))
    return tuple(found)


def check_keys(filters: Sequence[Filter], components: Sequence[str]) -> None:
    """Raises NothingSelected for a key that is neither a component nor known everywhere."""
    known = (*components, *(each for each in _PLAIN_KEYS if each not in components))
    for each in filters:
        if each.key not in known:
            hint = suggestion(each.key, known) or "known keys: " + ", ".join(
                f"`{name}`" for name in known
            )
            raise NothingSelected(f"no filter key `{each.key}`; {hint}")


def is_selected(candidate: FilterCandidate, filters: Sequence[Filter]) -> bool:
    """Whether all filters hold."""
    return all(_holds(candidate, each) for each in filters)


def check_matches(candidates: Sequence[FilterCandidate], filters: Sequence[Filter]) -> None:
    """Raises NothingSelected when no candidate passes all filters; says which one is to blame."""
    if not filters or any(is_selected(each, filters) for each in candidates):
        return
    for one in filters:
        if not any(_holds(each, one) for each in candidates):
            values = sorted({value for each in candidates for value in _values(each, one.key)})
            hint = suggestion(one.value, values) or _listed(one.key, values)
            raise NothingSelected(f"no source table matches `{one}`; {hint}")
    raise NothingSelected(
        "no source table matches all of " + ", ".join(f"`{each}`" for each in filters)
    )


def _listed(key: str, values: Sequence[str], most: int = 8) -> str:
    if not values:
        return f"no table of the source has a `{key}`"
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return "there are " + ", ".join(f"`{value}`" for value in values[:most]) + more


def _values(candidate: FilterCandidate, key: str) -> tuple[str, ...]:
    """What a candidate has under a key; a component goes before a name that is always there."""
    if key in candidate.components:
        value = candidate.components[key]
        return (value,) if isinstance(value, str) else value
    if key in _SCHEMA_KEYS:
        return (candidate.schema,)
    found = candidate.table if key == "table" else candidate.catalog
    return () if found is None else (found,)


def _holds(candidate: FilterCandidate, one: Filter) -> bool:
    if one.key == "table":
        # Nobody knows the tables of a schema that failed: it might be among them.
        return candidate.table is None or matches_glob(one.value, candidate.table)
    wanted = one.value.lower()
    return any(value.lower() == wanted for value in _values(candidate, one.key))


def matches_glob(pattern: str, name: str) -> bool:
    """Whether a name matches; `*` and `?` stand for letters, and case does not count."""
    marks = {"*": ".*", "?": "."}
    regex = "".join(marks.get(mark, re.escape(mark)) for mark in pattern)
    return re.fullmatch(regex, name, re.IGNORECASE | re.DOTALL) is not None
