"""Encoding: records to JSON and back, from the fields of their dataclasses.

The text is canonical (sorted keys, absent instead of null, valid JSON also for names that are
not UTF-8), so that equal records are equal texts and a hash over them means something.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from rocky.errors import InternalError

R = TypeVar("R")
Decode = Callable[[Any], Any]


class MalformedRecord(ValueError):
    """A JSON object that is not the record it should be; says which key is wrong."""


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, so that texts sort as times do."""
    if moment.tzinfo is None:
        raise InternalError(f"a time without a zone cannot be recorded: {moment}")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """The time in an RFC 3339 text. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"`{text}` has no time zone")
    return moment.astimezone(UTC)


def format_json(document: Mapping[str, Any] | list[Any]) -> str:
    """One line, keys sorted. A name that is not UTF-8 stays readable as JSON escapes."""
    return _ENCODER.encode(document).encode("utf-8", "backslashreplace").decode()


_ENCODER: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def encode_record(record: Any) -> dict[str, Any]:
    """A record as a JSON object; None, empty tuples of records and empty maps are left out."""
    document = {}
    for each in dataclasses.fields(record):
        value = getattr(record, each.name)
        if value is None or (value in ((), {}) and each.name not in _KEPT_EMPTY):
            continue
        document[each.name] = _encode(value)
    return document


_PLAIN: Final = frozenset({str, int, float, bool})
_KEPT_EMPTY: Final = frozenset({"models_executed", "selection", "asset_key"})


def _encode(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, StrEnum):
        return value.value
    if dataclasses.is_dataclass(value):
        return encode_record(value)
    if isinstance(value, tuple):
        return [_encode(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): _encode(each) for key, each in value.items()}
    return value


def decode_record(kind: type[R], data: Mapping[str, Any]) -> R:
    """The record of a kind in a JSON object. Raises MalformedRecord."""
    if not isinstance(data, Mapping):
        raise MalformedRecord(f"{kind.__name__} is not a JSON object")
    values = {}
    for name, (decode, required) in _decoders(kind).items():
        if data.get(name) is None:
            if required:
                raise MalformedRecord(f"{kind.__name__} has no `{name}`")
            continue
        try:
            values[name] = decode(data[name])
        except MalformedRecord:
            raise
        except (TypeError, ValueError) as wrong:
            raise MalformedRecord(f"`{name}` of {kind.__name__}: {wrong}") from wrong
    return kind(**values)


def _find_decoders(kind: Any) -> dict[str, tuple[Decode, bool]]:
    """For each field how its JSON is read, and whether it must be there."""
    hints = get_type_hints(kind)
    return {
        each.name: (
            _decoder(hints[each.name]),
            each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING,
        )
        for each in dataclasses.fields(kind)
    }


# Without the annotation mypy asks whether a class can be hashed.
_decoders: Callable[[Any], dict[str, tuple[Decode, bool]]] = cache(_find_decoders)


def _decoder(hint: Any) -> Decode:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        (inner,) = (each for each in arguments if each is not NoneType)
        return _decoder(inner)
    if origin is tuple:
        one = _decoder(arguments[0])
        return lambda value: tuple(map(one, _of(list, value)))
    if origin is Mapping or (isinstance(origin, type) and issubclass(origin, Mapping)):
        one = _decoder(arguments[1])
        return lambda value: {str(key): one(each) for key, each in _of(dict, value).items()}
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return lambda value: decode_record(hint, value)
    if hint is datetime:
        return lambda value: parse_time(_of(str, value))
    plain = getattr(hint, "__supertype__", hint)
    if issubclass(plain, StrEnum):
        return lambda value: plain(_of(str, value))
    if plain is float:
        return lambda value: float(_of((int, float), value))
    return lambda value: _of(plain, value)


def _of(kind: Any, value: Any) -> Any:
    # JSON's true is Python's 1 to isinstance.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"unexpected {type(value).__name__} `{str(value)[:40]}`")
    return value
