"""What a key of a TOML file may hold, in words: from the annotations that read it.

The reference page and editors say the same, because both ask here.
"""

import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from rocky.project.toml.documents import AtLeast, Between, Parsed, ReadBy, Tagged

_SIMPLE: Final[Mapping[Any, str]] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "flag",
    Any: "any value",
}


def bare_hint(hint: Any) -> Any:
    """An annotation without its rule."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def records_in(hint: Any) -> Iterator[tuple[str | None, type]]:
    """The records inside an annotation, each with the `type` that chooses it, if any."""
    if get_origin(hint) is Annotated:
        inner, rule = get_args(hint)[:2]
        if isinstance(rule, Tagged):
            records: tuple[Any, ...] = rule.records
            yield from ((record._field_defaults["type"], record) for record in records)
        else:
            yield from records_in(inner)
    elif isinstance(hint, type) and hasattr(hint, "_fields"):
        yield None, hint
    else:
        for arg in get_args(hint):
            yield from records_in(arg)


def choices_in(hint: Any) -> tuple[str, ...]:
    """The texts that a value must be one of; nothing where any will do."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is bool:
        return ("true", "false")
    if origin is Literal:
        return tuple(str(each) for each in args)
    if origin is Annotated:
        if isinstance(args[1], Tagged):
            return tuple(tag for tag, _ in records_in(hint) if tag)
        return choices_in(args[0])
    if origin in (Union, types.UnionType, tuple):
        return tuple(dict.fromkeys(each for arg in args for each in choices_in(arg)))
    return ()


def value_words(hint: Any) -> str:
    """What a value may be."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _ruled(args[0], args[1])
    if origin is Literal:
        return ", ".join(f"`{arg}`" for arg in args)
    if origin in (Union, types.UnionType):
        words = (value_words(arg) for arg in args if arg is not type(None))
        return " or ".join(dict.fromkeys(words))
    if origin is tuple:
        return f"list of {value_words(args[0])}"
    return "table"


def _ruled(hint: Any, rule: Any) -> str:
    match rule:
        case AtLeast(least):
            return f"{value_words(hint)}, at least {least:g}"
        case Between(least, most):
            return f"{value_words(hint)}, {least:g} to {most:g}"
        case Parsed():
            return "text"
        case Tagged():
            return "table or text; `type`: " + ", ".join(f"`{tag}`" for tag in _tags(rule))
        case ReadBy(_, words) if words:
            return words
        case _:
            return "text" if hint in (str, Any) else value_words(hint)


def _tags(rule: Tagged) -> tuple[str, ...]:
    records: tuple[Any, ...] = rule.records
    return tuple(record._field_defaults["type"] for record in records)


def default_words(value: Any) -> str:
    """A default as it would be written; `...` for a key that must be there."""
    match value:
        case builtins if builtins is ...:
            return "required"
        case None | () | {}:
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case str():
            return f'`"{value}"`'
        case int() | float():
            return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"
        case _:
            return "as below"
