"""Schema patterns: the name of a source schema taken apart into components.

A name that has more parts than the pattern does not match: to ignore the rest would send two
schemas to one target.
"""

from collections.abc import Mapping

from rocky.project.pipeline_rules import VARIADIC
from rocky.project.pipelines import SchemaPattern

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


def flatten(components: Components) -> tuple[str, ...]:
    """All parts in order."""
    parts: list[str] = []
    for value in components.values():
        parts += [value] if isinstance(value, str) else value
    return tuple(parts)
