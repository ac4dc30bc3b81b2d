"""Recognition: whether a value is one that a mask could have left, told by looking at it alone.

A mask that leaves its own results as they are is kept by every value that it would not change: who
sees only such values sees no more than the mask allows, whoever wrote them. Of a hash the form is
known. Of an expression of one's own, and of a number that may be a hash, nothing can be told.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, time
from typing import Any, Final, Literal

from rocky.analysis.masks.expressions import HIDDEN as FIXED_TEXT
from rocky.language.datatypes.types import (
    INTEGRAL_KINDS,
    NUMERIC_KINDS,
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructType,
)
from rocky.project.configuration.masks import MaskStrategy

Sight = Literal["hidden", "shown", "either", "nothing"]
"""`hidden`: no more than the mask allows. `shown`: more than that. `either`: it cannot be told.
`nothing`: a null, which is no value."""

_HEX: Final = re.compile(r"[0-9a-f]{64}")
_HASH_BYTES: Final = 32
_SMALL: Final = 1 << 20
"""A hash of 64 bits is nearer to zero than this once in eight million million times."""
_PART: Final = re.compile(r"..\*\*\*..|\*\*\*", re.DOTALL)
_LOWEST: Final = {"tinyint": -(1 << 7), "smallint": -(1 << 15), "int": -(1 << 31)}
_QUARTER_HOUR: Final = 15


def look_at(strategy: MaskStrategy, kind: DataType, value: Any) -> Sight:
    """What is seen of one value of a type, under a mask that should hide it."""
    if value is None:
        return "nothing"
    if strategy.name in ("null", "none"):
        return "shown"
    if strategy.name == "redact":
        return _fixed(kind, value)
    if isinstance(kind, StructType):
        parts = {name.lower(): each for name, each in value.items()}
        return joined(
            look_at(strategy, field.type, parts.get(field.name.lower())) for field in kind.fields
        )
    if isinstance(kind, ArrayType):
        return joined(look_at(strategy, kind.element, each) for each in value)
    return _SCALARS.get(strategy.name, _unknown)(strategy.argument, kind, value)


def joined(found: Iterable[Sight]) -> Sight:
    """What is seen of several values together: the worst of it."""
    seen = set(found)
    order: tuple[Sight, ...] = ("shown", "either", "hidden")
    return next((each for each in order if each in seen), "nothing")


def values_in(kind: DataType, value: Any, path: tuple[str, ...]) -> Iterator[tuple[DataType, Any]]:
    """The values that a path of fields leads to inside one, through every array on the way."""
    if not path or value is None:
        yield kind, value
    elif isinstance(kind, ArrayType):
        for each in value:
            yield from values_in(kind.element, each, path)
    elif isinstance(kind, StructType):
        field = next((each for each in kind.fields if each.name.lower() == path[0].lower()), None)
        parts = {name.lower(): each for name, each in value.items()}
        if field is not None:
            yield from values_in(field.type, parts.get(path[0].lower()), path[1:])
    else:
        yield kind, value


def _told(*, hidden: bool) -> Sight:
    return "hidden" if hidden else "shown"


def _fixed(kind: DataType, value: Any) -> Sight:
    """Whether a value is the one that stands for all of its type."""
    if isinstance(kind, StructType):
        parts = {name.lower(): each for name, each in value.items()}
        found = [
            _fixed(field.type, parts[field.name.lower()])
            for field in kind.fields
            if parts.get(field.name.lower()) is not None
        ]
        return "hidden" if not found else joined(found)
    if isinstance(kind, ArrayType | MapType):
        return _told(hidden=not len(value))
    if isinstance(kind, StringType):
        length = len(FIXED_TEXT) if kind.length is None else kind.length
        return _told(hidden=str(value).rstrip(" ") == FIXED_TEXT[:length])
    if kind.kind in NUMERIC_KINDS:
        return _told(hidden=value == 0)
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001 - a time without a zone is compared with it
    fixed: dict[str, Any] = {
        "boolean": False,
        "binary": b"",
        "date": date(1970, 1, 1),
        "timestamp": epoch.replace(tzinfo=UTC),
        "timestamp_ntz": epoch,
        "time": time(0),
    }
    if kind.kind not in fixed:
        return "either"
    return _told(hidden=value == fixed[kind.kind])


def _unknown(argument: str, kind: DataType, value: Any) -> Sight:  # noqa: ARG001 - as the others
    return "either"


def _hash(argument: str, kind: DataType, value: Any) -> Sight:  # noqa: ARG001 - as the others
    if isinstance(value, str):
        return _told(hidden=_HEX.fullmatch(value) is not None)
    if isinstance(value, bytes):
        return _told(hidden=len(value) == _HASH_BYTES)
    return "shown" if isinstance(value, int) and abs(value) < _SMALL else "either"


def _partial(argument: str, kind: DataType, value: Any) -> Sight:  # noqa: ARG001 - as the others
    return _told(hidden=isinstance(value, str) and _PART.fullmatch(value) is not None)


def _truncate(argument: str, kind: DataType, value: Any) -> Sight:  # noqa: ARG001 - as the others
    return _told(hidden=len(value) <= int(argument))


def _bucket(argument: str, kind: DataType, value: Any) -> Sight:
    lowest = _LOWEST.get(kind.kind, -(1 << 63)) if kind.kind in INTEGRAL_KINDS else None
    return _told(hidden=value % int(argument) == 0 or value == lowest)


def _date_trunc(argument: str, kind: DataType, value: Any) -> Sight:
    if not isinstance(value, date):
        # A date that Python cannot hold comes as text.
        return "either"
    if not isinstance(value, datetime):
        return _told(hidden=_begins(argument, value))
    begins = value.second == value.microsecond == 0
    if argument == "minute":
        return _told(hidden=begins)
    begins = begins and value.minute == 0
    if argument != "hour":
        begins = begins and value.hour == 0 and (argument == "day" or _begins(argument, value))
    if begins or kind.kind == "timestamp_ntz":
        return _told(hidden=begins)
    # It may begin in the zone of the session that cut it: zones differ by quarters of hours.
    aligned = not value.second and not value.microsecond and not value.minute % _QUARTER_HOUR
    return "either" if aligned else "shown"


def _begins(unit: str, day: date) -> bool:
    if unit == "week":
        return day.weekday() == 0
    first = {"year": (1,), "quarter": (1, 4, 7, 10)}.get(unit)
    return day.day == 1 and (first is None or day.month in first)


_SCALARS: Final[dict[str, Callable[[str, DataType, Any], Sight]]] = {
    "hash": _hash,
    "sha2": _hash,
    "partial": _partial,
    "truncate": _truncate,
    "bucket": _bucket,
    "date_trunc": _date_trunc,
}
