"""Schema patterns: a schema's name taken apart into components, and templates filled with them.

A name that has more parts than the pattern does not match: to ignore the rest would send two
schemas to one target. One text joins the parts of a variadic component everywhere (the target's
`separator`, else the source's), unless a placeholder brings its own: `{regions:-}`.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import StructField
from rocky.language.names import quote_text
from rocky.pipelines.drift.projection import Projected, type_sql
from rocky.project.configuration.pipelines import MetadataColumn, SchemaPattern
from rocky.project.configuration.replication_rules import VARIADIC, find_placeholders

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
