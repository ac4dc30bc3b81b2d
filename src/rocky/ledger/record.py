"""A record: a frozen dataclass that becomes the JSON in a row of the ledger and comes back.

The text is canonical, absent instead of null, so that equal records are equal texts and a hash over
them means something. A row has a key beside its value: the parts of a key are joined, so that all
rows of a run are one range.
"""

import dataclasses
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, NewType, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from rocky.errors import InternalError, LedgerUnreadable, NothingSelected

R = TypeVar("R")
Decode = Callable[[Any], Any]


class MalformedRecord(ValueError):
    """A JSON object that is not the record it should be; says which key is wrong."""


def format_time(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, so that texts sort as times do."""
    if moment.tzinfo is None:
        raise InternalError(f"a time without a zone cannot be recorded: {moment}")
    # Not by `strftime`, which does not pad years: texts must sort as the times do.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_time(text: str) -> datetime:
    """The time in an RFC 3339 text. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"`{text}` has no time zone")
    return moment.astimezone(UTC)


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
        return lambda value: tuple(map(one, _decode_each(list, value)))
    if origin is Mapping or (isinstance(origin, type) and issubclass(origin, Mapping)):
        one = _decoder(arguments[1])
        return lambda value: {
            str(key): one(each) for key, each in _decode_each(dict, value).items()
        }
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return lambda value: decode_record(hint, value)
    if hint is datetime:
        return lambda value: parse_time(_decode_each(str, value))
    plain = getattr(hint, "__supertype__", hint)
    if issubclass(plain, StrEnum):
        return lambda value: plain(_decode_each(str, value))
    if plain is float:
        return lambda value: float(_decode_each((int, float), value))
    return lambda value: _decode_each(plain, value)


def _decode_each(kind: Any, value: Any) -> Any:
    # JSON's true is Python's 1 to isinstance.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"unexpected {type(value).__name__} `{str(value)[:40]}`")
    return value


RunId = NewType("RunId", str)
"""`run-YYYYMMDD-HHMMSS-mmm`, in UTC: run ids sort as the runs began."""

NO_RUN: Final = RunId("")


class Record:
    """What all records can do: become a JSON object and come back from one."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON object: times as RFC 3339 in UTC, absent instead of null."""
        return encode_record(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record in a JSON object; unknown keys are left alone. Raises MalformedRecord."""
        return decode_record(cls, data)


RecordKind = TypeVar("RecordKind", bound=Record)

_SEPARATOR: Final = "|"
_AFTER_SEPARATOR: Final = chr(ord(_SEPARATOR) + 1)
_NO_PUNCTUATION: Final = str.maketrans("", "", "-:")


def key_of(*parts: str) -> str:
    """Parts of a key in one text. A name that is not UTF-8 is escaped: SQLite would refuse it."""
    return _SEPARATOR.join(parts).encode("utf-8", "backslashreplace").decode()


_RUN: Final = "run-"


def run_id_at(moment: datetime) -> RunId:
    """The id of a run that starts at a moment, if no other run has it."""
    digits = format_time(moment).translate(_NO_PUNCTUATION)
    return RunId(f"{_RUN}{digits[:8]}-{digits[9:15]}-{digits[16:19]}")


_CANDIDATES_SHOWN: Final = 10


def run_meant(wanted: str, run_ids: Sequence[str]) -> RunId | None:
    """The run that an id, or the beginning of one, names among others; None when none is meant.

    Raises NothingSelected with the candidates when several begin so. An id that is whole is that
    run, though another may go on from it.
    """
    if wanted in run_ids:
        return RunId(wanted)
    if not (wanted.startswith(_RUN) and wanted[len(_RUN) : len(_RUN) + 1].isdigit()):
        return None
    found = [each for each in run_ids if each.startswith(wanted)]
    if len(found) > 1:
        shown = "".join(f"\n  {each}" for each in found[:_CANDIDATES_SHOWN])
        more = len(found) - _CANDIDATES_SHOWN
        raise NothingSelected(
            f"`{wanted}` begins the ids of {len(found):,} runs; give more of it:{shown}"
            + (f"\n  and {more:,} more" if more > 0 else "")
        )
    return RunId(found[0]) if found else None


def rows_below(connection: sqlite3.Connection, table: str, first: str) -> list[tuple[str, str]]:
    """The rows whose key is `first|...`: with the separator, so that run-1 is not run-12."""
    return list(iterate_below(connection, table, first))


def iterate_below(
    connection: sqlite3.Connection, table: str, first: str
) -> Iterator[tuple[str, str]]:
    """`rows_below`, read as they are asked for."""
    yield from connection.execute(
        f"SELECT key, value FROM {table} WHERE key >= ? AND key < ? ORDER BY key",  # noqa: S608 - one of our own names
        range_below(first),
    )


def range_below(first: str) -> tuple[str, str]:
    """The first key that is `first|...`, and the first one after them."""
    return key_of(first, ""), key_of(first) + _AFTER_SEPARATOR


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is not a number that can be written down again")
    return number


# SQLite takes numbers for JSON that are beyond a float.
_FINITE: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def load_json(path: Path, table: str, key: str, value: Any) -> dict[str, Any]:
    """The JSON object in a row. Raises LedgerUnreadable."""
    try:
        document = _FINITE.decode(value)
    except (TypeError, ValueError, RecursionError) as wrong:
        raise unusable_row(path, table, key, wrong) from wrong
    if not isinstance(document, dict):
        raise unusable_row(path, table, key, "not a JSON object")
    return document


def load_record(kind: type[RecordKind], path: Path, table: str, key: str, value: Any) -> RecordKind:
    """The record in a row. Raises LedgerUnreadable."""
    try:
        return kind.from_json(load_json(path, table, key, value))
    except MalformedRecord as wrong:
        raise unusable_row(path, table, key, wrong) from wrong


def unusable_row(path: Path, table: str, key: str, why: object) -> LedgerUnreadable:
    return LedgerUnreadable(
        f"the state file `{path}` has an unusable row: `{key}` in `{table}` ({why});"
        " restore the file from a copy"
    )


def began_by(execution: Mapping[str, Any]) -> tuple[str, str]:
    """What executions are in order by: when one was begun, and its model."""
    return str(execution.get("started_at")), str(execution.get("model_name"))
