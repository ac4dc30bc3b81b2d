"""Reports: what came of an operation, as one frozen dataclass, and its JSON.

The dataclass is the only definition of an output: its fields are the keys of the JSON document, the
JSON Schema in `rocky/cli/schemas` is generated from their types (`make schemas`), and the text that
people see is rendered from it. A field without a default is always in the document, as null if need
be; one with a default is left out when it is None or empty.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Final

from rocky.errors import InternalError
from rocky.ledger.record import Record, format_time

_FLAT: Final = "rocky.flat"
_HIDDEN: Final = "rocky.hidden"
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def flat(*, without: tuple[str, ...] = ()) -> Any:
    """A field whose own fields stand in the document in its place, but for some."""
    return dataclasses.field(metadata={_FLAT: frozenset(without)})


def hidden() -> Any:
    """A field that is not in the document: what people are shown may need more than programs."""
    return dataclasses.field(metadata={_HIDDEN: True}, repr=False)


def is_hidden(field: "dataclasses.Field[Any]") -> bool:
    """Whether a field of a report is not in its document."""
    return _HIDDEN in field.metadata


def flattened(field: "dataclasses.Field[Any]") -> frozenset[str] | None:
    """What a flat field leaves out; None for a field that stands under its own name."""
    found: frozenset[str] | None = field.metadata.get(_FLAT)
    return found


def same_fields(kind: Any, record: Any, besides: Set[str] = frozenset()) -> dict[str, Any]:
    """The fields that a part of a report takes over from a record as they are, by name."""
    names = [each.name for each in dataclasses.fields(kind) if each.name not in besides]
    return {name: getattr(record, name) for name in names}


def encode_report(report: Any) -> dict[str, Any]:
    """A report as the JSON object that programs get."""
    document: dict[str, Any] = {}
    for name, always, without in _fields(type(report)):
        value = getattr(report, name)
        if without is not None:
            if value is not None:
                document |= {k: v for k, v in _encode(value).items() if k not in without}
        elif always or not (value is None or value == () or value == {}):
            document[name] = value if type(value) in _PLAIN else _encode(value)
    return document


def _encode(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Record):
        return value.to_json()
    if dataclasses.is_dataclass(value):
        return encode_report(value)
    if isinstance(value, Mapping):
        return {str(key): _encode(each) for key, each in value.items()}
    if isinstance(value, Sequence | Set) and not isinstance(value, str):
        return [_encode(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, str | int | float):
        return value
    raise InternalError(f"a report cannot hold a {type(value).__name__}")


def _find_fields(kind: Any) -> tuple[tuple[str, bool, frozenset[str] | None], ...]:
    """For each field its name, whether it is always there, and what of it is left out if flat."""
    return tuple(
        (
            each.name,
            each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING,
            flattened(each),
        )
        for each in dataclasses.fields(kind)
        if not is_hidden(each)
    )


# Without the annotation mypy asks whether a class can be hashed.
_fields: Callable[[Any], tuple[tuple[str, bool, frozenset[str] | None], ...]] = cache(_find_fields)
