"""Rows of the ledger: keys, ranges of keys, and values that must be JSON objects."""

import json
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from rocky.errors import LedgerUnreadable
from rocky.ledger.encoding import MalformedRecord, format_time
from rocky.ledger.record import Record, RunId

R = TypeVar("R", bound=Record)

_SEPARATOR: Final = "|"
_AFTER_SEPARATOR: Final = chr(ord(_SEPARATOR) + 1)
_NO_PUNCTUATION: Final = str.maketrans("", "", "-:")


def key_of(*parts: str) -> str:
    """Parts of a key in one text. A name that is not UTF-8 is escaped: SQLite would refuse it."""
    return _SEPARATOR.join(parts).encode("utf-8", "backslashreplace").decode()


def run_id_at(moment: datetime) -> RunId:
    """The id of a run that starts at a moment, if no other run has it."""
    digits = format_time(moment).translate(_NO_PUNCTUATION)
    return RunId(f"run-{digits[:8]}-{digits[9:15]}-{digits[16:19]}")


def rows_below(connection: sqlite3.Connection, table: str, first: str) -> list[tuple[str, str]]:
    """The rows whose key is `first|...`: with the separator, so that run-1 is not run-12."""
    found = connection.execute(
        f"SELECT key, value FROM {table} WHERE key >= ? AND key < ? ORDER BY key",  # noqa: S608 - one of our own names
        (key_of(first, ""), key_of(first) + _AFTER_SEPARATOR),
    )
    return found.fetchall()


def load_json(path: Path, table: str, key: str, value: Any) -> dict[str, Any]:
    """The JSON object in a row. Raises LedgerUnreadable."""
    try:
        document = json.loads(value)
    except (TypeError, ValueError) as wrong:
        raise unusable_row(path, table, key, wrong) from wrong
    if not isinstance(document, dict):
        raise unusable_row(path, table, key, "not a JSON object")
    return document


def load_record(kind: type[R], path: Path, table: str, key: str, value: Any) -> R:
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


def in_order(executions: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Models as they were begun."""
    return sorted(
        executions, key=lambda each: (str(each.get("started_at")), str(each.get("model_name")))
    )
