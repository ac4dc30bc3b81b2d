"""Arguments: the values that a request may hold, asked for where the request is made.

The types of a request's fields are the rule; no request checks its own. A mistake is named by its
argument, and is not met deep inside by whoever works with it.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from rocky.errors import InvalidRequest
from rocky.project.toml.documents import AtLeast

Count = Annotated[int, AtLeast(1)]
Natural = Annotated[int, AtLeast(0)]

_WORDS: Final[Mapping[Any, str]] = {
    str: "a text",
    int: "a whole number",
    bool: "True or False",
    Path: "a path",
    NoneType: "None",
}


_LARGEST: Final = 2**63 - 1
_CONTAINERS: Final = (tuple, frozenset, Mapping)


class Request:
    """What every request is: a frozen dataclass whose values are of the types of its fields."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name, hint in _hints_of(type(self)).items():
            refuse_unfit(name, getattr(self, name), hint)


def refuse_unfit(name: str, value: Any, hint: Any) -> None:
    """Raises InvalidRequest, which names the argument, unless a value is of a type."""
    if fits(value, hint):
        return
    for each in (hint, *get_args(hint)):
        if get_origin(each) in _CONTAINERS and isinstance(value, get_origin(each)):
            pairs = [(one, get_args(each)[0]) for one in value]
            if isinstance(value, Mapping):
                pairs += [(one, get_args(each)[1]) for one in value.values()]
            odd, inner = next((one, kind) for one, kind in pairs if not fits(one, kind))
            raise InvalidRequest(f"each of `{name}` is {_describe(inner)}, not {_show(odd)}")
    least = next((each for each in _bounds(hint) if fits(value, int)), None)
    wanted = _describe(hint) if least is None else f"at least {least:g}"
    raise InvalidRequest(f"`{name}` is {wanted}, not {_show(value)}")


def _show(value: Any) -> str:
    return f"`{value}`" if isinstance(value, str) else repr(value)


# Without the annotation mypy asks whether a class can be hashed.
_hints_of: Callable[[Any], dict[str, Any]] = cache(partial(get_type_hints, include_extras=True))


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is one of a type."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return fits(value, parts[0]) and all(value >= each for each in _bounds(hint))
    if origin in (Union, UnionType):
        return any(fits(value, each) for each in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin in (tuple, frozenset):
        return isinstance(value, origin) and all(fits(each, parts[0]) for each in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            fits(key, parts[0]) and fits(each, parts[1]) for key, each in value.items()
        )
    if hint is int:
        # A truth value is a number to Python, and not to us; larger ones are no database's.
        return type(value) is not bool and isinstance(value, int) and abs(value) <= _LARGEST
    return isinstance(value, hint)


def _bounds(hint: Any) -> list[float]:
    if get_origin(hint) is Annotated:
        return [each.least for each in hint.__metadata__ if isinstance(each, AtLeast)]
    return [least for each in get_args(hint) for least in _bounds(each)]


def _describe(hint: Any) -> str:
    """A type as people say it."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _describe(parts[0])
    if origin is Literal:
        return _alternatives([f"`{each}`" for each in parts])
    if origin in (Union, UnionType):
        # That an argument may be left out need not be said.
        return _alternatives([_describe(each) for each in parts if each is not NoneType])
    if origin in _CONTAINERS:
        return f"a {origin.__name__.lower()}"
    return _WORDS.get(hint, f"a `{hint.__name__}`")


def _alternatives(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
