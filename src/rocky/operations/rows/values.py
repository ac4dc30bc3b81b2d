"""Values of rows: every value of every Spark type has a form in JSON and one in a line of text.

Of the columns of a relation all are shown, or those that are named.
"""

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

from rocky.diagnostics.suggestion import suggestion
from rocky.errors import NothingSelected
from rocky.language.datatypes.types import DataType, IntervalType, StructField

_WORDS: Final = {None: "NULL", True: "true", False: "false"}


def choose_columns(
    schema: Sequence[StructField], names: Sequence[str], of: str
) -> tuple[StructField, ...]:
    """The columns that are named, in that order, or all. Raises NothingSelected for no column."""
    known = {field.name.lower(): field for field in schema}
    for name in names:
        if name.replace("`", "").lower() not in known:
            shown = [field.name for field in schema]
            hint = (
                suggestion(name, shown) or f"there are {', '.join(f'`{each}`' for each in shown)}"
            )
            raise NothingSelected(f"`{of}` has no column `{name}`; {hint}")
    chosen = dict.fromkeys(name.replace("`", "").lower() for name in names)
    return tuple(known[key] for key in chosen) if names else tuple(schema)


def json_value(value: Any) -> Any:
    """A value as JSON holds it: what JSON has no form for is a text, bytes in base 64."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return b64encode(value).decode()
        case Mapping():
            return {key: json_value(each) for key, each in value.items()}
        case [tuple(), *_]:
            return {text_value(key): json_value(each) for key, each in value}
        case list() | tuple():
            return [json_value(each) for each in value]
        case _:
            return text_value(value)


def spoken_value(value: Any, type: DataType) -> Any:  # noqa: A002 - the noun of our schemas
    """An interval as an interval: files hold a number of microseconds or of months."""
    if not isinstance(type, IntervalType) or not isinstance(value, int):
        return value
    if type.kind == "interval_ym":
        years, months = divmod(abs(value), 12)
        return f"{'-' if value < 0 else ''}{years}-{months}"
    return timedelta(microseconds=value)


def text_value(value: Any) -> str:
    """A value on one line, in Spark's words where it has them."""
    match value:
        case None | bool():
            return _WORDS[value]
        case datetime():
            return _moment_text(value)
        case date() | time():
            return value.isoformat()
        case timedelta():
            return _interval_text(value)
        case Decimal():
            return f"{value:f}"
        case bytes():
            return f"0x{value.hex()}"
        case Mapping():
            return _pairs_text(value.items())
        case [tuple(), *_]:
            return _pairs_text(value)
        case list() | tuple():
            return f"[{', '.join(text_value(each) for each in value)}]"
        case _:
            return str(value)


def _pairs_text(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Fields of a struct, or entries of a map, which come as pairs."""
    shown = (f"{text_value(key)}: {text_value(each)}" for key, each in pairs)
    return f"{{{', '.join(shown)}}}"


def _moment_text(moment: datetime) -> str:
    """A moment in UTC with its zone, or a wall clock's time without one."""
    zone = "Z" if moment.tzinfo is not None else ""
    shown = moment.astimezone(UTC) if moment.tzinfo is not None else moment
    return shown.replace(tzinfo=None).isoformat(sep=" ") + zone


def _interval_text(interval: timedelta) -> str:
    sign, whole = ("-", -interval) if interval < timedelta() else ("", interval)
    hours, rest = divmod(whole.seconds, 3600)
    text = f"{sign}{whole.days} {hours:02}:{rest // 60:02}:{rest % 60:02}"
    return f"{text}.{whole.microseconds:06}" if whole.microseconds else text
