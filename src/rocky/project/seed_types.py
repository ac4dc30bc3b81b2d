"""Types of seeds' columns: what the texts of cells show, where no sidecar says.

By the first rule that fits; empty cells are nulls and have no say:
1. no cell with text -> string
2. every cell a whole number of at most 64 bits -> bigint
3. every cell a number -> double; but whole numbers beyond 64 bits -> string, because a
   double would change their digits. Decimals are only ever declared.
4. every cell `yyyy-MM-dd` -> date
5. every cell such a date, or one with a time and perhaps a zone -> timestamp
6. every cell `true` or `false`, in any case -> boolean
7. otherwise -> string

Spark's own inference starts at int; bigint does not change when a larger number arrives.
"""

import re
from collections.abc import Iterable
from datetime import date
from typing import Final

from rocky.language.datatypes import types as t
from rocky.language.datatypes.types import DataType
from rocky.project.seed_values import fits_of

_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|NaN|-?Inf")
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIMESTAMP: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]{1,9})?)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_FITS_TIMESTAMP: Final = fits_of(t.TIMESTAMP)
_MOST_DIGITS: Final = 18
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1


def infer_types(cells: Iterable[str]) -> DataType:
    """The type of one column."""
    values = {cell for cell in cells if cell}
    if not values:
        return t.STRING
    for fits, found in _CANDIDATES:
        if all(map(fits, values)):
            return found
    return t.STRING


def _is_whole(cell: str) -> bool:
    if _WHOLE.fullmatch(cell) is None:
        return False
    return len(cell) <= _MOST_DIGITS or (len(cell) <= 40 and _LEAST <= int(cell) <= _MOST)


def _is_number(cell: str) -> bool:
    if _NUMBER.fullmatch(cell) is None:
        return False
    return _WHOLE.fullmatch(cell) is None or _is_whole(cell)


def _is_date(cell: str) -> bool:
    found = _DATE.fullmatch(cell)
    return found is not None and _exists(found)


def _exists(found: re.Match[str]) -> bool:
    try:
        date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return False
    return True


def _is_timestamp(cell: str) -> bool:
    found = _TIMESTAMP.fullmatch(cell)
    if found is None or not _is_date(found[1]):
        return False
    # Of its forms Spark takes some only with seconds, and no zone beyond 18 hours.
    return _FITS_TIMESTAMP is not None and _FITS_TIMESTAMP(cell)


def _is_flag(cell: str) -> bool:
    return cell.lower() in ("true", "false")


_CANDIDATES: Final = (
    (_is_whole, t.BIGINT),
    (_is_number, t.DOUBLE),
    (_is_date, t.DATE),
    (_is_timestamp, t.TIMESTAMP),
    (_is_flag, t.BOOLEAN),
)
