"""Filters: `--filter tenant=acme` narrows a run to some of a source's tables.

All filters must hold. A key that means nothing and a filter that matches nothing are errors: a run
that copies nothing must not look like one that had nothing to do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.pipelines.replication.schema_patterns import Components

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
            raise NothingSelected(f"`{text}` is no filter; write `key=value`: `tenant=acme`")
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
