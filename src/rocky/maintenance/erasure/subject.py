"""The subject of an erasure: whose rows go, by the values of a key column.

What is asked for is a condition of one form, read by a grammar of its own and never as SQL: a
column equal to a literal, or to one of several. Nothing else is deterministic, typed, and means the
same in every table that carries the column. The values are personal data: they are in no message,
no representation and no SQL text, and are handed to Spark as rows.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import reduce
from typing import Any, Final

from rocky.canonical import canonical_json
from rocky.errors import InvalidRequest
from rocky.language.datatypes.types import StructField
from rocky.language.filters import Comparison, Either, Filter, Value, parse_date

_COLUMN: Final = re.compile(r"\s*(?:`([^`]+)`|([^\W\d]\w*))\s*")
_SIGN: Final = re.compile(r"=\s*")
_IN: Final = re.compile(r"IN\s*\(\s*", re.IGNORECASE)
_COMMA: Final = re.compile(r"\s*,\s*")
_CLOSED: Final = re.compile(r"\s*\)")
_END: Final = re.compile(r"\s*\Z")
_NUMBER: Final = re.compile(r"-?[0-9]{1,38}(\.[0-9]{1,38})?(?![\w.])")
_TEXT: Final = re.compile(r"(DATE\s*|TIMESTAMP\s*)?'((?:[^'\\]|'')*)'", re.IGNORECASE)
_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_FORM: Final = (
    "`--where` takes a key column and its value, as `customer_id = 42`, `email = 'a@b.example'` or"
    " `customer_id IN (42, 43)`; {}"
)
RECEIPT_BYTES: Final = 32
_LONG: Final = 2**63


@dataclass(frozen=True, slots=True)
class Subject:
    """Rows whose key column has one of some values. The values are shown nowhere."""

    column: str
    values: tuple[Value, ...] = field(repr=False)

    def condition(self, columns: Sequence[str]) -> Filter:
        """That one of some columns has one of the values."""
        parts: list[Filter] = [
            Comparison(column.lower(), "=", value) for column in columns for value in self.values
        ]
        return reduce(Either, parts)

    def rows(self, column: StructField) -> list[dict[str, Any]]:
        """The values as rows of a column named `value`, of the type that a table has."""
        return [{"value": _of_type(each, column)} for each in self.values]

    def hashed_by(self, key: str) -> "Subject | None":
        """The same with what the mask `hash` makes of the values, beside them; None if nothing.

        A table may have both, in two columns: what is clear stands in one, its hash in the other.
        """
        hashes = [_keyed_hash(each, key.encode()) for each in self.values]
        if any(each is None for each in hashes):
            return None
        found = (each for each in hashes if each is not None)
        return Subject(self.column, tuple(dict.fromkeys((*self.values, *found))))

    def fingerprint(self, receipt: str) -> str:
        """The HMAC-SHA-256 over column and values, by the key that is the receipt."""
        said = {"column": self.column.lower(), "values": sorted(map(_text_of, self.values))}
        message = canonical_json(said).encode()
        return hmac.new(bytes.fromhex(receipt), message, hashlib.sha256).hexdigest()


def _keyed_hash(value: Value, key: bytes) -> str | int | None:
    """What stands in a table in the place of a value that is masked by `hash`."""
    if isinstance(value, str):
        return hmac.new(key, value.encode(), hashlib.sha256).hexdigest()
    if isinstance(value, int) and not isinstance(value, bool) and -_LONG <= value < _LONG:
        digest = hmac.digest(key, value.to_bytes(8, "big", signed=True), hashlib.sha256)
        return int.from_bytes(digest[:8], "big", signed=True)
    return None


def new_receipt() -> str:
    """A key that is made for one erasure."""
    return secrets.token_hex(RECEIPT_BYTES)


def _text_of(value: Value) -> str:
    return f"{type(value).__name__}:{value}"


def _of_type(value: Value, column: StructField) -> Any:
    if column.type.kind == "date" and isinstance(value, str):
        return parse_date(value)
    if column.type.kind == "decimal" and isinstance(value, int):
        return Decimal(value)
    return value


def parse_subject(text: str) -> Subject:
    """The subject that a condition names. Raises InvalidRequest, which does not repeat the text."""
    found = _COLUMN.match(text)
    if found is None:
        raise InvalidRequest(_FORM.format("it does not begin with a column"))
    column, at = found[1] or found[2], found.end()
    if sign := _SIGN.match(text, at):
        value, at = _literal(text, sign.end())
        values = [value]
    elif opened := _IN.match(text, at):
        values, at = _literals(text, opened.end())
    else:
        raise InvalidRequest(_FORM.format(f"`{column}` is followed by neither `=` nor `IN`"))
    if not _END.match(text, at):
        raise InvalidRequest(_FORM.format("something follows the value, which nothing may"))
    if len({type(each) for each in values}) > 1:
        raise InvalidRequest(_FORM.format("the values are of several types"))
    return Subject(column, tuple(dict.fromkeys(values)))


def _literals(text: str, at: int) -> tuple[list[Value], int]:
    values: list[Value] = []
    while True:
        value, at = _literal(text, at)
        values.append(value)
        comma = _COMMA.match(text, at)
        if comma is None:
            break
        at = comma.end()
    closed = _CLOSED.match(text, at)
    if closed is None:
        raise InvalidRequest(_FORM.format("the list of values does not end in `)`"))
    return values, closed.end()


def _literal(text: str, at: int) -> tuple[Value, int]:
    if number := _NUMBER.match(text, at):
        whole = number[1] is None
        return (int(number[0]) if whole else Decimal(number[0])), number.end()
    if quoted := _TEXT.match(text, at):
        content = quoted[2].replace("''", "'")
        if quoted[1] is None:
            return content, quoted.end()
        parse = _parse_time if quoted[1].strip().upper() == "TIMESTAMP" else parse_date
        found: date | None = parse(content)
        if found is not None:
            return found, quoted.end()
    raise InvalidRequest(
        _FORM.format(
            "a value is a whole number, a decimal, a text in single quotes without backslashes, a"
            " date as `DATE '2026-01-31'` or a time as `TIMESTAMP '2026-01-31T12:00:00Z'`"
        )
    )


def _parse_time(text: str) -> datetime | None:
    """A moment where it says its zone, in UTC; else what a clock without one shows."""
    if not _TIME.fullmatch(text):
        return None
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
