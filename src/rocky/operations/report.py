"""Reports: the result of an operation, as one frozen dataclass, and its JSON.

The dataclass is the only definition of an output: its fields are the keys of the JSON document, the
JSON Schema in `rocky/cli/schemas` is generated from their types (`make schemas`), and the text that
people see is rendered from it. A field without a default is always in the document, as null if need
be; one with a default is left out when it is None or empty.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Final, TypeVar, overload

from rocky.diagnostics.codes import Code
from rocky.errors import InternalError

_FLAT: Final = "rocky.flat"
_HIDDEN: Final = "rocky.hidden"
_SHOWN: Final = 3
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
Blake3 = Annotated[str, "^[0-9a-f]{64}$"]
"""A hash of ours; what is noted of a type is what its JSON Schema says of the text."""
CodeText = Annotated[Code, "^[EWPI][0-9]{3}$"]
Item_co = TypeVar("Item_co", covariant=True)


class OnDemand(Sequence[Item_co]):
    """The parts of a report that are made when somebody looks at them.

    There may be ten thousand, and who is only told whether all is well should not pay for them.
    """

    __slots__ = ("_make", "_sources")

    def __init__(self, sources: Sequence[Any], make: Callable[[Any], Item_co]) -> None:
        self._sources = sources
        self._make = make

    def __len__(self) -> int:
        return len(self._sources)

    def __iter__(self) -> Iterator[Item_co]:
        return map(self._make, self._sources)

    @overload
    def __getitem__(self, index: int) -> Item_co: ...

    @overload
    def __getitem__(self, index: slice) -> "OnDemand[Item_co]": ...

    def __getitem__(self, index: int | slice) -> "Item_co | OnDemand[Item_co]":
        if isinstance(index, slice):
            return OnDemand(self._sources[index], self._make)
        return self._make(self._sources[index])

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:_SHOWN]))
        more = f", ... ({len(self)} in all)" if len(self) > _SHOWN else ""
        return f"[{shown}{more}]"


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


def is_report(value: Any) -> bool:
    """Whether something is a report, a part of one, or a record of the ledger in it."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def same_fields(kind: Any, record: Any, besides: Set[str] = frozenset()) -> dict[str, Any]:
    """The fields that a part of a report takes over from a record as they are, by name."""
    names = [each.name for each in dataclasses.fields(kind) if each.name not in besides]
    return {name: getattr(record, name) for name in names}


def encode_report(report: Any) -> dict[str, Any]:
    """A report as the JSON object that programs get."""
    return {name: _encode(value) for name, value in take_apart(report).items()}


def format_report(head: Mapping[str, Any], report: Any, **layout: Any) -> str:
    """The JSON text of a report after a `head`, laid out as `json.dumps` is told.

    It is written part by part, so that a large report never stands in memory as one more tree.
    """
    seen: dict[int, tuple[Any, Any]] = {}

    def encode(value: Any) -> Any:
        # Ten thousand models share their columns: a value that was met is not taken apart again.
        # It is kept with what became of it, so that no other value can get its id.
        known = seen.get(id(value))
        if known is None:
            known = seen[id(value)] = (value, _encode_part(value))
        return known[1]

    document = {**head, **take_apart(report)}
    return json.dumps(document, default=encode, check_circular=False, **layout)


def take_apart(report: Any) -> dict[str, Any]:
    """The top of a report's JSON object, with values that are not encoded yet."""
    return _reader_of(type(report))(report)


def _encode_part(value: Any) -> Any:
    """What is no JSON yet, one level of it."""
    if hasattr(value, "to_json") or dataclasses.is_dataclass(value):
        return take_apart(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | Set):
        return list(value)
    if isinstance(value, datetime):
        # Here, because most reports of a compile need nothing of the ledger.
        from rocky.ledger.record import format_time  # noqa: PLC0415

        return format_time(value)
    raise InternalError(f"a report cannot hold a {type(value).__name__}")


def _encode(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if isinstance(value, str | int | float) and not isinstance(value, Enum):
        return value
    part = _encode_part(value)
    if isinstance(part, dict):
        return {str(key): _encode(each) for key, each in part.items()}
    return [_encode(each) for each in part] if isinstance(part, list) else part


def _find_reader(kind: Any) -> Callable[[Any], dict[str, Any]]:
    """What takes the reports of a class apart."""
    if hasattr(kind, "to_json"):
        # A record of the ledger: it has one form wherever it stands.
        return lambda record: record.to_json()
    fields = [
        (
            each.name,
            each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING,
            flattened(each),
        )
        for each in dataclasses.fields(kind)
        if not is_hidden(each)
    ]
    names = tuple(name for name, always, without in fields if always and without is None)
    if 1 < len(names) == len(fields):
        read = attrgetter(*names)
        return lambda report: dict(zip(names, read(report), strict=True))
    return lambda report: _gather(report, fields)


def _gather(
    report: Any, fields: Sequence[tuple[str, bool, frozenset[str] | None]]
) -> dict[str, Any]:
    """The fields, each with its name, whether it is always there, and what is left out if flat."""
    document: dict[str, Any] = {}
    for name, always, without in fields:
        value = getattr(report, name)
        if without is not None:
            if value is not None:
                document |= {k: v for k, v in take_apart(value).items() if k not in without}
        elif always or not (value is None or value == () or value == {}):
            document[name] = value
    return document


# Without the annotation mypy asks whether a class can be hashed.
_reader_of: Callable[[Any], Callable[[Any], dict[str, Any]]] = cache(_find_reader)
